"""The journal: every event, durable and tamper-evident; reading, replay, as-of state and verification."""

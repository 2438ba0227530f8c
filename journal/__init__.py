"""The journal: every event, durable and tamper-evident; replay and verification."""

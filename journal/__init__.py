"""The journal: every event, durable, in a chain of hashes; reading, replay, as-of state and verification."""

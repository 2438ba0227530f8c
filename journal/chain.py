"""The chain: each value is the SHA-256 over the one before and the event's bytes as stored, so none can change unseen."""

from hashlib import sha256

GENESIS = bytes(32)
"""The value before the first event."""


def link(before: bytes, payload: bytes) -> bytes:
    """The chain value of an event, 32 bytes."""
    return sha256(before + payload).digest()

"""Moments on the command line, in microseconds or as RFC 3339."""

from datetime import UTC, datetime, timedelta

from .output import refuse

_MOST_DIGITS = 19
"""Of a 64-bit number."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_moment(text: str | None, option: str) -> int | None:
    """Microseconds since the epoch from RFC 3339 text or from a whole number. Ends the command for anything else."""
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS:
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        refuse(f"{option}: `{text}` is no time; write it as 2026-01-02T03:04:05Z, or in microseconds since 1970")
    return (moment - _EPOCH) // timedelta(microseconds=1)

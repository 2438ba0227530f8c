"""Names in human reach: the closest known name to one that is not known."""

from collections.abc import Iterable
from difflib import get_close_matches


def closest(name: str, known: Iterable[str]) -> str | None:
    """The one known name that the author most likely meant, whatever its case; None where none is close."""
    spelled: dict[str, str] = {}
    for candidate in sorted(set(known)):
        spelled.setdefault(candidate.casefold(), candidate)
    found = get_close_matches(name.casefold(), spelled, n=1, cutoff=0.7)
    return spelled[found[0]] if found else None


def listed(names: Iterable[str], limit: int = 6) -> str:
    """Names for a message, in order of the alphabet: `a`, `b` and 3 more."""
    ordered = sorted(set(names))
    shown = ", ".join(f"`{name}`" for name in ordered[:limit])
    rest = len(ordered) - limit
    return f"{shown} and {rest} more" if rest > 0 else shown or "none"

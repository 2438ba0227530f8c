"""Names: which texts are allowed, and the closest known name to an unknown one."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from unicodedata import category

LONGEST = 253
"""Characters of a name at most, as in events."""

_MOST_QUOTED = 80
_INVISIBLE = ("Cc", "Cf", "Zl", "Zp")
"""Unicode's categories of control characters, format characters and separators: two names could look alike."""

_LIKENESS = 0.65
"""How alike two names are at least: one wrong letter in three is close, one in two is not."""


def flaw(name: str) -> str | None:
    """What keeps a text from being a name, to follow `the name of a queue`; None where nothing does."""
    if not name:
        return "is empty"
    if len(name) > LONGEST:
        return f"has {len(name):,} characters"
    hidden = next((char for char in name if category(char) in _INVISIBLE), None)
    if hidden is not None:
        return f"has the invisible character U+{ord(hidden):04X}"
    return "starts or ends with a space" if name.strip() != name else None


def shortened(name: str) -> str:
    """A name or a piece of text for a headline, its end left out where it is long."""
    return name if len(name) <= _MOST_QUOTED else name[: _MOST_QUOTED - 3] + "..."


def closest(name: str, known: Iterable[str]) -> str | None:
    """The one known name that the author most likely meant, whatever its case; None where none is close.

    Dotted names that begin alike are compared by their last part, so that `victim.` does not make all fields look alike.
    """
    spelled: dict[str, str] = {}
    for candidate in sorted(set(known)):
        spelled.setdefault(candidate.casefold(), candidate)
    meant = name.casefold()
    start = meant[: meant.rfind(".") + 1]
    if any(candidate.startswith(start) for candidate in spelled):
        spelled = {candidate.removeprefix(start): whole for candidate, whole in spelled.items() if candidate.startswith(start)}
        meant = meant.removeprefix(start)
    found = get_close_matches(meant, spelled, n=1, cutoff=_LIKENESS)
    return spelled[found[0]] if found else None


def by_likeness(names: Iterable[str], meant: str) -> list[str]:
    """Names without doubles, first those that are most like what was written, then in order of the alphabet."""
    written = meant.casefold()
    return sorted(set(names), key=lambda name: (-round(SequenceMatcher(None, written, name.casefold()).ratio(), 2), name))


def listed(names: Iterable[str], limit: int = 6, like: str = "") -> str:
    """Names for a message: `a`, `b` and 3 more. Where some are left out, those that are most like what was written come first."""
    ordered = sorted(set(names))
    if like and len(ordered) > limit:
        ordered = by_likeness(ordered, like)
    shown = ", ".join(f"`{name}`" for name in ordered[:limit])
    rest = len(ordered) - limit
    return f"{shown} and {rest} more" if rest > 0 else shown or "none"

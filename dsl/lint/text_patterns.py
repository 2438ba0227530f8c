"""Texts that match patterns: whether there is one, and the shortest. In patterns `*` is any text and `?` any one character."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MOST_STEPS = 200_000
"""So many places in patterns are looked at for one text, unless the caller says how many."""

_ANY = "x"
"""Stands for a character that no pattern names, unless one names it."""


class TooManyError(Exception):
    """There are too many cases to tell."""


@dataclass(slots=True)
class Work:
    """How many steps may still be taken. Several questions may share them."""

    left: int

    def spend(self, steps: int) -> None:
        """Take some steps. Raises TooManyError where none are left."""
        self.left -= steps
        if self.left < 0:
            raise TooManyError


def shortest_text(matched: Sequence[str], excluded: Sequence[str] = (), work: Work | None = None) -> str | None:
    """The shortest text that matches all of some patterns and none of others, the first in the alphabet of those; None where there is none.

    Raises TooManyError where the patterns are too many or too long to tell.
    """
    work = Work(_MOST_STEPS) if work is None else work
    patterns = tuple(re.sub(r"\*+", "*", pattern) for pattern in (*matched, *excluded))
    letters = _alphabet(patterns)
    start = tuple(_reached(pattern, {0}) for pattern in patterns)
    seen = {start}
    ahead: list[tuple[str, tuple[frozenset[int], ...]]] = [("", start)]
    for text, places in ahead:
        ends = [len(pattern) in place for pattern, place in zip(patterns, places, strict=True)]
        if all(ends[: len(matched)]) and not any(ends[len(matched) :]):
            return text
        steps = sum(map(len, places)) + len(patterns)
        for letter in letters:
            work.spend(steps)
            following = tuple(_step(pattern, place, letter) for pattern, place in zip(patterns, places, strict=True))
            if all(following[: len(matched)]) and following not in seen:
                seen.add(following)
                ahead.append((text + letter, following))
    return None


def common_text(one: str, other: str, work: Work) -> str | None:
    """A text that matches two patterns, not always the shortest; None where there is none. Raises TooManyError where work runs out.

    What stands before the first and behind the last `*` has to agree. All between may follow one after the other, so it always agrees.
    """
    work.spend(8 + len(one) + len(other))
    if "*" not in one or "*" not in other:
        fixed, pattern = (other, one) if "*" in one else (one, other)
        return _laid_over(fixed, pattern, work)
    (head, _, rest), (other_head, _, other_rest) = one.partition("*"), other.partition("*")
    start = _agreed(head, other_head)
    if start is None:
        return None
    (middle, _, tail), (other_middle, _, other_tail) = rest.rpartition("*"), other_rest.rpartition("*")
    end = _agreed(tail[::-1], other_tail[::-1])
    return None if end is None else (start + middle + other_middle + end[::-1]).replace("*", "").replace("?", _ANY)


def _agreed(one: str, other: str) -> str | None:
    """The start that texts have which start with one and with the other, where `?` is any character; None: there are none."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    if longer.startswith(shorter):
        return longer
    if "?" not in longer and "?" not in shorter:
        return None
    pairs = list(zip(longer, shorter, strict=False))
    if any(left != right and "?" not in (left, right) for left, right in pairs):
        return None
    return "".join(right if left == "?" else left for left, right in pairs) + longer[len(shorter) :]


def _laid_over(fixed: str, pattern: str, work: Work) -> str | None:
    """A text that matches a pattern without `*` and any other; None where there is none."""
    places: dict[int, int] = {}
    at = here = 0
    star, resume = -1, 0
    while at < len(fixed):
        if here < len(pattern) and pattern[here] == "*":
            star, resume = here, at
            here += 1
        elif here < len(pattern) and (pattern[here] == fixed[at] or "?" in (pattern[here], fixed[at])):
            places[here] = at
            at, here = at + 1, here + 1
        elif star < 0:
            return None
        else:
            work.spend(at - resume + 1)
            resume += 1
            at, here = resume, star + 1
    if pattern[here:].strip("*"):
        return None
    text = list(fixed)
    for sign, place in places.items():
        if sign < here and text[place] == "?":
            text[place] = pattern[sign]
    return "".join(text).replace("?", _ANY)


def fixed_start(pattern: str) -> str:
    """What every text that matches a pattern starts with: the pattern up to its first wildcard."""
    return pattern[: min((at for sign in "*?" if (at := pattern.find(sign)) >= 0), default=len(pattern))]


def fixed_end(pattern: str) -> str:
    """What every text that matches a pattern ends with: the pattern behind its last wildcard."""
    return pattern[1 + max(pattern.rfind("*"), pattern.rfind("?")) :]


def _alphabet(patterns: Sequence[str]) -> str:
    """A character that no pattern names, first, and all that they name."""
    named = sorted({letter for pattern in patterns for letter in pattern} - {"*", "?"})
    other = _ANY if _ANY not in named else next(letter for letter in _letters() if letter not in named)
    return "".join([other, *named])


def _letters() -> Iterator[str]:
    return (chr(code) for code in range(ord("a"), 0x110000))


def _reached(pattern: str, places: set[int]) -> frozenset[int]:
    """The places in a pattern, with those behind a `*`, which may be no text at all."""
    found = set(places)
    for place in sorted(places):
        while place < len(pattern) and pattern[place] == "*":
            place += 1
            found.add(place)
    return frozenset(found)


def _step(pattern: str, places: frozenset[int], letter: str) -> frozenset[int]:
    """The places in a pattern once one more character is read."""
    inside = [place for place in places if place < len(pattern)]
    same = {place for place in inside if pattern[place] == "*"}
    return _reached(pattern, same | {place + 1 for place in inside if pattern[place] in (letter, "?")})

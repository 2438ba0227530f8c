"""Patterns for the names of nodes (`regexMatch`): a part of Go's regular expressions, matched in one pass over a name.

A pattern comes from whoever may write HyperNodes, so no matcher may be used here that tries ways one after the other: some patterns would
never end. All ways are followed at once, as Go does it, so the time goes with the length of the name. A name has small letters, digits, `-`
and `.`, so a class is a set of these.
Source: Go, regexp/syntax: its grammar, and how much of it may be repeated.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

LONGEST = 256
"""Characters of a pattern."""

_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789-."
"""All characters of a name that Kubernetes allows."""

_MOST_STEPS, _MOST_DEPTH, _MOST_TIMES, _MOST_KNOWN = 1_000, 50, 1_000, 300
_END = ""
_WORK_OF_A_STEP = 16
"""About how many characters are looked up in the time in which one step is followed."""

_ANY = frozenset(_ALPHABET)
_DIGITS = frozenset("0123456789")
_LETTERS = _ANY - {"-", "."}
_SHORT = {"d": _DIGITS, "D": _ANY - _DIGITS, "w": _LETTERS, "W": _ANY - _LETTERS, "s": frozenset[str](), "S": _ANY}
"""Go's short names of classes, within the alphabet of names."""

_ENDS: "dict[str, Literal['begin', 'end']]" = {"^": "begin", "$": "end", "A": "begin", "z": "end"}
_REPEATS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class PatternError(ValueError):
    """A pattern that cannot be matched: why."""


class _Step(NamedTuple):
    """A step of a pattern: `take` one of `characters`, be at an end of the name, go on at one of `to`, or be done."""

    kind: Literal["take", "begin", "end", "go", "done"]
    characters: frozenset[str] = frozenset()
    to: tuple[int, ...] = ()


_Steps = list[_Step]
"""Steps whose `to` counts from the step itself, so that they can stand anywhere."""


class NamePattern:
    """A pattern that is found anywhere in a name, unless it says `^` or `$`.

    Where one can stand after some characters is worked out once and kept for a while: names of nodes are much alike. `work` is how much was
    done so far: a character is one, and working out where one stands after it is some for each step of the pattern.
    """

    __slots__ = ("_first", "_known", "_sets", "_steps", "work")

    def __init__(self, steps: Sequence[_Step]) -> None:
        self._steps = (*steps, _Step("done"))
        self._known: dict[frozenset[int], dict[str, frozenset[int]]] = {}
        self._sets: dict[frozenset[int], frozenset[int]] = {}
        self._first = self._reached([0], begin=True, end=False)
        self.work = 0

    def among(self, names: Iterable[str], most_work: int) -> list[str]:
        """The names that it is found in; after so much work the others are not looked at."""
        self.work, found = 0, []
        for name in names:
            if self.work > most_work:
                break
            if self.matches(name):
                found.append(name)
        self._forget()
        return found

    def matches(self, name: str) -> bool:
        """Whether it is found in a name, which is not empty."""
        done, at = len(self._steps) - 1, self._first
        self.work += len(name)
        for character in (*name, _END):
            if done in at:
                return True
            known = self._known.get(at)
            found = known.get(character) if known is not None else None
            at = self._after(at, character) if found is None else found
            if not at:
                return False
        return done in at

    def _forget(self) -> None:
        self._known.clear()
        self._sets.clear()

    def _after(self, at: frozenset[int], character: str) -> frozenset[int]:
        """Where one stands after a character, and also where one would begin anew behind it; nowhere, if there is no way to the end."""
        self.work += _WORK_OF_A_STEP * len(self._steps)
        if character == _END:
            found = self._reached(at, begin=False, end=True)
        else:
            taken = [step + 1 for step in at if character in self._steps[step].characters]
            found = self._reached([0, *taken], begin=False, end=False)
        if not self._may_be_done(found):
            found = frozenset()
        if len(self._sets) >= _MOST_KNOWN:
            self._forget()
        found = self._sets.setdefault(found, found)
        self._known.setdefault(at, {})[character] = found
        return found

    def _may_be_done(self, at: frozenset[int]) -> bool:
        """Whether some name could still be found from here."""
        unread, seen = list(at), set[int]()
        while unread:
            number = unread.pop()
            if number in seen:
                continue
            seen.add(number)
            step = self._steps[number]
            unread += [number + distance for distance in step.to]
            unread += [number + 1] if step.kind in ("take", "end") else []
        return len(self._steps) - 1 in seen

    def _reached(self, first: Iterable[int], begin: bool, end: bool) -> frozenset[int]:
        """All steps that are reached without a character."""
        unread, seen = list(first), set[int]()
        while unread:
            number = unread.pop()
            if number in seen:
                continue
            seen.add(number)
            step = self._steps[number]
            if step.kind == "go":
                unread += [number + distance for distance in step.to]
            elif (step.kind == "begin" and begin) or (step.kind == "end" and end):
                unread.append(number + 1)
        return frozenset(seen)


def name_pattern(text: str) -> NamePattern:
    """A pattern from its text. Raises PatternError for what Go does not take, and for what gpol does not."""
    if len(text) > LONGEST:
        raise PatternError(f"has {len(text)} characters, and at most {LONGEST} are read")
    return NamePattern(_Parser(text).whole())


class _Parser:
    """Reads a pattern from its beginning."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def whole(self) -> _Steps:
        """The steps of the whole pattern."""
        made = self._ways()
        if self.at < len(self.text):
            raise PatternError("has a `)` without a `(`")
        return made

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self) -> str:
        self.at += 1
        if self.at > len(self.text):
            raise PatternError("ends in the middle of something")
        return self.text[self.at - 1]

    def _ways(self) -> _Steps:
        """Ways with `|` between them."""
        made = self._row()
        while self._next() == "|":
            self.at += 1
            other = self._row()
            made = [_Step("go", to=(1, len(made) + 2)), *made, _Step("go", to=(len(other) + 1,)), *other]
            self._check_size(len(made))
        return made

    def _row(self) -> _Steps:
        made: _Steps = []
        while self._next() not in ("", "|", ")"):
            made += self._repeated(self._one())
            self._check_size(len(made))
        return made

    def _check_size(self, steps: int) -> None:
        if steps > _MOST_STEPS:
            raise PatternError("repeats too much")

    def _one(self) -> _Steps:
        match self._take():
            case "(":
                return self._group()
            case "[":
                return [_Step("take", self._class())]
            case ".":
                return [_Step("take", _ANY)]
            case "^" | "$" as end:
                return [_Step(_ENDS[end])]
            case "\\":
                return [self._escaped()]
            case "*" | "+" | "?" | "{" as sign:
                raise PatternError(f"has a `{sign}` that repeats nothing")
            case character:
                return [_Step("take", frozenset(character) & _ANY)]

    def _group(self) -> _Steps:
        if self._next() == "?":
            if not self.text.startswith("?:", self.at):
                raise PatternError("has flags or names in a group, `(?`, which are not read; write `(?:` or `(`")
            self.at += 2
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise PatternError(f"nests more than {_MOST_DEPTH} groups")
        made = self._ways()
        self.depth -= 1
        if self._next() != ")":
            raise PatternError("has a `(` without a `)`")
        self.at += 1
        return made

    def _escaped(self) -> _Step:
        character = self._take()
        if character in _SHORT:
            return _Step("take", _SHORT[character])
        if character in ("A", "z"):
            return _Step(_ENDS[character])
        return _Step("take", frozenset(self._literal(character)) & _ANY)

    def _literal(self, character: str) -> str:
        """A character after a backslash that stands for itself."""
        if character.isalnum() or not character.isascii():
            raise PatternError(f"has `\\{character}`, which is not read; write the characters themselves")
        return character

    # --- classes --------------------------------------------------------------------------------------------------------

    def _class(self) -> frozenset[str]:
        negated = self._next() == "^"
        self.at += negated
        found: set[str] = set()
        first = True
        while first or self._next() != "]":
            first = False
            found.update(self._part_of_class())
        self.at += 1
        return _ANY - found if negated else _ANY & found

    def _part_of_class(self) -> Iterable[str]:
        character = self._take()
        if character == "[" and self._next() == ":":
            raise PatternError("has a named class, `[:`, which is not read; write its characters, such as `a-z`")
        if character == "\\":
            character = self._take()
            if character in _SHORT:
                return _SHORT[character]
            self._literal(character)
        if self._next() != "-" or self.text[self.at + 1 : self.at + 2] in ("", "]"):
            return character
        self.at += 1
        last = self._take()
        last = self._literal(self._take()) if last == "\\" else last
        if last < character:
            raise PatternError(f"has the range `{character}-{last}`, which ends before it begins")
        return [each for each in _ALPHABET if character <= each <= last]

    # --- repeating ------------------------------------------------------------------------------------------------------

    def _repeated(self, made: _Steps) -> _Steps:
        times = self._times()
        if times is None:
            return made
        if self._next() == "?":  # which of several ways is taken does not matter
            self.at += 1
        if self._times() is not None:
            raise PatternError("repeats what is repeated; put it into a group")
        least, most = times
        self._check_size(len(made) * max(least, most or 0, 1))
        rest: Iterator[_Steps] = iter(())
        if most is None:
            rest = iter([[_Step("go", to=(1, len(made) + 2)), *made, _Step("go", to=(-len(made) - 1,))]])
        else:
            rest = ([_Step("go", to=(1, len(made) + 1)), *made] for _ in range(most - least))
        return [step for part in ([made] * least, rest) for steps in part for step in steps]

    def _times(self) -> tuple[int, int | None] | None:
        """How often what stands before is repeated, at least and at most; None where it is not."""
        sign = self._next()
        if sign in _REPEATS:
            self.at += 1
            return _REPEATS[sign]
        if sign != "{":
            return None
        body, closed, _ = self.text[self.at + 1 :].partition("}")
        least, comma, most = body.partition(",")
        numbers = [part for part in (least, most) if part]
        if not closed or not least or not all(part.isascii() and part.isdigit() and len(part) <= 4 for part in numbers):
            raise PatternError("has a `{` that says no number of times; write `{2}`, `{2,}` or `{2,5}`")
        self.at += len(body) + 2
        found = (int(least), (int(most) if most else None) if comma else int(least))
        if max(int(part) for part in numbers) > _MOST_TIMES or (found[1] is not None and found[1] < found[0]):
            raise PatternError(f"has `{{{body}}}`, which is no number of times up to {_MOST_TIMES}")
        return found

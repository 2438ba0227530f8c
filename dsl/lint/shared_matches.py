"""Pairs of `for` lines of different queues that the same workload may match."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..syntax import tree
from .text_patterns import TooManyError, Work, common_text, fixed_end, fixed_start, shortest_text

_MOST_STEPS = 4_000_000
"""So many characters of patterns and pairs are compared at most."""

_MOST_SEARCHED = 400_000
"""So many places in patterns are looked at for the shortest examples. Further examples are longer, and take no search."""

_KEY = 32
"""Patterns are sorted by so many characters of their start and end."""

MatchKey = tuple[str, str]
"""What a condition looks at, such as `namespace`, and the key of a label."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One `for` line of a queue: its patterns by what they look at."""

    queue: str
    statement: tree.Match
    tests: Mapping[MatchKey, str]


def shared_matches(claims: Sequence[Claim], work: Work | None = None) -> Iterator[tuple[Claim, Claim]]:
    """Pairs of claims of which one looks at all that the other does, and that a workload may match both. They end where work runs out.

    Claims that look at different things, such as a user and a namespace, may overlap as well, but whether there are such workloads is
    not known here.
    """
    work = Work(_MOST_STEPS) if work is None else work
    try:
        for one, other in _candidates(claims, work):
            if all(attribute in other.tests for attribute in one.tests) and all(
                common_text(one.tests[attribute], other.tests[attribute], work) is not None for attribute in one.tests
            ):
                yield one, other
    except TooManyError:
        return


class Examples:
    """Finds workloads that match two claims, in words: short ones as long as that takes little work."""

    def __init__(self) -> None:
        self.work = Work(_MOST_SEARCHED)

    def of(self, one: Claim, other: Claim) -> str:
        """A workload that matches two claims that share one."""
        attributes = sorted({*one.tests, *other.tests})
        shown = {each: self._text(one.tests.get(each, "*"), other.tests.get(each, "*")) for each in attributes}
        return " and ".join(f'{_attribute(each)} "{text}"' for each, text in shown.items())

    def _text(self, one: str, other: str) -> str:
        """A text that matches two patterns, if possible one that ends in a letter."""
        for wanted in ((one, other, "?*x"), (one, other)):
            try:
                found = shortest_text(wanted, work=self.work)
            except TooManyError:
                break
            if found is not None:
                return found
        return common_text(one, other, Work(_MOST_STEPS)) or ""


_SortKey = tuple[MatchKey, str, str]
"""What a pattern looks at, `start` or `end`, and how it starts or, backwards, how it ends."""


def _candidates(claims: Sequence[Claim], work: Work) -> Iterator[tuple[Claim, Claim]]:
    """Pairs of claims of different queues that may overlap by how their patterns start or end, the one that looks at less first.

    A claim is found by the longest fixed start or end of its patterns.
    """
    same: dict[_SortKey, list[int]] = {}
    longer: dict[_SortKey, list[int]] = {}
    for number, claim in enumerate(claims):
        for attribute, side, text in _sort_keys(claim):
            same.setdefault((attribute, side, text), []).append(number)
            for end in range(len(text)):
                longer.setdefault((attribute, side, text[:end]), []).append(number)
    for number, claim in enumerate(claims):
        attribute, side, text = max(_sort_keys(claim), key=lambda key: (len(key[2]), key))
        found = set(longer.get((attribute, side, text), ()))
        for end in range(len(text) + 1):
            found.update(same.get((attribute, side, text[:end]), ()))
        work.spend(len(found))
        for other in sorted(found):
            if claims[other].queue != claim.queue and (len(claims[other].tests) > len(claim.tests) or other > number):
                yield claim, claims[other]


def _sort_keys(claim: Claim) -> Iterator[_SortKey]:
    for attribute, pattern in claim.tests.items():
        yield attribute, "start", fixed_start(pattern)[:_KEY]
        yield attribute, "end", fixed_end(pattern)[::-1][:_KEY]


def _attribute(attribute: MatchKey) -> str:
    name, key = attribute
    return f'label "{key}"' if key else name

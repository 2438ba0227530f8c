"""How workloads come into queues that they do not name: the conditions of match rules, and the queues found by them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Condition:
    """One test of a match: attribute `namespace`, `user`, `group`, `kind` or `label` (with its key), pattern with * and ?."""

    attribute: str
    key: str | None
    pattern: str

    @property
    def is_literal(self) -> bool:
        """Whether one text alone matches the pattern."""
        return "*" not in self.pattern and "?" not in self.pattern


SaidText = tuple[str, str | None, str]
"""Something that a submission says: attribute, key and text, as in a condition."""


class Doors(NamedTuple):
    """The nodes of queues by their names; by local queues the places of queues among all queues; and by match rules.

    A conjunction stands under the first of its conditions that one text alone meets: no submission without this text meets it. `others`
    have a conjunction without such a condition.
    """

    named: Mapping[str, int]
    by_local_queue: Mapping[str, Sequence[int]]
    by_text: Mapping[SaidText, Sequence[int]]
    others: Sequence[int]

    @classmethod
    def of(
        cls, named: Mapping[str, int], local_queues: Sequence[Sequence[str]], matches: Sequence[Sequence[Sequence[Condition]]]
    ) -> "Doors":
        """The doors of queues, each with its local queues and its alternatives of conditions."""
        by_local, by_text, others = dict[str, list[int]](), dict[SaidText, list[int]](), list[int]()
        for place, names in enumerate(local_queues):
            for name in dict.fromkeys(names):
                by_local.setdefault(name, []).append(place)
        for place, alternatives in enumerate(matches):
            for conditions in alternatives:
                literal = next((each for each in conditions if each.is_literal), None)
                under = others if literal is None else by_text.setdefault((literal.attribute, literal.key, literal.pattern), [])
                under.append(place)
        return cls(named, by_local, by_text, others)

    def places(self, said: Sequence[SaidText]) -> list[int]:
        """The places of all queues that a submission which says this may belong to by a match rule, in their order, and maybe others."""
        found = [place for each in said for place in self.by_text.get(each, ())]
        return sorted({*found, *self.others})

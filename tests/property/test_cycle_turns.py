"""Turns and victims under fair sharing: what is kept from one to the next changes nothing."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from cycle_cases import Case, cycle_cases, played
from gpol.engine.reference.cycles import cycle, fair
from gpol.engine.reference.cycles.candidates import Cluster
from gpol.engine.reference.cycles.fair import Walk
from gpol.engine.reference.cycles.nominate import Nomination
from gpol.engine.reference.cycles.turns import in_turn
from hypothesis import given


def turns_anew(cluster: Cluster, nominations: list[Nomination]) -> Iterator[Nomination]:
    """The turns, with a new tournament for each."""
    left = list(nominations)
    while left:
        first = next(in_turn(cluster, left))
        left = [nomination for nomination in left if nomination is not first]
        yield first


class WalkAnew(Walk):
    """The walk for victims, begun anew for each."""

    def __init__(self, *known: Any) -> None:
        super().__init__(*known)
        self.gone: list[int] = []

    def next(self) -> int | None:
        """The queue that a walk which knows nothing of those before finds."""
        walk = Walk(self.cluster, self.wish, self.left)
        for queue in self.gone:
            walk.drop(queue)
        return walk.next()

    def drop(self, queue: int) -> None:
        """Note who gives no victim any more."""
        self.gone.append(queue)


@given(cycle_cases())
def test_what_is_kept_changes_nothing(case: Case) -> None:
    """Byte for byte the same is decided where every turn and every victim is looked for from the beginning."""
    fairly = replace(case, texts=tuple(text.replace("kueue.classical", "kueue.fair") for text in case.texts))
    kept = [event.payload() for batch in played(fairly)[1] for event in batch]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cycle, "in_turn", turns_anew)
        patch.setattr(fair, "Walk", WalkAnew)
        anew = [event.payload() for batch in played(fairly)[1] for event in batch]
    assert kept == anew

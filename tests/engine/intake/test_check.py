"""What is refused where facts come in, and is not asked of recorded ones."""

from typing import Any

import pytest
from gpol.engine.errors import FactError
from gpol.engine.facts import WorkloadSubmitted
from gpol.engine.intake.check import refuse_wishes_without_effect


def submission(*pod_sets: dict[str, Any]) -> WorkloadSubmitted:
    """A submission of these pod sets, which are called `p0`, `p1` and so on."""
    named = [{"name": f"p{number}", "requests": {"gpu": "1"}, **each} for number, each in enumerate(pod_sets)]
    return WorkloadSubmitted.model_validate({"time": 0, "workload": "w", "pod_sets": named})


SLICES = [{"level": "rack", "size": 2}]


@pytest.mark.parametrize(
    "leader",
    [
        {"within": "rack"},
        {"near": "rack"},
        {"anywhere": True},
        {"slices": SLICES},
        {"within": "block", "slices": [{"level": "rack", "size": 4}]},
    ],
)
def test_a_leader_that_asks_for_other_places_than_its_workers_is_refused(leader: dict[str, Any]) -> None:
    """Whichever comes first, and whether the workers ask for something else or for nothing: nothing would come of what it says."""
    for workers in ({}, {"within": "block", "slices": SLICES}):
        sets = [{"group": "g", **leader}, {"group": "g", "count": 4, **workers}]
        for order, said in ((sets, "`p0` leads `p1`"), (sets[::-1], "`p1` leads `p0`")):
            with pytest.raises(FactError, match=f"{said}, stands where .*; let the leader ask for the same as its workers, or for nothing"):
                refuse_wishes_without_effect(submission(*order))


@pytest.mark.parametrize(
    "sets",
    [
        ({"group": "g"}, {"group": "g", "count": 4, "within": "rack"}),
        ({"group": "g", "within": "rack", "slices": SLICES}, {"group": "g", "count": 4, "within": "rack", "slices": SLICES}),
        ({"group": "g", "within": "rack"}, {"group": "g", "near": "rack", "count": 2}, {"group": "g", "count": 3}),
        ({"group": "g", "count": 2, "within": "rack"}, {"group": "g", "count": 4}),
        ({"group": "g", "within": "rack"}, {"group": "h", "count": 4}),
        ({"within": "rack"}, {"count": 4}),
        ({"group": "g", "within": "rack"}, {"group": "g"}),
    ],
)
def test_others_may_ask_for_what_they_like(sets: tuple[dict[str, Any], ...]) -> None:
    """A leader that asks for nothing or for the same, pod sets that are placed one by one, and of two single pods the second leads."""
    refuse_wishes_without_effect(submission(*sets))

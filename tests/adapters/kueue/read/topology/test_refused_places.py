"""Where gpol decides no places, a workload with any is a problem."""

import pytest
from gpol.adapters.kueue.live.observed import observe
from gpol.adapters.kueue.live.shadow.watch.seen_workload import read_watched

from ...conftest import Json, Maker

GIVEN = {"levels": ["rack"], "domains": [{"values": ["r1"], "count": 1}]}


def with_places(kueue: Maker) -> Json:
    """A workload whose pod has a place."""
    status = kueue.admitted()
    status["admission"]["podSetAssignments"][0]["topologyAssignment"] = GIVEN
    return kueue.work(status=status)


@pytest.mark.parametrize("request_", [{"required": "rack"}, {"preferred": "rack"}, {"unconstrained": True}, {"podSetSliceSize": 1}])
def test_a_live_workload_that_asks_for_places_is_a_problem(request_: Json, kueue: Maker) -> None:
    """gpol decides about none of them, neither for Kueue nor beside it."""
    data = kueue.work(sets=[kueue.pods() | {"topologyRequest": request_}])
    for read in (observe(data, "gpol"), read_watched(data)):
        assert read.asked is None
        assert "topologyRequest" in read.problem


def test_a_live_workload_that_has_places_is_a_problem(kueue: Maker) -> None:
    """It counts for more than its quota."""
    for read in (observe(with_places(kueue), "gpol"), read_watched(with_places(kueue))):
        assert read.asked is None
        assert "topologyAssignment: is of a topology, which gpol does not decide on a live cluster yet" in read.problem


def test_other_live_workloads_are_read(kueue: Maker) -> None:
    """A group of pod sets asks for no places."""
    data = kueue.work(sets=[kueue.pods() | {"topologyRequest": {"podSetGroupName": "g"}}], status=kueue.admitted())
    for read in (observe(data, "gpol"), read_watched(data)):
        assert read.asked is not None
        assert read.problem == ""

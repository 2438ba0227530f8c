"""The results of impact in words: where two histories part."""

from gpol.engine.event_parts import Assignment, Charge, PlacedPods
from gpol.engine.events import WorkloadAdmitted
from gpol.engine.outcome.grounds import Why
from gpol.sim.impact.history_diff import Parting
from gpol.sim.report.impact_wording import parting_told


def admitted(node: str, queue: str = "q") -> WorkloadAdmitted:
    """An admission of a pod to a node."""
    places = (PlacedPods(domain=(node,), pods=1),)
    return WorkloadAdmitted(
        time=1,
        cause=1,
        workload="w",
        queue=queue,
        priority=0,
        reason="FitsOwned",
        assignments=(Assignment(pod_set="main", count=1, flavors={"gpu": "h100"}, places=places),),
        usage=(Charge(flavor="h100", resource="gpu", amount=1000),),
        borrowed=(),
        why=Why(),
    )


def test_histories_that_part_by_places_alone() -> None:
    """Where the first lines are the same, what differs is told after them: on which nodes the pods stand."""
    before, after = parting_told(Parting(1, ((7, admitted("n1")),), (admitted("n2"),)))

    same = "w admitted to q on 1 gpu of h100: FitsOwned"
    assert (before, after) == ([same, "w places of main: n1"], [same, "w places of main: n2"])


def test_histories_that_part_by_more() -> None:
    """Where the first lines differ, those alone are told, and of no decision that there is none."""
    before, after = parting_told(Parting(1, ((7, admitted("n1")),), (admitted("n2", "r"),)))

    assert (before, after) == (["w admitted to q on 1 gpu of h100: FitsOwned"], ["w admitted to r on 1 gpu of h100: FitsOwned"])
    assert parting_told(Parting(1, (), (admitted("n2"),)))[0] == ["nothing"]

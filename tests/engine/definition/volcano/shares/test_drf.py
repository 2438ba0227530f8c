"""Dominant shares: who comes first, who yields, and the branches of a tree."""

from fractions import Fraction

from gpol.engine.definition.volcano.shares.branch_shares import BranchShares
from gpol.engine.definition.volcano.shares.drf import DominantShares
from volcano_cycles import GivenJob, GivenQueue, cycle_with

TOTAL = (9_000, 18_000, 0)
"""The cluster of Ghodsi et al., NSDI 2011: 9 CPUs and 18 GB."""

BRANCHES = [GivenQueue("a", hierarchy="root/eng/a", weights="1/1/1"), GivenQueue("b", hierarchy="root/sci/b", weights="1/3/1")]


def test_the_example_of_the_paper() -> None:
    """Three tasks of 1 CPU and 4 GB, and two of 3 CPUs and 1 GB, are two thirds of memory and of cpu: nobody comes first."""
    jobs = [GivenJob("q", (1_000, 4_000, 0), running=3), GivenJob("q", (3_000, 1_000, 0), running=2)]
    drf = DominantShares(cycle_with(TOTAL, [GivenQueue("q")], jobs))
    assert {job: round(share, 9) for job, share in drf.shares().items()} == {0: Fraction(666666667, 10**9), 1: Fraction(666666667, 10**9)}
    first, second = drf.cycle.session.workloads
    assert drf.job_order(first, second) == 0


def test_who_has_less_comes_first_and_takes() -> None:
    """Candidates go while their workload has no less without them than the pod's with it; equal is no less."""
    jobs = [GivenJob("q", (1_000, 0, 0), running=1, waiting=1), GivenJob("q", (1_000, 0, 0), running=4)]
    cycle = cycle_with(TOTAL, [GivenQueue("q")], jobs)
    drf = DominantShares(cycle)
    assert drf.job_order(*cycle.session.workloads) == -1
    waiting = next(pod for pod in cycle.session.pods if pod.node < 0)
    candidates = cycle.session.pods_of(cycle.session.workloads[1])
    assert drf.preemptable(waiting, candidates) == candidates[:2]


def test_branches_are_compared_by_share_and_weight() -> None:
    """A branch of weight 3 with two thirds comes before one of weight 1 with one third; both want more."""
    jobs = [GivenJob("a", (1_000, 0, 0), running=3, waiting=3), GivenJob("b", (1_000, 0, 0), running=5, waiting=3)]
    branches = BranchShares(cycle_with(TOTAL, BRANCHES, jobs))
    assert branches.queue_order(1, 2) == 1
    assert branches.queue_order(2, 1) == -1
    assert branches.queue_order(1, 1) == 0


def test_who_wants_no_more_comes_last() -> None:
    """A branch whose workloads have all they ask for is saturated."""
    jobs = [GivenJob("a", (1_000, 0, 0), running=5, waiting=3), GivenJob("b", (1_000, 0, 0), running=1)]
    branches = BranchShares(cycle_with(TOTAL, BRANCHES, jobs))
    assert branches.queue_order(1, 2) == -1


def test_shares_follow_what_is_moved() -> None:
    """The order is that of now, also after pods were moved and moves undone."""
    jobs = [GivenJob("a", (1_000, 0, 0), running=1, waiting=3), GivenJob("b", (1_000, 0, 0), running=5, waiting=3)]
    cycle = cycle_with(TOTAL, BRANCHES, jobs)
    branches = BranchShares(cycle)
    assert branches.queue_order(1, 2) == -1
    mark = cycle.mark()
    for pod in [pod for pod in cycle.session.pods if pod.node < 0 and pod.workload == 0][:2]:
        cycle.reserve(pod, 0)
    assert branches.queue_order(1, 2) == 1
    cycle.undo(mark)
    assert branches.queue_order(1, 2) == -1


def test_victims_of_branches_that_still_come_after() -> None:
    """A candidate goes if its branch has more without it than the other one with the pod."""
    jobs = [GivenJob("a", (1_000, 0, 0), running=1, waiting=2), GivenJob("b", (1_000, 0, 0), running=7, waiting=2)]
    cycle = cycle_with(
        TOTAL, [GivenQueue("a", hierarchy="root/a", weights="1/1"), GivenQueue("b", hierarchy="root/b", weights="1/1")], jobs
    )
    branches = BranchShares(cycle)
    waiting = next(pod for pod in cycle.session.pods if pod.node < 0)
    candidates = [pod for pod in cycle.session.pods if pod.workload == 1 and pod.node == 0]
    assert branches.victims(waiting, candidates) == candidates
    back = next(pod for pod in cycle.session.pods if pod.node < 0 and pod.workload == 1)
    assert branches.victims(back, [pod for pod in cycle.session.pods if pod.workload == 0 and pod.node == 0]) == []

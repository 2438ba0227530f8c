"""Figures: every one is computed here by hand, and a stream of events that contradicts itself is caught."""

from collections.abc import Callable

import pytest
from gpol.engine.cores import PlayedBatch
from gpol.engine.event_parts import Charge
from gpol.engine.events import AnyDecision, WorkloadAdmitted, WorkloadEvicted, WorkloadRejected, WorkloadReplaced
from gpol.engine.facts import (
    CapacityChanged,
    Fact,
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    WorkloadAdopted,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadUpdated,
)
from gpol.engine.outcome.grounds import Why
from gpol.engine.units import HOUR, MINUTE, SECOND
from gpol.sim.drive.job import Job
from gpol.sim.drive.policy import Policy
from gpol.sim.measure.measure import NO_QUEUE, AccountError, Measure, QueueFigures
from policy_texts import PROTECTED, TWO_QUEUES

THREE = """
policy "three" { use gpol.fair }
flavor a100 { gpu 16 }
cohort all {
  queue big { owns 12 gpu }
  queue small { owns 4 gpu }
  queue guest { owns nothing }
}
"""

WHY = Why()

Make = Callable[..., Policy]
MakeJob = Callable[..., Job]
Run = Callable[..., list[PlayedBatch]]


def _measured(policy: Policy, batches: list[PlayedBatch]) -> Measure:
    measure = Measure()
    for fact, decisions in batches:
        measure.take(fact, decisions, policy.graph)
    return measure


def _gpu_hours(area: int) -> float:
    return area / (1000 * HOUR)


def _admitted(workload: str, queue: str, gpus: int, time: int = 0) -> WorkloadAdmitted:
    usage = (Charge(flavor="a100", resource="gpu", amount=gpus * 1000),)
    return WorkloadAdmitted(
        time=time,
        cause=1,
        workload=workload,
        queue=queue,
        priority=0,
        reason="FitsOwned",
        assignments=(),
        usage=usage,
        borrowed=(),
        why=WHY,
    )


def _rejected(workload: str) -> WorkloadRejected:
    return WorkloadRejected(time=0, cause=1, workload=workload, queue=None, reason="Denied", why=WHY)


def _evicted(workload: str, queue: str) -> WorkloadEvicted:
    return WorkloadEvicted(
        time=0,
        cause=1,
        workload=workload,
        queue=queue,
        priority=0,
        reason="EvictedByOperator",
        beneficiary=None,
        preemption="operator",
        usage=(),
        why=WHY,
    )


def test_gpu_hours_borrowed_and_lent(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A guest with 8 GPUs for 2 hours uses and borrows 16 GPU-hours, lent by the two owners in proportion to what they leave idle."""
    used = policy(THREE)
    measure = _measured(used, simulated(used, [job("g", "guest", "0s", "2h", "8")]))

    guest, big, small = (measure.queues[name] for name in ("guest", "big", "small"))
    assert (_gpu_hours(guest.used_area), _gpu_hours(guest.borrowed_area), _gpu_hours(guest.lent_area)) == (16, 16, 0)
    assert (_gpu_hours(big.lent_area), _gpu_hours(small.lent_area)) == (12, 4)
    assert (big.used_area, small.borrowed_area) == (0, 0)
    assert (measure.start, measure.end, measure.facts, measure.decisions) == (0, 2 * HOUR, 3, 1)


def test_only_what_is_beyond_the_owned_is_borrowed(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A queue that owns 4 and uses 6 for an hour borrows 2 GPU-hours."""
    used = policy(THREE)
    measure = _measured(used, simulated(used, [job("s", "small", "0s", "1h", "6")]))

    assert _gpu_hours(measure.queues["small"].used_area) == 6
    assert _gpu_hours(measure.queues["small"].borrowed_area) == 2
    assert _gpu_hours(measure.queues["big"].lent_area) == 2


TWO_FLAVORS = """
policy "flavors" { use gpol.fair }
flavor a100 { gpu 8 }
flavor h100 { gpu 8 }
cohort all {
  queue first { owns 8 gpu on a100 }
  queue second { owns 4 gpu on h100 }
}
"""


def test_each_flavor_counts_by_itself(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A queue that owns 8 a100 and uses 8 h100 borrows 8: 4 that nobody owns and the 4 that the other queue owns and lends."""
    used = policy(TWO_FLAVORS)
    on_h100 = ({"requests": {"gpu": "8"}, "flavors": ("h100",)},)
    measure = _measured(used, simulated(used, [job("a", "first", "0s", "1h", pod_sets=on_h100)]))

    first, second = measure.queues["first"], measure.queues["second"]
    assert (_gpu_hours(first.used_area), _gpu_hours(first.borrowed_area), _gpu_hours(first.lent_area)) == (8, 8, 0)
    assert (_gpu_hours(second.used_area), _gpu_hours(second.borrowed_area), _gpu_hours(second.lent_area)) == (0, 0, 4)


def test_only_room_of_a_flavor_that_will_do_entitles(policy: Make, job: MakeJob) -> None:
    """A workload that only runs on h100 does not fit what its queue owns of a100; one of two pod sets on a100 must fit with both."""
    used = policy(TWO_FLAVORS)
    measure = Measure()
    measure.take(used.activation(0), [], used.graph)
    for name, queue, pod_sets in (
        ("elsewhere", "first", [{"requests": {"gpu": "8"}, "flavors": ("h100",)}]),
        ("both", "first", [{"name": "x", "requests": {"gpu": "4"}}, {"name": "y", "requests": {"gpu": "4"}, "flavors": ("a100",)}]),
        ("large", "first", [{"name": "x", "requests": {"gpu": "8"}}, {"name": "y", "requests": {"gpu": "1"}}]),
        ("little", "second", [{"requests": {"gpu": "4"}}]),
        ("none", "second", [{"requests": {"cpu": "4"}}]),
    ):
        measure.take(job(name, queue, "0s", "1h", pod_sets=pod_sets).fact, [], used.graph)

    assert (sorted(measure.queues["first"].entitled), sorted(measure.queues["second"].entitled)) == (["both"], ["little"])


def test_a_policy_with_other_owners_counts_from_then_on(policy: Make, job: MakeJob) -> None:
    """When the guest's queue becomes the owner of what it uses, it borrows no more; capacity that a fact has set stays."""
    swapped = TWO_QUEUES.replace("owner { owns 8 gpu }", "owner { owns nothing }").replace("guest { owns nothing }", "guest { owns 8 gpu }")
    first, second = policy(TWO_QUEUES), policy(swapped)
    measure = Measure()
    measure.take(first.activation(0), [], first.graph)
    measure.take(CapacityChanged(time=0, flavor="a100", capacity={"gpu": 9000}), [], first.graph)
    measure.take(job("g", "guest", "0s", "1h").fact, [_admitted("g", "guest", 8)], first.graph)
    guest, owner = measure.queues["guest"], measure.queues["owner"]
    assert (guest.borrowed, owner.lent, measure.capacity) == (8000, 7000, {("a100", "gpu"): 9000})

    measure.take(second.activation(HOUR), [], second.graph)

    assert (guest.borrowed, guest.lent, owner.borrowed, owner.lent) == (0, 0, 0, 0)
    assert (_gpu_hours(guest.borrowed_area), _gpu_hours(owner.lent_area)) == (8, 7)
    assert measure.capacity == {("a100", "gpu"): 9000}


NODES = """
policy "nodes" { use gpol.fair }
flavor a100 { gpu from nodes where model = "A100" }
queue owner { owns 8 gpu }
"""


def test_machines_are_recounted(policy: Make, job: MakeJob) -> None:
    """What exists is the sum over the nodes that match, as they join, change and leave; more in use than that is caught."""
    used = policy(NODES)
    measure = Measure()
    measure.take(used.activation(0), [], used.graph)
    for fact, exists in (
        (NodeAdded(time=0, node="n1", labels={"model": "A100"}, capacity={"gpu": 4000}), 4000),
        (NodeAdded(time=0, node="n2", labels={"model": "T4"}, capacity={"gpu": 4000}), 4000),
        (NodeChanged(time=0, node="n2", labels={"model": "A100"}, capacity={"gpu": 3000, "cpu": 8000}), 7000),
        (NodeRemoved(time=0, node="n1"), 3000),
    ):
        measure.take(fact, [], used.graph)
        assert measure.capacity == {("a100", "gpu"): exists}

    with pytest.raises(AccountError, match="4000 gpu on a100 are in use, 3000 exist"):
        measure.take(job("a", "owner", "0s", "1h").fact, [_admitted("a", "owner", 4)], used.graph)


def test_counts_of_what_happened(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A guest that is evicted once and runs again is admitted twice and finishes once."""
    used = policy()
    measure = _measured(used, simulated(used, [job("g", "guest", "0s", "1h"), job("o", "owner", "30m", "1h")]))

    guest = measure.queues["guest"]
    assert (guest.submitted, guest.admitted, guest.evicted, guest.finished) == (1, 2, 1, 1)
    assert (guest.cancelled, guest.rejected, guest.waiting, guest.running) == (0, 0, {}, {})
    measure.check_accounts()


def test_waits_run_from_submission_and_from_eviction(policy: Make, job: MakeJob, simulated: Run) -> None:
    """The guest is admitted at once, evicted, and waits an hour for the owner: mean half an hour, longest an hour."""
    used = policy()
    measure = _measured(used, simulated(used, [job("g", "guest", "0s", "1h"), job("o", "owner", "30m", "1h")]))

    guest = measure.queues["guest"]
    assert (guest.wait_total, guest.wait_most, guest.mean_wait()) == (HOUR, HOUR, 30 * MINUTE)
    assert dict(guest.waits) == {0: 1, 3600: 1}


@pytest.mark.parametrize(("percent", "expected"), [(5, 1), (6, 2), (50, 10), (95, 19), (96, 20), (100, 20)])
def test_percentile_is_the_nearest_rank(percent: int, expected: int) -> None:
    """Of the waits 1 to 20 seconds, 19 are at most as long as the 95th percentile, 19 s."""
    figures = QueueFigures("q")
    figures.waits.update(range(1, 21))

    assert figures.wait_percentile(percent) == expected


def test_waits_are_rounded_up_to_seconds(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A wait of one microsecond counts as a second in the percentile, and exactly in the longest wait."""
    used = policy()
    measure = _measured(used, simulated(used, [job("a", "owner", "0s", "1s"), job("b", "owner", "999999us", "1s")]))

    assert measure.queues["owner"].wait_percentile(100) == 1
    assert measure.queues["owner"].wait_most == 1


def test_a_queue_without_admissions_has_no_waits() -> None:
    """Mean and percentile of nothing are 0."""
    assert (QueueFigures("q").mean_wait(), QueueFigures("q").wait_percentile(95)) == (0, 0)


def test_an_owner_waits_no_longer_than_the_protection(policy: Make, job: MakeJob, simulated: Run) -> None:
    """An owner submitted a minute after the guest, which is protected for ten, waits nine minutes for its own."""
    used = policy(PROTECTED)
    measure = _measured(used, simulated(used, [job("g", "guest", "0s", "1h"), job("o", "owner", "1m", "1h")]))

    assert measure.queues["owner"].owner_wait_most == 9 * MINUTE
    assert measure.queues["guest"].owner_wait_most == 0


def test_an_owner_that_waits_behind_its_own_is_not_kept_from_what_it_owns(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A workload that waits for another of its own queue counts into the longest wait, not into the longest owner wait."""
    used = policy()
    measure = _measured(used, simulated(used, [job("a", "owner", "0s", "1h"), job("b", "owner", "0s", "1h")]))

    assert measure.queues["owner"].wait_most == HOUR
    assert measure.queues["owner"].owner_wait_most == 0


def test_an_owner_that_still_waits_counts(policy: Make, job: MakeJob) -> None:
    """An owner that fits what its queue owns and is not admitted has waited up to now."""
    used = policy()
    measure = Measure()
    measure.take(used.activation(0), [], used.graph)
    measure.take(job("o", "owner", "0s", "1h").fact, [], used.graph)
    measure.take(CapacityChanged(time=5 * SECOND, flavor="a100", capacity={"gpu": 8000}), [], used.graph)

    assert measure.queues["owner"].owner_wait_most == 0
    assert measure.queues["owner"].owner_wait(measure.end) == 5 * SECOND


def test_a_workload_of_no_queue_is_counted_apart(policy: Make, job: MakeJob, simulated: Run) -> None:
    """A workload whose queue does not exist is submitted and rejected under a name of its own."""
    used = policy()
    measure = _measured(used, simulated(used, [job("a", "nowhere", "0s", "1h")]))

    assert (measure.queues[NO_QUEUE].submitted, measure.queues[NO_QUEUE].rejected) == (1, 1)
    measure.check_accounts()


def test_a_workload_that_is_charged_nothing_runs(policy: Make, job: MakeJob, simulated: Run) -> None:
    """Where every resource is ignored a workload is charged nothing, and still runs until it ends."""
    used = policy('policy "p" {\n  ignore cpu\n}\nflavor a100 { gpu 8 }\nqueue owner { owns 8 gpu }\n')
    only_cpu = job("a", "owner", "0s", "1h", pod_sets=({"requests": {"cpu": "4"}},))
    batches = simulated(used, [only_cpu])

    assert _measured(used, batches[:2]).queues["owner"].running == {"a": 0}
    assert _measured(used, batches).queues["owner"].running == {}


def test_whose_place_is_taken_is_over(policy: Make, job: MakeJob) -> None:
    """It counts as finished, and what it held is charged to the one in its place alone."""
    used = policy()
    charges = (Charge(flavor="a100", resource="gpu", amount=8000),)
    replaced = WorkloadReplaced(time=0, cause=1, workload="a", queue="owner", by="b", usage=charges, why=WHY)
    measure = Measure()
    measure.take(used.activation(0), [], used.graph)
    measure.take(job("a", "owner", "0s", "1h").fact, [_admitted("a", "owner", 8)], used.graph)
    measure.take(job("b", "owner", "0s", "1h").fact, [replaced, _admitted("b", "owner", 8)], used.graph)
    measure.check_accounts()

    figures = measure.queues["owner"]
    assert (figures.finished, list(figures.running), figures.used) == (1, ["b"], 8000)


def test_pods_that_are_done_are_charged_no_longer(policy: Make, job: MakeJob) -> None:
    """Of three pods asked for two run, so the first that is done was not among them."""
    used = policy()
    pods = ({"count": 3, "requests": {"gpu": "4"}},)
    placement = {"pod_set": "main", "count": 2, "flavors": {"gpu": "a100"}, "usage": {"gpu": 8000}}
    adopted = WorkloadAdopted.model_validate({"time": 0, "workload": "a", "queue": "owner", "since": 0, "placements": [placement]})
    measure = Measure()
    measure.take(used.activation(0), [], used.graph)
    measure.take(job("a", "owner", "0s", "1h", pod_sets=pods).fact, [], used.graph)
    measure.take(adopted, [], used.graph)
    for done, left in ((1, 8000), (2, 4000), (3, 0)):
        measure.take(WorkloadUpdated(time=0, workload="a", reclaimable={"main": done}), [], used.graph)
        assert measure.queues["owner"].used == left
    measure.check_accounts()


Stream = list[tuple[Fact | None, list[AnyDecision]]]


@pytest.mark.parametrize(
    ("fact", "decisions", "problem"),
    [
        (None, [_admitted("a", "owner", 8)], "`a` is admitted, but runs already"),
        (None, [_admitted("b", "owner", 1)], "`b` is decided about, but is not live"),
        (None, [_evicted("a", "owner"), _evicted("a", "owner")], "`a` is evicted, but does not run"),
        (None, [_rejected("a"), _evicted("a", "owner")], "`a` is decided about, but is not live"),
        (WorkloadFinished(time=0, workload="b"), [], "`b` ends, but is not live"),
        (WorkloadCancelled(time=0, workload="b"), [], "`b` ends, but is not live"),
        ("guest", [_admitted("g", "guest", 1)], "9000 gpu on a100 are in use, 8000 exist"),
    ],
)  # fmt: skip
def test_a_contradicting_stream_is_caught(
    policy: Make, job: MakeJob, fact: Fact | str | None, decisions: list[AnyDecision], problem: str
) -> None:
    """With `a` running on all 8 GPUs, whatever cannot follow raises AccountError and says what contradicts what."""
    used = policy()
    measure = Measure()
    measure.take(used.activation(0), [], used.graph)
    measure.take(job("a", "owner", "0s", "1h").fact, [_admitted("a", "owner", 8)], used.graph)
    next_fact = job("g", "guest", "0s", "1h", "1").fact if fact == "guest" else fact or used.activation(0)

    with pytest.raises(AccountError) as caught:
        measure.take(next_fact, decisions, used.graph)

    assert str(caught.value) == problem


def test_a_charge_on_an_unknown_flavor_is_caught(policy: Make, job: MakeJob) -> None:
    """Of a flavor that nobody declared, nothing exists."""
    used = policy()
    measure = Measure()
    measure.take(used.activation(0), [], used.graph)
    admission = _admitted("a", "owner", 1).model_copy(update={"usage": (Charge(flavor="h100", resource="gpu", amount=1000),)})

    with pytest.raises(AccountError, match="1000 gpu on h100 are in use, 0 exist"):
        measure.take(job("a", "owner", "0s", "1h").fact, [admission], used.graph)


def test_a_workload_that_is_nowhere_is_caught(policy: Make, job: MakeJob) -> None:
    """The sums at the end notice a submission that neither lives nor ended."""
    used = policy()
    measure = Measure()
    measure.take(used.activation(0), [], used.graph)
    measure.take(job("a", "owner", "0s", "1h").fact, [_admitted("a", "owner", 8)], used.graph)
    measure.check_accounts()
    measure.queues["owner"].submitted += 1

    with pytest.raises(AccountError, match="queue `owner`: 2 submitted, 0 ended, 1 live"):
        measure.check_accounts()

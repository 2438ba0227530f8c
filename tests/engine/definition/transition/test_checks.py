"""Which facts are possible: everything else is refused whole, with what is wrong, and changes nothing."""

import pytest
from gpol.dsl import compile_policy
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.errors import FactError
from gpol.engine.facts import FACT, Fact, PolicyActivated
from gpol.engine.workload import Workload

POLICY = """policy "checks" { }
flavor a100 { gpu 8 }
flavor h100 { gpu from nodes where model = "h100" }
flavor fast { gpu from nodes where speed = "fast" }
priority high 10
queue nlp {
  for namespace "nlp-*"
  owns 4 gpu on a100
}
queue other {
  for user "ada"
  for label "team" = "o?"
}
"""

SUBMIT = {
    "kind": "WorkloadSubmitted",
    "workload": "w",
    "queue": "nlp",
    "pod_sets": [{"count": 2, "requests": {"gpu": "1"}, "flavors": ["a100"]}],
}


def activation(text: str = POLICY, time: int = 0) -> PolicyActivated:
    """The fact that activates a policy."""
    return PolicyActivated(time=time, file="checks.gpol", text=text, digest=compile_policy(text, "checks.gpol").digest)


def fact(**fields: object) -> Fact:
    """A fact at time 10 unless it says otherwise."""
    return FACT.validate_python({"time": 10, **fields})


def live(core: Core, name: str) -> Workload:
    """A workload that is there."""
    found = core.view.workload(name)
    assert found is not None
    return found


@pytest.fixture
def core() -> Core:
    """A core under the policy, where `w` runs in `nlp` and `big` waits there."""
    made = new_core()
    made.step(activation(), compile_policy(POLICY, "checks.gpol"))
    made.step(fact(**SUBMIT))
    made.step(fact(**{**SUBMIT, "workload": "big", "pod_sets": [{"requests": {"gpu": "9"}}]}))
    made.step(fact(kind="NodeAdded", node="n1", labels={"model": "h100"}, capacity={"gpu": "4"}))
    return made


REFUSED = {
    "time runs backwards": {"kind": "TimeAdvanced", "time": 9},
    "already submitted": SUBMIT,
    "has no flavor `v100`": {"kind": "CapacityChanged", "flavor": "v100", "capacity": {"gpu": "1"}},
    "takes its capacity from nodes": {"kind": "CapacityChanged", "flavor": "h100", "capacity": {"gpu": "1"}},
    "has no cpu": {"kind": "CapacityChanged", "flavor": "a100", "capacity": {"cpu": "1"}},
    "is already there": {"kind": "NodeAdded", "node": "n1", "capacity": {}},
    "no node `n2` was added": {"kind": "NodeRemoved", "node": "n2"},
    "matches several flavors": {"kind": "NodeAdded", "node": "n3", "labels": {"model": "h100", "speed": "fast"}, "capacity": {"gpu": "1"}},
    "no live workload is called `x`": {"kind": "WorkloadCancelled", "workload": "x"},
    "cannot finish": {"kind": "WorkloadFinished", "workload": "big"},
    "cannot be evicted": {"kind": "OperatorAction", "by": "o", "action": "evict", "workload": "big"},
    "runs, so it cannot be held; evict": {"kind": "OperatorAction", "by": "o", "action": "hold", "workload": "w"},
    "no priority `urgent`": {"kind": "WorkloadUpdated", "workload": "w", "priority": "urgent"},
    "runs, so it cannot be held": {"kind": "WorkloadUpdated", "workload": "w", "hold": True},
    "has no pod set `side`": {"kind": "WorkloadUpdated", "workload": "w", "reclaimable": {"side": 1}},
    "reclaimable cannot be 3": {"kind": "WorkloadUpdated", "workload": "w", "reclaimable": {"main": 3}},
}


@pytest.mark.parametrize("problem", sorted(REFUSED))
def test_impossible_facts_are_refused(core: Core, problem: str) -> None:
    """A fact that cannot have happened is refused by name, and nothing of it is applied."""
    seq, time = core.seq, core.time

    with pytest.raises(FactError, match=problem):
        core.step(fact(**REFUSED[problem]))

    assert (core.seq, core.time) == (seq, time)


def test_facts_need_a_policy() -> None:
    """Nothing can happen before a policy is active."""
    with pytest.raises(FactError, match="start with PolicyActivated"):
        new_core().step(fact(**SUBMIT))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [("queue nlp", "queue nlq", "no queue `nlp`"), ("flavor a100 { gpu 8 }", "flavor b100 { gpu 8 }", "no gpu on flavor `a100`")],
)
def test_policies_keep_what_runs(core: Core, old: str, new: str, problem: str) -> None:
    """A policy without the queue or the flavor that a running workload uses is refused."""
    text = POLICY.replace(old, new).replace("on a100", "on b100" if "b100" in new else "on a100")

    with pytest.raises(FactError, match=problem):
        core.step(activation(text, 10), compile_policy(text, "checks.gpol"))


def test_a_policy_change_moves_what_runs_and_judges_what_waits(core: Core) -> None:
    """Running workloads keep their place; nodes keep their flavor; a waiting workload that is denied now is rejected."""
    text = POLICY + 'deny big { where workload.gpu > 8 } because "too big"\n'

    [rejected] = core.step(activation(text, 10), compile_policy(text, "checks.gpol"))

    assert (rejected.kind, rejected.workload) == ("WorkloadRejected", "big")
    assert [core.view.capacity(slot) for slot in range(3)] == [8000, 0, 4000]  # a100, fast, h100
    assert live(core, "w").usage == ((0, 2000),)


def test_done_pods_are_free_again(core: Core) -> None:
    """Reclaimable pods are no longer charged, and an updated priority counts from then on."""
    core.step(fact(kind="WorkloadUpdated", workload="w", reclaimable={"main": 1}, priority="high"))

    workload = live(core, "w")
    assert (workload.usage, workload.priority, workload.remaining) == (((0, 1000),), 10, (1,))


def test_nodes_carry_capacity(core: Core) -> None:
    """A flavor from nodes has what its nodes have, as they come, change and go."""
    core.step(fact(kind="NodeChanged", node="n1", labels={"model": "h100"}, capacity={"gpu": "6"}))
    assert core.view.capacity(2) == 6000
    core.step(fact(kind="NodeRemoved", node="n1"))
    assert core.view.capacity(2) == 0


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ({"namespace": "nlp-x"}, "WorkloadAdmitted"),
        ({"labels": {"team": "o1"}}, "WorkloadAdmitted"),
        ({"user": "ada", "namespace": "nlp-x"}, "MatchesSeveralQueues"),
        ({"user": "bob"}, "NoMatchingQueue"),
        ({"queue": "nowhere"}, "NoMatchingQueue"),
        ({"queue": "nlp", "priority": "urgent"}, "UnknownPriority"),
    ],
)
def test_matching(core: Core, said: dict[str, object], outcome: str) -> None:
    """A submission goes to the one queue that it names or matches; none, two, or an unknown priority reject it."""
    [decision] = core.step(fact(kind="WorkloadSubmitted", workload="new", pod_sets=[{"requests": {"gpu": "1"}}], **said))

    assert outcome in (decision.kind, decision.reason)

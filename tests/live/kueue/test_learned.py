"""What gpol learns from a Workload: each fact, from the two states between which it lies."""

from dataclasses import replace

import pytest
from gpol.adapters.kueue.live.learned import KUEUE, SliceStanding, Surroundings, learn
from gpol.adapters.kueue.live.protocol import Mark
from gpol.adapters.live.learned_facts import gone
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import PolicyActivated, WorkloadSubmitted
from gpol.engine.workload import Workload
from workload_states import JOURNAL, NOW, POLICY, STEPS, Json, after, plain, policy, seen


@pytest.fixture
def core() -> Core:
    """A core under the policy, without workloads."""
    graph, made = policy(), new_core()
    made.step(PolicyActivated(time=NOW, file="live.gpol", text=POLICY, digest=graph.digest), graph)
    return made


EIGHT = (PodSet(requests={"gpu": 8000}),)
READS_TEAM = """queue research {
  for namespaces where label "team" in "nlp"
  owns 8 gpu on h100
}"""


def around(core: Core, **labels: str) -> Surroundings:
    """The policy, and a namespace with labels."""
    assert core.graph is not None
    return Surroundings(core.graph, {"tier": "prod", **labels}, {"gpu": "nvidia.com/gpu"}, {"research": "research"}, {})


def kinds(core: Core, workload: Json, seq: int | None = None, **labels: str) -> list[str]:
    """The kinds of the next facts, with what an operator does; they are played."""
    known = core.view.workload("team/a")
    decided = None if seq is None else Mark(JOURNAL, seq)
    learned = learn(seen(workload), known, decided, around(core, **labels), NOW)
    assert not learned.problem
    for fact in learned.facts:
        core.step(fact)
    return [f"{fact.kind} {getattr(fact, 'action', '')}".strip() for fact in learned.facts]


def known(core: Core) -> Workload:
    """What the core knows of the workload."""
    found = core.view.workload("team/a")
    assert found is not None
    return found


def test_one_that_asks_is_submitted_with_what_it_asks_for(core: Core) -> None:
    """Its queue is that of its ClusterQueue, its resource gpu that of the cluster, and there cannot be fewer pods."""
    learned = learn(seen(after(plain(), STEPS.reserve)), None, None, around(core), NOW)
    (fact,) = learned.facts
    assert isinstance(fact, WorkloadSubmitted)
    assert (fact.workload, fact.uid, fact.queue, fact.priority) == ("team/a", "uid-a", "research", 3)
    assert (fact.pod_sets[0].count, fact.pod_sets[0].min_count, fact.pod_sets[0].requests) == (2, None, {"gpu": 2000})
    assert fact.namespace_labels == {"tier": "prod"}
    assert fact.created == NOW - 3_600_000_000


@pytest.mark.parametrize(
    ("queue", "cluster_queues", "outcome"),
    [
        ('queue other { local queue "team/research" }', {"research": "research"}, ("WorkloadAdmitted", "other")),
        ('queue other { for namespace "team" }', {"research": "research"}, ("WorkloadAdmitted", "research")),
        ('queue other { for namespace "team" }', {}, ("WorkloadAdmitted", "other")),
        ('queue other { for namespace "others" }', {}, ("WorkloadRejected", None)),
    ],
)
def test_which_queue_comes_first(core: Core, queue: str, cluster_queues: dict[str, str], outcome: tuple[str, str | None]) -> None:
    """That of the LocalQueue, then that of the ClusterQueue, then that whose `for` lines match; without any it is rejected."""
    graph = policy(POLICY + queue)
    core.step(PolicyActivated(time=NOW, file="live.gpol", text=POLICY + queue, digest=graph.digest), graph)
    surroundings = Surroundings(graph, {}, {"gpu": "nvidia.com/gpu"}, cluster_queues, {})
    [fact] = learn(seen(after(plain(), STEPS.reserve)), None, None, surroundings, NOW).facts
    [decision] = core.step(fact)
    assert (decision.kind, getattr(decision, "queue", None)) == outcome


def test_a_priority_boost_counts_for_nothing(core: Core) -> None:
    """The annotation has an effect in Kueue's own order only."""
    workload = after(plain(), STEPS.reserve)
    workload["metadata"]["annotations"] = {"kueue.x-k8s.io/priority-boost": "7"}
    [fact] = learn(seen(workload), None, None, around(core), NOW).facts
    assert isinstance(fact, WorkloadSubmitted)
    assert (fact.priority, fact.boost) == (3, 0)


@pytest.mark.parametrize("step", ["nothing", "inactive", "evicted", "no check", "running without a check of ours", "finished", "deleted"])
def test_nothing_is_learned_of_one_that_does_not_ask(core: Core, step: str) -> None:
    """Kueue has to have reserved quota, and nothing of the workload may run."""
    workload = plain()
    match step:
        case "inactive":
            workload = after(plain(active=False))
        case "evicted":
            workload = after(workload, STEPS.reserve, lambda it: STEPS.evict(it, "Deactivated"))
        case "no check":
            workload = after(workload, STEPS.reserve)
            workload["status"]["admissionChecks"] = []
        case "running without a check of ours":
            workload = after(workload, STEPS.reserve)
            STEPS.set(workload["status"], "Admitted", "True", "Admitted")
        case "finished":
            workload = after(workload, STEPS.reserve, STEPS.finish)
        case "deleted":
            workload = after(workload, STEPS.reserve)
            workload["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z"
    assert learn(seen(workload), None, None, around(core), NOW).facts == ()


def test_a_life_from_its_submission_to_its_end(core: Core) -> None:
    """Submitted, let run, stopped by Kueue, held until it asks again, let run again, finished."""
    workload = after(plain(), STEPS.reserve)
    assert kinds(core, workload) == ["WorkloadSubmitted"]
    assert known(core).admitted is not None
    assert kinds(core, workload, 3) == []
    after(workload, ("Ready", 3), STEPS.admit)
    assert kinds(core, workload, 3) == []
    after(workload, lambda it: STEPS.evict(it, "PodsReadyTimeout"))
    assert kinds(core, workload, 3) == ["OperatorAction evict"]
    assert known(core).held_by_operator == KUEUE
    assert kinds(core, workload, 5) == []
    after(workload, STEPS.stop)
    assert kinds(core, workload, 5) == []
    after(workload, STEPS.reserve)
    assert kinds(core, workload, 5) == ["OperatorAction release"]
    assert known(core).admitted is not None
    after(workload, ("Ready", 7), STEPS.finish)
    assert kinds(core, workload, 7) == ["WorkloadFinished"]
    assert kinds(core, workload, 7) == []


def test_labels_of_its_namespace_that_let_one_in(core: Core) -> None:
    """One that waits asks anew as soon as its namespace has the labels that its queue wants, and only then; one that runs goes on."""
    text = POLICY.replace("queue research { owns 8 gpu on h100 }", READS_TEAM)
    core.step(PolicyActivated(time=NOW, file="live.gpol", text=text, digest=policy(text).digest), policy(text))
    workload = after(plain(), STEPS.reserve)
    assert kinds(core, workload, team="speech") == ["WorkloadSubmitted"]
    assert kinds(core, workload, team="vision") == kinds(core, workload) == []
    assert kinds(core, workload, team="nlp") == ["WorkloadCancelled", "WorkloadSubmitted"]
    assert known(core).admitted is not None
    after(workload, ("Ready", 5), STEPS.admit)
    assert kinds(core, workload, 5) == []
    after(workload, lambda it: STEPS.evict(it, "PodsReadyTimeout"), STEPS.stop)
    assert kinds(core, workload, 5, team="nlp") == ["OperatorAction evict"]
    fields = {"workload": "team/b", "queue": "research", "namespace_labels": {"team": "nlp"}, "priority": 10, "pod_sets": EIGHT}
    core.step(WorkloadSubmitted.model_validate({"time": NOW, **fields}))
    after(workload, STEPS.reserve)
    assert kinds(core, workload, 7, team="nlp") == ["OperatorAction release"]
    assert known(core).admitted is None
    assert kinds(core, workload, 7, team="vision") == ["WorkloadCancelled", "WorkloadSubmitted"]
    assert kinds(core, workload, 7, team="vision") == []
    assert kinds(core, workload, 7, team="nlp") == ["WorkloadCancelled", "WorkloadSubmitted"]


def test_a_decision_that_kueue_has_undone_is_not_carried_out_again(core: Core) -> None:
    """The check says Pending as before the decision; the mark tells that it ran in between, while nobody looked."""
    workload = after(plain(), STEPS.reserve)
    kinds(core, workload)
    after(workload, ("Ready", 3), STEPS.admit, lambda it: STEPS.evict(it, "Deactivated"), STEPS.stop, STEPS.reserve)
    assert kinds(core, workload, 3) == ["OperatorAction evict"]
    assert kinds(core, workload, 5) == ["OperatorAction release"]


def test_who_runs_by_another_journal_is_adopted(core: Core) -> None:
    """The annotations of its pods say on which flavors."""
    workload = after(plain(), STEPS.reserve, ("Ready", 3))
    STEPS.row(workload["status"])["podSetUpdates"] = [{"name": "main", "annotations": {"gpol.dev/flavors": '{"gpu":"h100"}'}}]  # type: ignore[index]
    assert kinds(core, workload) == ["WorkloadSubmitted"]
    assert kinds(core, workload) == ["WorkloadAdopted"]
    assert known(core).admitted == NOW
    assert known(core).usage == ((0, 4000),)
    assert kinds(core, workload) == []


def test_who_runs_on_flavors_that_nobody_knows_is_told(core: Core) -> None:
    """It cannot be charged; it is left alone."""
    workload = after(plain(), STEPS.reserve, ("Ready", 3))
    assert kinds(core, workload) == ["WorkloadSubmitted"]
    learned = learn(seen(workload), known(core), None, around(core), NOW)
    assert learned.facts == ()
    assert "do not say on which flavors" in learned.problem


def test_who_runs_and_belongs_to_no_queue_is_left_alone(core: Core) -> None:
    """It is not submitted: a policy that has no queue for it would turn it away, and Kueue would stop it. Who waits is submitted."""
    running, waiting = after(plain(), STEPS.reserve, ("Ready", 3)), after(plain("b"), STEPS.reserve)
    nowhere = replace(around(core), queues={})
    learned = learn(seen(running), None, None, nowhere, NOW)
    assert learned.facts == ()
    assert learned.problem == (
        "team/a: runs already, and no queue of the policy is for it: not by its ClusterQueue `research`, its LocalQueue `team/research` or "
        "a `for` rule; give the policy such a queue; it is left alone, and counts for nothing until it ends"
    )
    assert [fact.kind for fact in learn(seen(waiting), None, None, nowhere, NOW).facts] == ["WorkloadSubmitted"]


def test_match_rules_find_the_queue_where_no_name_does(core: Core) -> None:
    """Neither its ClusterQueue nor its LocalQueue is one of the policy."""
    text = POLICY + 'queue one { for namespace "team" }\n'
    core.step(PolicyActivated(time=NOW, file="live.gpol", text=text, digest=policy(text).digest), policy(text))
    (fact,) = learn(seen(after(plain(), STEPS.reserve)), None, None, replace(around(core), queues={}), NOW).facts
    assert [decision.kind for decision in core.step(fact)] == ["WorkloadAdmitted"]


def test_who_runs_and_belongs_to_two_queues_is_left_alone(core: Core) -> None:
    """Both are named."""
    text = POLICY + 'queue one { for namespace "team" }\nqueue other { for namespace "te*" }\n'
    core.step(PolicyActivated(time=NOW, file="live.gpol", text=text, digest=policy(text).digest), policy(text))
    workload = after(plain(), STEPS.reserve, ("Ready", 3))
    learned = learn(seen(workload), None, None, replace(around(core), queues={}), NOW)
    assert learned.facts == ()
    assert "belongs to several queues of the policy (`one`, `other`)" in learned.problem


def test_another_workload_of_the_name_ends_the_first(core: Core) -> None:
    """The first is withdrawn before the second is submitted."""
    kinds(core, after(plain(), STEPS.reserve))
    other = after(plain(), STEPS.reserve)
    other["metadata"]["uid"] = "another"
    assert kinds(core, other) == ["WorkloadCancelled"]
    assert kinds(core, other) == ["WorkloadSubmitted"]


def test_one_that_is_gone_is_withdrawn(core: Core) -> None:
    """Also while it runs: its job was deleted."""
    kinds(core, after(plain(), STEPS.reserve))
    assert [fact.kind for fact in gone(known(core), NOW)] == ["WorkloadCancelled"]
    assert gone(None, NOW) == ()


def test_what_changes_of_a_workload_is_a_fact(core: Core) -> None:
    """A new priority, and pods that are done."""
    workload = after(plain(), STEPS.reserve)
    kinds(core, workload)
    workload["spec"]["priority"] = 9
    workload["status"]["reclaimablePods"] = [{"name": "main", "count": 1}]
    assert kinds(core, workload, 3) == ["WorkloadUpdated"]
    assert (known(core).asked_priority, known(core).remaining) == (9, (1,))
    assert kinds(core, workload, 3) == []


def test_one_that_was_turned_away_asks_again_once_that_was_carried_out(core: Core) -> None:
    """Before, it waits to be told; afterwards its owner has activated it, and it is a new question."""
    workload = after(plain(), STEPS.reserve)
    decided = Mark(JOURNAL, 4)
    assert learn(seen(workload), None, decided, around(core), NOW).facts == ()
    after(workload, ("Pending", 4))
    assert [fact.kind for fact in learn(seen(workload), None, decided, around(core), NOW).facts] == ["WorkloadSubmitted"]


def test_a_slice_runs_on_until_a_later_one_takes_its_place(core: Core) -> None:
    """Kueue finishes it as soon as it reserves quota for the later one; its pods run on."""
    workload = after(plain(), STEPS.reserve)
    kinds(core, workload)
    after(workload, ("Ready", 3), STEPS.admit, lambda it: STEPS.finish(it, "WorkloadSliceReplaced"))
    later = SliceStanding("", True)
    assert learn(seen(workload), known(core), Mark(JOURNAL, 3), around(core), NOW, later).facts == ()
    grown = after(plain("b", "3"), STEPS.reserve)
    learned = learn(seen(grown), None, None, around(core), NOW, SliceStanding("team/a", False))
    (fact,) = learned.facts
    decisions = core.step(fact)
    assert [decision.kind for decision in decisions] == ["WorkloadReplaced", "WorkloadAdmitted"]
    assert core.view.workload("team/a") is None


def test_a_slice_whose_later_one_is_gone_has_ended(core: Core) -> None:
    """Nobody goes on with its pods."""
    workload = after(plain(), STEPS.reserve)
    kinds(core, workload)
    after(workload, ("Ready", 3), STEPS.admit, lambda it: STEPS.finish(it, "WorkloadSliceReplaced"))
    assert kinds(core, workload, 3) == ["WorkloadFinished"]


def test_what_cannot_be_read_is_told_and_not_decided(core: Core) -> None:
    """A request for a topology, for instance, which gpol does not decide."""
    workload = after(plain(), STEPS.reserve)
    workload["spec"]["podSets"][0]["topologyRequest"] = {"required": "rack"}
    learned = learn(seen(workload), None, None, around(core), NOW)
    assert learned.facts == ()
    assert "topology" in learned.problem

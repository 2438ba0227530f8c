"""The answers of a live core: from decisions, and the same whether they were followed or read from its state."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from gpol.adapters.volcano.extender.committed_answers import CommittedAnswers
from gpol.adapters.volcano.extender.evicted_groups import EvictedGroups
from gpol.adapters.volcano.extender.verdicts import ExtenderVerdict, NotDeciding, Reason
from gpol.engine.errors import FactError
from gpol.journal.journal import Journal
from hypothesis import given
from hypothesis import strategies as st

from .decided_cluster import Lab, lab

NAMES = [f"ns/{letter}" for letter in "abcdef"]
QUEUES = ["nlp", "vision", "idle"]


@pytest.mark.parametrize(
    ("pod_group", "uid", "verdict"),
    [
        ("a/owner", "uid-owner", ExtenderVerdict(True, Reason.ADMITTED)),
        ("b/low", "uid-low", ExtenderVerdict(True, Reason.ADMITTED)),
        ("b/guest", "uid-guest", ExtenderVerdict(False, Reason.EVICTED)),
        ("b/asks", "uid-asks", ExtenderVerdict(False, Reason.WAITING)),
        ("b/held", "uid-held", ExtenderVerdict(False, Reason.WAITING)),
        ("b/other", "uid-other", ExtenderVerdict(False, Reason.UNKNOWN_POD_GROUP)),
        ("a/owner", "uid-later", ExtenderVerdict(False, Reason.ANOTHER_UID)),
        ("a/owner", "", ExtenderVerdict(False, Reason.ANOTHER_UID)),
    ],
)
def test_who_is_enqueued(pod_group: str, uid: str, verdict: ExtenderVerdict) -> None:
    """Only a PodGroup that is admitted, and only the one with the uid that was admitted."""
    assert lab().answers.enqueueable(pod_group, uid) == verdict


def test_a_workload_without_uid_goes_by_its_name() -> None:
    """One that was submitted without a uid, as by hand, is known by its name."""
    made = Lab()
    made.submit("a/plain", "nlp", 1, uid="")
    assert made.answers.enqueueable("a/plain", "any").yes


def test_which_queue_is_overused() -> None:
    """One in which nobody is admitted; never one whose quota is given away, as those who have it are still to be allocated."""
    answers = lab().answers
    assert answers.overused("vision") == ExtenderVerdict(False, Reason.SOMEBODY_ADMITTED)
    assert answers.overused("nlp") == ExtenderVerdict(False, Reason.SOMEBODY_ADMITTED)
    assert answers.overused("idle") == ExtenderVerdict(True, Reason.NOBODY_ADMITTED)
    assert answers.overused("nowhere") == answers.overused("all") == answers.overused("root") == ExtenderVerdict(True, Reason.UNKNOWN_QUEUE)


def test_a_queue_is_overused_again_when_its_last_workload_ends() -> None:
    """However it ends: finished, cancelled or evicted."""
    for kind, more in (
        ("WorkloadFinished", {}),
        ("WorkloadCancelled", {}),
        ("OperatorAction", {"by": "someone", "action": "evict"}),
    ):
        made = lab()
        made.play(kind, "a/owner", **more)
        assert made.answers.overused("vision") == ExtenderVerdict(True, Reason.NOBODY_ADMITTED)


@pytest.mark.parametrize(
    ("evictor", "evictee", "in_one_queue", "verdict"),
    [
        ("a/owner", "b/guest", False, ExtenderVerdict(True, Reason.EVICTED)),
        ("a/owner", "b/guest", True, ExtenderVerdict(False, Reason.ANOTHER_QUEUE)),
        ("b/low", "b/guest", True, ExtenderVerdict(True, Reason.EVICTED)),
        ("a/owner", "b/low", False, ExtenderVerdict(False, Reason.RUNS_ON)),
        ("a/owner", "b/asks", False, ExtenderVerdict(False, Reason.NEVER_ADMITTED)),
        ("a/owner", "b/other", False, ExtenderVerdict(False, Reason.UNKNOWN_POD_GROUP)),
        ("b/asks", "b/guest", False, ExtenderVerdict(False, Reason.EVICTOR_NOT_ADMITTED)),
        ("b/guest", "b/guest", False, ExtenderVerdict(False, Reason.EVICTOR_NOT_ADMITTED)),
        ("b/other", "b/guest", False, ExtenderVerdict(False, Reason.EVICTOR_NOT_ADMITTED)),
    ],
)
def test_who_may_be_evicted(evictor: str, evictee: str, in_one_queue: bool, verdict: ExtenderVerdict) -> None:
    """Only who was evicted by gpol, and only for somebody whom gpol has admitted."""
    assert lab().answers.evictable(evictor, evictee, in_one_queue) == verdict


def test_a_new_one_of_the_same_name_is_not_evicted() -> None:
    """What was decided about an earlier PodGroup does not count for its successor."""
    made = lab()
    made.play("WorkloadCancelled", "b/guest")
    made.submit("b/guest", "nlp", 4, uid="uid-second")
    assert made.answers.evictable("a/owner", "b/guest", in_one_queue=False) == ExtenderVerdict(False, Reason.NEVER_ADMITTED)
    assert made.answers.enqueueable("b/guest", "uid-second") == ExtenderVerdict(False, Reason.WAITING)


def test_who_was_evicted_stays_so_however_it_asks() -> None:
    """Its pods hold the room until it is admitted again, or is another PodGroup: whether it asks anew, or asks no more."""
    made = lab()
    made.play("WorkloadCancelled", "b/guest")
    assert made.answers.evictable("a/owner", "b/guest", in_one_queue=False).yes
    made.submit("b/guest", "nlp", 5)
    assert made.answers.evictable("a/owner", "b/guest", in_one_queue=False).yes
    assert made.answers.enqueueable("b/guest", "uid-guest") == ExtenderVerdict(False, Reason.EVICTED)
    made.play("WorkloadCancelled", "b/asks")
    made.play("WorkloadFinished", "b/low")
    assert made.answers.evictable("a/owner", "b/guest", in_one_queue=False) == ExtenderVerdict(False, Reason.RUNS_ON)


def test_who_is_completed_is_no_victim() -> None:
    """Not even if a PodGroup that was evicted, and completed, is there once more with the uid that it had."""
    made = lab()
    made.evicted.end("b/guest")
    made.evicted.see("b/guest", "uid-guest")
    assert "b/guest" not in made.evicted.now()


def test_while_gpol_does_not_decide_all_answers_are_safe() -> None:
    """Nothing is enqueued, allocated or evicted."""
    answers = NotDeciding()
    assert not answers.enqueueable("a/owner", "uid-owner").yes
    assert answers.overused("nlp").yes
    assert not answers.evictable("a/owner", "b/guest", in_one_queue=False).yes


ACTS = st.one_of(
    st.tuples(st.just("submit"), st.sampled_from(NAMES), st.sampled_from(QUEUES), st.integers(0, 9), st.booleans()),
    st.tuples(st.sampled_from(["WorkloadFinished", "WorkloadCancelled"]), st.sampled_from(NAMES)),
    st.tuples(st.just("OperatorAction"), st.sampled_from(NAMES), st.sampled_from(["evict", "hold", "release"])),
)


def play(made: Lab, act: tuple[Any, ...]) -> None:
    """Play an act; one that cannot happen leaves all as it was."""
    try:
        if act[0] == "submit":
            _, name, queue, gpus, hold = act
            made.submit(name, queue, gpus, hold=hold)
        elif act[0] == "OperatorAction":
            made.play(act[0], act[1], by="someone", action=act[2])
        else:
            made.play(act[0], act[1])
    except FactError:
        pass


@given(acts=st.lists(ACTS, max_size=40))
def test_following_and_reading_give_the_same_answers(acts: list[tuple[Any, ...]]) -> None:
    """After any facts, the answers that followed all decisions are those that are read from the core's state."""
    made = Lab()
    for act in acts:
        play(made, act)
    with TemporaryDirectory() as folder, Journal.create(str(Path(folder) / "lab.db")) as journal:
        journal.append(made.batches)
        evicted = EvictedGroups(journal, [(workload.name, workload.fact.uid) for workload in made.core.view.workloads()])
        for name in NAMES:
            evicted.see(name, f"uid-{name[3:]}")
    read = CommittedAnswers(made.core, evicted.now())
    for name in NAMES:
        known = made.core.view.workload(name)
        followed = made.answers.enqueueable(name, f"uid-{name[3:]}")
        assert followed == read.enqueueable(name, f"uid-{name[3:]}")
        assert followed.yes == (known is not None and known.admitted is not None)
        for other in NAMES:
            for in_one_queue in (True, False):
                assert made.answers.evictable(name, other, in_one_queue) == read.evictable(name, other, in_one_queue)
    running = [workload for workload in made.core.view.workloads() if workload.admitted is not None]
    graph = made.core.graph
    assert graph is not None
    for queue in QUEUES:
        assert made.answers.overused(queue) == read.overused(queue)
        assert made.answers.overused(queue).yes == all(graph.nodes[workload.queue].name != queue for workload in running)

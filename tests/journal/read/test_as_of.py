"""As-of state: recorded events applied again give the core's state at any moment, without deciding anything."""

from pathlib import Path

import pytest
from gpol.dsl import check
from gpol.dsl.analysis.profiles import shipped
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.events import AnyEvent
from gpol.engine.explain.pending import standing
from gpol.engine.facts import Fact, PolicyActivated, ProfileText, TimeAdvanced, WorkloadFinished, WorkloadSubmitted
from gpol.engine.policy_graph import PolicyGraph
from gpol.journal.errors import DamagedError, JournalError
from gpol.journal.journal import Journal
from gpol.journal.read.as_of import core_at, follow, moment
from small_histories import WITHOUT_PROTECTION as POLICY
from small_histories import activation

ZEROS = "sha256:" + "0" * 64

SHIPPED = (ProfileText(name="gpol.fair", text=shipped("gpol.fair") or ""),)


def _submitted(time: int, name: str, queue: str, gpus: int) -> WorkloadSubmitted:
    return WorkloadSubmitted(time=time, workload=name, queue=queue, pod_sets=(PodSet(requests={"gpu": f"{gpus}"}),))


@pytest.fixture
def played(place: Path) -> tuple[Path, list[tuple[int, dict[str, object]]]]:
    """A journal of the core, and after each batch: the seq it ends at and every live workload's standing."""
    checked = check(POLICY, "one.gpol")
    assert checked.graph is not None
    facts: list[Fact] = [
        activation(5, POLICY),
        _submitted(10, "g1", "guest", 6),
        _submitted(20, "g2", "guest", 4),
        _submitted(20, "o1", "owner", 5),
        WorkloadFinished(time=30, workload="o1"),
        TimeAdvanced(time=40),
    ]
    core, moments = new_core(), []
    with Journal.create(place) as journal:
        for fact in facts:
            journal.append([[fact, *core.step(fact, checked.graph if isinstance(fact, PolicyActivated) else None)]])
            moments.append((journal.head.seq, _standings(core)))
    assert any(len(standings) == 3 for _, standings in moments)
    return place, moments


def _standings(core: Core) -> dict[str, object]:
    return {name: stands for name in ("g1", "g2", "o1") if (stands := standing(core, name)) is not None}


def test_state_at_every_batch(played) -> None:
    """Where every workload stands, and why, is the same as when it was decided."""
    place, moments = played
    with Journal.open(place, readonly=True) as journal:
        for seq, standings in moments:
            core = core_at(journal, seq=seq)

            assert (core.seq, _standings(core)) == (seq, standings)


def test_batches_are_whole(played) -> None:
    """A moment within a batch is after the whole of it: between an eviction and the admission it serves the cluster never was."""
    place, moments = played
    with Journal.open(place, readonly=True) as journal:
        evicted = next(recorded.seq for recorded in journal.of_kinds(["WorkloadEvicted"]))
        core = core_at(journal, seq=evicted)

        assert core.seq > evicted
        assert (core.seq, _standings(core)) in moments


def test_prefix_and_suffix(played) -> None:
    """A prefix and then the rest make the state that the whole makes."""
    place, moments = played
    with Journal.open(place, readonly=True) as journal:
        whole = _standings(core_at(journal))
        for seq in range(journal.head.seq + 1):
            core = core_at(journal, seq)
            follow(journal, core, after=core.seq)

            assert _standings(core) == whole == moments[-1][1]


def test_moments(played) -> None:
    """A moment is a number, a time with all events at it, or the end; before the first event there is nothing."""
    place, moments = played
    with Journal.open(place, readonly=True) as journal:
        assert moment(journal) == journal.head.seq == moments[-1][0]
        assert moment(journal, time=4) == 0
        assert moment(journal, time=20) == moments[3][0]
        assert moment(journal, time=29) == moments[3][0]
        assert core_at(journal, time=4).graph is None
        assert core_at(journal, seq=0).graph is None


def test_moments_that_are_none(played) -> None:
    """A number that no event has, and a number with a time, are refused with what to give instead."""
    place, _ = played
    with Journal.open(place, readonly=True) as journal:
        for choices in ({"seq": journal.head.seq + 1}, {"seq": -1}, {"seq": 1, "time": 1}):
            with pytest.raises(JournalError) as caught:
                moment(journal, **choices)
            assert caught.value.remedy


@pytest.mark.parametrize(
    ("events", "seq", "words"),
    [
        ([_submitted(10, "g1", "guest", 6)], 1, "cannot have happened then"),
        ([PolicyActivated(time=5, file="one.gpol", text="policy {", digest=ZEROS)], 1, "does not compile"),
        ([PolicyActivated(time=5, file="one.gpol", text=POLICY, digest=ZEROS)], 1, "does not compile: .*profile"),
        (
            [PolicyActivated(time=5, file="one.gpol", text=POLICY, profiles=SHIPPED, digest=ZEROS)],
            1,
            "the policy's digest is",
        ),
    ],
)
def test_impossible_history(journal: Journal, events: list[AnyEvent], seq: int, words: str) -> None:
    """Events that cannot have happened are named, not raised as they come."""
    journal.append([[event] for event in events])
    with pytest.raises(DamagedError, match=words) as caught:
        core_at(journal)

    assert caught.value.seq == seq


def test_decisions_that_do_not_fit(played) -> None:
    """A decision about what the policy does not have is named as impossible."""
    place, _ = played

    class Stubborn:
        """Knows none of what it is told."""

        def apply(self, event: AnyEvent, graph: PolicyGraph | None = None) -> None:
            """Fail as state does that an event does not fit."""
            if event.is_decision:
                raise KeyError("a100")

    with Journal.open(place, readonly=True) as journal, pytest.raises(DamagedError, match="event 3 cannot have happened"):
        follow(journal, Stubborn())

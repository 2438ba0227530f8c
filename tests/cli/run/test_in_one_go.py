"""Facts of a file that are played many in one go give what they give one by one: batches, complaints, errors, a journal, figures."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from draws import Dice
from gpol.cli.run import fact_lines
from gpol.dsl import check
from gpol.engine.core import core as core_module
from gpol.engine.core.core import ArrayCore
from gpol.engine.cores import Core, EncodedEvents
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.events import AnyEvent
from gpol.engine.facts import FACT, Fact, TimeAdvanced, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted
from gpol.engine.units import MINUTE, SECOND
from gpol.sim.drive import player as player_module
from gpol.sim.drive.job import InputError, Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.measure.columns import stretch_measure
from gpol.sim.measure.columns.history_measure import HistoryMeasure
from gpol.sim.measure.columns.kernels.count_events import count_events
from gpol.sim.measure.measure import Measure
from gpol.sim.measure.never_ran import NeverRan
from job_draws import policy_and_jobs
from policy_texts import PROTECTED, TURNS, TWO_QUEUES
from same_figures import same_figures

HISTORIES, JOBS = 8, 40


class Sink:
    """A journal that keeps the bytes of its events."""

    def __init__(self) -> None:
        self.payloads: list[bytes] = []
        self.encoded = 0

    def append(self, batches: Sequence[Sequence[AnyEvent]]) -> None:
        """Keep what was played one by one."""
        self.payloads += [event.payload() for batch in batches for event in batch]

    def append_encoded(self, events: EncodedEvents, begin: int, end: int) -> None:
        """Keep what was played in one go; streams and times are those of the events."""
        read = [json.loads(payload) for payload in events.payloads]
        assert [(each["kind"], each.get("workload")) for each in read] == list(zip(events.kinds, events.workloads, strict=True))
        assert (begin, end) == (read[0]["time"], read[-1]["time"])
        self.payloads += events.payloads
        self.encoded += len(events.payloads)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few facts are enough to be played in one go, and not many are the most; after a few more the tables are made anew."""
    monkeypatch.setattr(fact_lines, "FEW", 4)
    monkeypatch.setattr(fact_lines, "MOST_AT_ONCE", 16)
    monkeypatch.setattr(core_module, "FORGET_AFTER", 10)
    monkeypatch.setattr(stretch_measure, "FEW", 1)
    monkeypatch.setattr(stretch_measure, "MOST_ROWS", 30)


Outcome = tuple[list[bytes], str, str, bytes]
"""What was played, what was complained of, the error, and the state behind it all."""


def played(
    policy: Policy, file: Path, core: Core, capsys: pytest.CaptureFixture[str], as_recorded: bool, skip: bool
) -> tuple[Outcome, int]:
    """What comes of the facts of a file; and how many events were played in one go. All is counted from columns, and from objects too."""
    sink, batches, error = Sink(), list[bytes](), ""
    figures, counted, ways = HistoryMeasure(None, lambda: count_events), Measure(), (NeverRan(), NeverRan())
    player = Player(core, sink)
    with ExitStack() as stack:
        lines = fact_lines.Facts(str(file), fact_lines.open_facts(str(file), stack), skip, as_recorded)
        try:
            for found in fact_lines.play(policy, lines, player):
                assert core.graph is not None
                figures.take(found, core.graph)
                ways[0].take(found)
                for fact, decisions in [found] if isinstance(found, tuple) else found.batches():
                    batches += [event.payload() for event in (fact, *decisions)]
                    counted.take(fact, decisions, core.graph)
                    ways[1].take((fact, decisions))
                if not isinstance(found, tuple):
                    assert list(found.decisions()) == _decisions(batches, len(found.events))
        except InputError as found:
            error = str(found)
    player.flush()
    assert sink.payloads == batches
    same_figures(figures.measure(), counted)
    assert (ways[0].adopted, ways[0].rejected()) == (ways[1].adopted, ways[1].rejected())
    return (batches, capsys.readouterr().err, error, core.freeze()), sink.encoded


def _decisions(batches: list[bytes], count: int) -> list[tuple[int, bytes]]:
    """The decisions among the last events, with their rows."""
    return [(row, payload) for row, payload in enumerate(batches[-count:]) if b'"cause":' in payload]


def _line(fact: Fact | str) -> str:
    return fact if isinstance(fact, str) else fact.payload().decode()


def same(
    policy: Policy, facts: Sequence[Fact | str], tmp_path: Path, capsys: Any, as_recorded: bool = False, skip: bool = True
) -> tuple[int, str]:
    """Plays facts by a core that plays one by one and by one that plays many; how many events the second one played in one go, and what
    both complained of."""
    file = tmp_path / "facts.jsonl"
    file.write_text("".join(f"{_line(fact)}\n" for fact in facts), encoding="utf-8")
    one_by_one, none = played(policy, file, DefinitionCore(), capsys, as_recorded, skip)
    found, in_one_go = played(policy, file, ArrayCore(), capsys, as_recorded, skip)
    assert found == one_by_one
    assert none == 0
    return in_one_go, found[1] + found[2]


def history(jobs: Sequence[Job], draw: Dice) -> list[Fact | str]:
    """Jobs that come, and end some time later whether they run by then or not; in between cancellations, moments, and what is no fact."""
    facts = list[Fact]()
    for job in jobs:
        facts += [job.fact] * (1 if draw.chance(12) else 2 if draw.chance(12) else 1)
        ends = job.fact.time + draw.pick([SECOND, 20 * SECOND, 60 * SECOND, 90 * SECOND])
        facts.append((WorkloadCancelled if draw.chance(8) else WorkloadFinished)(time=ends, workload=job.fact.workload))
        if draw.chance(12):
            facts.append(TimeAdvanced(time=ends))
    mixed = list[Fact | str]()
    for fact in sorted(facts, key=lambda fact: fact.time):
        mixed.append(fact)
        if draw.chance(25):
            mixed.append(draw.pick(["{", '{"kind":"WorkloadFinished","v":1,"time":1,"workload":"a","workload":"b"}', ""]))
    return mixed


@pytest.mark.parametrize("in_cycles", [False, True], ids=["at once", "in cycles"])
def test_generated_facts_give_the_same(in_cycles: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Policies of all kinds; facts that are impossible, too early, overtaken by time, or none at all."""
    seen = Counter[str]()
    for number in range(HISTORIES):
        policy, jobs, draw = policy_and_jobs(f"run {in_cycles} {number}", in_cycles, JOBS, replacing=True)
        facts = history(jobs, draw)
        in_one_go, told = same(policy, facts, tmp_path, capsys)
        same(policy, facts, tmp_path, capsys, skip=False)
        seen["in one go"] += in_one_go
        seen.update(word for line in told.splitlines() for word in ("does not run", "already", "on the way to it", "JSON") if word in line)
    assert seen["in one go"] > HISTORIES * JOBS // 4
    assert min(seen[word] for word in ("does not run", "JSON")) > 0, seen


@pytest.mark.parametrize("in_cycles", [False, True], ids=["at once", "in cycles"])
def test_recorded_facts_are_played_without_other_moments(in_cycles: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With `--as-recorded` moments are facts like others."""
    in_one_go = 0
    for number in range(HISTORIES):
        policy, jobs, draw = policy_and_jobs(f"recorded {in_cycles} {number}", in_cycles, JOBS)
        (tmp_path / "first.jsonl").write_bytes(b"".join(f"{_line(fact)}\n".encode() for fact in history(jobs, draw)))
        (batches, *_), _ = played(policy, tmp_path / "first.jsonl", DefinitionCore(), capsys, False, True)
        facts = [payload.decode() for payload in batches[1:] if b'"cause":' not in payload]
        in_one_go += same(policy, facts, tmp_path, capsys, as_recorded=True)[0]
    assert in_one_go > HISTORIES * JOBS


def policy_of(text: str) -> Policy:
    """A policy from its text."""
    return Policy.of(check(text, "two.gpol"))


def submitted(name: str, queue: str, minutes: int, gpus: int = 8) -> Fact:
    """A workload of one pod comes."""
    said = {"kind": "WorkloadSubmitted", "workload": name, "queue": queue, "time": minutes * MINUTE}
    return FACT.validate_python({**said, "pod_sets": [{"requests": {"gpu": str(gpus)}}]})


def finished(name: str, minutes: int) -> Fact:
    """A workload ends."""
    return WorkloadFinished(time=minutes * MINUTE, workload=name)


def crowd(minutes: int) -> list[Fact]:
    """Workloads that come and wait for ever, so that there is enough to be played in one go."""
    return [submitted(f"x{minutes}-{number}", "owner", minutes, 1_000) for number in range(8)]


def test_a_fact_that_time_overtakes_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The guest is evicted on the way to its end: what time decided stands, and the line is told."""
    facts = [submitted("g", "guest", 0), *crowd(0), submitted("o", "owner", 1), finished("g", 20), finished("o", 21), *crowd(22)]
    for skip in (True, False):
        in_one_go, told = same(policy_of(PROTECTED), facts, tmp_path, capsys, skip=skip)
        assert in_one_go > 0
        assert "what time alone decided on the way to it" in told


def test_a_moment_comes_before_the_facts_of_its_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The protection of the guest ends at the very moment at which others come."""
    facts = [submitted("g", "guest", 0), *crowd(0), submitted("o", "owner", 1), *crowd(10)]
    assert same(policy_of(PROTECTED), facts, tmp_path, capsys) == (4 + 8 + 3, "")  # the wake evicts one and admits another


def test_a_core_that_was_told_what_happened_knows_its_next_moment() -> None:
    """Where events were applied and nothing was decided, the next wake is asked for before facts are played in one go."""
    player, active, told = Player(ArrayCore()), policy_of(PROTECTED), ArrayCore()
    for fact, graph in ((active.activation(0), active.graph), (submitted("g", "guest", 0), None), (submitted("o", "owner", 1), None)):
        for event in (fact, *player.step(fact, graph)[1]):
            told.apply(event, graph)
    fact = submitted("x", "owner", 20)
    done, stretch = Player(told).play_in_one_go([(fact, fact.payload())])
    assert stretch is not None
    moments = [(fact.kind, fact.time) for fact, _ in stretch.batches()]
    assert (done, moments) == (1, [("TimeAdvanced", 10 * MINUTE), ("WorkloadSubmitted", 20 * MINUTE)])


def test_workloads_that_take_turns_are_told_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the same workloads and rules, after the same number of evictions."""
    monkeypatch.setattr(player_module, "MOST_TURNS", 60)
    later = [WorkloadCancelled(time=10_000 * MINUTE, workload=fact.workload) for fact in crowd(0) if isinstance(fact, WorkloadSubmitted)]
    in_one_go, told = same(policy_of(TURNS), [*crowd(0), submitted("a", "owner", 0), submitted("b", "owner", 0), *later], tmp_path, capsys)
    assert in_one_go > 0
    assert "more than 60 times" in told


def test_a_decision_is_no_fact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even one that was just decided, and is known by its bytes."""
    facts = [*crowd(0), *(submitted(f"a{number}", "owner", 1, 1) for number in range(8))]
    (tmp_path / "first.jsonl").write_text("".join(f"{_line(fact)}\n" for fact in facts), encoding="utf-8")
    (batches, *_), in_one_go = played(policy_of(TWO_QUEUES), tmp_path / "first.jsonl", ArrayCore(), capsys, False, True)
    assert (in_one_go, b"WorkloadAdmitted" in batches[-1]) == (20, True)
    _, told = same(policy_of(TWO_QUEUES), [batches[-1].decode(), *facts], tmp_path, capsys)
    assert "facts.jsonl:1: kind: `WorkloadAdmitted` is none of" in told


def test_a_line_that_is_read_ahead_is_no_reason_to_stop_early(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All facts before a bad line are played, also where they were read together."""
    facts: list[Fact | str] = [submitted(f"a{number}", "owner", number, 1) for number in range(10)]
    file = tmp_path / "facts.jsonl"
    file.write_bytes(b"".join(fact.payload() + b"\n" for fact in facts if not isinstance(fact, str)) + b"{\n")
    (batches, complaints, error, _), _ = played(policy_of(TWO_QUEUES), file, ArrayCore(), capsys, False, False)
    assert len([batch for batch in batches if b"WorkloadSubmitted" in batch]) == 10
    assert (complaints, "facts.jsonl:11" in error) == ("", True)

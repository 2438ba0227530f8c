"""Replay gives the same report whichever core decides, many facts in one go or each by itself, and whatever was altered."""

import json
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from careful import careful_kernels
from cores_by_name import CORES
from draws import Dice
from fuzzing import drawn_play
from gpol.adapters.traces import read_jobs
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import PLAIN, KernelSet
from gpol.engine.cores import Core, GivenFacts, PlayedFacts
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.definition.snapshot import frozen
from gpol.engine.errors import FactError
from gpol.engine.facts import Fact, PolicyActivated
from gpol.engine.policy_graph import PolicyGraph
from gpol.journal.audit import replay as replay_module
from gpol.journal.audit import replay_walk
from gpol.journal.audit.replay import ReplayReport, replay
from gpol.journal.journal import Journal
from gpol.journal.store import recorder
from gpol.sim.drive.player import EndlessError, Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from job_draws import gang, policy_and_jobs
from policy_draws import compiled

pytestmark = pytest.mark.sqlite

EXAMPLES = Path(__file__).parents[3] / "examples"
HISTORIES = 6
FACTS = 60
JOBS = 25


class Counting(ArrayCore):
    """A core over arrays that counts what it plays in one go."""

    def __init__(self, kernels: KernelSet = PLAIN) -> None:
        super().__init__(kernels=kernels)
        self.played = 0

    def given_loop(self) -> Any:
        """A loop that counts, or none."""
        self.loop = super().given_loop()
        return self if self.loop is not None else None

    def play(self, given: GivenFacts) -> PlayedFacts:
        """Play facts, and count them."""
        assert self.loop is not None
        played = self.loop.play(given)
        self.played += len(played.facts)
        return played


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few events at a time, so that there are many goes."""
    monkeypatch.setattr(replay_module, "AT_ONCE", 40)
    monkeypatch.setattr(recorder, "PAGE_EVENTS", 30)
    monkeypatch.setattr(replay_walk, "FEW", 2)


def _graph_of(texts: Sequence[str]) -> Any:
    graphs = {compiled(text).digest: compiled(text) for text in texts}

    def compile_policy(fact: PolicyActivated) -> PolicyGraph:
        return graphs[fact.digest]

    return compile_policy


def _replay(place: Path, texts: Sequence[str], core: Core) -> ReplayReport:
    with Journal.open(place) as journal:
        return replay(journal, decider=core, compile_policy=_graph_of(texts))


def _alike(place: Path, texts: Sequence[str], kernels: KernelSet = PLAIN) -> tuple[ReplayReport, int]:
    """The one report of all ways to replay a journal, and how many facts were played in one go."""
    definition, bulk = DefinitionCore(), Counting(kernels)
    report = _replay(place, texts, definition)
    assert _replay(place, texts, bulk) == report
    if report.same:
        assert frozen(bulk.state()) == frozen(definition.state)
    return report, bulk.played


def _chained(place: Path, hood: Any, payloads: Sequence[bytes]) -> None:
    """Make a journal consist of these payloads, chained anew."""
    hood("DELETE FROM events")
    chain = bytes(32)
    for seq, payload in enumerate(payloads, 1):
        chain = sha256(chain + payload).digest()
        hood("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", seq, "x", seq, "x", payload, chain)


def _kept(place: Path, batches: Sequence[Sequence[Any]]) -> list[bytes]:
    with Journal.create(place) as journal:
        journal.append(batches)
    return [event.payload() for batch in batches for event in batch]


def _history(number: int) -> tuple[tuple[str, ...], list[list[Any]]]:
    """A generated history of all kinds of facts, under policies that change."""
    drawn, facts = drawn_play(Dice(f"replay/{number}"), number % 2 == 1, CORES["definition"], CORES["definition"], {})  # type: ignore[arg-type]
    for _ in range(FACTS):
        drawn.step(facts.next(drawn.core, drawn.wake))
    batches: list[list[Any]] = []
    for event, _ in drawn.events:
        batches += [[event]] if isinstance(event, Fact) else []
        if not isinstance(event, Fact):
            batches[-1].append(event)
    return drawn.texts, batches


@pytest.mark.parametrize("number", range(HISTORIES))
def test_generated_histories_replay_alike(number: int, place: Path) -> None:
    """Facts of all kinds, policies and capacities that change, both ways of deciding."""
    texts, batches = _history(number)
    _kept(place, batches)
    report, _ = _alike(place, texts)
    assert report.same
    assert report.seq == sum(map(len, batches))


def _simulated(number: int) -> tuple[str, list[list[Any]]]:
    drawn, jobs, draw = policy_and_jobs(f"replayed jobs/{number}", number % 2 == 1, JOBS, replacing=number % 3 == 0)
    simulation = Simulation(drawn, jobs, Player(DefinitionCore()), draw.pick(["restart", "resume"]))
    batches: list[list[Any]] = []
    with suppress(FactError, EndlessError):  # as some end: what came before stands
        for fact, decisions in simulation.run():
            batches.append([fact, *decisions])
    return drawn.text, batches


@pytest.mark.parametrize("number", range(HISTORIES))
def test_generated_simulations_replay_alike(number: int, place: Path) -> None:
    """Most of it is played in one go."""
    text, batches = _simulated(number)
    _kept(place, batches)
    report, played = _alike(place, [text], careful_kernels())
    assert report.same
    assert 2 * played > report.facts or "usage" in text  # where queues go by usage, each fact is for itself


def _fields(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all plain values in data."""
    if isinstance(value, dict):
        return [found for key in value for found in _fields(value[key], (*path, key))]
    if isinstance(value, list):
        return [found for at, each in enumerate(value) for found in _fields(each, (*path, at))]
    return [path]


def _altered(payload: bytes, path: tuple[Any, ...]) -> bytes:
    """A payload with another value at a path; JSON as gpol writes it."""
    data = json.loads(payload)
    place = data
    for key in path[:-1]:
        place = place[key]
    old = place[path[-1]]
    match old:
        case bool():
            place[path[-1]] = not old
        case int():
            place[path[-1]] = old + 1
        case None:
            place[path[-1]] = "x"
        case _:
            place[path[-1]] = f"{old}x"
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()


def _one_of_each(payloads: Sequence[bytes]) -> list[int]:
    """Where a decision of each kind and reason stands, late in the history."""
    found: dict[tuple[str, str, int], int] = {}
    for at, payload in enumerate(payloads):
        data = json.loads(payload)
        if "cause" in data:
            found[data["kind"], data.get("reason", ""), len(data["why"]["operands"])] = at
    return sorted(found.values())


@pytest.mark.parametrize("number", [*range(4), *(pytest.param(number, marks=pytest.mark.slow) for number in range(4, 9))])
def test_any_altered_field_of_a_decision_is_named_alike(number: int, place: Path, hood: Any) -> None:
    """Fields of one decision of each kind and reason, the chain computed anew: the same event in the same words, and no other. In the long
    run every field."""
    text, batches = _simulated(number)
    payloads, draw = _kept(place, batches), Dice(f"fields/{number}")
    for at in _one_of_each(payloads):
        fields = _fields(json.loads(payloads[at]))
        for path in fields if number >= 4 else [draw.pick(fields) for _ in range(3)]:
            forged = _altered(payloads[at], path)
            assert forged != payloads[at]
            _chained(place, hood, [*payloads[:at], forged, *payloads[at + 1 :]])
            report, _ = _alike(place, [text])
            assert report.bad_seq == at + 1, (path, report)


@pytest.mark.parametrize("number", range(4))
def test_whatever_becomes_of_a_journal_is_told_alike(number: int, place: Path, hood: Any) -> None:
    """Events left out, put in, exchanged, damaged, in another form, with and without a new chain."""
    text, batches = _simulated(number)
    payloads = _kept(place, batches)
    draw = Dice(f"damage/{number}")
    others = [b"{", b"\xff", b'{"kind":"WorkloadAdmitted"}', payloads[-1].replace(b'"v":1', b'"v":2'), payloads[1].replace(b":", b": ", 1)]
    others.append(b'{"kind":"WorkloadFinished","v":1,"time":9223372036854775808,"workload":"a"}')
    for _ in range(8):
        events = list(payloads)
        at = draw.number(1, len(events) - 1)
        match draw.pick(["leave out", "twice", "exchange", "other", "cut", "two kinds"]):
            case "leave out":
                del events[at]
            case "twice":
                events.insert(at, events[at])
            case "exchange":
                events[at - 1], events[at] = events[at], events[at - 1]
            case "other":
                events[at] = draw.pick(others)
            case "cut":
                del events[at:]
            case "two kinds":
                events[at] = events[at].replace(b"{", b'{"kind":"TimeAdvanced",', 1)
        _chained(place, hood, events)
        _alike(place, [text])
        if draw.chance(30):
            hood("UPDATE events SET chain = ? WHERE seq = ?", bytes(32), draw.number(1, len(events)))
            assert not _alike(place, [text])[0].same


def test_a_broken_chain_is_a_difference(place: Path, hood: Any) -> None:
    """At the first event that does not follow; where that is a decision which differs as well, its two versions are told."""
    text, batches = _simulated(0)
    payloads = _kept(place, batches)
    at = next(at for at in range(20, len(payloads)) if b'"WorkloadSubmitted"' in payloads[at])
    hood(
        "UPDATE events SET payload = ? WHERE seq = ?",
        payloads[at].replace(b'"labels":{', b'"labels":{"a":"b",', 1).replace(b",}", b"}"),
        at + 1,
    )
    report, _ = _alike(place, [text])
    assert report.bad_seq == at + 1
    assert "does not match its chain value" in report.problem


@pytest.mark.parametrize("name", ["campus/campus", "lab/lab"])
def test_the_examples_replay_alike(name: str, place: Path) -> None:
    """Both ways of deciding."""
    path = EXAMPLES / f"{name}.gpol"
    text = path.read_text()
    policy = Policy.of(check(text, path.name))
    jobs = list(read_jobs(path.parent / "workloads.csv"))[:80]
    simulation = Simulation(policy, jobs, Player(DefinitionCore()))
    with Journal.create(place) as journal:
        journal.append([[fact, *decisions] for fact, decisions in simulation.run()])
        core = Counting()
        report = replay(journal, decider=core)
    assert report.same
    assert core.played > 0.9 * report.facts


def test_tables_made_anew_forget_what_is_over(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many facts, and nothing else changes."""
    monkeypatch.setattr("gpol.engine.core.core.FORGET_AFTER", 10)
    text = 'policy "plain" {}\nflavor pool { gpu 8 }\nqueue owner { owns 8 gpu }\n'
    jobs = [gang(f"w{number}", 10 * number, 3, 25) for number in range(100)]
    simulation = Simulation(Policy(compiled(text), "p.gpol", text, ()), jobs, Player(DefinitionCore()))
    _kept(place, [[fact, *decisions] for fact, decisions in simulation.run()])
    definition, core = DefinitionCore(), Counting()
    assert _replay(place, [text], core) == _replay(place, [text], definition)
    assert core.loop.facts < 60
    assert frozen(core.state()) == frozen(definition.state)

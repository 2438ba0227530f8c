"""The closed loop over tables plays jobs as its definition does, `sim/drive/driver.py`: the same events, the same state, the same end."""

import re
from pathlib import Path

import pytest
from careful import careful_kernels
from endless_cases import CAUSES
from gpol.adapters.traces import read_jobs
from gpol.dsl import check
from gpol.engine.core import columns as c
from gpol.engine.core.core import ArrayCore
from gpol.engine.cores import Core, EncodedEvents
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.definition.snapshot import frozen
from gpol.engine.errors import FactError
from gpol.engine.units import LAST_MOMENT
from gpol.sim.drive import player, simulation
from gpol.sim.drive.driver import OnEvict
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import EndlessError, Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from job_draws import gang, policy_and_jobs
from policy_draws import compiled
from worlds import SECOND

EXAMPLES = Path(__file__).parents[3] / "examples"
HISTORIES = 20
JOBS = 40


class _Sink:
    """Keeps what a journal would be given."""

    def __init__(self) -> None:
        self.events: list[bytes] = []

    def append(self, batches: object) -> None:
        self.events += [event.payload() for batch in batches for event in batch]  # type: ignore[attr-defined]

    def append_encoded(self, events: EncodedEvents, begin: int, end: int) -> None:
        self.events += events.payloads
        assert begin <= end


def _played(policy: Policy, jobs: list[Job], core: Core, on_evict: OnEvict) -> tuple[list[bytes], list[bytes], str]:
    """The events that were yielded, those that a journal got, and how it ended."""
    sink, yielded, end = _Sink(), list[bytes](), ""
    try:
        for fact, decisions in Simulation(policy, jobs, Player(core, sink), on_evict).run():
            yielded += [event.payload() for event in (fact, *decisions)]
    except (EndlessError, FactError) as error:
        end = str(error)
    return yielded, sink.events, end


def _compare(policy: Policy, jobs: list[Job], on_evict: OnEvict = "restart") -> tuple[list[bytes], str]:
    _compare_bytes(policy, jobs, on_evict == "resume")
    definition, tables = DefinitionCore(), ArrayCore(kernels=careful_kernels())
    wanted, found = _played(policy, jobs, definition, on_evict), _played(policy, jobs, tables, on_evict)
    assert found == wanted
    assert frozen(tables.state()) == frozen(definition.state)
    return wanted[0], wanted[2]


def _compare_bytes(policy: Policy, jobs: list[Job], resume: bool) -> None:
    """What a loop encodes is what it tells."""
    core = ArrayCore(kernels=careful_kernels())
    core.step(policy.activation(jobs[0].fact.time), policy.graph)
    loop = core.closed_loop([job.fact for job in jobs], [job.duration for job in jobs], resume)
    goes_on = loop is not None
    while goes_on and loop is not None:
        chunk = loop.play(100)
        told = [each for fact, decisions in chunk.batches() for each in (fact, *decisions)]
        assert list(zip(*chunk.encoded(), strict=True)) == [(each.kind, getattr(each, "workload", None), each.payload()) for each in told]
        assert len(told) == len(chunk.events)
        goes_on = chunk.goes_on


def _example(name: str) -> Policy:
    path = EXAMPLES / name
    return Policy.of(check(path.read_text(), path.name))


@pytest.mark.parametrize("on_evict", ["restart", "resume"])
def test_the_jobs_of_the_examples_are_played_alike(on_evict: OnEvict) -> None:
    """Both ways of deciding."""
    _compare(_example("campus/campus.gpol"), list(read_jobs(EXAMPLES / "campus" / "workloads.csv"))[:150], on_evict)
    _compare(_example("lab/lab.gpol"), list(read_jobs(EXAMPLES / "lab" / "workloads.csv")), on_evict)


@pytest.mark.parametrize("number", range(HISTORIES))
def test_generated_jobs_under_generated_policies_are_played_alike(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In chunks of every size, so that the loop stops and goes on in the middle."""
    drawn, jobs, draw = policy_and_jobs(f"closed loop/{number}", number % 2 == 1, JOBS)
    monkeypatch.setattr(simulation, "CHUNK", draw.pick([1, 7, 50, 2_000]))
    _compare(drawn, jobs, draw.pick(["restart", "resume"]))


PLAIN = 'policy "plain" {}\nflavor pool { gpu 8 }\nqueue owner { owns 8 gpu }\n'


def test_a_job_that_ends_after_the_last_moment_ends_the_simulation() -> None:
    """The journal has its admission; the driver is told which job it is."""
    policy = Policy.of(check(PLAIN, "p.gpol"))
    jobs = [gang("one", 0, 8, LAST_MOMENT), gang("two", 1, 8, LAST_MOMENT - 1), gang("three", 2, 8, 5)]
    _, end = _compare(policy, jobs)
    assert "`two` would not end before the year 10000" in end


def test_a_refused_submission_is_refused_in_the_same_words() -> None:
    """A name that is still live is refused by the core itself, once the loop has given up."""
    policy = Policy.of(check(PLAIN, "p.gpol"))
    _, end = _compare(policy, [gang("one", 0, 8, 100), gang("one", 10, 8, 100)])
    assert end == "workload `one` is already submitted; finish or cancel it first, or use another name"
    _compare(policy, [gang("one", 0, 8, 5), gang("one", 10, 8, 100)])  # the name is free again


IN_TURNS = """policy "turns" {
  use test.bare
  preempt by turn
}
flavor a100 { gpu 12 }
priority normal 0
priority high 1
queue owner { owns 12 gpu }
preempt turn {
  evict from the same queue
  where victim.running >= 1m and victim.priority <= workload.priority
}
"""
"""Jobs of the same priority evict each other in turns for ever."""


def test_jobs_that_take_turns_are_left_to_the_definition_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time alone lets jobs evict each other again and again; the loop gives up before the limit, and the end is told in the same words.

    `once` evicts at the first turn and runs on: it takes no turns, though whom it evicted does.
    """
    monkeypatch.setattr(player, "MOST_TURNS", 4 * c.MOST_TURNS)
    policy = Policy(compiled(IN_TURNS), "p.gpol", IN_TURNS, ())
    starts = (("a", 0), ("b", 10), ("c", 20), ("once", 21), ("d", 22))
    jobs = [gang(name, time * SECOND, 4, 36_000 * SECOND, priority=int(name == "once")) for name, time in starts]
    events, end = _compare(policy, jobs)
    assert sum(b'"WorkloadEvicted"' in event and b'"once"' in event for event in events) == 1
    assert "time alone evicted" in end
    assert "`once`" not in end


def test_the_loop_gives_up_before_pairs_are_noted() -> None:
    """The player names pairs from a quarter of its limit on: a loop that has handed over keeps no pairs, so it has to give up earlier."""
    assert min(player.MOST_TURNS, player.MOST_TURNS_IN_CYCLES) // 4 > c.MOST_TURNS


@pytest.mark.parametrize("name", CAUSES)
def test_a_livelock_in_cycles_is_told_in_the_same_words(name: str) -> None:
    """Who was evicted only before the loop gave up takes no turns: `early` is evicted once, in a queue of its own."""
    cause = CAUSES[name]
    flavor = re.search(r"flavor (\w+) \{ gpu", cause.policy)
    assert flavor is not None
    apart = f"queue apart {{\n  owns 1 gpu on {flavor[1]}\n  evicts its own of lower priority\n}}\n"
    jobs = [Job(asked.fact(number), 3_600 * SECOND) for number, asked in enumerate(cause.asked)]
    first, last = jobs[0].fact.time, jobs[-1].fact.time
    jobs.insert(0, gang("early", first, 1, 3_600 * SECOND, "apart"))
    jobs.append(gang("high", last, 1, 3_600 * SECOND, "apart", priority=1))
    events, end = _compare(Policy.of(check(cause.policy + apart, "p.gpol")), jobs)
    assert sum(b'"WorkloadEvicted"' in event and b'"early"' in event for event in events) == 1
    assert "time alone evicted" in end
    assert "`early`" not in end

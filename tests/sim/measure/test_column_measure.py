"""Figures from columns are those of `Measure`, in every field; and what contradicts itself is found in the same words."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from draws import Dice
from gpol.adapters.traces import read_jobs
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.cores import JobLoop, PlayedBatch, PlayedChunk, RunningJob
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.errors import FactError
from gpol.engine.event_parts import Charge, PodSet
from gpol.engine.events import AnyDecision, WorkloadAdmitted, WorkloadDeferred, WorkloadEvicted
from gpol.engine.facts import Fact, TimeAdvanced, WorkloadFinished, WorkloadSubmitted
from gpol.engine.outcome import history as h
from gpol.engine.outcome.grounds import Why
from gpol.engine.outcome.history import Columns
from gpol.engine.units import DAY, LAST_MOMENT, SECOND
from gpol.sim.drive import simulation
from gpol.sim.drive.driver import OnEvict
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import EndlessError, Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from gpol.sim.measure.columns.column_measure import ColumnMeasure
from gpol.sim.measure.columns.count_tables import CountTables
from gpol.sim.measure.columns.history_measure import HistoryMeasure
from gpol.sim.measure.columns.kernels.count_events import add_product, count_events
from gpol.sim.measure.columns.table_count import CountKernel
from gpol.sim.measure.figures import History
from gpol.sim.measure.measure import NO_QUEUE, AccountError, Measure
from job_draws import gang, policy_and_jobs
from policy_texts import TWO_QUEUES
from same_figures import same_figures

EXAMPLES = Path(__file__).parents[3] / "examples"
HISTORIES = 48
JOBS = 60
ALL = 10**9

KINDS = (h.SUBMITTING, h.FINISHING, h.ADVANCING, h.ADMITTING, h.EVICTING_ONE, h.REPLACING, h.REJECTING, h.DEFERRING)

# --- measuring a simulation in both ways --------------------------------------------------------------------------------------


class _Watched:
    """A closed loop that is measured by columns, and that gives up after so many chunks."""

    def __init__(self, loop: JobLoop, columns: ColumnMeasure, chunks: int) -> None:
        self._loop, self.columns, self._left = loop, columns, chunks
        self.facts, self.seen = 0, Counter[int]()

    def play(self, most: int) -> PlayedChunk:
        """Play a chunk, and measure it."""
        played = self._loop.play(most)
        self.columns.take(played)
        kinds = played.events[:, h.E_KIND]
        self.facts += int((kinds <= h.ADVANCING).sum())
        self.seen.update(kinds.tolist())
        self._left -= 1
        return played if self._left else replace(played, goes_on=False)  # type: ignore[type-var]

    def left_over(self) -> tuple[int, Sequence[RunningJob], Mapping[str, int]]:
        """What is left for others."""
        return self._loop.left_over()


class _Core(ArrayCore):
    """A core whose closed loop is watched."""

    watch: Callable[[JobLoop], _Watched]
    watched: _Watched | None = None

    def closed_loop(
        self, jobs: Sequence[WorkloadSubmitted], lengths: Sequence[int] | Columns, resume: bool, until: int = LAST_MOMENT
    ) -> JobLoop | None:
        """The loop of the core, watched."""
        loop = super().closed_loop(jobs, lengths, resume, until)
        self.watched = None if loop is None else self.watch(loop)
        return self.watched


class _Found(NamedTuple):
    """What was measured, by columns as far as the loop went; the kinds of events in columns, the calls of the kernel, and how many batches
    were measured from objects behind what the loop had played."""

    by_columns: Measure
    seen: Counter[int]
    calls: int
    behind: int


def _measured(drawn: Policy, jobs: list[Job], on_evict: OnEvict = "restart", chunks: int = ALL) -> _Found:
    """Simulate, handing over from columns to objects after so many chunks, or where the loop gives up."""
    core, found, wanted, calls, behind = _Core(), Measure(), Measure(), list[int](), 0

    def count(t: CountTables, begin: int, end: int) -> int:
        calls.append(end - begin)
        return count_events(t, begin, end)

    def watch(loop: JobLoop) -> _Watched:
        return _Watched(loop, ColumnMeasure(found, drawn.graph, [job.fact for job in jobs], count), chunks)

    core.watch = watch
    try:
        for number, (fact, decisions) in enumerate(Simulation(drawn, jobs, Player(core), on_evict).run()):
            wanted.take(fact, decisions, drawn.graph)
            if core.watched is None:
                found.take(fact, decisions, drawn.graph)
            elif number == core.watched.facts:  # the activation, and what the loop has played
                assert core.watched.columns.measure(core.view) is found
                same_figures(found, wanted)
            elif number > core.watched.facts:
                behind += 1
                found.take(fact, decisions, drawn.graph)
    except (EndlessError, FactError):
        pass
    same_figures(found, wanted)
    return _Found(found, core.watched.seen if core.watched else Counter(), len(calls), behind)


def _example(name: str) -> Policy:
    path = EXAMPLES / name
    return Policy.of(check(path.read_text(), path.name))


# --- the same figures -----------------------------------------------------------------------------------------------------------


def _drawn(number: int) -> tuple[Policy, list[Job], Dice]:
    """A policy and jobs; with an odd number it decides in cycles."""
    return policy_and_jobs(f"column measure/{number}", number % 2 == 1, JOBS, replacing=True)


@pytest.mark.parametrize("part", range(2))
def test_generated_jobs_under_generated_policies_have_the_same_figures(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In chunks of every size; to the end, and handed over in the middle. Every kind of event occurs."""
    seen, calls, behind = Counter[int](), 0, 0
    for number in range(part * HISTORIES // 2, (part + 1) * HISTORIES // 2):
        drawn, jobs, draw = _drawn(number)
        monkeypatch.setattr(simulation, "CHUNK", draw.pick([1, 7, 50, 2_000]))
        on_evict: OnEvict = draw.pick(["restart", "resume"])
        found = _measured(drawn, jobs, on_evict)
        seen += found.seen
        calls += found.calls
        behind += _measured(drawn, jobs, on_evict, chunks=draw.number(1, 20)).behind
    assert seen.keys() == set(KINDS)
    assert min(calls, behind) > 0


@pytest.mark.parametrize("on_evict", ["restart", "resume"])
def test_the_examples_have_the_same_figures(on_evict: OnEvict) -> None:
    """Both ways of deciding."""
    found = _measured(_example("campus/campus.gpol"), list(read_jobs(EXAMPLES / "campus" / "workloads.csv"))[:400], on_evict)
    assert found.calls
    assert any(queue.lent_area and queue.evicted for queue in found.by_columns.queues.values())
    assert _measured(_example("lab/lab.gpol"), list(read_jobs(EXAMPLES / "lab" / "workloads.csv")), on_evict).calls


def test_a_queue_that_there_is_not_has_figures() -> None:
    """They are there from the first job on that belongs to no queue."""
    drawn = Policy.of(check(TWO_QUEUES, "two.gpol"))
    assert NO_QUEUE not in _measured(drawn, [gang("a", 0, 8, 5)]).by_columns.queues
    found = _measured(drawn, [gang("a", 0, 8, 5), gang("b", 1, 8, 5, "nowhere")])
    assert (found.by_columns.queues[NO_QUEUE].submitted, found.by_columns.queues[NO_QUEUE].rejected) == (1, 1)


LENDERS = """
policy "lenders" {{ use gpol.fair }}
flavor pool {{ gpu 6 }}
cohort all {{
  queue {} {{ owns 3 gpu }}
  queue {} {{ owns 3 gpu }}
  queue guest {{ owns nothing }}
}}
"""


def test_queues_lend_in_the_order_in_which_they_were_met() -> None:
    """The policy before the one that decides had but one of the two, and what is lent does not come out even."""
    before, after = (Policy.of(check(LENDERS.format(*names), "p.gpol")) for names in (("two", "three"), ("one", "two")))
    core, found, wanted, job = ArrayCore(), Measure(), Measure(), gang("g", 5, 1, DAY, "guest")
    for drawn in (before, after):
        core.step(drawn.activation(0), drawn.graph)
        found.take(drawn.activation(0), [], drawn.graph)
        wanted.take(drawn.activation(0), [], drawn.graph)
    job = Job(job.fact.model_copy(update={"pod_sets": (PodSet(requests={"gpu": 1}),)}), DAY)
    loop, columns = core.closed_loop([job.fact], [DAY], False), ColumnMeasure(found, after.graph, [job.fact])
    assert loop is not None
    chunk = loop.play(ALL)
    columns.take(chunk)
    for fact, decisions in chunk.batches():
        wanted.take(fact, decisions, after.graph)
    assert columns.measure() == wanted
    assert (found.queues["one"].lent_area, found.queues["two"].lent_area) == (DAY, 0)


MATCHED = """
policy "matched" {}
flavor pool { gpu 8 }
queue vision {
  owns 4 gpu
  for label "team" = "vision"
}
queue speech {
  owns 4 gpu
  for label "team" = "speech"
}
"""


def test_jobs_are_of_one_kind_only_where_they_say_the_same() -> None:
    """Labels decide the queue; pod sets of which the first is the same object may differ in the second."""
    first, others = PodSet(name="x", requests={"gpu": 1_000}), [PodSet(name="y", requests={"gpu": gpus}) for gpus in (1_000, 4_000)]
    said = [("a", "vision", others[0]), ("b", "vision", others[1]), ("c", "speech", others[0])]
    facts = [WorkloadSubmitted(time=0, workload=name, labels={"team": team}, pod_sets=(first, second)) for name, team, second in said]
    assert facts[0].pod_sets[0] is facts[1].pod_sets[0]
    queues = _measured(Policy.of(check(MATCHED, "p.gpol")), [Job(fact, DAY) for fact in facts]).by_columns.queues
    assert (queues["vision"].submitted, queues["speech"].submitted) == (2, 1)
    assert (queues["vision"].wait_most > 0, queues["vision"].owner_wait_most) == (True, 0)  # it never fits what the queue owns


# --- large numbers ----------------------------------------------------------------------------------------------------------------

LARGE = """
policy "large" {{ use gpol.fair }}
flavor pool {{ gpu {gpus} }}
cohort all {{
  queue owner {{ owns {gpus} gpu }}
  queue guest {{ owns nothing }}
}}
"""


DEVICES = """
policy "devices" {}
resource "nvidia.com/gpu"
flavor pool {
  gpu 8
  "nvidia.com/gpu" 8
}
queue owner {
  owns 8 gpu
  owns 8 "nvidia.com/gpu"
}
"""


def test_products_are_added_up_exactly() -> None:
    """Of any two numbers below 2**62: at the bounds, and anywhere."""
    draw, total, bounds = Dice("products"), 0, [0, 1, 2**31 - 1, 2**31, 2**61, 2**62 - 1]
    tables = CountTables(*[np.zeros((1, 1, 2), np.int64) for _ in CountTables._fields])
    for amount, time in [*product(bounds, bounds), *((draw.number(0, 2**62 - 1), draw.number(0, 2**62 - 1)) for _ in range(200))]:
        assert total + amount * time < 2**125
        add_product(tables, 0, 0, 0, amount, time)
        total += amount * time
        high, low = tables.counted[0, 0].tolist()
        assert (high << 62) + low == total
        if total > 2**124:  # as large as a history makes it
            tables.counted[:], total = 0, 0


def test_areas_beyond_64_bits_are_exact() -> None:
    """Two million GPUs for five thousand years; the second half is borrowed."""
    years = 5_000 * 365 * DAY
    found = _measured(Policy.of(check(LARGE.format(gpus=2_000_000), "p.gpol")), [gang("a", 7, 1_999_999, years, "guest")])
    assert found.calls == 1
    assert found.by_columns.queues["guest"].borrowed_area == found.by_columns.queues["owner"].lent_area == 1_999_999_000 * years > 2**67


def test_more_gpus_than_columns_hold_are_measured_from_objects() -> None:
    """Beyond two million GPUs that are owned, no column is proven to be wide enough."""
    found = _measured(Policy.of(check(LARGE.format(gpus=2_200_000), "p.gpol")), [gang("a", 7, 2_199_999, DAY, "guest")])
    assert (found.calls, found.seen[h.ADMITTING]) == (0, 1)
    assert found.by_columns.queues["owner"].lent_area == 2_199_999_000 * DAY


SLICES = """
policy "slices" {}
resource "nvidia.com/mig-1g.5gb"
flavor a {
  "nvidia.com/mig-1g.5gb" 14
  gpu 4
}
flavor b { "nvidia.com/mig-1g.5gb" 7 }
cohort all {
  queue owner {
    owns 10 "nvidia.com/mig-1g.5gb" on a
    owns 7 "nvidia.com/mig-1g.5gb" on b
    owns 4 gpu on a
  }
  queue guest { owns nothing }
}
"""


def test_slices_are_counted_by_themselves() -> None:
    """Devices that are no GPUs are owned, used, borrowed and lent in their own unit, and no GPU is used by that."""
    resource = "nvidia.com/mig-1g.5gb"
    jobs = [
        replace(job, fact=job.fact.model_copy(update={"pod_sets": (PodSet(requests={resource: amount}),)}))
        for job, amount in ((gang("a", 0, 1, DAY, "guest"), 12), (gang("b", 1, 1, DAY, "guest"), 7), (gang("c", 2, 1, DAY, "owner"), 5))
    ]
    found = _measured(Policy.of(check(SLICES, "p.gpol")), jobs)

    guest, owner = (found.by_columns.queues[name] for name in ("guest", "owner"))
    assert found.calls > 0
    assert (owner.others[resource].owned, owner.owned, guest.used_area, owner.used_area) == (17, 4000, 0, 0)
    assert guest.others[resource].used_area >= 19 * DAY
    assert guest.others[resource].borrowed_area == guest.others[resource].used_area
    assert owner.others[resource].lent_area > 0
    assert owner.others[resource].used_area == 5 * DAY


def test_more_devices_than_columns_hold_are_measured_from_objects() -> None:
    """Thousandths of those that exist are beyond 64 bits."""
    text = DEVICES.replace('"nvidia.com/gpu" 8\n}\nqueue', f'"nvidia.com/gpu" {2**60}\n}}\nqueue')
    found = _measured(Policy.of(check(text, "p.gpol")), [gang("a", 0, 8, DAY)])
    assert (found.calls, found.seen[h.ADMITTING]) == (0, 1)


def test_a_job_that_asks_for_too_much_is_counted_as_it_is() -> None:
    """What waits may ask for more than all columns hold: it fits nowhere."""
    said = {"workload": "b", "time": 1, "queue": "owner", "pod_sets": [{"count": 4, "requests": {"nvidia.com/gpu": 2**60 - 1}}]}
    found = _measured(Policy.of(check(DEVICES, "p.gpol")), [gang("a", 0, 8, DAY), Job(WorkloadSubmitted.model_validate(said), DAY)])
    assert found.calls == 1
    assert found.by_columns.queues["owner"].waiting_gpus == 4_000 * (2**60 - 1) > 2**64


# --- events that contradict each other ------------------------------------------------------------------------------------------

TWO = [gang("a", 0, 8, 60 * SECOND), gang("b", SECOND, 8, 60 * SECOND)]
SIX = [gang(name, time, 1, DAY) for time, name in enumerate("abcdef")]
SUBMIT_A, ADMIT_A, SUBMIT_B, END_A, ADMIT_B, END_B = range(6)
"""The rows of what is played."""


class _Altered(NamedTuple):
    """A chunk that no core has played."""

    events: h.Columns
    tape: h.Columns
    policy: Policy
    jobs: list[Job]
    goes_on: bool = False
    too_late: str | None = None

    def batches(self) -> Iterator[PlayedBatch]:
        """The same as objects."""
        facts = [row for row, kind in enumerate(self.events[:, h.E_KIND].tolist()) if kind <= h.ADVANCING]
        for fact, after in zip(facts, [*facts[1:], len(self.events)], strict=True):
            yield self._fact(self.events[fact].tolist()), [self._decision(row) for row in self.events[fact + 1 : after].tolist()]

    def _fact(self, row: list[int]) -> Fact:
        name, time = self.jobs[row[h.E_JOB]].fact.workload, row[h.E_TIME]
        if row[h.E_KIND] == h.SUBMITTING:
            return self.jobs[row[h.E_JOB]].fact.model_copy(update={"time": time})
        return WorkloadFinished(time=time, workload=name) if row[h.E_KIND] == h.FINISHING else TimeAdvanced(time=time)

    def _decision(self, row: list[int]) -> AnyDecision:
        said = {"time": row[h.E_TIME], "cause": 1, "workload": self.jobs[row[h.E_JOB]].fact.workload, "why": Why()}
        said["queue"] = self.policy.graph.nodes[row[h.E_QUEUE]].name
        if row[h.E_KIND] == h.ADMITTING:
            amount = int(self.tape[row[h.E_CHARGES] + h.CHARGE_AMOUNT])
            said |= {"priority": 0, "reason": "FitsOwned", "assignments": (), "borrowed": ()}
            return WorkloadAdmitted.model_validate({**said, "usage": (Charge(flavor="a100", resource="gpu", amount=amount),)})
        if row[h.E_KIND] == h.EVICTING_ONE:
            evicted = {"priority": 0, "reason": "Preempted", "beneficiary": None, "preemption": "reclaim", "usage": ()}
            return WorkloadEvicted.model_validate(said | evicted)
        return WorkloadDeferred.model_validate(said | {"reason": "WaitingForQuota", "outcome": "no fit", "waits": "next"})


def _altered(
    change: Callable[[h.Columns, h.Columns], None], text: str = TWO_QUEUES, jobs: list[Job] = TWO
) -> tuple[_Altered, Measure, ColumnMeasure]:
    """What is played of some jobs, altered; and measures of both kinds that expect it."""
    drawn, core, measures = Policy.of(check(text, "two.gpol")), ArrayCore(), (Measure(), Measure())
    core.step(drawn.activation(0), drawn.graph)
    for measure in measures:
        measure.take(drawn.activation(0), [], drawn.graph)
    loop = core.closed_loop([job.fact for job in jobs], [job.duration for job in jobs], False)
    assert loop is not None
    played = loop.play(ALL)
    change(played.events, played.tape)
    columns = ColumnMeasure(measures[1], drawn.graph, [job.fact for job in jobs])
    return _Altered(played.events, played.tape, drawn, jobs), measures[0], columns


def _take(measure: Measure, chunk: _Altered) -> None:
    for fact, decisions in chunk.batches():
        measure.take(fact, decisions, chunk.policy.graph)


def _set(row: int, **values: int) -> Callable[[h.Columns, h.Columns], None]:
    def change(events: h.Columns, tape: h.Columns) -> None:
        for column, value in values.items():
            events[row, getattr(h, column)] = value

    return change


def _charge(amount: int) -> Callable[[h.Columns, h.Columns], None]:
    def change(events: h.Columns, tape: h.Columns) -> None:
        admissions = events[events[:, h.E_KIND] == h.ADMITTING]
        tape[admissions[-1, h.E_CHARGES] + h.CHARGE_AMOUNT] = amount

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_charge(8_001), "8001 gpu on a100 are in use, 8000 exist"),
        (_charge(2**62), f"{2**62} gpu on a100 are in use, 8000 exist"),
        (_set(ADMIT_B, E_KIND=h.EVICTING_ONE), "`b` is evicted, but does not run"),
        (_set(END_A, E_KIND=h.EVICTING_ONE, E_JOB=1, E_QUEUE=1), "`b` is evicted, but does not run"),
        (_set(END_B, E_JOB=0), "`a` ends, but is not live"),
        (_set(ADMIT_A, E_JOB=1), "`b` is decided about, but is not live"),
        (_set(ADMIT_A, E_KIND=h.DEFERRING, E_JOB=1), "`b` is decided about, but is not live"),
        (_set(END_A, E_KIND=h.ADMITTING, E_QUEUE=1), "`a` is admitted, but runs already"),
        (_set(SUBMIT_B, E_JOB=0), "`a` is submitted, but is live already"),
    ],
)
def test_what_contradicts_itself_is_found_in_the_same_words(change: Callable[[h.Columns, h.Columns], None], message: str) -> None:
    """An admission above what exists, an eviction of one that does not run, an end of one that is not live, and so on."""
    chunk, measure, columns = _altered(change)
    with pytest.raises(AccountError) as wanted:
        _take(measure, chunk)
    with pytest.raises(AccountError) as found:
        columns.take(chunk)
    assert str(found.value) == str(wanted.value) == message


IN_CYCLES = TWO_QUEUES.replace("gpol.fair", "kueue.classical").replace("{ gpu 8 }", "{ gpu as owned }")


@pytest.mark.parametrize("size", [1, 3, 6])
def test_charges_that_add_up_beyond_64_bits_are_measured_from_objects(size: int) -> None:
    """Each chunk alone would fit."""

    def change(events: h.Columns, tape: h.Columns) -> None:
        tape[events[events[:, h.E_KIND] == h.ADMITTING, h.E_CHARGES] + h.CHARGE_AMOUNT] = 2**61 - 2**58

    whole, measure, columns = _altered(change, IN_CYCLES, SIX)
    facts = np.flatnonzero(whole.events[:, h.E_KIND] <= h.ADVANCING)
    for events in np.split(whole.events, facts[size::size]):
        chunk = whole._replace(events=events)
        _take(measure, chunk)
        columns.take(chunk)
        assert columns.measure() == measure
    assert measure.queues["owner"].admitted == 6
    assert measure.queues["owner"].used_area > 2**63 * DAY // 2


def test_in_cycles_more_may_be_used_than_exists() -> None:
    """There is what is owned, and nothing is said of machines."""
    chunk, measure, columns = _altered(_charge(9_000), IN_CYCLES)
    _take(measure, chunk)
    columns.take(chunk)
    assert columns.measure() == measure
    assert measure.queues["owner"].used_area > 16_000 * 60 * SECOND


def test_no_job_changes_its_queue() -> None:
    """Only a new policy moves who waits, and in a closed loop there is none."""
    chunk, _, columns = _altered(lambda events, tape: None)
    others = [queue.node for queue in chunk.policy.graph.queues if queue.node != chunk.events[ADMIT_B, h.E_QUEUE]]
    chunk.events[ADMIT_B, h.E_QUEUE] = others[0]
    with pytest.raises(AccountError, match="`b` is admitted to a queue in which it does not wait"):
        columns.take(chunk)


def test_time_that_goes_back_takes_its_area_back() -> None:
    """As it does in `Measure`."""
    chunk, measure, columns = _altered(_set(END_B, E_TIME=30 * SECOND))
    _take(measure, chunk)
    columns.take(chunk)
    assert columns.measure() == measure
    assert measure.queues["owner"].used_area == 8_000 * 30 * SECOND


def test_columns_begin_with_a_policy_and_nobody() -> None:
    """They cannot take over from a measure in the middle."""
    drawn, measure = Policy.of(check(TWO_QUEUES, "two.gpol")), Measure()
    with pytest.raises(ValueError, match="begins under a policy"):
        ColumnMeasure(measure, drawn.graph, [])
    measure.take(drawn.activation(0), [], drawn.graph)
    ColumnMeasure(measure, drawn.graph, [])
    measure.take(TWO[0].fact, [], drawn.graph)
    with pytest.raises(ValueError, match="before the first workload"):
        ColumnMeasure(measure, drawn.graph, [])


def test_figures_are_whole_numbers() -> None:
    """No number of numpy gets into a measure: figures are printed, and added up without bounds."""
    found = _measured(_example("lab/lab.gpol"), list(read_jobs(EXAMPLES / "lab" / "workloads.csv"))).by_columns
    numbers = [found.end, found.facts, found.decisions, *found.used.values()]
    for queue in found.queues.values():
        numbers += [value for name in queue.__slots__ if not isinstance(value := getattr(queue, name), str | dict | tuple)]
        numbers += [*queue.uses.values(), *queue.waits, *queue.waits.values(), *queue.running.values()]
    assert {type(number) for number in numbers} == {int}
    assert not any(isinstance(number, np.integer) for number in numbers)


# --- batches and chunks together ------------------------------------------------------------------------------------------------


def _given(kernel: CountKernel | None) -> CountKernel | None:
    return kernel


@pytest.mark.parametrize("number", range(8))
def test_a_simulation_has_the_same_figures_whatever_it_yields(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches, chunks that are counted by their columns or event by event, and batches again where the loop gives up."""
    drawn, jobs, draw = _drawn(number)
    monkeypatch.setattr(simulation, "CHUNK", draw.pick([1, 7, 50, 2_000]))
    found = []
    for core, kernel in ((DefinitionCore, None), (ArrayCore, None), (ArrayCore, count_events)):
        measure = HistoryMeasure(None, partial(_given, kernel))
        with suppress(FactError, EndlessError):
            for played in Simulation(drawn, jobs, Player(core())).chunks():
                measure.take(played, drawn.graph)
        found.append(History.of(measure.measure()))
    assert found[0] == found[1] == found[2]

"""Jobs played under a policy by a core itself, and what of it is kept: figures, and columns that can be compared."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from threading import Lock
from typing import NamedTuple

import numpy as np

from ....compiled.fast_core import core_with, kernels_for, why_not_compiled
from ....compiled.kernel_folder import kernel_folder
from ....engine.cores import Core, JobLoop, PlayedChunk
from ....engine.facts import PolicyActivated, SimulationStarted
from ....engine.intake.jobs import NAME, Jobs
from ....engine.outcome import history as h
from ....engine.outcome.history import Columns, NumberOf
from ....engine.policy_graph import PolicyGraph
from ....journal.records import BatchSink
from ...drive.driver import OnEvict
from ...drive.player import Player
from ...measure.columns.column_measure import ColumnMeasure
from ...measure.columns.compiled_count import COUNT, count_at_hand
from ...measure.columns.table_count import CountKernel
from ...measure.figures import History
from ...measure.gpu_amounts import thousandths
from ...measure.measure import Measure
from .job_fates import JobFates, job_fates

CHUNK = 50_000
"""After how many events the core hands over what it has played."""

_MOST = float(2**62)

_LOADING = Lock()
"""A worker of a cluster may have several threads, and numba loads from one folder at a time."""


class Tools(NamedTuple):
    """What plays and counts quickly: makes new cores, and the kernel that counts."""

    core: Callable[[], Core]
    counts: CountKernel


def fast_tools(facts: int) -> tuple[Tools | None, str]:
    """The tools for a history of about so many facts; or None, and a line that says why, or nothing. See `kernels_for`."""
    with _LOADING:
        kernels, why = kernels_for(facts)
        if kernels is None:
            return None, why
        counts = count_at_hand()
    return (None, why_not_compiled(kernel_folder(), COUNT)) if counts is None else (Tools(partial(core_with, kernels), counts), "")


class JobsToPlay(NamedTuple):
    """Jobs and how long they run; `opening` are the facts before the first of them, and `until` how far wakes are played once only such
    jobs are left whose end nobody knows."""

    opening: tuple[PolicyActivated | SimulationStarted, ...]
    jobs: Jobs
    lengths: Columns
    on_evict: OnEvict
    until: int

    def under(self, activation: PolicyActivated) -> "JobsToPlay":
        """The same jobs under another policy, activated at the same time."""
        return self._replace(opening=(activation, *self.opening[1:]))

    def loop(self, core: Core) -> JobLoop | None:
        """The loop of a core that has taken in the opening; None where it has none."""
        return core.closed_loop(self.jobs, self.lengths, self.on_evict == "resume", self.until)


class Decisions(NamedTuple):
    """Decisions in their order: of each its row among the events, its kind, moment, name and queue, and what it decides."""

    rows: Columns
    kinds: Columns
    times: Columns
    names: Columns
    queues: Columns
    content: Columns


class Played(NamedTuple):
    """A history: `events` [event, (E_KIND, E_TIME, E_JOB)] without the opening; `endless` jobs run or wait at its end, and nobody knows how
    long."""

    history: History
    events: Columns
    decisions: Decisions
    fates: JobFates
    endless: int


def begun(core: Core, todo: JobsToPlay, graph: PolicyGraph, measure: Measure | None = None) -> JobLoop | None:
    """The loop of a new core under a policy, before the first job; None where it has none."""
    for fact in todo.opening:
        decisions = core.step(fact, graph if isinstance(fact, PolicyActivated) else None)
        if measure is not None:
            measure.take(fact, decisions, graph)
    return todo.loop(core)


def play(
    todo: JobsToPlay, graph: PolicyGraph, tools: Tools, number: NumberOf, observe: Callable[[PlayedChunk], bool] = lambda chunk: True
) -> Played | None:
    """Play jobs under a policy to the end; None where they are not for the core's own loop, or for 64 bits, or `observe` says no.

    Raises AccountError.
    """
    core, measure = tools.core(), Measure()
    loop = begun(core, todo, graph, measure)
    if loop is None:
        return None
    counting, parts = ColumnMeasure(measure, graph, todo.jobs, tools.counts), list[_Part]()
    for chunk in _chunks(loop):
        counting.take(chunk)
        parts.append(_part(chunk, graph, number))
        if chunk.too_late is not None or not observe(chunk):
            return None
    submitted, left, _ = loop.left_over()
    wake, endless = core.next_wake(), sum(job.left is None for job in left)
    is_rest = wake is None or (wake > todo.until and endless == len(left))
    if submitted < len(todo.jobs) or not is_rest or any(job.left is not None and job.admission >= 0 for job in left):
        return None
    measured = counting.measure()
    measured.check_accounts()
    events = np.concatenate([part.events for part in parts])
    gpus = np.concatenate([part.gpus for part in parts])
    fates = job_fates(events, gpus, len(todo.jobs), measured.end, todo.on_evict)
    if fates is None:
        return None
    return Played(History.of(measured), events, _decisions(parts, events, todo.jobs), fates, endless)


def keep(todo: JobsToPlay, graph: PolicyGraph, tools: Tools, sink: BatchSink) -> None:
    """Play jobs again that were played to the end, and keep the history."""
    player = Player(tools.core(), sink)
    for fact in todo.opening:
        player.step(fact, graph if isinstance(fact, PolicyActivated) else None)
    player.flush()
    loop = todo.loop(player.core)
    assert loop is not None, "it was played before"
    for chunk in _chunks(loop):
        player.keep(chunk)


def _chunks(loop: JobLoop) -> Iterator[PlayedChunk]:
    goes_on = True
    while goes_on:
        chunk = loop.play(CHUNK)
        yield chunk
        goes_on = chunk.goes_on


# --- columns ----------------------------------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """What is kept of a chunk: `gpus` are those of each admission in thousandths, and 0 for other events."""

    events: Columns
    gpus: Columns
    decided: h.Decided


def _part(chunk: PlayedChunk, graph: PolicyGraph, number: NumberOf) -> _Part:
    events = chunk.events[:, [h.E_KIND, h.E_TIME, h.E_JOB]]
    return _Part(events, _gpus(chunk, graph), chunk.decided(number))


def _gpus(chunk: PlayedChunk, graph: PolicyGraph) -> Columns:
    """The GPUs of each admission, in thousandths; at most 2**62, which is more than there can be."""
    units = np.array([thousandths(slot.resource, 1) for slot in graph.slots] or [0], np.int64)
    charged, gpus = chunk.events[:, h.E_CHARGED].copy(), np.zeros(len(chunk.events), np.int64)
    charged[chunk.events[:, h.E_KIND] != h.ADMITTING] = 0
    for number in range(int(charged.max(initial=0))):
        some = np.flatnonzero(charged > number)
        at = chunk.events[some, h.E_CHARGES] + number * h.CHARGE_WIDTH
        unit, amount = units[chunk.tape[at + h.CHARGE_SLOT]], chunk.tape[at + h.CHARGE_AMOUNT]
        fits = unit.astype(float) * amount + gpus[some] < _MOST
        gpus[some] = np.where(fits, gpus[some] + unit * amount, 2**62)
    return gpus


def _decisions(parts: Sequence[_Part], events: Columns, jobs: Jobs) -> Decisions:
    width, before = max(part.decided.content.shape[1] for part in parts), 0
    rows, content = list[Columns](), list[Columns]()
    for part in parts:
        rows.append(part.decided.rows + before)
        before += len(part.events)
        content.append(np.pad(part.decided.content, ((0, 0), (0, width - part.decided.content.shape[1])), constant_values=h.NOTHING))
    at = np.concatenate(rows)
    kinds, times, job = events[at].T
    queues = np.concatenate([part.decided.queues for part in parts])
    return Decisions(at, kinds.copy(), times.copy(), jobs.columns[job, NAME], queues, np.concatenate(content))

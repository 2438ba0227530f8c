"""The impact of another policy on a recorded history, in a closed loop: both histories are measured, compared and explained."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from ...engine.cores import Core
from ...engine.default_core import new_core
from ...engine.events import AnyDecision
from ...engine.explain.standing import Standing
from ...engine.facts import Fact, PolicyActivated, WorkloadSubmitted
from ...engine.policy_graph import PolicyGraph
from ...journal.errors import DamagedError
from ...journal.journal import Batch as RecordedBatch
from ...journal.journal import Journal
from ...journal.recorded_policies import PolicyRefusedError, compile_recorded
from ...journal.records import TOLD_EVERY, Progress
from ...journal.temporary import temporary_journal
from ..drive.driver import OnEvict
from ..drive.player import Player
from ..drive.policy import Policy
from ..drive.run_lengths import recorded_lengths
from ..measure.figures import History
from ..measure.measure import Measure
from ..measure.series import Series
from .closed_loop import ClosedLoop, Impossible
from .columns.played_columns import Tools, keep
from .columns.record import compare, read_record
from .columns.revisit import Revisited
from .history_diff import Changes, Parting, Tally
from .recorded_settings import EvictionSetting, recorded_settings
from .standing_lookup import WorkloadMoment, standings_at
from .workload_fates import Affected, Fate, FateComparison, Fates

_LookUp = Callable[[Iterable[WorkloadMoment]], dict[WorkloadMoment, Standing]]
"""Finds the standings of workloads at some moments."""


@dataclass(frozen=True, slots=True)
class Told:
    """A workload in one history: its fate, and its standing when its longest wait began (None: it never waited)."""

    fate: Fate
    standing: Standing | None


@dataclass(frozen=True, slots=True)
class Explained:
    """A workload that is affected, with both histories' explanations. `cost` and `extra_wait` are those of `Affected`."""

    workload: str
    cost: int
    extra_wait: int
    before: Told
    after: Told


@dataclass(frozen=True, slots=True)
class ClosedImpact:
    """The outcome. `tallies` are by kind and queue; of `compared` workloads `worse` wait for or lose more, `better` less.

    `parting` is the first difference, at event `parting_seq` of the journal. `activations` were recorded, `recorded_policy` is the last of
    them, and the policy was activated at each; `endless` workloads without a recorded end run or wait to the end of the other history.
    `setting` says what became of evicted runs.
    """

    policy: Policy
    setting: EvictionSetting
    before: History
    after: History
    same_decisions: int
    tallies: tuple[tuple[str, str, Tally], ...]
    parting: Parting | None
    parting_seq: int
    compared: int
    worse: int
    better: int
    affected: tuple[Explained, ...]
    impossible: tuple[Impossible, ...]
    activations: int
    recorded_policy: PolicyActivated | None
    endless: int
    loop: Literal["closed-loop"] = "closed-loop"

    @property
    def changed(self) -> int:
        """How many decisions differ."""
        return sum(tally.gone + tally.new + tally.other for _, _, tally in self.tallies)

    @property
    def nothing_changes(self) -> bool:
        """Whether every recorded fact can happen, and every decision is the recorded one."""
        return self.changed == 0 and not self.impossible


@dataclass(slots=True)
class _Recorded:
    """The recorded history as it is told, batch by batch."""

    changes: Changes
    fates: Fates
    series: Series | None
    progress: Progress | None
    measure: Measure = field(default_factory=Measure)
    graph: PolicyGraph | None = None
    policy: PolicyActivated | None = None
    activations: int = 0
    submissions: dict[str, int] = field(default_factory=dict)

    def observe(self, batch: RecordedBatch) -> None:
        """Take in a batch. Raises DamagedError for one that cannot have happened."""
        fact: Fact = batch.fact.event  # type: ignore[assignment]  # a batch begins with a fact
        decisions: list[AnyDecision] = [each.event for each in batch.decisions]  # type: ignore[misc]
        try:
            self._take(batch.fact.seq, fact, decisions)
        except (AssertionError, LookupError, PolicyRefusedError) as error:
            message = f"event {batch.fact.seq} or a decision about it cannot have happened then: {error}"
            raise DamagedError(batch.fact.seq, message, "run `gpol replay`") from None

    def _take(self, seq: int, fact: Fact, decisions: list[AnyDecision]) -> None:
        if isinstance(fact, PolicyActivated):
            self.graph = compile_recorded(fact)
            self.activations += 1
            self.policy = fact
        if isinstance(fact, WorkloadSubmitted):
            self.submissions[fact.workload] = self.submissions.get(fact.workload, 0) + 1
        self.measure.take(fact, decisions, self.graph)
        if self.series is not None:
            self.series.take(fact, decisions, self.measure)
        self.changes.take_recorded(seq, fact.time, decisions)
        self.fates.take(fact, decisions, seq + len(decisions), self.submissions.get(getattr(fact, "workload", ""), 0))
        if self.progress is not None and self.measure.facts % TOLD_EVERY == 0:
            self.progress(seq)


def closed_impact(
    journal: Journal,
    policy: Policy,
    on_evict: OnEvict | None = None,
    *,
    kept: Journal | None = None,
    series: tuple[Series, Series] | None = None,
    progress: Progress | None = None,
    explain: bool = True,
    upto: int | None = None,
    tools: Tools | None = None,
    core: Core | None = None,
) -> ClosedImpact:
    """Play a journal again under a policy and compare.

    `kept` is a new journal that takes the other history; `series` those of both, for charts. Without `explain` nobody's standing is looked
    up. With `tools` a history of jobs alone is played and compared by columns, in a fraction of the time, unless it is to be drawn;
    the outcome is the same. What is played fact by fact is decided by `core`, to which nothing has happened yet; by default one of
    `tools`, and else the definition. The history goes up to event `upto`, the last of a batch: by default the last one now, whatever is
    appended meanwhile. Evicted runs do as the journal records or, where it does not, as `on_evict` says. Raises JournalError,
    DamagedError, EndlessError and SettingsError.
    """
    last = journal.head.seq if upto is None else upto
    setting = recorded_settings(journal, on_evict, last)
    if tools is not None and series is None:
        found = _by_columns(journal, policy, setting, last, tools, kept, progress, explain)
        if found is not None:
            return found
    with _kept(kept, explain) as sink:
        changes = Changes()
        comparison = FateComparison(Fates(setting.on_evict), Fates(setting.on_evict))
        recorded = _Recorded(changes, comparison.before, series[0] if series is not None else None, progress)
        lengths = recorded_lengths(journal, setting.on_evict, last)
        player, measure = Player(core or (tools.core() if tools is not None else new_core()), sink), Measure()
        loop = ClosedLoop(journal, policy, player, lengths, setting.on_evict, recorded.observe, last)
        for fact, decisions in loop.run():
            measure.take(fact, decisions, player.core.graph)
            if series is not None:
                series[1].take(fact, decisions, measure)
            changes.take_played(fact.time, decisions)
            submission = loop.submission(fact.workload) if isinstance(fact, WorkloadSubmitted) else 0
            comparison.after.take(fact, decisions, player.core.seq, submission)
            comparison.collect()
        changes.finish()
        affected = comparison.finish()
        measure.check_accounts()
        return ClosedImpact(
            policy=policy,
            setting=setting,
            before=History.of(recorded.measure),
            after=History.of(measure),
            same_decisions=changes.same,
            tallies=tuple((kind, queue, changes.tallies[kind, queue]) for kind, queue in sorted(changes.tallies)),
            parting=changes.parting,
            parting_seq=_seq(journal, changes.parting),
            compared=comparison.compared,
            worse=comparison.worse,
            better=comparison.better,
            affected=_explained(affected, _standings_in(journal if explain else None), _standings_in(sink if explain else None)),
            impossible=tuple(loop.impossible),
            activations=recorded.activations,
            recorded_policy=recorded.policy,
            endless=loop.endless,
        )


@contextmanager
def _kept(kept: Journal | None, explain: bool) -> Iterator[Journal | None]:
    """Where the other history is kept: as asked, or for as long as it takes to look things up in it."""
    if kept is not None or not explain:
        yield kept
        return
    with temporary_journal() as journal:
        yield journal


def _by_columns(
    journal: Journal,
    policy: Policy,
    setting: EvictionSetting,
    last: int,
    tools: Tools,
    kept: Journal | None,
    progress: Progress | None,
    explain: bool,
) -> ClosedImpact | None:
    """The impact from columns; None where they do not say it."""
    record = read_record(journal, setting.on_evict, last, tools, progress)
    found = None if record is None else compare(record, policy, tools)
    if record is None or found is None:
        return None
    if kept is not None:
        keep(found.todo, policy.graph, tools, kept)
    before = Revisited(record.todo, record.played, compile_recorded(record.activation), tools)
    after = Revisited(found.todo, found.played, policy.graph, tools)
    parting = _parting(found.changes.first, before, after)
    until, most = max(record.played.fates.end, found.played.fates.end), found.effect.most
    affected = tuple(Affected(*fates, until) for fates in zip(before.fates(most), after.fates(most), strict=True))
    return ClosedImpact(
        policy=policy,
        setting=setting,
        before=record.played.history,
        after=found.played.history,
        same_decisions=found.changes.same,
        tallies=tuple((kind, queue, found.changes.tallies[kind, queue]) for kind, queue in sorted(found.changes.tallies)),
        parting=parting,
        parting_seq=_seq(journal, parting),
        compared=len(record.todo.jobs),
        worse=found.effect.worse,
        better=found.effect.better,
        affected=_explained(affected, before.standings, after.standings) if explain else _explained(affected, None, None),
        impossible=(),
        activations=1,
        recorded_policy=record.activation,
        endless=found.played.endless,
    )


def _parting(time: int | None, before: Revisited, after: Revisited) -> Parting | None:
    """What only one of two histories has at the first moment at which they differ."""
    if time is None:
        return None
    changes = Changes()
    for seq, (_, decisions) in before.batches_at(time):
        changes.take_recorded(seq, time, decisions)
    for _, (_, decisions) in after.batches_at(time):
        changes.take_played(time, decisions)
    changes.finish()
    return changes.parting


def _seq(journal: Journal, parting: Parting | None) -> int:
    """The recorded decision that is no longer made or, where only others are made, the last event up to that moment."""
    if parting is None:
        return 0
    return parting.recorded[0][0] if parting.recorded else journal.seq_at(parting.time)


def _standings_in(journal: Journal | None) -> _LookUp | None:
    return None if journal is None else lambda places: standings_at(journal, places)


def _explained(affected: tuple[Affected, ...], before: _LookUp | None, after: _LookUp | None) -> tuple[Explained, ...]:
    old, new = _told(before, [each.before for each in affected]), _told(after, [each.after for each in affected])
    return tuple(
        Explained(each.after.submission[0], each.cost, each.extra_wait, *told) for each, *told in zip(affected, old, new, strict=True)
    )


def _told(look_up: _LookUp | None, fates: list[Fate]) -> list[Told]:
    """Each with where it stood when its longest time in line began, if it was ever in line."""
    places = {(fate.longest_from, fate.submission[0]) for fate in fates if fate.longest > 0}
    standings = look_up(places) if look_up is not None else {}
    return [Told(fate, standings.get((fate.longest_from, fate.submission[0])) if fate.longest > 0 else None) for fate in fates]

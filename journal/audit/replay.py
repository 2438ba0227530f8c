"""Replay: feed the recorded facts to the core again, and compare every decision byte for byte with the recorded one.

A decision that differs was altered or made up, unless another semantics version decided it: then a difference is to be expected.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...engine.semantics import SEMANTICS
from ..errors import DamagedError, JournalError
from ..journal import Journal
from ..recorded_policies import Compile, compile_recorded
from ..records import Progress, ReadRow
from ..store.writers import Writer
from .replay_batch import Decider, Difference
from .replay_walk import ReplayWalk

__all__ = ["Decider", "Difference", "ReplayReport", "other_semantics", "replay", "writer_by_other_semantics"]

AT_ONCE = 16_000
"""So many events are taken at a time, or a page more."""


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The outcome: so many facts were fed and so many decisions came out as recorded, until the difference, if there is one."""

    facts: int
    decisions: int
    difference: Difference | None = None

    @property
    def same(self) -> bool:
        """Whether every decision is the recorded one."""
        return self.difference is None

    @property
    def seq(self) -> int:
        """The last event up to which all is the same."""
        return self.facts + self.decisions

    @property
    def bad_seq(self) -> int | None:
        """The first event that differs; None: none does."""
        return None if self.difference is None else self.difference.seq

    @property
    def problem(self) -> str:
        """What differs; nothing: an empty text."""
        return "" if self.difference is None else self.difference.problem

    @property
    def writer(self) -> Writer | None:
        """The program that wrote the differing event by another semantics version; None: nothing differs, or not for that reason."""
        return None if self.difference is None else self.difference.writer

    @property
    def recorded(self) -> str:
        """The event as it was recorded; empty where there is none."""
        return "" if self.difference is None else self.difference.recorded or ""

    @property
    def recomputed(self) -> str:
        """The event as it is decided now; empty where there is none."""
        return "" if self.difference is None else self.difference.recomputed or ""


def replay(
    journal: Journal, progress: Progress | None = None, *, decider: Decider | None = None, compile_policy: Compile = compile_recorded
) -> ReplayReport:
    """Decide everything again, follow the chain, and report the first difference, in memory that does not depend on the journal's length.

    A `decider` given by the caller (new, without any state) stands behind the last event afterwards, ready to go on from there.
    """
    walk = ReplayWalk(journal, _core() if decider is None else decider, compile_policy)
    try:
        go_over(walk, progress=progress)
        if walk.difference is not None:
            writer = writer_by_other_semantics(journal, walk.difference.seq)
            return ReplayReport(walk.facts, walk.decisions, replace(walk.difference, writer=writer))
    except DamagedError as error:
        seq = walk.seq + 1 if error.seq is None else error.seq
        return ReplayReport(walk.facts, walk.decisions, Difference(seq, error.message, None, None))
    return ReplayReport(walk.facts, walk.decisions)


def go_over(walk: ReplayWalk, upto: int | None = None, progress: Progress | None = None) -> None:
    """Replay the events up to `upto`, the last of a batch (None: to the end of the journal), or up to a difference. Raises DamagedError
    where the journal cannot be read on."""
    for rows, is_end in _portions(walk.journal, walk.seq, upto):
        begin = walk.seq
        walk.take(rows, is_end)
        del rows[: walk.seq - begin]
        if walk.difference is not None:
            return
        if progress is not None:
            progress(walk.seq)


def _portions(journal: Journal, after: int, upto: int | None) -> Iterator[tuple[list[ReadRow], bool]]:
    """The events of a journal after `after` up to `upto`, many at a time, and whether they are the last ones.

    Whoever takes them deletes those that are done; the others come again, with more behind them.
    """
    rows, most = list[ReadRow](), AT_ONCE
    try:
        for page in journal.pages(after, upto):
            rows += page
            if len(rows) >= most:
                yield rows, False
                most = len(rows) + AT_ONCE
    except DamagedError:
        yield rows, False
        raise
    yield rows, True


def writer_by_other_semantics(journal: Journal, seq: int) -> Writer | None:
    """The program that wrote an event, where it decided by another semantics version than this one; None also where nothing says so."""
    try:
        writer = journal.writer_of(seq)
    except JournalError:  # the table is damaged, and the events are not: a difference is then judged as one of this version
        return None
    return None if writer is None or writer.semantics == SEMANTICS else writer


def other_semantics(seq: int, writer: Writer) -> str:
    """What it means that an event differs which another semantics version decided."""
    return (
        f"event {seq} was written under semantics {writer.semantics} by gpol {writer.program}; this program decides by semantics"
        f" {SEMANTICS}: a difference is expected, and says nothing about tampering; replay with that version"
    )


def _core() -> Decider:
    from ...engine.default_core import new_core

    return new_core()

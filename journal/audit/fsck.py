"""Everything that is wrong with a journal: each kind of fault with the place where it begins, how many there are, and what to do.

`verify` and `replay` stop at the first fault; this goes on after it as far as it can. Memory does not depend on the journal's length:
of each kind of fault the first is reported, and the others are counted.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

from ...engine.cores import Core
from ...engine.default_core import SnapshotError, freeze, new_core
from ...engine.errors import FactError
from ...engine.facts import PolicyActivated
from ..errors import DamagedError, JournalError
from ..journal import Batch, Journal
from ..read.as_of import follow
from ..read.snapshots import FORM, restore
from ..recorded_policies import compile_recorded
from ..records import START, Head, Progress
from ..store.writers import Writer
from .evidence import Evidence, EvidenceComparison
from .faults import Fault
from .replay import other_semantics, writer_by_other_semantics
from .replay_batch import Difference, replay_batch
from .row_checks import RowWalk, structure_faults, unreadable
from .traces import CUT, trace_of

_RESTORE = "go back to a backup that verifies; what was appended since then, its sources have to tell again"

_GO_ON = (
    "events 1 to {whole} are whole, and all commands that show or export them still do: keep the file, and go back to a backup that has"
    " more of them, or make the journal anew of these with `gpol export facts` and `gpol run --as-recorded`; what came after them, its"
    " sources have to tell again"
)

_REMEDIES = {
    "file": _RESTORE,
    "structure": "if that is all, make the journal anew with `gpol export facts` and `gpol run --as-recorded`; else go back to a backup",
    "stray": "nothing recorded is lost: make the journal anew with `gpol export facts` and `gpol run --as-recorded`",
    "missing": _RESTORE,
    "stored": _RESTORE,
    "chain": f"compare with a backup or a checkpoint to see which event was altered; {_RESTORE}",
    "unreadable": _RESTORE,
    "future": "use a newer gpol",
    "form": "find out which program wrote it; its events cannot be trusted to be gpol's",
    "column": "nothing recorded is lost: make the journal anew with `gpol export facts` and `gpol run --as-recorded`",
    "time": "find out which program wrote it; its events cannot be trusted to be gpol's",
    "cause": "find out which program wrote it; its events cannot be trusted to be gpol's",
    "policy": "use the version of gpol that wrote it; if that refuses it as well, it was altered",
    "decision": "look at both versions with `gpol replay`; where the chain is whole, it was written anew, or another gpol decided it",
    "semantics": "replay with the version of gpol that wrote it, which decides by the same semantics",
    "writers": "no event and no state depends on it; ask who changed the table, and do not rely on what it says",
    "rewritten": (
        "keep the journal as it is, and make no new snapshots: compare it with a backup, a checkpoint or a head from before, by"
        " `gpol verify --checkpoint` or `--head`; only if that verifies was it the snapshot that was altered"
    ),
    "cut": "keep the journal as it is: compare it with a backup, a checkpoint or a head from before, by `gpol verify`",
    "foreign": "find out who put it there, and keep a copy: events that were in it are lost; then go on from a backup that verifies",
    "undecided": "mend what is wrong before, and look again",
    "snapshot": "make one anew: `gpol snapshot JOURNAL --afresh`",
    "evidence": "keep both: they show that this is not the journal that was signed; go back to a backup that verifies against it",
    "writer": "look again when it is closed, if something at the end is wrong",
    "log": "never remove it; copy journals with `gpol backup`, and it is done with",
    "leftover": "remove it, unless a backup is under way",
}
"""What to do about a fault, by its kind."""

_TO_RESTORE = frozenset({"file", "missing", "stored", "chain", "unreadable"})
"""Kinds of faults that only a backup mends. Where events before them are whole, there is another way."""

NOTES = frozenset({"writer", "log", "leftover"})
"""Kinds of findings that are no fault."""

_BLOCKING = frozenset({"stored", "missing", "unreadable", "future"})
"""Kinds of faults behind which no event is decided again."""

_OF_EVENTS = frozenset({*_BLOCKING, "stray", "chain", "form", "column", "time", "cause", "file", "evidence"})
"""Kinds of faults in what is stored of events."""

_ANCHOR_EVERY = 1_000


@dataclass(frozen=True, slots=True)
class FsckFinding:
    """Something that is wrong: the first fault of its kind, and how many events, or other things, are so in all."""

    fault: Fault
    count: int
    whole: int = 0
    """Up to which event all that is stored is right, if it is a fault of stored events."""

    @property
    def kind(self) -> str:
        """The sort of fault, by a token."""
        return self.fault.kind

    @property
    def is_fault(self) -> bool:
        """Whether it says that something is wrong, and not only that something is to be known."""
        return self.kind not in NOTES

    @property
    def remedy(self) -> str:
        """What to do about it."""
        if self.whole and self.kind in _TO_RESTORE:
            return _GO_ON.format(whole=self.whole)
        return _REMEDIES[self.kind]


@dataclass(frozen=True, slots=True)
class FsckReport:
    """All findings, in the order of what was looked at. `seq` is the last event there is, `decided` the last that was decided again."""

    seq: int
    decided: int
    findings: tuple[FsckFinding, ...]

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not any(finding.is_fault for finding in self.findings)


def fsck(journal: Journal, progress: Progress | None = None, evidence: Evidence | None = None, *, core: Core | None = None) -> FsckReport:
    """Look at everything: the database, tables, every event, every decision, snapshots, what lies beside it, and checkpoints if given.

    The core, to which nothing has happened yet, decides again. Raises JournalError only where the store cannot be reached.
    """
    check = _Fsck(journal, progress or (lambda _seq: None))
    check.place()
    check.events(EvidenceComparison(evidence or Evidence(), None))
    check.writers()
    check.decisions(core or new_core())
    check.snapshots()
    return FsckReport(check.last, check.decided, check.result())


class _Fsck:
    """What was found so far; `last` is the last event, `decided` the last one that was decided again."""

    def __init__(self, journal: Journal, progress: Progress) -> None:
        self.journal = journal
        self.progress = progress
        self.findings: dict[str, FsckFinding] = {}
        self.last = 0
        self.decided = 0
        self._unchecked: list[int] = []
        self._is_read = True  # whether all events could be
        self._before = 0  # the last row before the walk: a writer may append meanwhile
        self._writers: Sequence[Writer] | DamagedError = ()
        self._blocked: Fault | None = None  # behind which nothing is decided again
        with suppress(JournalError):  # where the table is missing, `structure` says so
            self._unchecked = journal.snapshot_seqs()
        with suppress(JournalError):
            self._before = journal.last_row
        try:
            self._writers = journal.writers()
        except DamagedError as error:
            self._writers = error

    def _add(self, fault: Fault | None) -> None:
        if fault is not None:
            known = self.findings.get(fault.kind, FsckFinding(fault, 0))
            self.findings[fault.kind] = replace(known, count=known.count + fault.events)

    def result(self) -> tuple[FsckFinding, ...]:
        """All findings, each with how far all that is stored of events is right."""
        places = [each.fault.seq for each in self.findings.values() if each.kind in _OF_EVENTS]
        whole = min((0 if seq is None else seq - 1 for seq in places), default=0)
        return tuple(replace(each, whole=whole) for each in self.findings.values())

    # --- around the events ------------------------------------------------------------------------------------------

    def place(self) -> None:
        """The database, its tables, and what lies beside them."""
        for fault in structure_faults(self.journal):
            self._add(fault)
        try:
            for problem in self.journal.structure_differences():
                self._add(Fault(None, problem, "", "", "the database was changed by hand, or not made by gpol", kind="structure"))
            for kind, problem in self.journal.surroundings():
                self._add(Fault(None, problem, "", "", "", kind=kind))
        except DamagedError as error:
            self._add(unreadable(None, error))

    # --- events -----------------------------------------------------------------------------------------------------

    def events(self, comparison: EvidenceComparison) -> None:
        """Every event as it is stored, beside the evidence as long as none is missing."""
        walk, comparing = RowWalk(self.journal), True
        after: int | None = None  # from the first row on, whatever its number
        try:
            while page := self.journal.stored_page(after):
                for row in page:
                    for fault in walk.take(row):
                        self._add(fault)
                        if self._blocked is None and fault.kind in _BLOCKING:
                            self._blocked = fault
                        comparing = comparing and fault.kind != "missing"
                    if comparing and row.seq == walk.head.seq:  # a stray row is passed over
                        signed = comparison.take(Head(row.seq, row.chain or b""), row.payload or b"")
                        self._add(signed)
                        comparing = signed is None
                after = page[-1].seq
                self.progress(walk.head.seq)
        except DamagedError as error:
            self._add(unreadable(walk.head.seq + 1, error))
            self._is_read = False
        self.last = walk.head.seq
        if self._blocked is not None and self._blocked.seq is not None:
            self.journal.end_before(self._blocked.seq)
        elif self.last and len(walk.head.chain) != len(START.chain):
            self._blocked = Fault(self.last, f"event {self.last} has no chain value of {len(START.chain)} bytes", "", "", "")
            self.journal.end_before(self.last)
        if comparing:
            self._add(comparison.end(self.last))

    # --- writers ----------------------------------------------------------------------------------------------------

    def writers(self) -> None:
        """The table that says which programs wrote the events: rows about events that are there, each about another program."""
        if isinstance(self._writers, DamagedError):
            self._add(Fault(None, self._writers.message, "", "", "", kind="writers"))
        elif self._is_read:
            for problem in _writer_problems(self._writers, min(self._before, self.last), self.last):
                self._add(Fault(None, problem, "", "", "the table was changed by hand, or events are missing", kind="writers"))

    # --- decisions --------------------------------------------------------------------------------------------------

    def decisions(self, core: Core) -> None:
        """Every decision, made again by a core; behind one that differs history is taken as it was recorded."""
        anchor, why = core.copy(), ""
        try:
            for number, batch in enumerate(self.journal.batches(), 1):
                difference = replay_batch(batch, core, compile_recorded)
                if difference is not None and self._blocked is not None and difference.seq > self.journal.head.seq:
                    break  # the rest of the batch is behind what blocks
                if difference is not None:
                    self._add(self._differing(batch, difference))
                    core = anchor.copy()
                    follow(self.journal, core, after=core.seq, upto=batch.fact.seq)
                if difference is not None or number % _ANCHOR_EVERY == 0:
                    anchor = core.copy()
                    self.progress(core.seq)
                self.decided = core.seq
                if self.decided in self._unchecked:
                    self._snapshot(self.decided, core)
        except DamagedError as error:
            why = error.message
        except (FactError, AssertionError, LookupError, ValueError) as error:  # a state that no recorded history should lead to
            why = f"the recorded history leads to what cannot be: {error}"
        if self.decided < self.last:
            why = why or (self._blocked.problem if self._blocked is not None else "")
            first, count = self.decided + 1, self.last - self.decided
            self._add(Fault(first, f"events from {first} on were not decided again: {why}", "", "", "", kind="undecided", events=count))

    def _differing(self, batch: Batch, difference: Difference) -> Fault:
        seq, recorded, recomputed = difference.seq, difference.recorded or "", difference.recomputed or ""
        writer = writer_by_other_semantics(self.journal, seq)
        if writer is not None:
            return Fault(seq, difference.problem, recomputed, recorded, other_semantics(seq, writer), kind="semantics")
        policy = seq == batch.fact.seq and isinstance(batch.fact.event, PolicyActivated)
        return Fault(seq, difference.problem, recomputed, recorded, "", kind="policy" if policy else "decision")

    # --- snapshots --------------------------------------------------------------------------------------------------

    def snapshots(self) -> None:
        """Snapshots that no batch ends at, or that lie behind what could be decided again."""
        for seq in list(self._unchecked):
            self._snapshot(seq, None)

    def _snapshot(self, seq: int, core: Core | None) -> None:
        """A snapshot, compared with the state that the events gave, where that is known."""
        self._unchecked.remove(seq)
        if seq not in self.journal.snapshot_seqs():  # a writer has dropped it meanwhile
            return
        trace = trace_of(self.journal, self.journal.snapshot(seq, content=False), self.last)
        if trace is not None:
            self._add(trace if self._is_read or trace.kind != CUT else None)
            return
        if seq > self.journal.head.seq and self.journal.snapshot(seq, content=False).format == FORM:
            return  # behind what blocks there is nothing to compare it with
        try:
            kept = restore(self.journal, self.journal.snapshot(seq))
            if core is None or freeze(kept) == freeze(core):
                return
            problem = "it is not the state that the events give"
        except (SnapshotError, JournalError) as error:
            problem = error.message if isinstance(error, JournalError) else str(error)
        meaning = "no event hangs on it, but states taken from it may be wrong" if core is not None else "no event hangs on it"
        self._add(Fault(seq, f"the snapshot after event {seq} does not count: {problem}", "", "", meaning, kind="snapshot"))


def _writer_problems(writers: Sequence[Writer], before: int, last: int) -> Iterator[str]:
    """What cannot be so in the rows about writers, read when a journal ended at event `before`, that now ends at event `last`."""
    first = writers[0].first_seq if writers else before + 1
    if first > 1 and before:
        yield f"no writer is named for events 1 to {min(first - 1, before)}"
    for writer in writers:
        if not 1 <= writer.first_seq <= last:
            yield f"the table `writers` names event {writer.first_seq}, and the journal has events 1 to {last}"
    for one, other in pairwise(writers):
        if one[1:] == other[1:]:
            yield f"the table `writers` says twice in a row, at events {one.first_seq} and {other.first_seq}, that the writer is the same"

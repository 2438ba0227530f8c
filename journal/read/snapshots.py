"""Snapshots: states of the core kept in the journal, so that opening it does not mean applying all its events.

They are a cache. A snapshot is used only if its chain value is that of its event, its digest is that of its content, and this program
writes the same form and can read it. Any other is ignored. One that remembers other events than the journal has is evidence of what became
of the journal: it stays, and no new one is kept beside it. `verify` never uses snapshots, and `replay` trusts none
(`audit/in_parts/replay_parts.py`).
"""

import hashlib
import zlib
from collections.abc import Collection, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from ...engine.cores import Core, EncodedEvents
from ...engine.default_core import FORMAT, SnapshotError, freeze, thaw
from ...engine.events import AnyEvent
from ...engine.facts import PolicyActivated
from ...engine.policy_graph import PolicyGraph
from ..errors import DamagedError, JournalError
from ..journal import Journal
from ..recorded_policies import PolicyRefusedError, compile_recorded
from ..records import START, BatchSink
from ..store.recorder import MOST_CONTENT, Snapshot

FORM = f"core {FORMAT}"
"""How the content of a snapshot is to be read: packed with zlib, and then as the core's own form of this version."""

EVERY = 10_000
"""After how many events a writer keeps a snapshot. Applying as many takes less than a second, keeping one some milliseconds."""

MOST_BYTES = 1 << 28
"""How much a content may unpack to; more is none of ours."""

_NEWEST = 2
"""How many of the newest are kept in any case: should the last one be unreadable, there is one before it."""

_STRETCHES = 16
"""In so many stretches of a journal at most, and more than half as many, one is kept of each, so that `replay` finds where parts begin."""

_EVIDENCE = (
    "keep a copy of the journal, it is evidence, and see `gpol fsck`; "
    "`gpol snapshot JOURNAL --afresh` deletes all snapshots, and with them what they show"
)


# --- keeping --------------------------------------------------------------------------------------------------------


def keep_snapshot(journal: Journal, core: Core, every: int = EVERY, of_use: Collection[int] = ()) -> Snapshot:
    """Keep the state of a core that stands at the end of a journal open to append.

    What can be of no use, and older ones beyond a few (`expendable`), are dropped with it; those at the places `of_use` are known to be
    good, as this program has written them since it has the right to append. Raises DamagedError where one remembers other events than
    there are, and JournalError where the core does not stand at the end, or its state is so large that its snapshot would never be read.
    """
    head = journal.head
    if core.seq != head.seq:
        raise JournalError(
            f"the core stands at event {core.seq}, and `{journal.name}` ends at event {head.seq}", "bring it to the end first"
        )
    useless, left = list[int](), list[int]()
    for seq in journal.snapshot_seqs():
        other = None if seq in of_use else journal.snapshot(seq, content=False)
        if other is not None and contradicts(journal, other, head.seq):
            raise DamagedError(None, f"the snapshot after event {seq} remembers other events than `{journal.name}` has", _EVIDENCE)
        if seq != head.seq:
            (left if other is None or not misplaced(journal, other) else useless).append(seq)
    unpacked = freeze(core)
    content = zlib.compress(unpacked, 1)
    if len(unpacked) >= MOST_BYTES or len(content) > MOST_CONTENT:
        message = f"the state of `{journal.name}` takes {len(unpacked)} bytes, {len(content)} packed: too much for a snapshot"
        raise JournalError(message, f"do without one; {MOST_BYTES - 1} bytes, {MOST_CONTENT} packed, are the most")
    snapshot = Snapshot(head.seq, head.chain, FORM, hashlib.sha256(content).digest(), content)
    journal.keep_snapshot(snapshot, instead_of=[*useless, *expendable([*left, head.seq], every)])
    return snapshot


def contradicts(journal: Journal, snapshot: Snapshot, last: int) -> bool:
    """Whether a snapshot remembers other events than those of a journal that ends at event `last`: later ones, or another chain value."""
    return snapshot.seq > last or other_chain(journal, snapshot) is not None


def other_chain(journal: Journal, snapshot: Snapshot) -> tuple[bytes, bytes] | None:
    """The chain value that a snapshot remembers, and that of its event, which the journal has, where it is another one."""
    seq, chain = snapshot.seq, snapshot.chain
    if seq < 1 or not isinstance(chain, bytes) or len(chain) != len(START.chain):
        return None
    stored = journal.at(seq).chain
    return (chain, stored) if stored != chain else None


def expendable(seqs: Sequence[int], every: int = EVERY) -> list[int]:
    """Which of the snapshots at these places to drop: all but the newest two, the oldest one each time twice as far back, and the oldest
    one in each of some stretches of equal length.

    The oldest, as it is the one that gets furthest, and stays the oldest when two stretches become one as they get too many. So of any
    number of events some dozens are kept at most.
    """
    older, last = sorted(seqs)[:-_NEWEST], max(seqs)
    length = every
    while last >= _STRETCHES * length:
        length *= 2
    kept: dict[tuple[str, int], int] = {}
    for seq in older:
        kept.setdefault(("back", ((last - seq) // every).bit_length()), seq)
        kept.setdefault(("stretch", seq // length), seq)
    return [seq for seq in older if seq not in kept.values()]


class Snapshotter:
    """Takes batches on their way into a journal, and then and again keeps a snapshot of the core that decided them; a context manager.

    One is kept after `every` events, or half as many as there are live workloads if that is more, and at a good end. It comes after what
    was appended is on the disk. Where it fails the journal is as good without it, and goes on.
    """

    def __init__(self, journal: Journal, core: Core, sink: BatchSink | None = None, every: int = EVERY) -> None:
        self.journal, self.core, self.every = journal, core, every
        self._sink: BatchSink = journal if sink is None else sink
        self._last = core.seq
        self._kept = set[int]()

    def append(self, batches: Sequence[Sequence[AnyEvent]]) -> None:
        """Append batches to the journal, and then keep a snapshot if it is time."""
        self._sink.append(batches)
        self._keep_in_time()

    def append_encoded(self, events: EncodedEvents, begin: int, end: int) -> None:
        """The same for batches that the core has encoded; it stands at their end."""
        self._sink.append_encoded(events, begin, end)
        self._keep_in_time()

    def _keep_in_time(self) -> None:
        events = self.core.seq - self._last
        if events >= self.every and events >= len(self.core.view.names()) // 2:
            self._keep()

    def _keep(self) -> None:
        if self.core.seq > self._last:
            self._last = self.core.seq
            with suppress(JournalError):
                self._kept.add(keep_snapshot(self.journal, self.core, self.every, self._kept).seq)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:  # a core that was interrupted may stand anywhere
            self._keep()


# --- using ----------------------------------------------------------------------------------------------------------


def newest_core(journal: Journal, upto: int) -> Core | None:
    """A core from the newest snapshot at or before an event that counts; None where none does."""
    with suppress(JournalError):  # snapshots are a cache: where they cannot be read, the events give the state
        for seq in reversed(journal.snapshot_seqs(upto)):
            with suppress(SnapshotError, JournalError):
                return restore(journal, journal.snapshot(seq))
    return None


def restore(journal: Journal, snapshot: Snapshot) -> Core:
    """The core that a snapshot of a journal holds. Raises SnapshotError for one that does not count, saying why."""
    core = thaw(content_of(journal, snapshot), _graph(journal, snapshot.seq))
    if core.seq != snapshot.seq:
        raise SnapshotError(f"its content is the state after event {core.seq}")
    return core


def content_of(journal: Journal, snapshot: Snapshot) -> bytes:
    """The bytes that a snapshot of a journal holds, unpacked. Raises SnapshotError for one that does not count, saying why."""
    if problem := misplaced(journal, snapshot):
        raise SnapshotError(problem)
    if not isinstance(snapshot.content, bytes):
        raise SnapshotError("its content is missing, or too long")
    if hashlib.sha256(snapshot.content).digest() != snapshot.digest:
        raise SnapshotError("its content is not what was written")
    return _unpacked(snapshot.content)


def misplaced(journal: Journal, snapshot: Snapshot) -> str:
    """Why a snapshot is of no use whatever its content is; empty where it may be."""
    if snapshot.format != FORM:
        return f"it is in the form `{snapshot.format}`, and this program's is `{FORM}`"
    if snapshot.seq > journal.head.seq:
        return f"the journal ends at event {journal.head.seq}"
    if snapshot.seq < 1 or journal.at(snapshot.seq).chain != snapshot.chain:
        return f"it is of another history: event {snapshot.seq} has another chain value"
    return ""


def _unpacked(content: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        unpacked = unpacker.decompress(content, MOST_BYTES)
    except zlib.error as error:
        raise SnapshotError(f"its content cannot be unpacked: {error}") from None
    if not unpacker.eof or unpacker.unused_data:
        raise SnapshotError("its content is cut off, too long, or followed by something else")
    return unpacked


def _graph(journal: Journal, seq: int) -> PolicyGraph | None:
    """The policy that was active after an event."""
    recorded = next(journal.backwards(upto=seq, stream="policy"), None)
    if recorded is None or not isinstance(recorded.event, PolicyActivated):
        return None
    try:
        return compile_recorded(recorded.event)
    except PolicyRefusedError as error:
        raise SnapshotError(f"the policy recorded at event {recorded.seq} does not compile: {error}") from None

"""Evidence: heads noted down and checkpoints signed earlier, compared with a journal event by event.

The chain alone shows that a journal agrees with itself. Evidence from elsewhere shows that it is still the same journal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain, islice, pairwise
from pathlib import Path

from ..errors import EvidenceError, ForgedError
from ..proof.checkpoint import Checkpoint
from ..proof.checkpoint_folder import CheckpointFolder, load_checkpoint, read_leaves
from ..proof.merkle import Frontier, leaf_hash
from ..proof.signing_keys import PublicKey
from ..records import START, Head
from .faults import Fault


@dataclass(frozen=True, slots=True)
class Signed:
    """A checkpoint whose signature is right, and the file that it is from."""

    path: Path
    checkpoint: Checkpoint

    @property
    def size(self) -> int:
        """How many events it signs."""
        return self.checkpoint.size


@dataclass(frozen=True, slots=True)
class Leaves:
    """Files of leaf hashes, one going on where the other ends, from the size `after` up to what a checkpoint beside them signs.

    `reach` is the size that they reach together with those of the same folder that go on where they end.
    """

    after: int
    paths: tuple[Path, ...]
    upto: Signed
    reach: int

    def behind(self, size: int) -> Iterator[bytes]:
        """The hashes of the events behind the first `size`, in order; `size` is at least `after`."""
        return islice(chain.from_iterable(map(read_leaves, self.paths)), size - self.after, None)

    def __str__(self) -> str:
        more = f" to `{self.paths[-1].name}`" if len(self.paths) > 1 else ""
        return f"`{self.paths[0]}`{more}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Checkpoints by size, the smallest first, and leaves by the size that they start from."""

    signed: tuple[Signed, ...] = ()
    leaves: tuple[Leaves, ...] = ()

    @classmethod
    def gather(cls, places: Sequence[Path], keys: Sequence[PublicKey]) -> "Evidence":
        """The checkpoints in these files and folders, each verified, and the leaves beside them.

        Raises EvidenceError for what is none, ForgedError for a wrong signature and where two checkpoints say different things of one size.
        """
        signed: list[Signed] = []
        for place in places:
            if place.is_dir():
                signed += _in_folder(place, keys)
            else:
                signed.append(Signed(place, load_checkpoint(place, keys)))
        signed.sort(key=lambda each: each.size)
        for one, other in pairwise(signed):
            _agree(one, other)
        return cls(tuple(signed), _leaves_of(signed))


def _in_folder(place: Path, keys: Sequence[PublicKey]) -> list[Signed]:
    folder = CheckpointFolder(place)
    signed = [Signed(path, folder.load(path, keys)) for path in folder.checkpoint_files()]
    if not signed:
        raise EvidenceError(f"`{place}` holds no checkpoint", "give a checkpoint's file, or a folder that `--checkpoints` wrote")
    return signed


def _agree(one: Signed, other: Signed) -> None:
    if one.checkpoint.origin != other.checkpoint.origin:
        raise EvidenceError(
            f"`{one.path}` is of `{one.checkpoint.origin}`, `{other.path}` of `{other.checkpoint.origin}`",
            "give checkpoints of one journal",
        )
    if one.size == other.size and one.checkpoint.tree != other.checkpoint.tree:
        raise ForgedError(
            f"`{one.path}` and `{other.path}` sign two different histories of {one.size} events, and both signatures are right",
            "whoever has the key showed a different journal to different people: keep both files, they prove it",
        )


def _leaves_of(signed: Sequence[Signed]) -> tuple[Leaves, ...]:
    """For each checkpoint in a folder the leaves that lead up to it from a size that is known as well: 0, or another checkpoint's."""
    found: list[Leaves] = []
    known = {0, *(each.size for each in signed)}
    for folder in sorted({each.path.parent for each in signed}):
        files = sorted(CheckpointFolder(folder).leaves_files().items(), reverse=True)  # of two up to one size the longer one counts
        before = {upto: (after, path) for (after, upto), path in files if after < upto}
        reach: dict[int, int] = {}
        for each in reversed(signed):
            if each.path.parent == folder:
                after, paths = _back(each.size, before, known)
                if paths:
                    found.append(Leaves(after, paths, each, reach.get(each.size, each.size)))
                    reach[after] = max(reach.get(after, 0), found[-1].reach)
    return tuple(sorted(found, key=lambda each: each.after))


def _back(size: int, before: dict[int, tuple[int, Path]], known: set[int]) -> tuple[int, tuple[Path, ...]]:
    """The files that lead up to a size from one that is known, in order; none where a file is missing."""
    paths: list[Path] = []
    while size in before and (not paths or size not in known):
        size, path = before[size]
        paths.append(path)
    return size, tuple(reversed(paths)) if size in known else ()


class EvidenceComparison:
    """Compares events, taken one by one from the first on, with evidence.

    `proven` is the last event of which it is shown that it and all before it are as they were; `signed` the size of the last checkpoint
    that was reached.
    """

    def __init__(self, evidence: Evidence, noted: Head | None) -> None:
        self.proven = START
        self.signed = 0
        self.noted = noted
        self._ahead = [each for each in reversed(evidence.signed) if each.size]
        self._coming = list(reversed(evidence.leaves))
        self._begun: list[tuple[int, int, Leaves]] = []  # a heap of those that begin at or before where the comparison stands
        self._frontier = Frontier()
        self._followed: Leaves | None = None
        self._leaves: Iterator[bytes] | None = None

    @property
    def has_checkpoints(self) -> bool:
        """Whether there are checkpoints ahead, which need every payload."""
        return bool(self._ahead)

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to compare events with."""
        return not self.has_checkpoints and (self.noted is None or self.noted.seq <= self.proven.seq)

    def take(self, head: Head, payload: bytes) -> Fault | None:
        """What the evidence says against the next event, which ends at `head` in a chain that is whole."""
        fault = self._leaf(head, payload) if self._ahead else None
        return fault or self._signed_root(head) or self._noted_head(head)

    def end(self, last: int) -> Fault | None:
        """Whether events after `last`, the last there is, are gone that were there when a checkpoint was signed or a head noted down."""
        expected = max(self._ahead[0].size if self._ahead else 0, self.noted.seq if self.noted is not None else 0)
        if expected <= last:
            return None
        meaning = f"{expected - last} events at the end were deleted, or this is an older copy"
        if self.proven.seq < last:
            meaning += f"; nothing given shows whether events {self.proven.seq + 1} to {last} are those that were signed"
        return Fault(last + 1, "the end is missing", f"event {expected}", f"the last is event {last}", meaning)

    def _leaf(self, head: Head, payload: bytes) -> Fault | None:
        fault = self._open_leaves() if self._frontier.size == self.signed else None
        if fault is not None:
            return fault
        leaf = leaf_hash(payload)
        if self._leaves is not None:
            expected = next(self._leaves, b"")
            if leaf != expected:
                return Fault(head.seq, f"event {head.seq} is not the one that was signed", expected.hex(), leaf.hex(), _HERE)
            self.proven = head
        self._frontier.append(leaf)
        return None

    def _signed_root(self, head: Head) -> Fault | None:
        while self._ahead and self._ahead[-1].size == head.seq:
            signed, root = self._ahead.pop(), self._frontier.root
            expected = signed.checkpoint.tree.root
            if root != expected and self.proven.seq == head.seq:
                problem = f"`{signed.path}` contradicts what newer checkpoints sign, and all signatures are right"
                meaning = "whoever has the key signed two histories: keep all files, they prove it"
                return Fault(None, problem, expected.hex(), root.hex(), meaning)
            if root != expected:
                return _one_of(self.proven.seq + 1, head.seq, f"`{signed.path}` signs", expected, root)
            self.proven, self.signed = head, head.seq
        return None

    def _noted_head(self, head: Head) -> Fault | None:
        if self.noted is None or head.seq != self.noted.seq:
            return None
        if head.chain == self.noted.chain:
            self.proven = head
            return None
        if self.proven.seq == head.seq:
            problem = f"event {head.seq} is not the one that was noted down"
            meaning = "the events up to there are those that were signed: the noted head is wrong, or another journal's"
            return Fault(None, problem, self.noted.chain.hex(), head.chain.hex(), meaning)
        return _one_of(self.proven.seq + 1, head.seq, "led to the head that was noted down", self.noted.chain, head.chain)

    def _open_leaves(self) -> Fault | None:
        """At a size that is known to be right, go on with the leaves that reach furthest, once they are those that their checkpoint signs.

        Where keys changed, or were used for two histories, several folders hold leaves of the same events.
        """
        size = self._frontier.size
        while self._coming and self._coming[-1].after <= size:
            more = self._coming.pop()
            heappush(self._begun, (-more.reach, len(self._coming), more))
        while self._begun and self._begun[0][2].upto.size <= size:
            heappop(self._begun)
        if not self._begun:
            self._leaves = None
            return None
        furthest = self._begun[0][2]
        if furthest is not self._followed:
            fault = self._contradicted(furthest)
            if fault is not None:
                return fault
            self._followed, self._leaves = furthest, furthest.behind(size)
        return None

    def _contradicted(self, leaves: Leaves) -> Fault | None:
        """Whether leaves, behind the events that are known to be right, are other ones than their checkpoint signs."""
        signed, tree = leaves.upto, self._frontier.copy()
        for leaf in leaves.behind(tree.size):
            tree.append(leaf)
            if tree.size > signed.size:
                break
        if tree.head == signed.checkpoint.tree:
            return None
        problem = f"{leaves} does not hold the leaves of events {self._frontier.size + 1} to {signed.size} that `{signed.path}` signs"
        meaning = "the leaves were altered; take them away, and the journal is compared with the checkpoint alone"
        return Fault(None, problem, signed.checkpoint.tree.root.hex(), tree.root.hex(), meaning)


def _one_of(first: int, last: int, those: str, expected: bytes, found: bytes) -> Fault:
    """What it means that one of some events is another than it was: of a single one that it is that one."""
    if first == last:
        return Fault(first, f"event {first} is not the one that {those}", expected.hex(), found.hex(), _HERE)
    problem = f"events {first} to {last} are not all those that {those}"
    return Fault(None, problem, expected.hex(), found.hex(), _REPLACED, (first, last))


_HERE = "it was replaced, or events were put in or taken out here, and the chain was computed anew"

_REPLACED = "one of them was replaced, put in or taken out, and the chain was computed anew: this is not the history that was kept"

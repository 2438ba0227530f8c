"""The Merkle tree of a journal: its root, and proofs from it, made by reading the stored bytes once."""

from collections.abc import Iterator

from ..errors import DamagedError, EvidenceError, ForgedError
from ..journal import Journal
from ..records import START, Head, Progress, Recorded, link, tell
from .checkpoint import Checkpoint
from .merkle import Frontier, TreeHead, consistency_path, continues, includes, inclusion_path, leaf_hash
from .proof_text import GrowthProof, InclusionProof


def sound_events(journal: Journal, after: Head = START, upto: int | None = None) -> Iterator[Recorded]:
    """The events after `after`, each after its chain value was checked. Raises DamagedError at the first event with a wrong one."""
    chain = after.chain
    for recorded in journal.events(after.seq, upto):
        chain = link(chain, recorded.payload)
        if chain != recorded.chain:
            raise DamagedError(recorded.seq, f"event {recorded.seq} does not match its chain value")
        yield recorded


def leaf_hashes(journal: Journal, upto: int, progress: Progress | None = None) -> Iterator[bytes]:
    """The hashes of a journal's first events as leaves. Raises DamagedError where the chain is broken."""
    for recorded in sound_events(journal, upto=upto):
        yield leaf_hash(recorded.payload)
        tell(progress, recorded.seq)


def tree_of(journal: Journal, upto: int, progress: Progress | None = None) -> TreeHead:
    """Size and root of the tree over the first events. Raises DamagedError where the chain is broken."""
    frontier = Frontier()
    for leaf in leaf_hashes(journal, upto, progress):
        frontier.append(leaf)
    return frontier.head


def prove_event(journal: Journal, seq: int, checkpoint: Checkpoint, progress: Progress | None = None) -> InclusionProof:
    """The proof that an event is the one at `seq` among those that a checkpoint signs.

    Raises EvidenceError for an event that is not there or that the checkpoint does not sign, and ForgedError where the journal is not what
    was signed.
    """
    _reaches(journal, checkpoint)
    last = journal.head.seq
    if not 1 <= seq <= last:
        raise EvidenceError(f"`{journal.name}` has no event {seq}", f"its events are numbered from 1 to {last}" if last else "it is empty")
    if seq > checkpoint.size:
        raise EvidenceError(f"the checkpoint signs {checkpoint.size} events, and not event {seq}", "give a newer checkpoint, or --key")
    payload = journal.at(seq).payload
    path = inclusion_path(seq - 1, checkpoint.size, leaf_hashes(journal, checkpoint.size, progress))
    if not includes(checkpoint.tree, seq - 1, leaf_hash(payload), path):
        raise _not_signed(journal, checkpoint)
    return InclusionProof(payload, seq - 1, tuple(path), checkpoint)


def prove_growth(journal: Journal, old: Checkpoint, new: Checkpoint, progress: Progress | None = None) -> GrowthProof:
    """The proof that what one checkpoint signs is the beginning of what another one does.

    Raises EvidenceError where the older one has more events or is another journal's, and ForgedError where the journal is not what was
    signed.
    """
    _reaches(journal, new)
    if old.origin != new.origin:
        raise EvidenceError(f"one checkpoint is of `{old.origin}`, the other of `{new.origin}`", "give two of one journal")
    if old.size > new.size:
        raise EvidenceError(f"the older checkpoint signs {old.size} events, the newer one {new.size}", "exchange the two")
    path = consistency_path(old.size, new.size, leaf_hashes(journal, new.size, progress))
    if not continues(old.tree, new.tree, path):
        known = tree_of(journal, old.size)
        raise _not_signed(journal, new if known == old.tree else old)
    return GrowthProof(old.size, tuple(path), new)


def _reaches(journal: Journal, checkpoint: Checkpoint) -> None:
    last = journal.head.seq
    if last < checkpoint.size:
        raise ForgedError(
            f"the checkpoint signs {checkpoint.size} events, and `{journal.name}` ends at event {last}", "run `gpol verify --checkpoint`"
        )


def _not_signed(journal: Journal, checkpoint: Checkpoint) -> ForgedError:
    return ForgedError(
        f"the first {checkpoint.size} events of `{journal.name}` are not those that the checkpoint signs",
        "run `gpol verify --checkpoint` with it to see where they part",
    )

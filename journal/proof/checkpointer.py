"""Writes checkpoints of a growing journal into a folder. No two of them contradict each other."""

from collections.abc import Sequence
from pathlib import Path

from ...engine.cores import EncodedEvents
from ...engine.events import AnyEvent
from ..errors import ForgedError
from ..journal import Journal
from ..records import START, Head, Progress, tell
from .checkpoint import Checkpoint, sign_checkpoint
from .checkpoint_folder import CheckpointFolder, leaves_name
from .journal_tree import sound_events
from .merkle import Frontier, leaf_hash
from .signing_keys import SigningKey


class Checkpointer:
    """Takes batches on their way into a journal, and writes a checkpoint when the journal has passed a multiple of `every` events.

    It adds nothing to an append but, at these moments, reading back what was stored since the last checkpoint. The bytes it signs are those
    on the disk, of events whose chain it has followed from the first one on.
    """

    def __init__(self, journal: Journal, folder: Path, key: SigningKey, every: int, progress: Progress | None = None) -> None:
        """Go on from the newest checkpoint in the folder; an empty folder, or one that is made now, begins anew.

        Raises ForgedError where the journal does not begin with what that checkpoint signs: it is never contradicted.
        """
        self.journal = journal
        self.folder = CheckpointFolder(folder)
        self.key = key
        self.every = every
        self._head = START
        self._frontier = Frontier()
        self.newest: Checkpoint | None = None
        self.folder.make()
        self._go_on(progress)

    def append(self, batches: Sequence[Sequence[AnyEvent]]) -> Head:
        """Append batches to the journal, and then write a checkpoint if it is time."""
        return self._write_in_time(self.journal.append(batches))

    def append_encoded(self, events: EncodedEvents, begin: int, end: int) -> Head:
        """The same for batches that a core has encoded."""
        return self._write_in_time(self.journal.append_encoded(events, begin, end))

    def _write_in_time(self, head: Head) -> Head:
        if head.seq // self.every > self._head.seq // self.every:
            self.write()
        return head

    def write(self, progress: Progress | None = None) -> Checkpoint:
        """Write a checkpoint of all there is; where nothing was appended since the newest one, that one is returned.

        Raises ForgedError where somebody else has written one meanwhile that the journal contradicts.
        """
        with self.folder.alone():
            self._go_on(progress)
            return self._write(progress)

    def _write(self, progress: Progress | None) -> Checkpoint:
        upto = self.journal.head.seq
        if self.newest is not None and self.newest.size == upto:
            return self.newest
        head, frontier = self._head, self._frontier.copy()
        with self.folder.new_file(leaves_name(head.seq, upto)) as leaves:
            for recorded in sound_events(self.journal, head, upto):
                leaf = leaf_hash(recorded.payload)
                leaves.write(leaf)
                frontier.append(leaf)
                head = Head(recorded.seq, recorded.chain)
                tell(progress, head.seq)
        checkpoint = sign_checkpoint(frontier.head, self.key)
        self.folder.keep(checkpoint)
        self.newest, self._head, self._frontier = checkpoint, head, frontier
        return checkpoint

    def _go_on(self, progress: Progress | None) -> None:
        """Go on to the newest checkpoint in the folder, if it is newer than the one where this stands."""
        found = self.folder.newest([self.key.public])
        if found is None or (self.newest is not None and found[1].size <= self.newest.size):
            return
        path, newest = found
        last = self.journal.head.seq
        remedy = "find out with `gpol verify --checkpoint` which of the two was altered; for another journal take another folder"
        if newest.size > last:
            raise ForgedError(
                f"`{path}` signs {newest.size} events, and `{self.journal.name}` ends at event {last}; nothing was signed", remedy
            )
        for recorded in sound_events(self.journal, self._head, newest.size):
            self._frontier.append(leaf_hash(recorded.payload))
            self._head = Head(recorded.seq, recorded.chain)
            tell(progress, recorded.seq)
        if self._frontier.head != newest.tree:
            raise ForgedError(
                f"the first {newest.size} events of `{self.journal.name}` are not those that `{path}` signs; nothing was signed", remedy
            )
        self.newest = newest

"""A folder of checkpoints: `<size>.checkpoint`, and beside each `<from>-<to>.leaves`, what it added to the one before.

A file of leaves holds the raw hashes, 32 bytes each, of the events after `from` up to and with `to`. It needs no signature: the root that
the checkpoint signs vouches for it. With it an altered event can be named; without it, only that one lies between two checkpoints.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import EvidenceError, ForgedError, JournalError, unwritten
from ..store.durable_files import PRIVATE_FOLDER, durable_file
from .checkpoint import Checkpoint, open_checkpoint
from .merkle import HASH_BYTES
from .signed_note import MOST_BYTES
from .signing_keys import PublicKey

_CHECKPOINT = re.compile(r"(\d{12,19})\.checkpoint")
_LEAVES = re.compile(r"(\d{12,19})-(\d{12,19})\.leaves")

_AT_ONCE = 4_096 * HASH_BYTES


def load_checkpoint(path: Path, keys: Sequence[PublicKey]) -> Checkpoint:
    """A checkpoint's file whose signature is right. Raises EvidenceError or ForgedError, which name the file."""
    try:
        with path.open("rb") as file:
            note = file.read(MOST_BYTES + 1).decode()
    except OSError as error:
        raise EvidenceError(f"`{path}` cannot be read: {error.strerror}", "check the name and your rights") from None
    except UnicodeDecodeError:
        raise EvidenceError(f"`{path}`: this is no checkpoint: it is not UTF-8", "give a file that `gpol checkpoint` wrote") from None
    try:
        return open_checkpoint(note, keys)
    except (EvidenceError, ForgedError) as error:
        raise type(error)(f"`{path}`: {error.message}", error.remedy) from None


class CheckpointFolder:
    """A folder that holds the checkpoints of one journal."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """Make the folder if it is not there, for its owner alone. Raises JournalError where that fails."""
        try:
            self.path.mkdir(PRIVATE_FOLDER, exist_ok=True)
        except OSError as error:
            raise JournalError(f"the folder `{self.path}` cannot be made: {error.strerror}", "check the name and your rights") from None

    def checkpoint_files(self) -> list[Path]:
        """The files of checkpoints by size, the smallest first."""
        found = {path: match for path in self._files() if (match := _CHECKPOINT.fullmatch(path.name))}
        return sorted(found, key=lambda path: int(found[path][1]))

    def leaves_files(self) -> dict[tuple[int, int], Path]:
        """The files of leaves by `from` and `to`."""
        found = {path: match for path in self._files() if (match := _LEAVES.fullmatch(path.name))}
        return {(int(match[1]), int(match[2])): path for path, match in sorted(found.items())}

    def newest(self, keys: Sequence[PublicKey]) -> tuple[Path, Checkpoint] | None:
        """The checkpoint of the most events. Raises ForgedError or EvidenceError for one that is not as it was signed."""
        files = self.checkpoint_files()
        return (files[-1], self.load(files[-1], keys)) if files else None

    def load(self, path: Path, keys: Sequence[PublicKey]) -> Checkpoint:
        """One of the folder's checkpoints, which must be of the size that its name says."""
        checkpoint = load_checkpoint(path, keys)
        if path.name != checkpoint_name(checkpoint.size):
            raise ForgedError(f"`{path}` is the checkpoint of {checkpoint.size} events, and was renamed", "give it its name back")
        return checkpoint

    @contextmanager
    def new_file(self, name: str) -> Iterator[BinaryIO]:
        """A file to write that is in the folder once the body has ended. Raises JournalError where the folder does not take it."""
        path = self.path / name
        try:
            with durable_file(path) as file:
                yield file
        except OSError as error:
            raise unwritten(path, error) from None

    def keep(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint into the folder. Its leaves go first, so that no checkpoint is ever without them."""
        with self.new_file(checkpoint_name(checkpoint.size)) as file:
            file.write(checkpoint.note.encode())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let no other program write checkpoints here meanwhile: wait until none does. Raises JournalError for a folder that is gone."""
        if os.name != "posix":  # elsewhere a folder cannot be opened, and so not be locked
            yield
            return
        from fcntl import LOCK_EX, flock

        try:
            handle = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise JournalError(f"the folder `{self.path}` cannot be read: {error.strerror}", "check the name and your rights") from None
        try:
            with suppress(OSError):  # not every network's folders can be locked; only who writes in the same instant goes unseen there
                flock(handle, LOCK_EX)
            yield
        finally:
            os.close(handle)  # which lets go of the lock, as does a kill

    def _files(self) -> list[Path]:
        try:
            return list(self.path.iterdir())
        except OSError as error:
            raise EvidenceError(f"the folder `{self.path}` cannot be read: {error.strerror}", "check the name and your rights") from None


def checkpoint_name(size: int) -> str:
    """What the checkpoint of so many events is called."""
    return f"{size:012}.checkpoint"


def leaves_name(after: int, upto: int) -> str:
    """What the file of the leaves after one size up to another is called."""
    return f"{after:012}-{upto:012}.leaves"


def read_leaves(path: Path) -> Iterator[bytes]:
    """The hashes of a file of leaves, some thousands in memory at a time; the last may be cut short. Raises EvidenceError."""
    try:
        with path.open("rb") as file:
            while data := file.read(_AT_ONCE):
                yield from (data[start : start + HASH_BYTES] for start in range(0, len(data), HASH_BYTES))
    except OSError as error:
        raise EvidenceError(f"`{path}` cannot be read: {error.strerror}", "check your rights, or the disk") from None

"""The checkpointer: it signs what is on the disk, goes on where it was, and never contradicts what it signed before."""

import os
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from gpol.engine.facts import TimeAdvanced
from gpol.journal.errors import DamagedError, EvidenceError, ForgedError, JournalError
from gpol.journal.journal import Journal
from gpol.journal.proof.checkpoint import sign_checkpoint
from gpol.journal.proof.checkpoint_folder import CheckpointFolder, checkpoint_name, leaves_name, load_checkpoint
from gpol.journal.proof.checkpointer import Checkpointer
from gpol.journal.proof.journal_tree import tree_of
from gpol.journal.proof.merkle import TreeHead, leaf_hash
from gpol.journal.proof.signing_keys import SigningKey

Hood = Callable[..., list[tuple[Any, ...]]]

KEY = SigningKey.new("acme.example/cluster")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Where the checkpoints are to be."""
    return tmp_path / "kept"


def names(kept: Path) -> list[str]:
    """The files of a folder."""
    return sorted(path.name for path in kept.iterdir())


def test_a_checkpoint_after_every_n_events(journal: Journal, history, kept: Path) -> None:
    """Batches of 1, 3, 3, 1, ... events, a checkpoint after each 8: whenever an append has passed a multiple, and no batch is split."""
    checkpointer = Checkpointer(journal, kept, KEY, every=8)
    for batch in history(13):
        checkpointer.append([batch])
    checkpointer.write()

    assert names(kept) == sorted(
        [
            *(checkpoint_name(size) for size in (8, 18, 25, 29)),
            leaves_name(0, 8),
            leaves_name(8, 18),
            leaves_name(18, 25),
            leaves_name(25, 29),
        ]
    )
    for size in (8, 18, 25, 29):
        assert load_checkpoint(kept / checkpoint_name(size), [KEY.public]).tree == tree_of(journal, size)
    leaves = [leaf_hash(recorded.payload) for recorded in journal.events()]
    assert (kept / leaves_name(8, 18)).read_bytes() == b"".join(leaves[8:18])


def test_the_journal_is_the_same_without_it(journal: Journal, history, kept: Path, tmp_path: Path) -> None:
    """What is appended through a checkpointer is what would be appended without it."""
    checkpointer = Checkpointer(journal, kept, KEY, every=2)
    heads = [checkpointer.append([batch]) for batch in history(6)]
    with Journal.create(tmp_path / "other.db") as other:
        assert heads == [other.append([batch]) for batch in history(6)]


def test_it_goes_on_where_it_was(journal: Journal, history, kept: Path, tmp_path: Path) -> None:
    """Another checkpointer goes on in the same folder; the last checkpoint is the one that a single checkpointer would have written."""
    batches = history(13)
    first = Checkpointer(journal, kept, KEY, every=1_000)
    first.append(batches[:5])
    assert first.write().size == 11
    second = Checkpointer(journal, kept, KEY, every=1_000)
    assert second.newest == first.newest
    second.append(batches[5:])
    checkpoint = second.write()

    assert checkpoint == Checkpointer(journal, tmp_path / "once", KEY, every=1).write()
    assert names(kept) == sorted([checkpoint_name(11), checkpoint_name(29), leaves_name(0, 11), leaves_name(11, 29)])


def test_nothing_new_needs_no_checkpoint(journal: Journal, history, kept: Path) -> None:
    """Where nothing was appended since the newest checkpoint, that one stands and no file is touched."""
    checkpointer = Checkpointer(journal, kept, KEY, every=1_000)
    checkpointer.append(history(3))
    written = checkpointer.write()
    before = [(path.name, path.stat().st_mtime_ns) for path in kept.iterdir()]

    assert checkpointer.write() == written == Checkpointer(journal, kept, KEY, every=1).write()
    assert [(path.name, path.stat().st_mtime_ns) for path in kept.iterdir()] == before


def test_leaves_without_their_checkpoint_are_written_again(journal: Journal, history, kept: Path) -> None:
    """A crash between leaves and checkpoint leaves a file that the next checkpoint does not need, and nothing else is lost."""
    kept.mkdir()
    (kept / leaves_name(0, 7)).write_bytes(b"half")
    checkpointer = Checkpointer(journal, kept, KEY, every=1_000)
    checkpointer.append(history(3))
    checkpointer.write()

    assert (kept / leaves_name(0, 7)).read_bytes() == b"".join(leaf_hash(recorded.payload) for recorded in journal.events())


def forge(hood: Hood, seq: int) -> None:
    """Alter a fact, and compute the chain anew."""
    [(payload,)] = hood("SELECT payload FROM events WHERE seq = ?", seq)
    hood("UPDATE events SET payload = ? WHERE seq = ?", payload.replace(b'"user":""', b'"user":"eve"'), seq)
    chain = bytes(32)
    for number, stored in hood("SELECT seq, payload FROM events ORDER BY seq"):
        chain = sha256(chain + stored).digest()
        hood("UPDATE events SET chain = ? WHERE seq = ?", chain, number)


def test_it_never_contradicts_the_newest_checkpoint(place: Path | str, history, kept: Path, hood: Hood) -> None:
    """Over a journal whose history was replaced, or cut off, nothing is signed: journal and checkpoint are both named."""
    with Journal.create(place) as journal:
        checkpointer = Checkpointer(journal, kept, KEY, every=1_000)
        checkpointer.append(history(5))
        checkpointer.write()
    before = names(kept)
    shorter = kept.with_name("shorter.db")
    with Journal.create(shorter) as journal:
        journal.append(history(4))
        with pytest.raises(ForgedError, match=r"000011.checkpoint` signs 11 events, and `.*shorter.db` ends at event 8; nothing"):
            Checkpointer(journal, kept, KEY, every=1_000)
    forge(hood, 2)
    with Journal.open(place, readonly=False) as journal:
        journal.append([[TimeAdvanced(time=2**60)]])
        with pytest.raises(ForgedError, match=r"events of `.*` are not those that `.*000011.checkpoint` signs; nothing"):
            Checkpointer(journal, kept, KEY, every=1_000)
    assert names(kept) == before


def test_a_broken_chain_is_not_signed(place: Path | str, history, kept: Path, hood: Hood) -> None:
    """A journal whose chain is broken is not signed, whether the break is behind the newest checkpoint or before it."""
    with Journal.create(place) as journal:
        journal.append(history(5))
    hood("UPDATE events SET chain = ? WHERE seq = 7", bytes(32))
    with Journal.open(place) as journal:
        with pytest.raises(DamagedError, match=r"event 7 does not match its chain value"):
            Checkpointer(journal, kept, KEY, every=1).write()
        assert names(kept) == []
        CheckpointFolder(kept).keep(sign_checkpoint(TreeHead(9, bytes(32)), KEY))
        with pytest.raises(DamagedError, match=r"event 7 does not match its chain value"):
            Checkpointer(journal, kept, KEY, every=1)


def test_another_keys_folder_is_not_gone_on_with(journal: Journal, history, kept: Path) -> None:
    """A folder whose newest checkpoint another key signed, or that was renamed, is refused by name."""
    journal.append(history(5))
    Checkpointer(journal, kept, KEY, every=1).write()
    with pytest.raises(ForgedError, match=r"000011.checkpoint`: it is not signed by"):
        Checkpointer(journal, kept, SigningKey.new("acme.example/cluster"), every=1)
    shutil.move(kept / checkpoint_name(11), kept / checkpoint_name(12))
    with pytest.raises(ForgedError, match=r"000012.checkpoint` is the checkpoint of 11 events, and was renamed"):
        Checkpointer(journal, kept, KEY, every=1)


def test_a_folder_that_cannot_be(journal: Journal, tmp_path: Path) -> None:
    """A file where the folder is to be, and a folder in no folder, are refused by name."""
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match=r"file` cannot be made"):
        Checkpointer(journal, tmp_path / "file", KEY, every=1)
    with pytest.raises(JournalError, match=r"deep` cannot be made"):
        Checkpointer(journal, tmp_path / "none" / "deep", KEY, every=1)
    with pytest.raises(EvidenceError, match=r"none` cannot be read"):
        CheckpointFolder(tmp_path / "none").checkpoint_files()


def test_a_failed_write_loses_nothing(journal: Journal, history, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk does not take a checkpoint, the events are in the journal, no half file is left, and the next attempt writes all."""
    checkpointer = Checkpointer(journal, kept, KEY, every=5)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("gpol.journal.store.durable_files.os.fsync", full)
        with pytest.raises(JournalError, match=r"leaves` cannot be written: No space left"):
            checkpointer.append(history(3))
    assert journal.head.seq == 7
    assert names(kept) == []
    assert checkpointer.write().tree == tree_of(journal, 7)
    assert names(kept) == sorted([checkpoint_name(7), leaves_name(0, 7)])


def test_progress(journal: Journal, history, kept: Path) -> None:
    """Reading back is told every thousand events."""
    while journal.head.seq < 2_500:
        journal.append(history(60, start=journal.head.seq + 1))
    told: list[int] = []
    Checkpointer(journal, kept, KEY, every=1).write(told.append)
    Checkpointer(journal, kept, KEY, every=1, progress=told.append)

    assert told == [1_000, 2_000, 1_000, 2_000]


def test_others_write_into_the_same_folder(journal: Journal, history, kept: Path, tmp_path: Path) -> None:
    """What others have signed since a checkpointer began is gone on from where it fits, and never contradicted where it does not."""
    first, second = history(4), history(4, 9)
    with Journal.create(tmp_path / "other.db") as other:
        other.append(first[:-1])
        early, stranger, late = (Checkpointer(each, kept, KEY, every=1_000) for each in (journal, other, journal))
        journal.append(first)
        early.write()
        journal.append(second)
        assert late.write().tree == tree_of(journal, 16)
        with pytest.raises(ForgedError, match=r"signs 16 events, and .* ends at event 7; nothing was signed"):
            stranger.write()

    assert names(kept) == sorted([checkpoint_name(8), checkpoint_name(16), leaves_name(0, 8), leaves_name(8, 16)])


@pytest.mark.skipif(os.name != "posix", reason="elsewhere folders cannot be locked")
def test_who_signs_into_a_folder_is_alone_there(journal: Journal, history, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is locked from before the checkpoints in it are looked at until the new one is written, and no longer."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    def is_free() -> bool:
        handle = os.open(kept, os.O_RDONLY)
        try:
            flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(handle)
        return True

    seen: list[bool] = []
    for name in ("newest", "keep"):
        honest = getattr(CheckpointFolder, name)
        monkeypatch.setattr(CheckpointFolder, name, lambda *given, honest=honest: (seen.append(is_free()), honest(*given))[1])
    journal.append(history(4))
    checkpointer = Checkpointer(journal, kept, KEY, every=1_000)
    seen.clear()
    checkpointer.write()

    assert (seen, is_free()) == ([False, False], True)

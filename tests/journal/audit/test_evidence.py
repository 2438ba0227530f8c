"""Evidence: what is held against a journal is itself looked at first, and says no more than it knows."""

import re
import shutil
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from gpol.journal.audit.evidence import Evidence
from gpol.journal.audit.faults import Fault
from gpol.journal.audit.verify import VerifyReport, verify
from gpol.journal.errors import EvidenceError, ForgedError
from gpol.journal.journal import Journal
from gpol.journal.proof import checkpoint_folder as folder_module
from gpol.journal.proof.checkpoint import sign_checkpoint
from gpol.journal.proof.checkpoint_folder import checkpoint_name, leaves_name
from gpol.journal.proof.checkpointer import Checkpointer
from gpol.journal.proof.merkle import Frontier, TreeHead, leaf_hash
from gpol.journal.proof.signing_keys import PublicKey, SigningKey
from gpol.journal.store import recorder as recorder_module

KEY = SigningKey.new("acme.example/cluster")
PAGE = (Path(__file__).parents[3] / "docs" / "audit.md").read_text(encoding="utf-8")

Hood = Callable[..., list[tuple[Any, ...]]]

SIZES = (8, 15, 22, 29)
"""Of the checkpoints of the written journal."""


@pytest.fixture
def kept(place: Path | str, history, tmp_path: Path) -> Path:
    """The folder of a closed journal of 29 events, with checkpoints of 8, 15, 22 and 29 and their leaves."""
    batches = history(13)
    with Journal.create(place) as journal:
        checkpointer = Checkpointer(journal, tmp_path / "kept", KEY, every=1_000)
        for batch in batches:
            if checkpointer.append([batch]).seq in SIZES:
                checkpointer.write()
    assert sorted(path.name for path in (tmp_path / "kept").glob("*.checkpoint")) == [checkpoint_name(size) for size in SIZES]
    return tmp_path / "kept"


def check(place: Path | str, *kept: Path, noted: tuple[int, str] | None = None, key: PublicKey = KEY.public) -> VerifyReport:
    """Verify a journal against checkpoints."""
    with Journal.open(place) as journal:
        return verify(journal, None, noted, Evidence.gather(list(kept), [key]))


def fault_of(place: Path | str, *kept: Path, noted: tuple[int, str] | None = None) -> Fault:
    """What is wrong."""
    fault = check(place, *kept, noted=noted).fault
    assert fault is not None
    return fault


def forge(hood: Hood, seq: int = 17) -> None:
    """Alter a decision, and compute the chain anew to the end."""
    [(payload,)] = hood("SELECT payload FROM events WHERE seq = ?", seq)
    hood("UPDATE events SET payload = ? WHERE seq = ?", payload.replace(b'"flavor":"', b'"flavor":"un'), seq)
    chain = bytes(32)
    for number, stored in hood("SELECT seq, payload FROM events ORDER BY seq"):
        chain = sha256(chain + stored).digest()
        hood("UPDATE events SET chain = ? WHERE seq = ?", chain, number)


def chain_at(place: Path | str, seq: int) -> str:
    """A chain value."""
    with Journal.open(place) as journal:
        return journal.at(seq).chain.hex()


# --- a journal compared with what was signed --------------------------------------------------------------------------


def test_what_was_signed_is_good(place: Path | str, kept: Path) -> None:
    """A journal that is as it was signed is good, by the folder and by each checkpoint alone, and the report says up to where."""
    assert (check(place, kept).good, check(place, kept).signed) == (True, 29)
    for size in SIZES:
        report = check(place, kept / checkpoint_name(size))
        assert (report.good, report.seq, report.signed) == (True, 29, size)


def test_leaves_name_the_event(place: Path | str, kept: Path, hood: Hood) -> None:
    """With leaves the forged event is named, and all before it is good; the same with one checkpoint that has its leaves beside it."""
    forge(hood)
    for given in (kept, kept / checkpoint_name(29)):
        report = check(place, given)
        assert (report.bad_seq, report.seq) == (17, 16)
    assert "event 17 is not the one that was signed" in fault_of(place, kept).problem


def test_without_leaves_the_range_is_named(place: Path | str, kept: Path, hood: Hood) -> None:
    """Without leaves the forged event is known to lie after the last checkpoint that matches, up to the first that does not."""
    for path in kept.glob("*.leaves"):
        path.unlink()
    forge(hood)
    report = check(place, kept)

    assert report.fault is not None
    assert (report.bad_seq, report.fault.within, report.seq, report.signed) == (None, (16, 22), 15, 15)
    assert check(place, kept / checkpoint_name(29)).fault.within == (1, 29)  # type: ignore[union-attr]


def test_a_noted_head_narrows_the_range(place: Path | str, kept: Path, hood: Hood) -> None:
    """A noted head that matches counts as much as a checkpoint: the range begins behind it; one that does not match ends it."""
    good, bad = (16, chain_at(place, 16)), (18, chain_at(place, 18))
    for path in kept.glob("*.leaves"):
        path.unlink()
    forge(hood)

    assert fault_of(place, kept, noted=good).within == (17, 22)
    fault = fault_of(place, kept, noted=bad)
    assert (fault.within, fault.problem) == ((16, 18), "events 16 to 18 are not all those that led to the head that was noted down")


def test_a_range_of_one_event_is_that_event(place: Path | str, kept: Path, hood: Hood) -> None:
    """Where a noted head and a checkpoint leave one event between them, it is named; with either alone, the range."""
    before, noted = (16, chain_at(place, 16)), (17, chain_at(place, 17))
    for path in [*kept.glob("*.leaves"), *kept.glob("*.checkpoint")]:
        path.unlink()
    frontier = Frontier()
    with Journal.open(place) as journal:
        for recorded in journal.events(upto=17):
            frontier.append(leaf_hash(recorded.payload))
    (kept / checkpoint_name(17)).write_text(sign_checkpoint(frontier.head, KEY).note)
    forge(hood)

    report = check(place, kept, noted=before)
    assert (report.bad_seq, report.seq, report.fault.within) == (17, 16, None)  # type: ignore[union-attr]
    assert report.problem == f"event 17 is not the one that `{kept / checkpoint_name(17)}` signs"
    (kept / checkpoint_name(17)).unlink()
    with Journal.open(place) as journal:
        noted_fault = verify(journal, None, noted).fault
    assert noted_fault is not None
    assert noted_fault.within == (1, 17)


def test_a_noted_head_that_contradicts_what_was_signed(place: Path | str, kept: Path) -> None:
    """Where events are those that were signed, a noted head that says otherwise is itself in doubt, and no event is blamed."""
    fault = fault_of(place, kept, noted=(17, "00" * 32))

    assert (fault.seq, fault.within) == (None, None)
    assert "the noted head is wrong" in fault.meaning


def test_a_missing_end_is_told_with_what_it_leaves_open(place: Path | str, kept: Path, hood: Hood) -> None:
    """Events gone from the end are found from the first that is gone; without leaves it is said which are not known to be right."""
    hood("DELETE FROM events WHERE seq > ?", 18)
    assert (fault_of(place, kept).seq, "nothing given shows" in fault_of(place, kept).meaning) == (19, False)
    for path in kept.glob("*.leaves"):
        path.unlink()
    fault = fault_of(place, kept)

    assert (fault.seq, fault.found) == (19, "the last is event 18")
    assert "nothing given shows whether events 16 to 18 are those that were signed" in fault.meaning


def test_leaves_that_begin_in_the_middle_are_used(place: Path | str, kept: Path, hood: Hood) -> None:
    """Leaves count from any checkpoint on that matches, though those before it are gone."""
    (kept / leaves_name(0, 8)).unlink()
    (kept / leaves_name(8, 15)).unlink()
    forge(hood)

    assert fault_of(place, kept).seq == 17


def test_leaves_go_on_across_another_folders_checkpoints(place: Path | str, kept: Path, tmp_path: Path, hood: Hood) -> None:
    """A checkpoint between two that leaves connect is compared as well, and does not stop them."""
    apart = tmp_path / "apart"
    apart.mkdir()
    shutil.copy(kept / checkpoint_name(8), apart)
    with Journal.open(place) as journal:
        Checkpointer(journal, tmp_path / "once", KEY, every=1).write()
    forge(hood)

    assert fault_of(place, apart, tmp_path / "once").seq == 17


def test_a_checkpoint_that_contradicts_newer_ones(place: Path | str, kept: Path, tmp_path: Path) -> None:
    """Where leaves show the events to be those of a newer checkpoint, an older one that says otherwise is itself the finding."""
    (tmp_path / "shown.checkpoint").write_text(sign_checkpoint(TreeHead(18, bytes(32)), KEY).note)
    report = check(place, kept, tmp_path / "shown.checkpoint")

    assert report.fault is not None
    assert (report.bad_seq, report.fault.within, report.seq) == (None, None, 17)
    assert "shown.checkpoint` contradicts what newer checkpoints sign" in report.problem


def test_leaves_of_the_next_key_name_the_event(place: Path | str, kept: Path, tmp_path: Path, hood: Hood) -> None:
    """A new key's folder begins anew; its leaves go on where those of the old key's newest checkpoint end."""
    for path in [path for path in kept.iterdir() if "29" in path.name]:
        path.unlink()
    renewed = SigningKey.new(KEY.name)
    with Journal.open(place) as journal:
        Checkpointer(journal, tmp_path / "renewed", renewed, every=1).write()
    forge(hood, 27)
    with Journal.open(place) as journal:
        evidence = Evidence.gather([kept, tmp_path / "renewed"], [KEY.public, renewed.public])
        report = verify(journal, None, None, evidence)

    assert (report.bad_seq, report.seq, report.signed) == (27, 26, 22)


def test_two_histories_of_different_lengths(place: Path | str, kept: Path, tmp_path: Path, hood: Hood) -> None:
    """Of two histories that one key signed, the journal is compared with the longer one, and shows what the other contradicts."""
    untrue = tmp_path / "another"
    untrue.mkdir()
    frontier = Frontier()
    with Journal.open(place) as journal:
        leaves = [leaf_hash(b"untrue" if event.seq == 17 else event.payload) for event in journal.events(upto=24)]
    for leaf in leaves:
        frontier.append(leaf)
    (untrue / leaves_name(0, 24)).write_bytes(b"".join(leaves))
    (untrue / checkpoint_name(24)).write_text(sign_checkpoint(frontier.head, KEY).note)
    report = check(place, kept, untrue)

    assert (report.bad_seq, report.seq) == (None, 23)
    assert f"{checkpoint_name(24)}` contradicts what newer checkpoints sign" in report.problem

    hood("DELETE FROM events WHERE seq > 24")
    forge(hood)
    assert check(place, kept, untrue).bad_seq == 17, "and what was cut off, as well as altered, is told to be altered"


def test_a_stray_file_of_leaves_hides_no_other(place: Path | str, kept: Path, hood: Hood) -> None:
    """A file of some of the leaves of a checkpoint does not take the place of the one that has them all."""
    (kept / leaves_name(28, 29)).write_bytes(bytes(32))
    forge(hood, 27)
    assert fault_of(place, kept).seq == 27


def test_a_chain_break_before_the_checkpoint_is_named_as_such(place: Path | str, kept: Path, hood: Hood) -> None:
    """An event altered without the chain is told as what it is, at its place, whatever checkpoints there are."""
    hood("UPDATE events SET chain = ? WHERE seq = 16", bytes(32))
    for given in ([kept], [kept / checkpoint_name(29)]):
        fault = fault_of(place, *given)
        assert fault.seq == 16
        assert "chain value was altered" in fault.meaning


def test_memory_does_not_grow(
    place: Path | str, history, peak_memory: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten times the events, leaves and all, take no more memory to compare."""
    monkeypatch.setattr(recorder_module, "PAGE_EVENTS", 100)
    monkeypatch.setattr(folder_module, "_AT_ONCE", 3_200)
    peaks = []
    with Journal.create(place) as journal:
        for number, size in enumerate((300, 3_000)):
            while journal.head.seq < size:
                journal.append(history(60, start=journal.head.seq + 1))
            kept = tmp_path / f"kept{number}"
            Checkpointer(journal, kept, KEY, every=1).write()
            evidence = Evidence.gather([kept], [KEY.public])
            assert verify(journal, None, None, evidence).signed == journal.head.seq
            peaks.append(peak_memory(partial(verify, journal, None, None, evidence)))

    assert peaks[1] < 1.5 * peaks[0]


# --- attacks on the evidence itself: what the second table of docs/audit.md says ----------------------------------------


def alter_checkpoint(place: Path | str, kept: Path, hood: Hood) -> str:
    """A checkpoint says another size."""
    path = kept / checkpoint_name(15)
    path.write_text(path.read_text().replace("\n15\n", "\n16\n"))
    return _refused(place, kept, "signature by `acme.example/cluster` is wrong")


def other_key(place: Path | str, kept: Path, hood: Hood) -> str:
    """A checkpoint is signed by a key of the same name."""
    forge(hood)
    with Journal.open(place) as journal:
        shutil.rmtree(kept)
        Checkpointer(journal, kept, SigningKey.new(KEY.name), every=1).write()
    return _refused(place, kept, "is not signed by")


def rename(place: Path | str, kept: Path, hood: Hood) -> str:
    """A checkpoint takes the place of another one."""
    shutil.copy(kept / checkpoint_name(15), kept / checkpoint_name(22))
    return _refused(place, kept, "was renamed")


def two_histories(place: Path | str, kept: Path, hood: Hood) -> str:
    """Whoever has the key signs another history for somebody else."""
    elsewhere = kept.with_name("elsewhere.checkpoint")
    elsewhere.write_text(sign_checkpoint(TreeHead(22, bytes(32)), KEY).note)
    return _refused(place, kept, "two different histories of 22 events", elsewhere)


def _refused(place: Path | str, kept: Path, words: str, *more: Path) -> str:
    with pytest.raises((EvidenceError, ForgedError), match=re.escape(words)) as caught:
        check(place, kept, *more)
    assert kept.name in str(caught.value)
    return "refused"


def alter_leaves(place: Path | str, kept: Path, hood: Hood) -> str:
    """A hash of a file of leaves is made that of the forged event."""
    path = kept / leaves_name(15, 22)
    path.write_bytes(path.read_bytes()[:-32] + bytes(32))
    return _named(place, kept, path)


def cut_leaves(place: Path | str, kept: Path, hood: Hood) -> str:
    """A file of leaves ends early, inside a hash."""
    path = kept / leaves_name(15, 22)
    path.write_bytes(path.read_bytes()[:-40])
    return _named(place, kept, path)


def longer_leaves(place: Path | str, kept: Path, hood: Hood) -> str:
    """A file of leaves has some more."""
    path = kept / leaves_name(15, 22)
    path.write_bytes(path.read_bytes() + bytes(32))
    return _named(place, kept, path)


def _named(place: Path | str, kept: Path, path: Path) -> str:
    report = check(place, kept)
    assert report.fault is not None
    assert (report.seq, report.bad_seq, report.fault.within) == (15, None, None)
    assert report.fault.problem == f"`{path}` does not hold the leaves of events 16 to 22 that `{kept / checkpoint_name(22)}` signs"
    path.unlink()
    assert check(place, kept).good, "without the file the checkpoint alone is compared"
    return "named"


def remove_leaves(place: Path | str, kept: Path, hood: Hood) -> str:
    """The leaves are gone, and history is forged."""
    for path in kept.glob("*.leaves"):
        path.unlink()
    forge(hood)
    return "range" if fault_of(place, kept).within == (16, 22) else "?"


def remove_newest(place: Path | str, kept: Path, hood: Hood) -> str:
    """The newest checkpoints are gone, and the journal ends where the last one left is."""
    (kept / checkpoint_name(22)).unlink()
    (kept / checkpoint_name(29)).unlink()
    hood("DELETE FROM events WHERE seq > ?", 15)
    return "-" if check(place, kept).good else "?"


def remove_all(place: Path | str, kept: Path, hood: Hood) -> str:
    """No checkpoint is left."""
    for path in kept.iterdir():
        path.unlink()
    return _refused(place, kept, "holds no checkpoint")


ATTACKS: dict[str, Callable[[Path | str, Path, Hood], str]] = {
    "alter a checkpoint": alter_checkpoint,
    "sign with another key of the same name": other_key,
    "put one checkpoint in another one's place": rename,
    "sign two histories of one size with the right key": two_histories,
    "alter a file of leaves": alter_leaves,
    "cut a file of leaves short": cut_leaves,
    "lengthen a file of leaves": longer_leaves,
    "remove the files of leaves, and forge history": remove_leaves,
    "remove the newest checkpoints, and cut the journal off there": remove_newest,
    "remove all checkpoints": remove_all,
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_on_the_evidence(place: Path | str, kept: Path, hood: Hood, attack: str) -> None:
    """What becomes of an attack on the evidence is what the table says."""
    rows = re.findall(rf"^\| {re.escape(attack)} \| ([a-z]+|-)", PAGE, re.MULTILINE)

    assert rows == [ATTACKS[attack](place, kept, hood)]


def test_checkpoints_of_two_journals_are_not_mixed(place: Path | str, kept: Path, tmp_path: Path) -> None:
    """Checkpoints of different origins are refused together."""
    other = SigningKey.new("other.example/cluster")
    (tmp_path / "other.checkpoint").write_text(sign_checkpoint(TreeHead(3, bytes(32)), other).note)
    with pytest.raises(EvidenceError, match=r"give checkpoints of one journal"):
        Evidence.gather([kept, tmp_path / "other.checkpoint"], [KEY.public, other.public])


@pytest.mark.parametrize("content", [b"", b"hello", b"\xff\xfe", bytes(2_000_000)])
def test_a_file_that_is_no_checkpoint_is_named(tmp_path: Path, content: bytes) -> None:
    """Anything else in a checkpoint's place is refused, with the file's name; so is a file that is not there."""
    path = tmp_path / "x.checkpoint"
    path.write_bytes(content)
    with pytest.raises(EvidenceError, match=r"x.checkpoint`"):
        Evidence.gather([path], [KEY.public])
    with pytest.raises(EvidenceError, match=r"none` cannot be read"):
        Evidence.gather([tmp_path / "none"], [KEY.public])

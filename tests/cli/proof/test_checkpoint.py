"""key, checkpoint, and checkpoints of run and simulate: what is signed, and what is refused before anything is made."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from gpol.cli.output import RefusalError
from gpol.cli.signing import Signer, Wanted
from gpol.engine.events import TimeAdvanced
from gpol.journal.journal import Journal
from gpol.journal.keys import PublicKey, SigningKey

Gpol = Callable[..., Any]


@pytest.fixture
def key(gpol: Gpol) -> str:
    """A signing key's file, with the public key in `lab.pub`."""
    done = gpol("key", "new", "acme.example/lab", "-o", "lab.key")
    assert done.code == 0
    Path("lab.pub").write_text(done.out)
    return "lab.key"


def test_a_new_key(gpol: Gpol, key: str) -> None:
    """The public key is printed, and again by `key show`; the file is its owner's alone, and nothing of it is printed."""
    public = Path("lab.pub").read_text()
    secret = Path(key).read_text().strip().split("+", 4)[4]  # base64 may have a plus sign, too
    shown, as_json = gpol("key", "show", key), gpol("key", "show", key, "--format", "json")

    assert public.startswith("acme.example/lab+")
    assert shown.out == public
    assert as_json.records == [{"v": 1, "kind": "key", "name": "acme.example/lab", "public": public.strip(), "path": key}]
    assert Path(key).stat().st_mode & 0o777 == 0o600
    assert secret not in shown.out + shown.err + as_json.out


def test_a_key_of_any_name_is_printed_to_be_used(tmp_path: Path) -> None:
    """Where the locale knows ASCII alone, the public key is printed as the same line, which its id stands for."""
    key = SigningKey.new("größe/☃")
    key.write_new(tmp_path / "a.key")
    command = [sys.executable, "-c", "from gpol.cli.main import main; main()", "key", "show", str(tmp_path / "a.key")]
    done = subprocess.run(command, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=True)

    assert PublicKey.parse(done.stdout.decode()) == key.public


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("key", "new", "acme.example/lab", "-o", "lab.key"), 3, "`lab.key` is there already"),
        (("key", "new", "acme.example/lab", "-o", "-"), 3, "`-` is no name for a file; name one"),
        (("key", "new", "two words", "-o", "new.key"), 3, "no name for a key"),
        (("key", "new", "x", "-o", "none/new.key"), 1, "`none/new.key` cannot be written"),
        (("key", "new", "x"), 3, "Missing option '-o'"),
        (("key", "show", "none.key"), 3, "`none.key` cannot be read"),
        (("key", "show", "lab.pub"), 3, "`lab.pub` holds no signing key"),
        (("key", "show", "lab.gpol"), 3, "`lab.gpol` holds no signing key"),
        (("checkpoint", "lab.db"), 3, "there is nothing to sign with; give --key FILE"),
        (("checkpoint", "lab.db", "--key", "none.key"), 3, "`none.key` cannot be read"),
        (("checkpoint", "none.db", "--key", "lab.key"), 3, "none.db"),
        (("checkpoint", "lab.db", "--key", "lab.key", "-o", "lab.gpol"), 3, "-o: `lab.gpol` is there already"),
        (("checkpoint", "lab.db", "--key", "lab.key", "-o", "-"), 3, "-o: `-` is no name for a file; leave the option out"),
        (("checkpoint", "lab.db", "--key", "lab.key", "--into", "lab.gpol"), 1, "the folder `lab.gpol` cannot be made"),
    ],
)
def test_what_cannot_be_signed_is_told(gpol: Gpol, journal: str, key: str, arguments: tuple[str, ...], code: int, words: str) -> None:
    """Names, files and folders that will not do are told on stderr, with the right exit code, and nothing is made."""
    before = _files()
    done = gpol(*arguments)

    assert (done.code, done.out) == (code, "")
    assert words in done.err
    assert _files() == before


def _files() -> list[str]:
    """The files in the folder, but for those that SQLite keeps beside a journal."""
    return sorted(path.name for path in Path().iterdir() if not path.name.startswith("lab.db-"))


def test_a_key_that_others_can_read_is_refused_by_name(gpol: Gpol, journal: str, key: str) -> None:
    """A signing key with rights for others signs nothing."""
    Path(key).chmod(0o644)
    done = gpol("checkpoint", journal, "--key", key)

    assert (done.code, done.out) == (3, "")
    assert "`lab.key` can be read by others" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("key", "show", "KEY"),
        ("key", "new", "KEY", "-o", "new.key"),
        ("checkpoint", "lab.db", "--key", "KEY"),
        ("prove", "lab.db", "3", "--key", "KEY"),
        ("verify", "lab.db", "--checkpoint", "lab.db", "--key", "KEY"),
        ("verify-proof", "lab.db", "--key", "KEY"),
        ("run", "lab.gpol", "facts.jsonl", "--journal", "new.db", "--checkpoints", "kept", "--key", "KEY"),
    ],
)
def test_a_key_in_the_command_line_is_not_repeated(
    gpol: Gpol, journal: str, key: str, facts: Callable[..., str], arguments: tuple[str, ...]
) -> None:
    """A signing key's text where its file, a name or a public key belongs is refused, and the message has nothing of the key."""
    facts()
    text = Path(key).read_text().strip()
    refused = gpol(*(text if each == "KEY" else each for each in arguments))

    assert (refused.code, refused.out) == (3, "")
    assert "signing key" in refused.err
    assert text.split("+", 4)[4] not in refused.err


def test_the_key_of_the_environment(gpol: Gpol, journal: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key's text may stand in GPOL_SIGNING_KEY; a text that is none is refused without showing it; --key counts before it."""
    by_file = gpol("checkpoint", journal, "--key", key).out
    monkeypatch.setenv("GPOL_SIGNING_KEY", Path(key).read_text())
    assert gpol("checkpoint", journal).out == by_file
    monkeypatch.setenv("GPOL_SIGNING_KEY", "PRIVATE+KEY+lab+00000000+c2VjcmV0")
    refused = gpol("checkpoint", journal)

    assert (refused.code, refused.out) == (3, "")
    assert "the environment variable GPOL_SIGNING_KEY" in refused.err
    assert "c2Vj" not in refused.err
    assert gpol("checkpoint", journal, "--key", key).out == by_file


def test_a_checkpoint_is_printed_written_and_kept(gpol: Gpol, journal: str, key: str) -> None:
    """The same checkpoint is printed, written to a new file, kept in a folder, and told in json; verify accepts each."""
    printed = gpol("checkpoint", journal, "--key", key)
    written = gpol("checkpoint", journal, "--key", key, "-o", "now.checkpoint")
    kept = gpol("checkpoint", journal, "--key", key, "--into", "kept")
    [record] = gpol("checkpoint", journal, "--key", key, "--into", "kept", "--format", "json").records

    assert printed.out.startswith("acme.example/lab\n12\n")
    assert Path("now.checkpoint").read_text(encoding="utf-8") == printed.out
    assert written.out == "checkpoint now.checkpoint: 12 events, signed by acme.example/lab\n"
    assert kept.out == "checkpoint kept/000000000012.checkpoint: 12 events, signed by acme.example/lab\n"
    assert Path("kept/000000000012.checkpoint").read_text(encoding="utf-8") == printed.out
    assert (record["kind"], record["origin"], record["size"], record["note"]) == ("checkpoint", "acme.example/lab", 12, printed.out)
    for place in ("now.checkpoint", "kept"):
        done = gpol("verify", journal, "--checkpoint", place, "--key", "lab.pub")
        assert (done.code, done.out.endswith("; events 1 to 12 are those that were signed\n")) == (0, True)


@pytest.mark.parametrize("command", ["simulate", "run"])
def test_checkpoints_on_the_way(gpol: Gpol, lab: Path, facts: Callable[..., str], key: str, command: str) -> None:
    """run and simulate sign their journal at the end at the latest, say so, and verify accepts it."""
    source = "jobs.csv" if command == "simulate" else facts()
    options = ("--journal", "j.db", "--checkpoints", "kept", "--checkpoint-every", "2", "--key", key)
    done = gpol(command, "lab.gpol", source, *options)
    [*_, verified] = gpol("verify", "j.db", "--checkpoint", "kept", "--key", "lab.pub", "--format", "json").records

    assert done.code == 0
    assert f"checkpoint kept/{verified['seq']:012}.checkpoint: {verified['seq']} events, signed by acme.example/lab\n" in done.out
    assert (verified["good"], verified["signed"]) == (True, verified["seq"])


def test_checkpoints_while_decisions_are_written(gpol: Gpol, facts: Callable[..., str], key: str) -> None:
    """Where each fact is committed by itself, a checkpoint follows whenever so many events have come."""
    options = ("--journal", "j.db", "--out", "decisions.jsonl", "--checkpoints", "kept", "--checkpoint-every", "2", "--key", key)
    records = gpol("run", "lab.gpol", facts(), *options, "--format", "json").records
    last = next(record for record in records if record["kind"] == "checkpoint")

    # the policy (1 event), the submission with its admission (2), the finish (1)
    assert sorted(path.name for path in Path("kept").glob("*.checkpoint")) == ["000000000003.checkpoint", "000000000004.checkpoint"]
    assert (last["size"], last["path"]) == (4, "kept/000000000004.checkpoint")


def test_a_run_that_ends_in_an_error_is_signed_too(gpol: Gpol, facts: Callable[..., str], key: str) -> None:
    """What a run has played before a line that is no fact is in the journal, and signed."""
    written = facts({"kind": "TimeAdvanced", "time": 1}, "hello")
    done = gpol("run", "lab.gpol", written, "--journal", "j.db", "--checkpoints", "kept", "--key", key)

    assert done.code == 3
    assert gpol("verify", "j.db", "--checkpoint", "kept", "--key", "lab.pub").code == 0


@pytest.mark.parametrize(("stopped", "told"), [(False, RefusalError), (True, KeyboardInterrupt)])
def test_a_last_checkpoint_that_fails(gpol: Gpol, lab: Path, key: str, stopped: bool, told: type[BaseException]) -> None:
    """Where the last checkpoint cannot be written, that is told, exit code 1; but what stopped the command before is told first."""
    signer = Signer.of(Wanted("kept", None, key), "j.db")
    assert signer is not None

    def play() -> None:
        with ExitStack() as stack:
            journal = stack.enter_context(Journal.create("j.db"))
            signer.sign(journal, stack).append([[TimeAdvanced(time=1)]])
            shutil.rmtree("kept")
            if stopped:
                raise KeyboardInterrupt

    with pytest.raises(told) as caught:
        play()
    if not stopped:
        assert "the journal is whole, but its last checkpoint was not written: the folder `kept` cannot be read" in str(caught.value)
        assert getattr(caught.value, "code", None) == 1
    with Journal.open("j.db") as journal:
        assert journal.head.seq == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--checkpoints", "kept", "--key", "lab.key"), "--checkpoints: there is no journal to sign"),
        (("--journal", "new.db", "--checkpoints", "new"), "there is nothing to sign with"),
        (("--journal", "new.db", "--key", "lab.key"), "of no use without --checkpoints"),
        (("--journal", "new.db", "--checkpoint-every", "5"), "of no use without --checkpoints"),
        (("--journal", "new.db", "--checkpoints", "new", "--key", "lab.key", "--checkpoint-every", "0"), "0 is not in the range"),
        (("--journal", "new.db", "--checkpoints", "kept", "--key", "lab.key"), "holds checkpoints of another journal"),
        (("--journal", "new.db", "--checkpoints", "lab.gpol", "--key", "lab.key"), "`lab.gpol` cannot be read"),
    ],
)
def test_what_cannot_be_kept_is_told_first(gpol: Gpol, journal: str, key: str, options: tuple[str, ...], words: str) -> None:
    """Options that do not go together, and a folder that is not free, are told before a journal is made."""
    gpol("checkpoint", journal, "--key", key, "--into", "kept")
    done = gpol("simulate", "lab.gpol", "jobs.csv", *options)

    assert (done.code, done.out) == (3, "")
    assert words in done.err
    assert not Path("new.db").exists()
    assert not Path("new").exists()


def test_a_forged_journal_is_not_signed(gpol: Gpol, journal: str, key: str, lab: Path) -> None:
    """Into a folder with a checkpoint of another history nothing is signed, exit code 4, both named."""
    (lab / "fewer.csv").write_text("".join((lab / "jobs.csv").read_text().splitlines(keepends=True)[:3]))
    gpol("simulate", "lab.gpol", "fewer.csv", "--journal", "fewer.db")
    gpol("checkpoint", "fewer.db", "--key", key, "--into", "kept")
    done = gpol("checkpoint", journal, "--key", key, "--into", "kept")

    assert (done.code, done.out) == (4, "")
    assert "of `lab.db` are not those that `kept/" in done.err
    assert len(list(Path("kept").glob("*.checkpoint"))) == 1


def test_verify_names_range_and_event(gpol: Gpol, journal: str, key: str, lab: Path) -> None:
    """Against another history's checkpoint verify exits 4: with leaves the event is named, without them the range, in words and in json."""
    (lab / "more.csv").write_text((lab / "jobs.csv").read_text() + "late,2026-03-02T08:20:00Z,1h,owner,1\n")
    gpol("simulate", "lab.gpol", "more.csv", "--journal", "more.db", "--checkpoints", "kept", "--key", key)
    named = gpol("verify", journal, "--checkpoint", "kept", "--key", "lab.pub")
    Path(journal).rename("fewer.db")
    gpol("checkpoint", "fewer.db", "--key", key, "-o", "fewer.checkpoint")
    ranged = gpol("verify", "more.db", "--checkpoint", "fewer.checkpoint", "--key", "lab.pub")
    [record] = gpol("verify", "more.db", "--checkpoint", "fewer.checkpoint", "--key", "lab.pub", "--format", "json").records

    assert (named.code, ranged.code) == (4, 4)
    assert named.out.startswith("bad: event 10: event 10 is not the one that was signed; 9 events are good\n")
    assert ranged.out.startswith("bad: events 1 to 12 are not all those that `fewer.checkpoint` signs; 0 events are good\n")
    assert (record["bad_seq"], record["bad_within"], record["seq"], record["signed"]) == (None, [1, 12], 0, 0)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--checkpoint", "now.checkpoint"), 3, "--checkpoint and --key go together"),
        (("--key", "lab.pub"), 3, "--checkpoint and --key go together"),
        (("--checkpoint", "lab.gpol", "--key", "lab.pub"), 3, "`lab.gpol`: this is no signed note"),
        (("--checkpoint", "now.checkpoint", "--key", "other.pub"), 4, "`now.checkpoint`: it is not signed by `other+"),
        (("--checkpoint", "now.checkpoint", "--key", "lab.key"), 3, "--key: this is a signing key, which is secret"),
        (("--checkpoint", "now.checkpoint", "--key", "none.pub"), 3, "--key: `none.pub` is no public key"),
        (("--checkpoint", "empty", "--key", "lab.pub"), 3, "`empty` holds no checkpoint"),
        (("--checkpoint", "now.checkpoint", "--checkpoint", "empty", "--key", "lab.pub"), 3, "`empty` holds no checkpoint"),
    ],
)
def test_evidence_that_will_not_do_is_told(gpol: Gpol, journal: str, key: str, options: tuple[str, ...], code: int, words: str) -> None:
    """Checkpoints and keys that are none, or do not belong together, are told on stderr."""
    gpol("checkpoint", journal, "--key", key, "-o", "now.checkpoint")
    Path("other.pub").write_text(gpol("key", "new", "other", "-o", "other.key").out)
    Path("empty").mkdir()
    done = gpol("verify", journal, *options)

    assert (done.code, done.out) == (code, "")
    assert words in done.err


@pytest.mark.parametrize("command", ["verify", "fsck"])
def test_leaves_that_cannot_be_read_are_not_the_journals_fault(gpol: Gpol, journal: str, key: str, command: str) -> None:
    """Leaves that cannot be read are told by name, as evidence that will not do, and say nothing of the journal."""
    gpol("checkpoint", journal, "--key", key, "--into", "kept")
    leaves = Path("kept/000000000000-000000000012.leaves")
    leaves.unlink()
    leaves.mkdir()
    done = gpol(command, journal, "--checkpoint", "kept", "--key", "lab.pub")
    assert (done.code, done.out) == (3, "")
    assert f"`{leaves}` cannot be read: Is a directory; check your rights, or the disk" in done.err


def test_two_keys(gpol: Gpol, journal: str, key: str) -> None:
    """A journal whose key was changed is verified with both keys and both folders."""
    gpol("checkpoint", journal, "--key", key, "--into", "old")
    Path("new.pub").write_text(gpol("key", "new", "acme.example/lab", "-o", "new.key").out)
    gpol("checkpoint", journal, "--key", "new.key", "--into", "new")
    both = ("--checkpoint", "old", "--checkpoint", "new", "--key", "lab.pub", "--key", "new.pub")

    assert gpol("verify", journal, *both).code == 0
    assert gpol("verify", journal, *both[:-2]).code == 4

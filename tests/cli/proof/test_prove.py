"""prove and verify-proof: what somebody without the journal can be shown."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]


@pytest.fixture
def signed(gpol: Gpol, journal: str) -> str:
    """The lab's journal, a key, and checkpoints of a shorter copy (`old`) and of all of it (`new`)."""
    Path("lab.pub").write_text(gpol("key", "new", "acme.example/lab", "-o", "lab.key").out)
    gpol("checkpoint", journal, "--key", "lab.key", "-o", "new")
    _shorter(journal)
    gpol("checkpoint", "shorter.db", "--key", "lab.key", "-o", "old")
    return journal


def _shorter(journal: str) -> None:
    from gpol.journal.journal import Journal

    with Journal.open(journal) as whole, Journal.create("shorter.db") as copy:
        batches = [batch for batch in whole.batches() if batch.fact.seq < 6]
        copy.append([[each.event for each in (batch.fact, *batch.decisions)] for batch in batches])
        assert copy.head.seq == 5


def test_an_event_is_proved_with_the_public_key_alone(gpol: Gpol, signed: str) -> None:
    """The eviction is proved; with the journal gone, proof and public key print its time, its kind and its stored bytes."""
    made = gpol("prove", signed, "8", "--checkpoint", "new", "-o", "p")
    payload = gpol("log", signed, "--kind", "WorkloadEvicted", "--format", "json").out.split('"event":')[1].removesuffix("}\n")
    Path(signed).unlink()
    told = gpol("verify-proof", "p", "--key", Path("lab.pub").read_text().strip())
    [record] = gpol("verify-proof", "p", "--key", "lab.pub", "--format", "json").records

    assert (made.code, made.out) == (0, "proof p: event 8 of 12 events\n")
    assert told.out == f"good: event 8 of 12 events of acme.example/lab\n  2026-03-02T08:10:00Z  WorkloadEvicted\n  {payload}\n"
    assert record == {
        "v": 1, "kind": "verify-proof", "good": True, "origin": "acme.example/lab", "size": 12, "seq": 8, "payload": payload,
    }  # fmt: skip


def test_a_proof_may_be_signed_now_and_printed(gpol: Gpol, signed: str) -> None:
    """With a key the proof ends in a checkpoint made now; without -o it is printed, or in json a field, and is the same."""
    with_key = gpol("prove", signed, "8", "--key", "lab.key")
    [record] = gpol("prove", signed, "8", "--checkpoint", "new", "--format", "json").records

    assert with_key.out.startswith("c2sp.org/tlog-proof@v1\nextra ")
    assert (record["seq"], record["size"], record["path"], record["text"]) == (8, 12, None, with_key.out)
    assert gpol("verify-proof", "-", "--key", "lab.pub", stdin=with_key.out.encode()).code == 0


def test_growth_is_proved(gpol: Gpol, signed: str) -> None:
    """That a checkpoint continues an older one is proved with both checkpoints and no journal."""
    made = gpol("prove", signed, "--from", "old", "--checkpoint", "new", "-o", "grown")
    Path(signed).unlink()
    told = gpol("verify-proof", "grown", "--key", "lab.pub", "--old", "old")
    [record] = gpol("verify-proof", "grown", "--key", "lab.pub", "--old", "old", "--format", "json").records

    assert (made.code, made.out) == (0, "proof grown: 12 events continue 5 events\n")
    assert (told.code, told.out) == (0, "good: the first 5 of 12 events of acme.example/lab are those of `old`\n")
    assert (record["good"], record["old_size"], record["size"]) == (True, 5, 12)


def test_a_forged_proof_proves_nothing(gpol: Gpol, signed: str) -> None:
    """A proof with another index exits 4 and says why, in json as an object; so does one signed by somebody else."""
    gpol("prove", signed, "8", "--checkpoint", "new", "-o", "p")
    Path("forged").write_text(Path("p").read_text(encoding="utf-8").replace("index 7", "index 6"), encoding="utf-8")
    Path("other.pub").write_text(gpol("key", "new", "acme.example/lab", "-o", "other.key").out)
    told, other = gpol("verify-proof", "forged", "--key", "lab.pub"), gpol("verify-proof", "p", "--key", "other.pub")
    [record] = gpol("verify-proof", "forged", "--key", "lab.pub", "--format", "json").records

    assert (told.code, told.out, other.code, other.out) == (4, "", 4, "")
    assert "`forged`: the proof does not show that this is event 7 of the 12" in told.err
    assert "not signed by" in other.err
    assert (record["good"], "does not show" in record["problem"]) == (False, True)


def test_an_event_that_nobody_here_knows_is_proved_all_the_same(gpol: Gpol, signed: str) -> None:
    """Bytes that are no event of this version are proved as bytes, and that is said."""
    from gpol.journal.proof.checkpoint import sign_checkpoint
    from gpol.journal.proof.merkle import TreeHead, leaf_hash
    from gpol.journal.proof.proof_text import InclusionProof
    from gpol.journal.proof.signing_keys import SigningKey

    payload = b'{"kind":"WorkloadMoved","v":2,"time":0}'
    checkpoint = sign_checkpoint(TreeHead(1, leaf_hash(payload)), SigningKey.read(Path("lab.key")))
    Path("p").write_text(InclusionProof(payload, 0, (), checkpoint).text, encoding="utf-8")
    done = gpol("verify-proof", "p", "--key", "lab.pub")

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(
        "good: event 1 of 1 event of acme.example/lab\n  event 1 is a WorkloadMoved of version 2, unknown to this program\n"
    )
    assert done.out.endswith(f"  {payload.decode()}\n")


def test_a_checkpoint_that_would_steer_a_terminal_is_not_printed(gpol: Gpol, signed: str) -> None:
    """A signature line by somebody unknown may hold anything: with such characters the proof goes to a file, and not to a terminal."""
    with open("new", "a", encoding="utf-8") as file:
        file.write("— \u202eevil c2lnbmF0dXJl\n")
    done = gpol("prove", signed, "8", "--checkpoint", "new")

    assert (done.code, done.out) == (3, "")
    assert "would steer a terminal" in done.err
    assert gpol("prove", signed, "8", "--checkpoint", "new", "-o", "p").code == 0
    assert gpol("verify-proof", "p", "--key", "lab.pub").code == 0


def test_a_journal_that_is_not_what_was_signed_proves_nothing(gpol: Gpol, signed: str) -> None:
    """Where journal and checkpoint do not fit, no proof is made, exit code 4."""
    done = gpol("prove", "shorter.db", "3", "--checkpoint", "new", "-o", "p")

    assert (done.code, done.out, Path("p").exists()) == (4, "", False)
    assert "the checkpoint signs 12 events, and `shorter.db` ends at event 5" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("prove", "lab.db", "--key", "lab.key"), "prove either an event, by its SEQ, or the growth"),
        (("prove", "lab.db", "3", "--from", "old", "--key", "lab.key"), "prove either an event"),
        (("prove", "lab.db", "3"), "there is nothing to sign with"),
        (("prove", "lab.db", "3", "--key", "lab.key", "--checkpoint", "new"), "leave one out"),
        (("prove", "lab.db", "13", "--checkpoint", "new"), "`lab.db` has no event 13; its events are numbered from 1 to 12"),
        (("prove", "lab.db", "6", "--checkpoint", "old"), "the checkpoint signs 5 events, and not event 6; give a newer checkpoint"),
        (("prove", "lab.db", "0", "--checkpoint", "new"), "0 is not in the range"),
        (("prove", "lab.db", "3", "--checkpoint", "lab.gpol"), "`lab.gpol`: this is no signed note"),
        (("prove", "lab.db", "3", "--checkpoint", "none"), "`none` cannot be read"),
        (("prove", "lab.db", "3", "--checkpoint", ""), "Invalid value for '--checkpoint': the name is empty"),
        (("prove", "", "3", "--checkpoint", "new"), "Invalid value for 'JOURNAL': the name is empty"),
        (("prove", "lab.db", "3", "--checkpoint", "new", "-o", "old"), "-o: `old` is there already"),
        (("prove", "lab.db", "3", "--checkpoint", "new", "-o", "-"), "-o: `-` is no name for a file"),
        (("prove", "lab.db", "--from", "new", "--checkpoint", "old"), "exchange the two"),
        (("prove", "none.db", "3", "--checkpoint", "new"), "none.db"),
        (("verify-proof", "new", "--key", "lab.pub"), "`new`: "),
        (("verify-proof", "none", "--key", "lab.pub"), "`none` cannot be read"),
        (("verify-proof", "p"), "Missing option '--key'"),
        (("verify-proof", "p", "--key", "lab.key"), "this is a signing key, which is secret"),
        (("verify-proof", "p", "--key", "lab.pub", "--old", "old"), "leave --old out"),
        (("verify-proof", "grown", "--key", "lab.pub"), "give that checkpoint with --old"),
        (("verify-proof", "grown", "--key", "lab.pub", "--old", "new"), "give the older checkpoint that the proof was made from"),
        (("verify-proof", "lab.db", "--key", "lab.pub"), "`lab.db` is not UTF-8"),
    ],
)
def test_what_cannot_be_proved_is_told(gpol: Gpol, signed: str, arguments: tuple[str, ...], words: str) -> None:
    """Calls that do not go together, and files that are no proofs, checkpoints or keys, are told on stderr, exit code 3."""
    gpol("prove", signed, "8", "--checkpoint", "new", "-o", "p")
    gpol("prove", signed, "--from", "old", "--checkpoint", "new", "-o", "grown")
    done = gpol(*arguments)

    assert (done.code, done.out) == (3, "")
    assert words in done.err


def test_no_journal_and_no_database_are_needed(gpol: Gpol, signed: str) -> None:
    """verify-proof loads neither SQLAlchemy nor the journal's module, so it runs where there is no database at all."""
    gpol("prove", signed, "8", "--checkpoint", "new", "-o", "p")
    script = (
        "import sys; from gpol.cli.main import run_command\n"
        "code = run_command(['verify-proof', 'p', '--key', 'lab.pub'])\n"
        "loaded = [name for name in ('sqlalchemy', 'sqlite3', 'eventsourcing', 'gpol.journal.journal') if name in sys.modules]\n"
        "print(code, loaded)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.endswith("\n0 []\n")

"""The checkpoints of run and simulate: what is signed, and what is refused before anything is made."""

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from gpol.cli.run.recording import Signer, Wanted
from gpol.cli.shared.output import RefusalError
from gpol.engine.facts import TimeAdvanced
from gpol.journal.journal import Journal

Gpol = Callable[..., Any]


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

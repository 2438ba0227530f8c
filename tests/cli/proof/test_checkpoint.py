"""checkpoint: what is signed, with which key, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]


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


def test_a_forged_journal_is_not_signed(gpol: Gpol, journal: str, key: str, lab: Path) -> None:
    """Into a folder with a checkpoint of another history nothing is signed, exit code 4, both named."""
    (lab / "fewer.csv").write_text("".join((lab / "jobs.csv").read_text().splitlines(keepends=True)[:3]))
    gpol("simulate", "lab.gpol", "fewer.csv", "--journal", "fewer.db")
    gpol("checkpoint", "fewer.db", "--key", key, "--into", "kept")
    done = gpol("checkpoint", journal, "--key", key, "--into", "kept")

    assert (done.code, done.out) == (4, "")
    assert "of `lab.db` are not those that `kept/" in done.err
    assert len(list(Path("kept").glob("*.checkpoint"))) == 1

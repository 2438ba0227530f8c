"""verify and fsck with checkpoints that were signed earlier."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]


def test_verify_names_range_and_event(gpol: Gpol, journal: str, key: str, lab: Path) -> None:
    """Against another history's checkpoint verify exits 4: with leaves the event is named, without them the range, in words and in json."""
    facts = gpol("export", "facts", journal).out.splitlines(keepends=True)
    late = facts[2].replace('"o"', '"late"').replace("1772438700000000", "1772439600000000")  # at 08:20, not at 08:05
    assert '"late"' in late
    assert "1772439600000000" in late
    (lab / "more.jsonl").write_text("".join([*facts[:4], late, *facts[4:]]))  # after the three submissions and the wake
    gpol("run", "lab.gpol", "more.jsonl", "--journal", "more.db", "--checkpoints", "kept", "--key", key)
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

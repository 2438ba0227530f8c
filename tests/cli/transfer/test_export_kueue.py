"""export kueue: all or nothing, and what cannot be said in objects is told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from kueue_objects import GOOD

Gpol = Callable[..., Any]


@pytest.fixture
def imported(gpol: Gpol, tmp_path: Path) -> str:
    """A policy that came from objects."""
    (tmp_path / "dump").write_bytes(GOOD)
    assert gpol("import", "kueue", "dump", "-o", "p.gpol").code == 0
    return "p.gpol"


def test_there_and_back(gpol: Gpol, imported: str, tmp_path: Path) -> None:
    """An export says in YAML and in JSON what was imported, and imports again as the same policy."""
    printed, as_list = gpol("export", "kueue", imported), gpol("export", "kueue", imported, "--json")
    written = gpol("export", "kueue", imported, "-o", "objects.yaml")

    assert [item["kind"] for item in yaml.safe_load_all(printed.out)] == ["ResourceFlavor", "ClusterQueue", "LocalQueue"]
    assert json.loads(as_list.out)["items"] == list(yaml.safe_load_all(printed.out))
    assert written.out == "exported 1 ResourceFlavor, 1 ClusterQueue, 1 LocalQueue to objects.yaml\n"
    assert (tmp_path / "objects.yaml").read_text() == printed.out
    assert gpol("import", "kueue", "objects.yaml").out == (tmp_path / imported).read_text()


def test_what_cannot_be_exported_is_refused_whole(gpol: Gpol, lab: Path) -> None:
    """Rules that Kueue does not have are named with their lines, and no file is written, nor anything printed."""
    done = gpol("export", "kueue", "lab.gpol", "-o", "objects.yaml")

    assert (done.code, done.out) == (3, "")
    assert "gpol: lab.gpol:12: protect rule warm-up: " in done.err
    assert "gpol: lab.gpol:14: deny rule too-big: " in done.err
    assert done.err.endswith("gpol: nothing was exported\n")
    assert not (lab / "objects.yaml").exists()


def test_notes_of_an_export(gpol: Gpol, lab: Path) -> None:
    """What the objects don't say goes to stderr, so that stdout can be applied; in json with -o it is data. gpu is called as one says."""
    text = "".join(line for line in (lab / "lab.gpol").read_text().splitlines(keepends=True) if not line.startswith(("protect", "deny")))
    (lab / "plain.gpol").write_text(text.split("test ")[0])

    printed = gpol("export", "kueue", "plain.gpol", "--gpu", "amd.com/gpu")
    [record] = gpol("export", "kueue", "plain.gpol", "-o", "objects.yaml", "--format", "json").records

    assert printed.code == 0
    assert "note: " in printed.err
    assert "amd.com/gpu" in printed.out
    assert "nvidia" not in printed.out
    assert (record["kind"], record["path"]) == ("export", "objects.yaml")
    assert [note["field"] for note in record["notes"]]


def test_no_policy_and_no_place(gpol: Gpol, imported: str, tmp_path: Path) -> None:
    """A broken policy, one that is missing, and a file that is there are refused, and stay as they are."""
    (tmp_path / "broken.gpol").write_text("queue {")
    for arguments, said in (
        (("broken.gpol",), "`broken.gpol` has "),
        (("missing.gpol",), "`missing.gpol` cannot be read"),
        ((imported, "-o", "dump"), "-o: `dump` is there already"),
        ((imported, "-o", imported), "is what is read"),
        ((imported, "--gpu", "amd.com/gpu"), "--gpu: the policy counts no resource of the name gpu"),
    ):
        done = gpol("export", "kueue", *arguments)
        assert (done.code, done.out) == (3, "")
        assert said in done.err
    assert (tmp_path / "dump").read_bytes() == GOOD

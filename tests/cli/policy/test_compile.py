"""compile: the meaning of a policy as JSON, printed or written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpol.dsl import compile_policy

Gpol = Callable[..., Any]


def test_a_policy_is_printed(gpol: Gpol, lab: Path) -> None:
    """To read, indented; with json, on one line; from standard input, under its name."""
    told, data = gpol("compile", "lab.gpol"), gpol("compile", "lab.gpol", "--format", "json")
    piped = gpol("compile", "-", stdin=(lab / "lab.gpol").read_bytes())
    [record] = data.records

    assert (told.code, data.code, told.err, data.err) == (0, 0, "", "")
    assert told.out.startswith('{\n  "v": 1,\n  "kind": "policy-graph",\n  "name": "lab",\n  "digest": "sha256:')
    assert json.loads(told.out) == record
    assert record["digest"] == compile_policy((lab / "lab.gpol").read_text(), "lab.gpol").digest
    assert json.loads(piped.out) == json.loads(told.out.replace('"lab.gpol"', '"stdin"'))


def test_a_policy_is_written(gpol: Gpol, lab: Path) -> None:
    """--out writes what would be printed into a new file, and says with which digest."""
    printed = gpol("compile", "lab.gpol").out
    told = gpol("compile", "lab.gpol", "--out", "lab.json")
    [record] = gpol("compile", "lab.gpol", "-o", "other.json", "--format", "json").records
    digest = json.loads(printed)["digest"]

    assert (told.code, told.out) == (0, f"compiled lab.gpol to lab.json, {digest}\n")
    assert record == {"v": 1, "kind": "compile", "path": "other.json", "digest": digest}
    assert (lab / "lab.json").read_text() == (lab / "other.json").read_text() == printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("broken.gpol",), "`broken.gpol` has 1 error"),
        (("broken.gpol", "-o", "new.json"), "`broken.gpol` has 1 error"),
        (("profile.gpol",), "`profile.gpol` is a profile; give a policy that uses it"),
        (("none.gpol",), "`none.gpol` cannot be read"),
        (("lab.gpol", "-o", "jobs.csv"), "-o: `jobs.csv` is there already"),
        (("lab.gpol", "-o", "-"), "-o: `-` is no name for a file"),
        (("lab.gpol", "-o", ""), "the name is empty"),
    ],
)
def test_what_cannot_be_compiled_is_told(gpol: Gpol, lab: Path, arguments: tuple[str, ...], words: str) -> None:
    """A policy with errors, a profile, a file that is none or is there already: exit code 3, nothing printed and nothing written."""
    (lab / "broken.gpol").write_text((lab / "lab.gpol").read_text().replace("owns 8 gpu", "owns 8 gpux"))
    (lab / "profile.gpol").write_text('profile "p" { share borrowed }\n')
    done = gpol("compile", *arguments)

    assert (done.code, done.out) == (3, "")
    assert words in done.err
    assert not (lab / "new.json").exists()
    assert (lab / "jobs.csv").read_text().startswith("workload,")


def test_only_what_has_a_schema_is_printed(gpol: Gpol) -> None:
    """Another word is refused, and the words that are known are said."""
    done = gpol("schema", "journal")

    assert (done.code, done.out) == (3, "")
    assert "'journal' is not one of 'events', 'policy-graph'" in done.err

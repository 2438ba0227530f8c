"""import kueue: all or nothing, and no mistake or malice of a file ends in anything but a clear answer."""

import codecs
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kueue_objects import FLAVOR, GOOD, GOOD_YAML, LOCAL, NOW, Object, listed, made, queue, workload

Gpol = Callable[..., Any]
OUT = ("-o", "p.gpol", "--facts", "f.jsonl")


def cohort(name: str, parent: str) -> Object:
    """A Cohort below another."""
    return made("Cohort", name, {"parentName": parent})


@pytest.mark.parametrize(
    "data",
    [GOOD, GOOD_YAML, GOOD_YAML.replace(b"\n", b"\r\n"), codecs.BOM_UTF8 + GOOD, codecs.BOM_UTF8 + GOOD_YAML],
    ids=["json", "yaml", "crlf", "bom before json", "bom before yaml"],
)
def test_the_same_objects_make_the_same_files(gpol: Gpol, tmp_path: Path, data: bytes) -> None:
    """However a dump is written, its policy checks and its facts play."""
    (tmp_path / "dump").write_bytes(data)

    done = gpol("import", "kueue", "dump", *OUT)

    assert (done.code, done.err) == (0, "")
    assert done.out == f"imported 1 ClusterQueue, 0 Cohorts, 1 LocalQueue, 1 ResourceFlavor and 1 Workload as of {NOW}\n"
    assert 'owns 8 "nvidia.com/gpu" on f' in (tmp_path / "p.gpol").read_text()
    assert gpol("check", "p.gpol").code == 0
    assert gpol("run", "p.gpol", "f.jsonl", "--out", "decisions.jsonl").code == 0
    assert '"kind":"WorkloadAdmitted"' in (tmp_path / "decisions.jsonl").read_text()


def test_from_a_pipe_to_the_screen(gpol: Gpol) -> None:
    """Without -o the policy is all that stands on stdout; in json with -o the notes are data."""
    printed = gpol("import", "kueue", "-", stdin=listed(FLAVOR, queue(), made("Pod", "p")))
    [record] = gpol("import", "kueue", "-", "-o", "p.gpol", "--format", "json", stdin=listed(FLAVOR, queue(wallTime=1))).records

    assert printed.out.startswith('policy "kueue" {\n')
    assert printed.err.startswith("note: Pod p: is of no kind that is imported\nimported 1 ClusterQueue, ")
    assert (record["kind"], record["policy"], record["facts"], record["cluster_queues"]) == ("import", "p.gpol", None, 1)
    assert record["notes"] == [{"object_kind": "ClusterQueue", "names": ["q"], "field": "spec.wallTime", "text": "is not imported"}]


HOSTILE = {
    "cohorts in a circle": (listed(FLAVOR, queue(), cohort("a", "b"), cohort("b", "a")), "Cohort a: spec.parentName: goes round"),
    "a cohort above itself": (listed(FLAVOR, queue(), cohort("a", "a")), "goes round in a circle: a -> a"),
    "two of a name": (listed(FLAVOR, queue(), queue()), "ClusterQueue q: metadata.name: is there twice; keep one"),
    "a quota below 0": (listed(FLAVOR, queue(gpu="-1")), "resources[0].nominalQuota: is -1, below 0; write 0 or more"),
    "no number": (listed(FLAVOR, queue(gpu="many")), "resources[0].nominalQuota: "),
    "two quotas without limit": (listed(FLAVOR, queue(gpu="1e30"), queue("r", "1e30")), "own more nvidia.com/gpu on f than 64 bits hold"),
    "other kinds alone": (listed(made("Pod", "p")), "no object is of a kind that makes a policy"),
    "no kind": (listed({"metadata": {"name": "x"}}), "kind: is missing; give objects as `kubectl get -o yaml` writes them"),
    "another version": (listed({**FLAVOR, "apiVersion": "kueue.x-k8s.io/v1alpha1"}), "apiVersion: is kueue.x-k8s.io/v1alpha1"),
    "a list for an object": (listed({**FLAVOR, "spec": []}), "ResourceFlavor f: spec: is a list, not an object"),
    "pods below 0": (listed(FLAVOR, queue(), {**workload("a", 1), "spec": {"podSets": [{"count": -1}]}}), "podSets[0].count: is -1"),
    "a bomb of anchors": (b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "line 1, column 4: has the anchor &a"),
    "a tag": (b"a: !!python/object:os.system x\n", "line 1, column 4: has the tag "),
    "too long": (GOOD_YAML + b"#" * (100 << 20), "has 67,108,865 bytes; give at most 67,108,864 at once"),
    "too long in JSON": (GOOD + b" " * (100 << 20), "has 67,108,865 bytes"),
    "empty": (b"", "has no objects; give what `kubectl get -o yaml` writes"),
    "a comment": (b"# nothing\n", "has no objects"),
    "cut off": (GOOD_YAML[: len(GOOD_YAML) // 2], "dump.yaml: "),
    "cut off in JSON": (GOOD[: len(GOOD) // 2], "is no JSON: "),
    "UTF-16": (GOOD_YAML.decode().encode("utf-16"), "byte 1: is not UTF-8; save the file as UTF-8"),
    "no text": (bytes(range(256)), "is not UTF-8"),
    "nested": (b"[" * 10_000 + b"]" * 10_000, "is nested more than 64 deep"),
    "nested in YAML": (b"a: " + b"[" * 500 + b"]" * 500, "line 1, column 67: is nested more than 64 deep"),
    "nested far too deep in YAML": (b"a: " + b"[" * 10_000 + b"]" * 10_000, "is nested more than 64 deep"),
    "too many": (json.dumps({"kind": "List", "items": [{}] * 200_001}).encode(), "has 200,001 objects; give at most 200,000"),
    "too many in YAML": (b"items:\n" + b"- {}\n" * 200_001, "is a list of more than 200,000 entries"),
    "colours in a name": (listed(FLAVOR, queue("q\x1b[31m")), "metadata.name: has an invisible character"),
    "two lines in a name": (listed(queue(), made("ResourceFlavor", "a\nb")), "metadata.name: has an invisible character"),
    "a long name": (listed(FLAVOR, queue("q" * 300)), "metadata.name: has 300 characters"),
    "a weight of two lines": (listed(FLAVOR, queue(fairSharing={"weight": "1\n2"})), 'fairSharing.weight: "1\\x0a2" is no quantity; write'),
    "no number of JSON": (b'{"kind": "List", "items": [NaN]}', "has the number NaN"),
    "a key twice": (b"a: 1\na: 2\n", "line 2, column 1: has key `a` twice"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_imported_is_refused_whole(gpol: Gpol, tmp_path: Path, name: str) -> None:
    """Place, cause and remedy are told, the exit code is 3, and neither file is written; what is printed steers no terminal."""
    data, said = HOSTILE[name]
    (tmp_path / "dump.yaml").write_bytes(data)

    done = gpol("import", "kueue", "dump.yaml", *OUT)

    assert (done.code, done.out) == (3, "")
    assert said in done.err
    assert done.err.endswith("nothing was imported\n")
    assert all(line.startswith("gpol: ") and line.isprintable() for line in done.err.splitlines())
    assert [path.name for path in tmp_path.iterdir()] == ["dump.yaml"]


def test_a_cluster_that_is_too_big_for_a_policy(gpol: Gpol, tmp_path: Path) -> None:
    """A file of gpol ends at 60,000 lines and a MiB; what would make more is refused with both numbers, and nothing is written."""
    many = [made("LocalQueue", f"l{number}", {"clusterQueue": "q"}, "n") for number in range(60_001)]
    (tmp_path / "d.json").write_bytes(listed(queue(), FLAVOR, *many))
    done = gpol("import", "kueue", "d.json", *OUT)
    assert (done.code, done.out) == (3, "")
    limits = "one has at most 60,000 lines and 1,048,576 bytes"
    remedy = "import one tree of cohorts at a time, with its ClusterQueues and their LocalQueues"
    said = rf"gpol: the policy would have 60,0\d\d lines and [\d,]+ bytes, and {limits}; {remedy}; nothing was imported\n"
    assert re.fullmatch(said, done.err)
    assert [path.name for path in tmp_path.iterdir()] == ["d.json"]


def test_a_quota_without_limit_is_kueues(gpol: Gpol, tmp_path: Path) -> None:
    """A quota beyond 64 bits is as good as none, as in Kueue: one queue may have it, and what asks for a lot runs."""
    (tmp_path / "dump").write_bytes(listed(FLAVOR, queue(gpu="1e30"), LOCAL, workload("a", 1_000_000)))

    assert gpol("import", "kueue", "dump", *OUT).code == 0
    gpol("run", "p.gpol", "f.jsonl", "--out", "d.jsonl")

    [decision] = (tmp_path / "d.jsonl").read_text().splitlines()
    assert json.loads(decision)["kind"] == "WorkloadAdmitted"


def test_more_admitted_than_there_is(gpol: Gpol, tmp_path: Path) -> None:
    """Workloads that hold more than the quota are taken over as they are, as in Kueue: nothing more fits until one of them has gone."""
    dump = listed(FLAVOR, queue(), LOCAL, workload("a", 8, runs=True), workload("b", 8, runs=True), workload("c", 1))
    (tmp_path / "dump").write_bytes(dump)

    assert gpol("import", "kueue", "dump", *OUT).code == 0
    assert gpol("run", "p.gpol", "f.jsonl", "--journal", "j.db").code == 0
    told = gpol("explain", "j.db", "n/c").out

    assert "why: WaitingForQuota" in told
    assert "would run, once it is next, if q owned 9 nvidia.com/gpu more on f\n" in told
    assert "n/a is running" in gpol("explain", "j.db", "n/a").out


def test_files_that_are_there_stay(gpol: Gpol, tmp_path: Path) -> None:
    """No file is written over: not an old policy, not old facts, not the dump; and nothing is written where the other may not be."""
    (tmp_path / "dump").write_bytes(GOOD)
    (tmp_path / "old").write_text("mine")
    (tmp_path / "folder").mkdir()
    for targets, said in (
        (("-o", "old"), "-o: `old` is there already, and is not an imported policy as gpol writes it; choose another name"),
        (("-o", "new", "--facts", "old"), "--facts: `old` is there already"),
        (("-o", "dump"), "-o: `dump` is what is read"),
        (("-o", "new", "--facts", "./new"), "-o and --facts name the same file"),
        (("-o", "new", "--facts", "folder"), "--facts: `folder` is a folder; name a file in it"),
    ):
        done = gpol("import", "kueue", "dump", *targets)
        assert (done.code, done.out) == (3, "")
        assert said in done.err
    assert (tmp_path / "old").read_text() == "mine"
    assert (tmp_path / "dump").read_bytes() == GOOD
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dump", "folder", "old"]


def test_both_files_or_none(gpol: Gpol, tmp_path: Path) -> None:
    """Where the facts cannot be written, the policy that was prepared before them is not put in place, and nothing stays of it."""
    (tmp_path / "dump").write_bytes(GOOD)

    done = gpol("import", "kueue", "dump", "-o", "p.gpol", "--facts", "nowhere/f.jsonl")

    assert done.code == 1
    assert "`nowhere/f.jsonl` cannot be written: No such file or directory; check" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["dump"]


def test_both_files_are_whole_before_the_first_is_there(gpol: Gpol, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop at the last moment, when the second file is to be put in place, takes the first away again, and all that was prepared."""
    (tmp_path / "dump").write_bytes(GOOD)
    put, seen = os.replace, []

    def fails_second(source: Path, target: Path) -> None:
        seen.append(sorted(path.name.split(".")[-2] for path in tmp_path.iterdir() if path.name.startswith(".")))
        if len(seen) == 2:
            raise OSError(28, "No space left on device")
        put(source, target)

    monkeypatch.setattr(os, "replace", fails_second)
    done = gpol("import", "kueue", "dump", *OUT)

    assert seen == [["gpol", "jsonl"], ["jsonl"]]
    assert (done.code, done.err) == (
        1,
        "gpol: `f.jsonl` cannot be written: No space left on device; check the rights and the room in its folder\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["dump"]


def test_a_dash_is_no_file(gpol: Gpol, tmp_path: Path) -> None:
    """`-` is standard input where something is read; where something is written it is refused, not made a file of that name."""
    (tmp_path / "dump").write_bytes(GOOD)
    for arguments, said in (
        (("import", "kueue", "dump", "-o", "-"), "-o: `-` is no name for a file; leave the option out to print it"),
        (("import", "kueue", "dump", "-o", "p.gpol", "--facts", "-"), "--facts: `-` is no name for a file; name one"),
        (("export", "kueue", "dump", "-o", "-"), "-o: `-` is no name for a file; leave the option out to print it"),
    ):
        done = gpol(*arguments)
        assert (done.code, done.out, done.err) == (3, "", f"gpol: {said}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["dump"]


def test_what_cannot_be_read(gpol: Gpol, tmp_path: Path) -> None:
    """A folder, a missing file and one without rights are refused by name; so are a wrong profile and a wrong time."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "dump").write_bytes(GOOD)
    for arguments, said in (
        (("folder",), "`folder` is a folder"),
        (("missing",), "`missing` cannot be read: No such file"),
        (("dump", "--profile", "slurm"), "--profile: `slurm` is none of kueue.classical, kueue.fair, gpol.fair"),
        (("dump", "--at", "noon"), "--at: "),
    ):
        done = gpol("import", "kueue", *arguments, *OUT)
        assert (done.code, done.out) == (3, "")
        assert said in done.err


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nobody takes rights from this user")
def test_no_rights(gpol: Gpol, tmp_path: Path) -> None:
    """A dump that may not be read is refused."""
    (tmp_path / "dump").write_bytes(GOOD)
    (tmp_path / "dump").chmod(0)

    done = gpol("import", "kueue", "dump", *OUT)

    assert (done.code, "`dump` cannot be read: Permission denied" in done.err) == (3, True)

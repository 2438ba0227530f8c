"""import volcano: all or nothing, and no mistake or malice of a file ends in anything but a clear answer."""

import codecs
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from commands import Gpol
from gpol.cli.transfer.import_ import SYSTEMS, import_
from kueue_objects import GOOD as OF_KUEUE

Json = dict[str, Any]

GPU = "nvidia.com/gpu"
NOW = "2026-03-01T00:00:00Z"
OUT = ("-o", "p.gpol", "--facts", "f.jsonl")


def made(kind: str, name: str, spec: Json, namespace: str = "", status: Json | None = None) -> Json:
    """An object of Volcano."""
    metadata = {"name": name, **({"namespace": namespace, "creationTimestamp": NOW} if namespace else {})}
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": kind, "metadata": metadata, "spec": spec, "status": status or {}}


def queue(name: str = "q", gpus: str = "8", **spec: Any) -> Json:
    """A Queue that deserves so many GPUs."""
    return made("Queue", name, {"deserved": {GPU: gpus}, **spec})


def pod_group(name: str, gpus: int, phase: str = "Pending", **spec: Any) -> Json:
    """A PodGroup of two pods."""
    return made("PodGroup", name, {"minMember": 2, "queue": "q", "minResources": {GPU: str(gpus)}, **spec}, "n", {"phase": phase})


def listed(*objects: Json) -> bytes:
    """A List in JSON."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode()


GOOD = listed(queue(), pod_group("a", 2))
GOOD_YAML = yaml.safe_dump(json.loads(GOOD)).encode()


@pytest.mark.parametrize(
    "data",
    [GOOD, GOOD_YAML, GOOD_YAML.replace(b"\n", b"\r\n"), codecs.BOM_UTF8 + GOOD_YAML],
    ids=["json", "yaml", "crlf", "bom"],
)
def test_the_same_objects_make_the_same_files(gpol: Gpol, tmp_path: Path, data: bytes) -> None:
    """However a dump is written, its policy checks and its facts play."""
    (tmp_path / "dump").write_bytes(data)

    done = gpol("import", "volcano", "dump", *OUT, "--capacity", f"{GPU}=16")

    assert (done.code, done.err) == (0, "")
    assert done.out == f"imported 1 Queue, 0 PriorityClasses and 1 PodGroup as of {NOW}\n"
    assert f'owns 8 "{GPU}"' in (tmp_path / "p.gpol").read_text()
    assert gpol("check", "p.gpol").code == 0
    assert gpol("run", "p.gpol", "f.jsonl", "--out", "decisions.jsonl").code == 0
    assert '"kind":"WorkloadAdmitted"' in (tmp_path / "decisions.jsonl").read_text()


def test_from_a_pipe_to_the_screen(gpol: Gpol) -> None:
    """Without -o the policy is all that stands on stdout; in json with -o the notes are data."""
    printed = gpol("import", "volcano", "-", stdin=listed(queue(), made("Job", "j", {})))
    [record] = gpol("import", "volcano", "-", "-o", "p.gpol", "--format", "json", stdin=listed(queue(tomorrow=1))).records

    assert printed.out.startswith('policy "volcano" {\n')
    assert printed.err.startswith("note: Job j: is of no kind that is imported\nnote: Queue root: what all Queues deserve: ")
    assert printed.err.endswith("imported 1 Queue, 0 PriorityClasses and 0 PodGroups\n")
    assert (record["kind"], record["policy"], record["facts"], record["queues"], record["workloads"]) == ("import", "p.gpol", None, 1, 0)
    assert record["notes"][0] == {"object_kind": "Queue", "names": ["q"], "field": "spec.tomorrow", "text": "is not imported"}


def test_what_is_over_is_counted(gpol: Gpol) -> None:
    """PodGroups that completed are told apart; the options name the flavor and what exists."""
    objects = listed(queue(), pod_group("a", 2, "Completed"), pod_group("b", 2, "Running"))
    done = gpol("import", "volcano", "-", "--flavor", "a100", "--capacity", f"{GPU}=16", "--capacity", "cpu=1", stdin=objects)

    assert done.err == f"imported 1 Queue, 0 PriorityClasses and 1 PodGroup as of {NOW}\nleft out 1 PodGroup that completed\n"
    assert f'flavor a100 {{\n  cpu 1\n  "{GPU}" 16\n}}\n' in done.out


HOSTILE = {
    "queues in a circle": (listed(queue("a", parent="b"), queue("b", parent="a")), "Queue a: spec.parent: goes round in a circle: a -> b"),
    "two of a name": (listed(queue(), queue()), "Queue q: metadata.name: is there twice; keep one"),
    "below 0": (listed(queue(gpus="-1")), f"Queue q: spec.deserved.{GPU}: is -1, below 0; write 0 or more"),
    "more than the capability": (listed(queue(capability={GPU: "7"})), "is 8, above the capability, 7; write at most 7"),
    "objects of Kueue": (OF_KUEUE, "Queue: there is none, apart from the root; give what `kubectl get queues.scheduling.volcano.sh"),
    "runs without a size": (listed(queue(), made("PodGroup", "a", {"queue": "q"}, "n", {"phase": "Running"})), "minResources: is missing"),
    "no kind": (listed({"metadata": {"name": "x"}}), "kind: is missing; give objects as `kubectl get -o yaml` writes them"),
    "a list for an object": (listed({**queue(), "spec": []}), "Queue q: spec: is a list, not an object"),
    "a bomb of anchors": (b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "line 1, column 4: has the anchor &a"),
    "a tag": (b"a: !!python/object:os.system x\n", "line 1, column 4: has the tag "),
    "empty": (b"", "has no objects"),
    "cut off": (GOOD_YAML[: len(GOOD_YAML) // 2], "dump.yaml: "),
    "no text": (bytes(range(256)), "is not UTF-8"),
    "nested": (b"[" * 10_000 + b"]" * 10_000, "is nested more than 64 deep"),
    "colours in a name": (listed(queue("q\x1b[31m")), "metadata.name: has an invisible character"),
    "two lines in a resource": (listed(made("Queue", "q", {"deserved": {"a\nb": "1"}})), "has the key `a\\x0ab`"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_imported_is_refused_whole(gpol: Gpol, tmp_path: Path, name: str) -> None:
    """Place, cause and remedy are told, the exit code is 3, and neither file is written; what is printed steers no terminal."""
    data, said = HOSTILE[name]
    (tmp_path / "dump.yaml").write_bytes(data)

    done = gpol("import", "volcano", "dump.yaml", *OUT)

    assert (done.code, done.out) == (3, "")
    assert said in done.err
    assert done.err.endswith("nothing was imported\n")
    assert all(line.startswith("gpol: ") and line.isprintable() for line in done.err.splitlines())
    assert [path.name for path in tmp_path.iterdir()] == ["dump.yaml"]


def test_a_cluster_that_is_too_big_for_a_policy(gpol: Gpol, tmp_path: Path) -> None:
    """A file of gpol ends at 60,000 lines and a MiB; what would make more is refused with both numbers, and nothing is written."""
    (tmp_path / "d.json").write_bytes(listed(*(queue(f"q{number:0240}") for number in range(4_000))))
    done = gpol("import", "volcano", "d.json", *OUT)
    assert (done.code, done.out) == (3, "")
    limits = "one has at most 60,000 lines and 1,048,576 bytes; import fewer Queues at a time; nothing was imported"
    assert re.fullmatch(rf"gpol: the policy would have [\d,]+ lines and 1,1\d\d,\d\d\d bytes, and {limits}\n", done.err)
    assert [path.name for path in tmp_path.iterdir()] == ["d.json"]


def test_files_that_are_there_stay(gpol: Gpol, tmp_path: Path) -> None:
    """No file is written over: not an old policy, not old facts, not the dump; and nothing is written where the other may not be."""
    (tmp_path / "dump").write_bytes(GOOD)
    (tmp_path / "old").write_text("mine")
    assert gpol("import", "volcano", "dump", "-o", "changed.gpol").code == 0
    with (tmp_path / "changed.gpol").open("a") as file:
        file.write("# mine\n")
    for targets, said in (
        (("-o", "old"), "-o: `old` is there already, and is not an imported policy as gpol writes it; choose another name"),
        (("-o", "changed.gpol"), "-o: `changed.gpol` is there already, and is a policy, which no output replaces"),
        (("-o", "changed.gpol", "--force"), "-o: `changed.gpol` is there already, and is a policy, which no output replaces"),
        (("-o", "new", "--facts", "old"), "--facts: `old` is there already"),
        (("-o", "dump"), "-o: `dump` is what is read"),
        (("-o", "new", "--facts", "./new"), "-o and --facts name the same file"),
        (("-o", "-"), "-o: `-` is no name for a file"),
    ):
        done = gpol("import", "volcano", "dump", *targets)
        assert (done.code, done.out) == (3, "")
        assert said in done.err
    assert (tmp_path / "old").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["changed.gpol", "dump", "old"]


def test_an_imported_policy_is_written_over_until_somebody_changes_it(gpol: Gpol, tmp_path: Path) -> None:
    """The same command may be given again."""
    (tmp_path / "dump").write_bytes(GOOD)
    for _ in range(2):
        assert gpol("import", "volcano", "dump", "-o", "p.gpol").code == 0


def test_both_files_or_none(gpol: Gpol, tmp_path: Path) -> None:
    """Where the facts cannot be written, the policy is not put in place."""
    (tmp_path / "dump").write_bytes(GOOD)
    done = gpol("import", "volcano", "dump", "-o", "p.gpol", "--facts", "nowhere/f.jsonl")
    assert done.code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["dump"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--at", "noon"), "--at: "),
        (("--at", "2026-02-01T00:00:00Z"), "--at: 2026-02-01T00:00:00Z is before 2026-03-01T00:00:00Z, which an object names"),
        (("--capacity", "gpu=8"), "--capacity: `gpu` is nothing that a PodGroup asks for"),
        (("--capacity", "8"), "--capacity: `8` says no amount"),
        (("--capacity", f"{GPU}=4"), "is 8 in all Queues together, and 4 exist, by the root's capability or --capacity"),
        (("--flavor", ""), "--flavor: a name has 1 to 253 visible characters, and no space at an end"),
        (("--flavor", "a\tb"), "--flavor: a name has 1 to 253 visible characters"),
        (("missing",), "`missing` cannot be read: No such file"),
    ],
)
def test_wrong_options(gpol: Gpol, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    """Told with what to give instead."""
    (tmp_path / "dump").write_bytes(GOOD)
    done = gpol("import", "volcano", "dump", *arguments, *OUT)
    assert (done.code, done.out) == (3, "")
    assert said in done.err


def test_a_moment_has_to_be_known(gpol: Gpol) -> None:
    """Facts have a time; where no object names one, the option does."""
    timeless = pod_group("a", 2)
    del timeless["metadata"]["creationTimestamp"]
    done = gpol("import", "volcano", "-", stdin=listed(queue(), timeless))
    assert (done.code, "give the moment of the dumps with --at" in done.err) == (3, True)
    assert gpol("import", "volcano", "-", "--at", NOW, stdin=listed(queue(), timeless)).code == 0


@pytest.mark.parametrize("name", SYSTEMS)
def test_each_system_is_where_the_table_says(name: str) -> None:
    """Every entry leads to a command of that name, which has a help text; another name leads nowhere."""
    command = import_.get_command(click.Context(import_), name)
    assert command is not None
    assert (command.name, bool(command.help)) == (name, True)
    assert import_.get_command(click.Context(import_), "slurm") is None


def test_only_the_system_that_is_called_is_imported() -> None:
    """Neither command loads the module of the other, nor what is slow to load."""
    script = (
        "import sys; from gpol.cli.main import run_command\n"
        "code = run_command(['import', 'volcano', '--help'])\n"
        "slow = ('gpol.cli.transfer.import_kueue', 'pydantic', 'yaml', 'lark', 'gpol.adapters.volcano', 'gpol.journal.journal')\n"
        "print(code, [name for name in slow if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n0 []\n")

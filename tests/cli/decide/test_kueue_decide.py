"""kueue decide: one answer for each line, whatever the line says."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpol.adapters.kueue.decide.scenarios import decide
from kueue_objects import FLAVOR, GPU, NOW, Object, queue, workload

Gpol = Callable[..., Any]


def single(name: str = "s", gpus: int = 2) -> Object:
    """A scenario: one workload on a queue of 8 GPUs."""
    incoming = workload("w", gpus)
    return {"name": name, "now": NOW, "flavors": [FLAVOR], "clusterQueues": [queue()], "incoming": incoming, "targetCQ": "q"}


def lines(*given: Object | str) -> bytes:
    """Lines of a file."""
    return "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in given).encode()


def test_one_answer_for_each_line(gpol: Gpol, tmp_path: Path) -> None:
    """Answers come in order: from a file, a pipe and a packed file alike."""
    data = lines(single("fits"), single("does not", 9))
    (tmp_path / "s.jsonl").write_bytes(data)
    (tmp_path / "s.jsonl.gz").write_bytes(gzip.compress(data))

    done, piped, packed = (
        gpol("kueue", "decide", "s.jsonl"),
        gpol("kueue", "decide", "-", stdin=data),
        gpol("kueue", "decide", "s.jsonl.gz"),
    )

    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [(answer["name"], answer["mode"]) for answer in answers] == [("fits", "Fit"), ("does not", "NoFit")]
    assert answers[0]["flavors"] == {f"main/{GPU}": ["f", "Fit"]}
    assert (done.code, done.err) == (0, "")
    assert done.out == piped.out == packed.out


def test_broken_lines_are_answered_too(gpol: Gpol) -> None:
    """Each line that is no scenario has its error as its answer and on stderr with its number; the others are answered all the same."""
    broken = ('{"name": "cut', "[]", "NaN", '{"a": 1, "a": 2}', "{}", "[" * 100_000, '{"name": "n", "steps": 1}', "\udcff")
    data = b"".join(line.encode("utf-8", "surrogateescape") + b"\n" for line in (*broken, json.dumps(single("good"))))

    done = gpol("kueue", "decide", "-", stdin=data)

    answers = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 3
    assert ["error" in answer for answer in answers] == [True] * len(broken) + [False]
    assert answers[6]["name"] == "n"
    assert answers[-1]["mode"] == "Fit"
    assert [line.split(": ")[1] for line in done.err.splitlines()] == [f"stdin:{number}" for number in range(1, len(broken) + 1)]


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Lets the scenario of the name `breaks` end in an exception that nobody foresaw."""

    def breaks(with_what: BaseException) -> None:
        def maybe(scenario: Any) -> Object:
            if scenario["name"] == "breaks":
                raise with_what
            return decide(scenario)

        monkeypatch.setattr("gpol.adapters.kueue.decide.scenarios.decide", maybe)

    return breaks


@pytest.mark.parametrize("defect", [AssertionError(), KeyError("x"), RecursionError("deep"), MemoryError()])
def test_a_defect_costs_no_other_line(gpol: Gpol, breaking: Callable[[BaseException], None], defect: Exception) -> None:
    """What nobody foresaw is the answer of its line, without a trace, and the lines after it are answered."""
    breaking(defect)

    done = gpol("kueue", "decide", "-", stdin=lines(single("one"), single("breaks"), single("two")))

    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [answer["name"] for answer in answers] == ["one", "breaks", "two"]
    assert answers[1]["error"].startswith(f"internal error: {type(defect).__name__}")
    assert answers[2]["mode"] == "Fit"
    assert done.code == 3
    assert done.err == f"gpol: stdin:2: {answers[1]['error']}\n"


def test_a_stop_ends_all_lines(gpol: Gpol, breaking: Callable[[BaseException], None]) -> None:
    """Ctrl-C is no broken line: it ends the command, and what was answered stays."""
    breaking(KeyboardInterrupt())

    done = gpol("kueue", "decide", "-", stdin=lines(single("one"), single("breaks"), single("two")))

    assert (done.code, done.err) == (130, "gpol: stopped\n")
    assert [json.loads(line)["name"] for line in done.out.splitlines()] == ["one"]


def test_answers_are_json_whatever_a_line_says(gpol: Gpol) -> None:
    """A number beyond all, as a name or anywhere else, is refused; no answer has a word that JSON does not."""
    done = gpol("kueue", "decide", "-", stdin=lines('{"name":1e400,"steps":[]}', '{"name":"n","steps":1e99999999999999999999}', single()))

    answers = [json.loads(line, parse_constant=pytest.fail) for line in done.out.splitlines()]
    assert [answer["name"] for answer in answers] == [None, None, "s"]
    assert answers[0]["error"] == "scenario: name: is the number 1E+400; write a text"
    assert answers[1]["error"] == "has the number 1e99999999999999999999; no quantity is that far from 1"


def test_complaints_end_and_answers_do_not(gpol: Gpol) -> None:
    """Of many broken lines the first twenty are complained of, and the rest counted."""
    done = gpol("kueue", "decide", "-", stdin=lines(*["{}"] * 50))

    assert done.out.count('"error"') == 50
    assert len(done.err.splitlines()) == 21
    assert done.err.endswith("gpol: and 30 more lines are no scenarios\n")


def test_nothing_and_empty_lines(gpol: Gpol) -> None:
    """No scenario is no answer, and no mistake."""
    for data in (b"", b"\n \n"):
        assert gpol("kueue", "decide", "-", stdin=data) == gpol("kueue", "decide", "-")
    assert gpol("kueue", "decide", "-").code == 0


def test_a_line_of_40_megabytes(gpol: Gpol, tmp_path: Path) -> None:
    """A line beyond 32 MiB is answered by its error, and the one after it is a line of its own."""
    (tmp_path / "s.jsonl").write_bytes(b'{"name": "' + b"x" * 40_000_000 + b'"}\n' + lines(single("good")))

    done = gpol("kueue", "decide", "s.jsonl")

    long, good = (json.loads(line) for line in done.out.splitlines())
    assert done.code == 3
    assert long == {"name": None, "error": "the line is longer than 33,554,432 bytes; split the scenario"}
    assert good["name"] == "good"


@pytest.mark.parametrize(("name", "data"), [("s.jsonl.gz", b"no gzip"), ("s.jsonl.gz", gzip.compress(lines(single()))[:-9])])
def test_a_packed_file_that_is_broken(gpol: Gpol, tmp_path: Path, name: str, data: bytes) -> None:
    """What cannot be unpacked is refused by name; so are a folder and a missing file."""
    (tmp_path / name).write_bytes(data)

    for path in (name, "missing.jsonl", "."):
        done = gpol("kueue", "decide", path)
        assert done.code == 3
        assert f"gpol: `{path}` cannot be read" in done.err


@pytest.mark.skipif(os.name != "posix", reason="this system has no such pipes")
def test_a_reader_that_goes_away(gpol: Gpol, tmp_path: Path) -> None:
    """When nobody reads on, the command ends quietly with exit code 141."""
    (tmp_path / "s.jsonl").write_bytes(lines(*[single()] * 400))
    command = [sys.executable, "-c", "from gpol.cli.main import main; main()", "kueue", "decide", "s.jsonl"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr is not None
        told = running.stderr.read()

    assert (running.returncode, told) == (141, b"")

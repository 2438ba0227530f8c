"""volcano decide: one answer for each line, whatever the line says."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scenario_objects import Object, node, pod, pod_group, scenario, volcano_queue

Gpol = Callable[..., Any]


def one_pod(name: str = "s", cpu: str = "1", **more: Any) -> Object:
    """A scenario of one pod on a node of 8 CPUs."""
    given = scenario([node("n0")], [volcano_queue("q")], [pod_group("g", minMember=1)], [pod("g-0", "g", cpu)], **more)
    return {**given, "name": name}


def lines(*given: Object | str) -> bytes:
    """Lines of a file."""
    return "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in given).encode()


def test_one_answer_for_each_line(gpol: Gpol, tmp_path: Path) -> None:
    """Answers come in order, of a scenario and of one with a recorded answer beside it: from a file, a pipe and a packed file alike."""
    data = lines(one_pod("fits", then=[{}]), {"in": one_pod("does not", "9"), "volcano": {"sessions": []}})
    (tmp_path / "s.jsonl").write_bytes(data)
    (tmp_path / "s.jsonl.gz").write_bytes(gzip.compress(data))

    done, piped, packed = (
        gpol("volcano", "decide", "s.jsonl"),
        gpol("volcano", "decide", "-", stdin=data),
        gpol("volcano", "decide", "s.jsonl.gz"),
    )

    fits, waits = (json.loads(line) for line in done.out.splitlines())
    assert list(fits) == list(waits) == ["name", "sessions"]
    assert [session["pods"] for session in fits["sessions"]] == [{"n/g-0": ["bound", "n0"]}, {"n/g-0": ["running", "n0"]}]
    assert [session["pods"] for session in waits["sessions"]] == [{"n/g-0": ["pending"]}]
    assert (done.code, done.err) == (0, "")
    assert done.out == piped.out == packed.out


def test_broken_lines_are_answered_too(gpol: Gpol) -> None:
    """Each line that is no scenario has its error as its answer and on stderr with its number; the others are answered all the same."""
    broken = (
        '{"name": "cut", "[]',
        "[]",
        "7",
        "NaN",
        '{"case": {}, "case": {}}',
        "[" * 100_000,
        json.dumps(one_pod("pass", actions=["fly"])),
        json.dumps({**one_pod("more"), "colour": 1}),
        json.dumps({"in": one_pod(), "other": 1}),
        json.dumps({"in": None}),
    )
    done = gpol("volcano", "decide", "-", stdin=lines(*broken, one_pod("good")))

    answers = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 3
    assert ["error" in answer for answer in answers] == [True] * len(broken) + [False]
    assert (answers[6]["name"], answers[7]["name"]) == ("pass", "more")
    assert answers[6]["error"] == (
        "scenario: actions[0]: is `fly`, which is not supported; write enqueue, allocate, preempt, reclaim, backfill"
    )
    assert answers[-1]["sessions"][0]["pods"] == {"n/g-0": ["bound", "n0"]}
    assert [line.split(": ")[1] for line in done.err.splitlines()] == [f"stdin:{number}" for number in range(1, len(broken) + 1)]


def test_a_file_that_is_not_there(gpol: Gpol) -> None:
    """It is refused with its name, and nothing is answered."""
    done = gpol("volcano", "decide", "none.jsonl")
    assert (done.code, done.out) == (3, "")
    assert "`none.jsonl` cannot be read" in done.err

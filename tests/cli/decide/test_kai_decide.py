"""kai decide: one answer for each line, whatever the line says."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]
Case = dict[str, Any]


def cluster(name: str = "c", gpus: int = 1, **changes: Any) -> Case:
    """A node of 2 GPUs, and a job that waits for some."""
    job = {"Name": "j", "QueueName": "q", "Priority": 50, "RequiredGPUsPerTask": gpus, "Tasks": [{"State": "Pending"}]}
    return {"Name": name, "Nodes": {"n": {"GPUs": 2}}, "Queues": [{"Name": "q", "DeservedGPUs": 2}], "Jobs": [job], **changes}


def lines(*given: Case | str) -> bytes:
    """Lines of a file."""
    return "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in given).encode()


def test_one_answer_for_each_line(gpol: Gpol, tmp_path: Path) -> None:
    """Answers come in order, of a cluster and of one with what KAI did beside it: from a file, a pipe and a packed file alike."""
    data = lines(cluster("fits"), {"in": cluster("does not", 3), "kai": {}})
    (tmp_path / "s.jsonl").write_bytes(data)
    (tmp_path / "s.jsonl.gz").write_bytes(gzip.compress(data))

    done, piped, packed = (
        gpol("kai", "decide", "s.jsonl"),
        gpol("kai", "decide", "-", stdin=data),
        gpol("kai", "decide", "s.jsonl.gz"),
    )

    fits, waits = (json.loads(line) for line in done.out.splitlines())
    assert list(fits) == ["name", "rounds", "end"]
    assert fits["rounds"][0]["actions"] == [{"action": "allocate", "tasks": {"j-0": ["Binding", "n"]}}]
    assert (fits["name"], fits["end"], len(fits["rounds"])) == ("fits", "rest", 2)
    assert (waits["name"], waits["end"], len(waits["rounds"])) == ("does not", "rest", 1)
    assert (done.code, done.err) == (0, "")
    assert done.out == piped.out == packed.out


def test_broken_lines_are_answered_too(gpol: Gpol) -> None:
    """Each line that is no cluster has its error as its answer and on stderr with its number; the others are answered all the same."""
    broken = (
        '{"Name": "cut", "[]',
        "[]",
        "7",
        "NaN",
        '{"Jobs": [], "Jobs": []}',
        "[" * 100_000,
        '{"Name": "n", "Jobs": 1}',
        '{"in": {"Name": "n"}, "more": 1}',
        '{"in": null}',
        '{"Name": 5}',
        "\udcff",
        '{"Queues": [{"Name": "q", "DeservedGPUs": 1e30}]}',
        '{"Queues": [{"Name": "q", "DeservedGPUs": 1e-30}]}',
        '{"Queues": [{"Name": ""}]}',
        '{"Nodes": {"n": {"GPUs": 1.5}}}',
        '{"Nodes": {"n": {"GPUs": -1}}}',
    )
    data = b"".join(line.encode("utf-8", "surrogateescape") + b"\n" for line in (*broken, json.dumps(cluster("good"))))

    done = gpol("kai", "decide", "-", stdin=data)

    answers = [json.loads(line, parse_constant=pytest.fail) for line in done.out.splitlines()]
    assert done.code == 3
    assert ["error" in answer for answer in answers] == [True] * len(broken) + [False]
    assert not [answer["error"] for answer in answers[:-1] if "internal error" in answer["error"]]
    assert [answer["name"] for answer in answers[6:8]] == ["n", "n"]
    assert [line.split(": ")[1] for line in done.err.splitlines()] == [f"stdin:{number}" for number in range(1, len(broken) + 1)]


def test_everything_that_is_wrong_is_told_at_once(gpol: Gpol) -> None:
    """An answer lists all problems of its line, each with its place, cause and remedy; stderr has the first."""
    done = gpol("kai", "decide", "-", stdin=lines(cluster(Queues=[{"Name": "q", "DeservedGPUs": 0.5}, {"Name": "q"}])))

    answer = json.loads(done.out)
    assert answer["error"].splitlines() == [
        "Queues[1].Name: `q` names a second queue or department; give each its own name",
        "Queues[0].DeservedGPUs: 0.5 is no amount that gpol decides about; give whole GPUs, milli-CPUs and bytes, or -1 for no limit",
    ]
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("defect", [KeyError("x"), RecursionError("deep")])
def test_a_defect_costs_no_other_line(gpol: Gpol, monkeypatch: pytest.MonkeyPatch, defect: Exception) -> None:
    """What nobody foresaw is the answer of its line, without a trace, and the lines after it are answered."""

    def breaks(case: Any) -> Case:
        if case.name == "breaks":
            raise defect
        return {"rounds": [], "end": "rest"}

    monkeypatch.setattr("gpol.adapters.kai.decided.play_rounds", breaks)

    done = gpol("kai", "decide", "-", stdin=lines(cluster("one"), cluster("breaks"), cluster("two")))

    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [answer["name"] for answer in answers] == ["one", "breaks", "two"]
    assert answers[1]["error"].startswith(f"internal error: {type(defect).__name__}")
    assert done.code == 3


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"Jobs": []},
        {"Nodes": {}},
        {"Nodes": {"n": {}}},
        {"Nodes": {"n": {"GPUs": 2, "MaxTaskNum": 0}}},
        {"Queues": [{"Name": "q", "MaxAllowedCPUs": 0}]},
        {"Queues": [{"Name": "q", "DeservedGPUs": -1, "GPUOverQuotaWeight": 0.3}], "DisableDefaultDepartment": True},
        {"Jobs": [{"Name": "j", "QueueName": "q"}]},
        {"Jobs": [{"Name": "j", "QueueName": "q", "IsBestEffortJob": True, "Tasks": [{"State": "Pending"}]}]},
        {"Jobs": [{"Name": "j", "QueueName": "q", "Tasks": [{"State": "Failed"}, {"State": "Running", "NodeName": "n"}]}]},
        {"Jobs": [{"Name": "j", "QueueName": "q", "Tasks": [{"State": "Pipelined", "NodeName": "n"}]}]},
        {"Jobs": [{"Name": "j", "QueueName": "q", "RootSubGroupSet": {"$subgroups": {}}, "Tasks": [{"State": "Pending"}]}]},
        {"Jobs": [{"Name": "j", "QueueName": "q", "RootSubGroupSet": {"$subgroups": {"sets": [{"name": "s"}]}}, "Tasks": []}]},
        {"Topologies": [{"ObjectMeta": {"Name": "t"}, "Spec": {"Levels": [{"NodeLabel": "nobody has it"}]}}]},
        {
            "Nodes": {"n": {"GPUs": 1}},
            "Jobs": [{"Name": "j", "QueueName": "q", "RequiredGPUsPerTask": 1, "Tasks": [{"State": "Running", "NodeName": "n"}] * 3}],
        },
    ],
)
def test_odd_clusters_are_answered(gpol: Gpol, odd: Case) -> None:
    """Clusters without jobs, nodes or room, and with more on a node than it has, are answered and come to rest."""
    done = gpol("kai", "decide", "-", stdin=lines(cluster(**odd)))
    assert (done.code, json.loads(done.out).get("end")) == (0, "rest"), done.out


def test_the_page_shows_what_the_command_answers(gpol: Gpol, root: Path) -> None:
    """The cluster of docs/kai.md is answered as it is shown there, and the refusal reads as it does there."""
    page = (root / "docs" / "kai.md").read_text(encoding="utf-8")
    given, answer = (json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    done = gpol("kai", "decide", "-", stdin=lines(given))
    assert json.loads(done.out) == answer

    shown = re.search(r"^\$ echo '(.*)' \| gpol kai decide -\n(.*)\n(.*)$", page, re.MULTILINE)
    assert shown is not None
    refused = gpol("kai", "decide", "-", stdin=lines(shown[1]))
    assert (refused.err.rstrip("\n"), refused.out.rstrip("\n")) == (shown[2], shown[3])

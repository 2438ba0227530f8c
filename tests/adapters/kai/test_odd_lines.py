"""Whatever a line says, it is answered, or refused with a place, a cause and a remedy."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from gpol.adapters.kai.decided import decide
from gpol.adapters.kueue.problems import ImportRefused
from gpol.adapters.kueue.read.documents.json_documents import read_line
from gpol.adapters.kueue.read.documents.limits import UnreadableError
from hypothesis import given
from hypothesis import strategies as st

RACK = {"Topology": "t", "RequiredLevel": "rack", "PreferredLevel": "zone"}
BASE: dict[str, Any] = {
    "Name": "base",
    "Nodes": {
        "a": {"GPUs": 2, "CPUMillis": 4, "CPUMemory": 8, "MaxTaskNum": 5, "Labels": {"zone": "z", "rack": "r"}},
        "b": {"GPUs": 4, "Labels": {"zone": "z"}},
    },
    "Departments": [{"Name": "d", "DeservedGPUs": 4, "MaxAllowedGPUs": 5, "MaxAllowedCPUs": 9000, "MaxAllowedMemory": 9000}],
    "Queues": [
        {"Name": "p", "ParentQueue": "d", "DeservedGPUs": 2, "GPUOverQuotaWeight": 1, "Priority": 5},
        {"Name": "q", "ParentQueue": "d", "DeservedGPUs": 1, "DeservedCPUs": -1, "DeservedMemory": 5, "MaxAllowedCPUs": 2000},
    ],
    "Topologies": [{"ObjectMeta": {"Name": "t"}, "Spec": {"Levels": [{"NodeLabel": "zone"}, {"NodeLabel": "rack"}]}}],
    "Jobs": [
        {
            "Name": "runs", "QueueName": "p", "Priority": 50, "RequiredGPUsPerTask": 1, "StaleDuration": 5,
            "PerJobStalenessGracePeriod": 60,
            "Tasks": [
                {"State": "Running", "NodeName": "a"}, {"State": "Releasing", "NodeName": "b"}, {"State": "Running", "NodeName": "b"},
            ],
        },
        {
            "Name": "waits", "QueueName": "q", "Priority": 100, "RequiredGPUsPerTask": 2, "PreemptionDelay": 1, "JobAgeInMinutes": 9,
            "RootSubGroupSet": {"$subgroups": {"name": "", "minSubGroup": 1, "sets": [], "podSets": [
                {"name": "x", "minAvailable": 1, "topology": RACK}, {"name": "default", "minAvailable": 1},
            ]}},
            "Tasks": [{"State": "Pending", "SubGroupName": "x", "RequiredGPUs": 1}, {"State": "Pending", "NodeAffinityNames": ["b"]}],
        },
    ],
}  # fmt: skip

ODD = (
    None, True, False, 0, -1, 1, 0.5, 1e-19, 10**18, 10**30, "", "x" * 300, "p", "a", "t", "zone", "default", "Running", "\u0000", [], {},
    [[]], [None], {"": 1}, {"Name": "p"},
)  # fmt: skip
"""What stands in a place by mistake."""


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a cluster, as the keys that lead to it."""
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


PLACES = tuple(places(BASE))


def at(data: Any, path: tuple[Any, ...]) -> Any:
    """What stands in a place."""
    for key in path:
        data = data[key]
    return data


@given(st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from((*ODD, ..., "twice"))), min_size=1, max_size=3))
def test_no_line_is_a_surprise(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    """With a few places left out, doubled, or with something odd in them, a cluster is decided, or refused in a text of one line for each
    problem."""
    case = copy.deepcopy(BASE)
    for path, odd in changes:
        try:
            parent = at(case, path[:-1])
            here = parent[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue
        if odd is ...:
            del parent[path[-1]]
        elif odd == "twice" and isinstance(parent, list):
            parent.append(copy.deepcopy(here))
        else:
            parent[path[-1]] = copy.deepcopy(odd)
    told = answered(case)
    assert isinstance(told, str) or told["end"] in ("rest", "cycle", "unfinished")
    lines = told.splitlines() if isinstance(told, str) else []
    assert [line for line in lines if not line.startswith("and ") and (": " not in line or "; " not in line)] == []


def answered(case: dict[str, Any]) -> dict[str, Any] | str:
    """The answer to a cluster, or why it is refused."""
    try:
        return decide(read_line(json.dumps(case).encode()))
    except (ImportRefused, UnreadableError) as refused:
        return str(refused)


def test_the_base_is_decided() -> None:
    """Without a mistake in it the cluster is answered."""
    assert decide(read_line(json.dumps(BASE).encode()))["end"] == "rest"

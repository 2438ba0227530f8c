"""Objects of Volcano, short to write, and what an import makes of them."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from gpol.adapters.volcano.import_.load_volcano import ImportRefused, VolcanoImport, load_volcano, read_files, said_capacity
from gpol.dsl import check, print_tree
from gpol.engine.policy_graph import PolicyGraph

Json = dict[str, Any]

VERSION = "scheduling.volcano.sh/v1beta1"
GPU = "nvidia.com/gpu"
NOW = 1_767_409_445_000_000
"""2026-01-03T03:04:05Z."""


def queue(name: str = "a", state: str = "Open", metadata: Json | None = None, **spec: Any) -> Json:
    """A Queue that deserves 8 GPUs, unless it says otherwise."""
    spec = spec or {"deserved": {GPU: "8"}}
    status = {"state": state} if state else {}
    return {"apiVersion": VERSION, "kind": "Queue", "metadata": {"name": name, **(metadata or {})}, "spec": spec, "status": status}


def guaranteed(**amounts: str) -> Json:
    """What a Queue guarantees; `gpu` stands for the GPUs."""
    return {"resource": {GPU if name == "gpu" else name: amount for name, amount in amounts.items()}}


def pod_group(name: str = "w", phase: str = "Pending", status: Json | None = None, metadata: Json | None = None, **spec: Any) -> Json:
    """A PodGroup in namespace `ns`: a gang of 4 pods that ask for 4 GPUs in Queue `a`, unless it says otherwise."""
    said = {"minMember": 4, "queue": "a", "minResources": {GPU: "4"}, **spec}
    named = {"name": name, "namespace": "ns", **(metadata or {})}
    return {"apiVersion": VERSION, "kind": "PodGroup", "metadata": named, "spec": said, "status": {"phase": phase, **(status or {})}}


def priority(name: str, value: int, **others: Any) -> Json:
    """A PriorityClass."""
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value, **others}


# --- importing


def imported(*objects: Json, capacity: tuple[str, ...] = (), **options: Any) -> VolcanoImport:
    """What comes of objects, by way of the text of a dump; `capacity` as on the command line."""
    dump = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    return load_volcano(read_files([("dump.json", dump.encode())]), NOW, capacity=said_capacity(capacity), **options)


def text(*objects: Json, **options: Any) -> str:
    """The policy of objects as text, which has to be a correct policy without warnings."""
    made = print_tree(imported(*objects, **options).tree)
    assert [str(each.message) for each in check(made, "volcano.gpol").diagnostics] == []
    return made


def graph(*objects: Json, **options: Any) -> PolicyGraph:
    """The policy of objects, by way of its text."""
    checked = check(text(*objects, **options), "volcano.gpol")
    assert checked.graph is not None
    return checked.graph


def facts(*objects: Json, **options: Any) -> list[Json]:
    """The facts of objects, as a file has them."""
    return [json.loads(fact.payload()) for fact in imported(*objects, **options).facts]


def notes(*objects: Json, **options: Any) -> list[str]:
    """The notes of an import, but for the one that tells what exists."""
    return [str(note) for note in imported(*objects, **options).notes if note.names != ("root",) or "is taken for all" not in note.text]


def problems(*objects: Json, **options: Any) -> list[str]:
    """Why objects are refused, without the name of the file."""
    with pytest.raises(ImportRefused) as caught:
        imported(*objects, **options)
    return [str(problem).removeprefix("dump.json: ") for problem in caught.value.problems]


def block(policy: str, head: str) -> list[str]:
    """The lines of a block of a policy, by how it begins."""
    lines = policy.splitlines()
    first = next(number for number, line in enumerate(lines) if line.strip().startswith(head))
    if lines[first].endswith("}"):
        return [part.strip() for part in lines[first].partition("{")[2].removesuffix("}").split("\n")]
    indent = len(lines[first]) - len(lines[first].lstrip())
    last = next(number for number in range(first, len(lines)) if lines[number] == " " * indent + "}")
    return [line.strip() for line in lines[first + 1 : last]]


def quotas(made: PolicyGraph, name: str) -> Mapping[str, tuple[int, int | None, int | None]]:
    """Of a queue or cohort: what it owns, its borrowing limit and its lending limit, by resource."""
    node = next(node for node in made.nodes if node.name == name)
    return {
        slot.resource: (quota.nominal, quota.borrowing_limit, quota.lending_limit)
        for slot, quota in zip(made.slots, node.quotas, strict=True)
    }

"""The nodes of a simulation from a CSV file (docs/workloads.md): names, amounts, labels, taints, and which take no new pods."""

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from ..engine.event_parts import POD_COUNT, Taint
from ..engine.facts import NodeAdded
from ..engine.intake.capacity import flavors_of_node
from ..engine.policy_graph import PolicyGraph
from ..engine.units import MILLI_RESOURCES, UnitError, parse_amount
from ..sim.drive.job import InputError
from .rows import Input, Row, cell_told, rows, unpacked, written_as

NODE_RESOURCES = (*MILLI_RESOURCES, "memory", POD_COUNT)
"""Resources that are columns of nodes under their own names."""

NODE_COLUMNS = ("node",)
"""The columns that a file of nodes has to have."""

OPTIONAL_NODE_COLUMNS = (*NODE_RESOURCES, "taints", "cordoned")
NODE_PREFIXES = ("resource:", "label:")

_COLUMNS_OF = {"capacity": "resource:NAME", "labels": "label:KEY"}
_YES_OR_NO = {"": False, "no": False, "false": False, "yes": True, "true": True}
_TAINT = re.compile(r"([^=:\s]+)(?:=([^=:\s]*))?:(NoSchedule|NoExecute|PreferNoSchedule)")


def read_nodes(path: Path, graph: PolicyGraph) -> list[NodeAdded]:
    """The nodes of a file as facts at time 0, in order.

    Raises InputError, also for nodes that are impossible under a policy, and OSError where the file cannot be read.
    """
    seen: dict[str, int] = {}
    nodes = []
    with path.open("rb") as file:
        for line, node in unpacked(path.name, _nodes(Input.of(path, file))):
            if node.node in seen:
                raise InputError(path.name, line, f"node `{node.node}` is in line {seen[node.node]} already", "give each node its own name")
            if problem := impossible(graph, node):
                raise InputError(path.name, line, *problem)
            seen[node.node] = line
            nodes.append(node)
    return nodes


def takes_nodes(graph: PolicyGraph) -> bool:
    """Whether a policy has any use for nodes."""
    return not graph.settings.forest or graph.gives_places


def impossible(graph: PolicyGraph, node: NodeAdded) -> tuple[str, str] | None:
    """Why a policy has no use for a node, and what to do about it."""
    if not takes_nodes(graph):
        cause = "the policy decides in cycles, by what is owned alone, and places no pods on nodes"
        return cause, "leave --nodes out, or let a flavor be `placed`"
    flavors = [graph.flavors[flavor].name for flavor in flavors_of_node(graph, node.labels)]
    if len(flavors) > 1:
        return f"node `{node.node}` matches several flavors: {', '.join(flavors)}", "a node may belong to one only: correct its labels"
    return None


def _nodes(file: Input) -> Iterator[tuple[int, NodeAdded]]:
    for row in rows(file, NODE_COLUMNS, OPTIONAL_NODE_COLUMNS, NODE_PREFIXES):
        fields = {
            "time": 0,
            "node": _name(row),
            "labels": {column.removeprefix("label:"): cell for column, cell in row.cells.items() if column.startswith("label:") and cell},
            "capacity": dict(_capacity(row)),
            "taints": tuple(_taints(row)),
            "cordoned": _cordoned(row),
        }
        try:
            yield row.line, NodeAdded.model_validate(fields)
        except ValidationError as error:
            (field, *_), problem, remedy = cell_told(error)
            raise row.wrong(_COLUMNS_OF.get(str(field), str(field)), problem, remedy) from None


def _capacity(row: Row) -> Iterator[tuple[str, int]]:
    """What the node has, in smallest units."""
    column_of: dict[str, str] = {}
    for column, cell in row.cells.items():
        resource = column.removeprefix("resource:")
        if not cell or (resource == column and column not in NODE_RESOURCES):
            continue
        if resource in column_of:
            raise row.wrong(column, f"{resource} has a column of its own", f"keep `{column_of[resource]}`")
        column_of[resource] = column
        try:
            yield resource, parse_amount(cell, resource)
        except UnitError as error:
            raise row.wrong(column, str(error), f"write how much the node has {written_as(resource)}") from None


def _name(row: Row) -> str:
    name = row.cells["node"]
    if name and name.split() != [name]:
        raise row.wrong("node", f"`{name[:60]}` has a blank in it, and no node is called so", "write its name without blanks")
    return name


def _taints(row: Row) -> Iterator[Taint]:
    seen: set[Taint] = set()
    for text in row.cells.get("taints", "").split():
        taint = _taint(row, text)
        if taint in seen:
            raise row.wrong("taints", f"`{text[:60]}` is there twice", "keep one")
        seen.add(taint)
        yield taint


def _taint(row: Row, text: str) -> Taint:
    found = _TAINT.fullmatch(text)
    if found is None:
        raise row.wrong("taints", f"`{text[:60]}` is no taint", "write KEY=VALUE:NoSchedule or KEY:NoExecute, with blanks between several")
    key, value, effect = found.groups()
    return Taint.model_validate({"key": key, "value": value or "", "effect": effect})


def _cordoned(row: Row) -> bool:
    text = row.cells.get("cordoned", "")
    if text not in _YES_OR_NO:
        raise row.wrong("cordoned", f"`{text[:60]}` is neither yes nor no", "write `yes`, or leave the cell empty")
    return _YES_OR_NO[text]

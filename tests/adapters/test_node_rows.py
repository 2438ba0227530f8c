"""Nodes of a simulation from a CSV file: what is read, and what is said about what cannot be."""

import gzip
from pathlib import Path

import pytest
from gpol.adapters.node_rows import read_nodes
from gpol.dsl import compile_policy
from gpol.engine.event_parts import Taint
from gpol.engine.facts import NodeAdded
from gpol.engine.policy_graph import PolicyGraph
from gpol.sim.drive.job import InputError

AT_ONCE = (
    'policy "p" { use gpol.fair }\nflavor h { gpu from nodes where model = "h" }\n'
    'flavor r { gpu from nodes where rack = "r1" }\nqueue q {}\n'
)
IN_CYCLES = 'policy "p" { use kueue.classical }\nflavor h { gpu as owned }\nqueue q { serves gpu from h }\n'
HEADER = "node,gpu,cpu,memory,pods,resource:license,label:model,label:rack,taints,cordoned\n"


def graph(text: str = AT_ONCE) -> PolicyGraph:
    """A policy."""
    return compile_policy(text, "p.gpol")


def read(folder: Path, text: str, policy: str = AT_ONCE) -> list[NodeAdded]:
    """The nodes of a text."""
    path = folder / "nodes.csv"
    path.write_text(text)
    return read_nodes(path, graph(policy))


def test_every_column_is_read(tmp_path: Path) -> None:
    """Amounts in smallest units, labels, taints with and without a value, and nodes that take nobody; an empty cell says nothing."""
    first, second = read(tmp_path, HEADER + "n1,8,96,1Ti,110,3,h,,spot=true:NoSchedule gone:NoExecute,yes\nn2,4,,,,,,r1,,\n")
    assert first == NodeAdded(
        time=0,
        node="n1",
        labels={"model": "h"},
        capacity={"gpu": 8000, "cpu": 96_000, "memory": 1 << 40, "pods": 110, "license": 3},
        taints=(Taint(key="spot", value="true", effect="NoSchedule"), Taint(key="gone", effect="NoExecute")),
        cordoned=True,
    )
    assert second == NodeAdded(time=0, node="n2", labels={"rack": "r1"}, capacity={"gpu": 4000})


def test_a_packed_file(tmp_path: Path) -> None:
    """A name that ends in .gz is unpacked; one that is not packed, or cut off, is told."""
    path = tmp_path / "nodes.csv.gz"
    path.write_bytes(gzip.compress(b"node,gpu\nn1,8\n"))
    assert [node.node for node in read_nodes(path, graph())] == ["n1"]
    path.write_bytes(b"node,gpu\n")
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_nodes(path, graph())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("node,gpus\nn1,8\n", "nodes.csv:1: unknown column `gpus`; did you mean `gpu`?"),
        ("gpu\n8\n", "nodes.csv:1: column `node` is missing"),
        ("node,gpu\nn1,8\nn1,8\n", "nodes.csv:3: node `n1` is in line 2 already; give each node its own name"),
        ("node,gpu\nn1,many\n", "nodes.csv:2: column `gpu`: "),
        ("node,gpu\nn1,-8\n", "nodes.csv:2: column `gpu`: "),
        ("node,gpu,resource:gpu\nn1,8,8\n", "nodes.csv:2: column `resource:gpu`: gpu has a column of its own; keep `gpu`"),
        ("node,taints\nn1,spot\n", "nodes.csv:2: column `taints`: `spot` is no taint; write KEY=VALUE:NoSchedule"),
        ("node,taints\nn1,spot:Never\n", "nodes.csv:2: column `taints`: `spot:Never` is no taint"),
        ("node,cordoned\nn1,perhaps\n", "nodes.csv:2: column `cordoned`: `perhaps` is neither yes nor no"),
        ("node,gpu\n,8\n", "nodes.csv:2: column `node`: the cell is empty, and has to name something; write a name"),
        (
            "node,gpu\nn 1,8\n",
            "nodes.csv:2: column `node`: `n 1` has a blank in it, and no node is called so; write its name without blanks",
        ),
        ("node,gpu\nn1,8\nn1 ,8\n", "nodes.csv:3: column `node`: `n1 ` has a blank in it, and no node is called so"),
        ("node,gpu\n  ,8\n", "nodes.csv:2: column `node`: `  ` has a blank in it, and no node is called so"),
        ("node,gpu\n\u00a0n1,8\n", "nodes.csv:2: column `node`: `\u00a0n1` has a blank in it, and no node is called so"),
        (
            f"node,taints\nn1,{' '.join(f'x{number}:NoSchedule' for number in range(65))}\n",
            "nodes.csv:2: column `taints`: there are 65 entries, and at most 64 are allowed; leave some out",
        ),
        (
            f"node,{','.join(f'label:x{number}' for number in range(257))}\nn1{',x' * 257}\n",
            "nodes.csv:2: column `label:KEY`: there are 257 entries, and at most 256 are allowed; leave some out",
        ),
        (
            "node,pods\nn1,0.5\n",
            "nodes.csv:2: column `pods`: `0.5` is not a whole number of whole units of pods; "
            "write how much the node has as a whole number such as 110",
        ),
        (
            "node,cpu\nn1,0.0005\n",
            "nodes.csv:2: column `cpu`: `0.0005` is not a whole number of thousandths of a cpu; "
            "write how much the node has such as 8 or 500m",
        ),
        (f"node,gpu\n{'n' * 254},8\n", "nodes.csv:2: column `node`: there are more than 253 characters; shorten it"),
        ("node,taints\nn1,a=b:NoSchedule a=b:NoSchedule\n", "nodes.csv:2: column `taints`: `a=b:NoSchedule` is there twice; keep one"),
        (f"node,label:{'k' * 254}\nn1,x\n", "nodes.csv:2: column `label:KEY`: "),
        ("node,label:model,label:rack\nn1,h,r1\n", "nodes.csv:2: node `n1` matches several flavors: h, r; a node may belong to one only"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, text: str, said: str) -> None:
    """It is told with its line, its column and a remedy."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(said)


def test_a_policy_that_knows_no_nodes(tmp_path: Path) -> None:
    """Nothing that is accepted is ignored: where nodes mean nothing, they are refused."""
    with pytest.raises(InputError, match="places no pods on nodes; leave --nodes out, or let a flavor be `placed`"):
        read(tmp_path, "node,gpu\nn1,8\n", IN_CYCLES)
    placed = IN_CYCLES.replace("{ gpu as owned }", '{\n  gpu as owned\n  label model = "h"\n  placed on nodes\n}')
    assert len(read(tmp_path, "node,gpu\nn1,8\n", placed)) == 1

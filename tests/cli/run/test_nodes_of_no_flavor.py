"""Nodes that serve nobody are told, and nodes on which a flavor without a selector places pods are not."""

from pathlib import Path

from commands import Gpol

NODES = "node,gpu,label:pool\nn1,8,a\n"
JOBS = "workload,submitted,duration,queue,pods,gpu\nj,0s,1h,q,1,1\n"
POLICY = 'policy "p" {{ use kueue.classical }}\nflavor a {{\n  gpu as owned\n  placed on nodes\n{}}}\nqueue q {{ owns 8 gpu }}\n'


def _told(gpol: Gpol, folder: Path, more: str) -> str:
    (folder / "p.gpol").write_text(POLICY.format(more))
    (folder / "jobs.csv").write_text(JOBS)
    (folder / "nodes.csv").write_text(NODES)
    return gpol("simulate", "p.gpol", "jobs.csv", "--nodes", "nodes.csv").err


def test_a_placed_flavor_has_all_nodes_with_its_labels(gpol: Gpol, tmp_path: Path) -> None:
    """Without labels it has all nodes; with others than theirs it has none."""
    assert "of no flavor" not in _told(gpol, tmp_path, "")
    assert "of no flavor" not in _told(gpol, tmp_path, '  label pool = "a"\n')
    assert "1 of 1 node is of no flavor and will serve nobody: n1" in _told(gpol, tmp_path, '  label pool = "b"\n')

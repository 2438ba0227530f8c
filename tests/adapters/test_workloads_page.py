"""The page about workloads shows files that are read, and tells of every column."""

import re
from pathlib import Path

from gpol.adapters.node_rows import NODE_COLUMNS, NODE_PREFIXES, OPTIONAL_NODE_COLUMNS, read_nodes
from gpol.adapters.traces import NEEDED, OPTIONAL, PREFIXES, READERS, read_jobs
from gpol.dsl import compile_policy


def test_the_pages_examples_are_read(root: Path, tmp_path: Path) -> None:
    """Each example of docs/workloads.md gives its jobs in its form."""
    page = (root / "docs" / "workloads.md").read_text()
    blocks = re.findall(r"^```(?:csv|json)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    names = []
    [nodes] = [block for block in blocks if block.startswith("node,")]
    for block, form in zip([block for block in blocks if block is not nodes], ("csv", "jsonl", "philly"), strict=True):
        file = tmp_path / form
        file.write_text(block)
        names.append([job.fact.workload for job in read_jobs(file, form)])
    assert names == [["bert", "resnet"], ["rl"], ["philly-000001", "philly-000002"]]
    (tmp_path / "nodes.csv").write_text(nodes)
    graph = compile_policy('policy "p" { use gpol.fair }\nflavor h { gpu from nodes where gpu.product = "H100" }\nqueue q {}\n', "p.gpol")
    assert [node.node for node in read_nodes(tmp_path / "nodes.csv", graph)] == ["n1", "n2", "n3"]


def test_the_page_names_every_column_and_form(root: Path) -> None:
    """What the reader knows, the page tells."""
    page = (root / "docs" / "workloads.md").read_text()
    for column in (*NEEDED, *OPTIONAL, *NODE_COLUMNS, *OPTIONAL_NODE_COLUMNS):
        assert f"`{column}`" in page
    assert all(f"`{prefix}" in page for prefix in (*PREFIXES, *NODE_PREFIXES))
    assert all(f"`--trace {form}`" in page for form in READERS if form != "csv")

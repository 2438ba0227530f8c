"""The page about workloads shows files that are read, and tells of every column."""

import re
from pathlib import Path

from gpol.adapters.traces import NEEDED, OPTIONAL, PREFIXES, READERS, read_jobs


def test_the_pages_examples_are_read(root: Path, tmp_path: Path) -> None:
    """Each example of docs/workloads.md gives its jobs in its form."""
    page = (root / "docs" / "workloads.md").read_text()
    blocks = re.findall(r"^```(?:csv|json)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    names = []
    for block, form in zip(blocks, ("csv", "jsonl", "philly"), strict=True):
        file = tmp_path / form
        file.write_text(block)
        names.append([job.fact.workload for job in read_jobs(file, form)])
    assert names == [["bert", "resnet"], ["rl"], ["philly-000001", "philly-000002"]]


def test_the_page_names_every_column_and_form(root: Path) -> None:
    """What the reader knows, the page tells."""
    page = (root / "docs" / "workloads.md").read_text()
    for column in (*NEEDED, *OPTIONAL):
        assert f"`{column}`" in page
    assert all(f"`{prefix}" in page for prefix in PREFIXES)
    assert all(f"`--trace {form}`" in page for form in READERS if form != "csv")

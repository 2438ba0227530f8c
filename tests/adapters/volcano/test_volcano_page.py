"""The page about Volcano says what becomes of each field that an import knows, and its commands print what it shows."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from commands import Gpol
from gpol.adapters.volcano.read import volcano_fields as known

FIELDS = {
    "Queue": known.QUEUE | known.GUARANTEE | known.QUEUE_STATUS,
    "PodGroup": known.POD_GROUP | known.POD_GROUP_STATUS | known.NETWORK_TOPOLOGY | known.SUB_GROUP,
    "HyperNode": known.HYPER_NODE
    | known.HYPER_NODE_MEMBER
    | known.HYPER_NODE_SELECTOR
    | known.EXACT_MATCH
    | known.REGEX_MATCH
    | known.HYPER_NODE_STATUS,
    "PriorityClass": known.PRIORITY_CLASS,
}
"""The fields of each kind that an import does not note as unknown."""

ANNOTATIONS = {*known.QUEUE_ANNOTATIONS, *known.POD_GROUP_ANNOTATIONS, known.PREEMPTABLE} - {"sla-waiting-time"}
"""Annotations by which plugins of Volcano decide; one has an older name, too."""


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    """The page."""
    return (root / "docs" / "volcano.md").read_text()


@pytest.mark.parametrize("kind", FIELDS)
def test_every_field_is_on_the_page(page: str, kind: str) -> None:
    """No field that an import knows is missing from the tables of its kind."""
    part = page[page.index("## From Volcano's objects") : page.index("## From a policy")]
    rows = "\n".join(table for table in part.split("\n\n") if table.startswith(f"| {kind} |"))
    told = {word for code in re.findall(r"`([^`]+)`", rows) for word in re.split(r"[.: ]", code)}
    assert FIELDS[kind] <= told


def test_every_annotation_is_on_the_page(page: str) -> None:
    """By its whole name."""
    assert set(re.findall(r"`(volcano\.sh/[\w-]+)`", page)) >= ANNOTATIONS


def test_the_commands_print_what_the_page_shows(page: str, gpol: Gpol, root: Path, tmp_path: Path) -> None:
    """`...` stands for any text, alone on a line for any lines."""
    shutil.copytree(root / "examples" / "volcano", tmp_path / "examples" / "volcano")
    [block] = re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for step in block.removeprefix("$ ").split("\n$ "):
        command, _, said = f"{step.rstrip()}\n".partition("\n")
        done = gpol(*shlex.split(command)[1:])
        lines = [r"(?:.*\n)*?" if line == "..." else ".*?".join(map(re.escape, line.split("..."))) + "\n" for line in said.splitlines()]
        assert done.code == 0
        assert re.fullmatch("".join(lines), done.err + done.out), command

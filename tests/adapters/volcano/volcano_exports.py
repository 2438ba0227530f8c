"""Exports of short policies, for the tests of exporting."""

from typing import Any

import pytest
from gpol.adapters.volcano.export.export_to_volcano import ExportRefused, VolcanoExport, export_to_volcano
from gpol.dsl import compile_policy

Json = dict[str, Any]

HEAD = 'policy "p" { use gpol.reclaim }\n\nresource "nvidia.com/gpu"\n\nflavor f { "nvidia.com/gpu" 64 }\n\n'
"""The head of a policy of one flavor; it ends before the queues. What it leaves to Volcano is told by `USUAL`."""

USUAL = ("policy p: decides at once", "policy p: needs the plugin", "flavor f: nvidia.com/gpu: has more than is owned")
"""How the notes begin that every policy with this head has."""


def exported(text: str, **options: Any) -> VolcanoExport:
    """What comes of a policy."""
    return export_to_volcano(compile_policy(text, "p.gpol"), **options)


def specs(text: str, **options: Any) -> dict[str, Json]:
    """The specs of the Queues, by name, in the order in which they are to be applied."""
    return {item["metadata"]["name"]: item["spec"] for item in exported(text, **options).objects if item["kind"] == "Queue"}


def notes(text: str, **options: Any) -> list[str]:
    """The notes of an export, but for those that every policy has."""
    return [note for note in map(str, exported(text, **options).notes) if not note.startswith(USUAL)]


def problems(text: str, **options: Any) -> list[str]:
    """Why a policy is refused."""
    with pytest.raises(ExportRefused) as caught:
        exported(text, **options)
    return [str(problem) for problem in caught.value.problems]

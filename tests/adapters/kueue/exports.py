"""Exports of short policies, for the tests of exporting."""

from typing import Any

import pytest
import yaml
from gpol.adapters.kueue.export.export_policy import Exported, ExportRefused, export
from gpol.dsl import compile_policy

Json = dict[str, Any]

IN_CYCLES = """\
policy "p" {
  use kueue.classical
}

resource "nvidia.com/gpu"

flavor a100 { "nvidia.com/gpu" as owned }

flavor h100 { "nvidia.com/gpu" as owned }
"""
"""The head of a policy that decides in cycles."""

AT_ONCE = """\
policy "p" { use gpol.fair }

flavor a100 { gpu 16 }
"""
"""The head of a policy that decides at once; it ends before the queues."""


def exported(text: str, **options: str) -> Exported:
    """What comes of a policy."""
    return export(compile_policy(text, "p.gpol"), **options)


def opened(item: Json) -> Json:
    """A ConfigMap as the Configuration that it holds, anything else as it is."""
    return yaml.safe_load(item["data"]["controller_manager_config.yaml"]) if item["kind"] == "ConfigMap" else item


def specs(text: str, kind: str, **options: str) -> dict[str, Json]:
    """The specs of the objects of a kind, by name, with their namespace where they have one."""
    found = {}
    for item in map(opened, exported(text, **options).objects):
        if item["kind"] == kind:
            metadata = item.get("metadata", {})
            found["/".join(filter(None, (metadata.get("namespace"), metadata.get("name", ""))))] = item.get("spec", item)
    return found


def notes(text: str, **options: str) -> list[str]:
    """The notes of an export."""
    return [str(note) for note in exported(text, **options).notes]


def problems(text: str, **options: str) -> list[str]:
    """Why a policy is refused."""
    with pytest.raises(ExportRefused) as caught:
        exported(text, **options)
    return [str(problem) for problem in caught.value.problems]

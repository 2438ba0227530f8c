"""The page about Kueue says what becomes of each field that an import knows, and what it says of the others is so."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from gpol.adapters.kueue.import_.load import ImportRefused, load, read_files
from gpol.adapters.kueue.read import known_fields as known

KNOWN = {
    "ClusterQueue": known.CLUSTER_QUEUE,
    "Cohort": known.COHORT,
    "LocalQueue": known.LOCAL_QUEUE,
    "ResourceFlavor": known.RESOURCE_FLAVOR,
    "Topology": known.TOPOLOGY,
    "a topology request": known.TOPOLOGY_REQUEST,
    "the assignment of a pod set": known.ASSIGNMENT,
    "WorkloadPriorityClass": known.PRIORITY_CLASS,
    "AdmissionCheck": known.ADMISSION_CHECK,
    "Workload": known.WORKLOAD,
    "status of a Workload": known.WORKLOAD_STATUS - {"accumulatedPastExexcutionTimeSeconds"},
    "a pod set": known.POD_SET,
    "Configuration": known.CONFIGURATION,
    "resources of a Configuration": known.CONFIGURED_RESOURCES,
}
"""The fields of each kind that an import does not note as unknown."""


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    """The part of the page about an import."""
    text = (root / "docs" / "kueue.md").read_text()
    return text[text.index("## From Kueue's objects to a policy") : text.index("## From a policy to Kueue's objects")]


@pytest.mark.parametrize("kind", KNOWN)
def test_every_field_is_on_the_page(page: str, kind: str) -> None:
    """No field that an import knows is missing from the tables."""
    told = {word for code in re.findall(r"`([^`]+)`", page) for word in code.split(".")}
    assert KNOWN[kind] <= told


def notes(kind: str, spec: dict[str, Any]) -> set[str]:
    """The fields that the import of one object notes."""
    metadata = {"name": "x", "namespace": "n"}
    data = json.dumps({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, "spec": spec})
    return {note.field for note in load(read_files([("x.json", data.encode())]), now=0).notes}


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        ("ClusterQueue", {"concurrentAdmissionPolicy": {"migration": {"mode": "RetainFirstAdmission"}}}, "concurrentAdmissionPolicy"),
        ("LocalQueue", {"clusterQueue": "q", "wallTimePolicy": {"wallTimeAllocatedHours": 1}}, "wallTimePolicy"),
        ("Cohort", {"of": "tomorrow"}, "of"),
        ("ResourceFlavor", {"of": "tomorrow"}, "of"),
        ("Workload", {"podSets": [{"count": 0}], "maximumExecutionTimeSeconds": 60}, "maximumExecutionTimeSeconds"),
        ("Workload", {"podSets": [{"count": 0}], "preemptionGates": [{"name": "g"}]}, "preemptionGates"),
    ],
)
def test_what_is_said_to_be_noted_is_noted(kind: str, spec: dict[str, Any], field: str) -> None:
    """Fields without effect here that might have one in Kueue, and fields of later versions, are told by name."""
    assert f"spec.{field}" in notes(kind, spec)


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("Workload", {"podSets": [{"template": {"spec": {"resourceClaims": [{"resourceClaimTemplateName": "t"}]}}}]}),
        ("Workload", {"podSets": [{"topologyRequest": {"required": "rack", "preferred": "rack"}}]}),
        ("Workload", {"podSets": [{"topologyRequest": {"podSetSliceSize": 2}}]}),
    ],
)
def test_what_is_said_to_be_refused_is_refused(kind: str, spec: dict[str, Any]) -> None:
    """What would let Kueue decide otherwise refuses the import."""
    with pytest.raises(ImportRefused):
        notes(kind, spec)

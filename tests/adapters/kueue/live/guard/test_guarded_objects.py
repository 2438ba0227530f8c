"""The objects that a guard keeps: what the policy says, and what it says by leaving it out."""

from typing import Any

import pytest
from gpol.adapters.kueue.export.export_policy import ExportRefused
from gpol.adapters.kueue.live.guard.guarded_objects import KUEUE_GUARDED, guarded_objects
from gpol.adapters.kueue.live.protocol import CLUSTER_QUEUE, LOCAL_QUEUE
from gpol.adapters.live.guard.differences import differences
from gpol.adapters.live.guard.guarded_system import GUARD_LABEL, GuardedObject
from gpol.dsl import compile_policy

HEAD = 'policy "p" { use kueue.classical }\nresource "nvidia.com/gpu"\nflavor h100 { "nvidia.com/gpu" as owned }\npriority prod 1000\n'
QUEUES = 'queue a {\n  owns 8 "nvidia.com/gpu" on h100\n  local queue "team/gpus"\n}\n'
BELOW = "cohort all {\n" + "".join(f"  {line}\n" for line in QUEUES.splitlines()) + "}\n"


def guarded(text: str) -> tuple[dict[str, GuardedObject], list[str]]:
    """What is guarded of a policy."""
    return guarded_objects(compile_policy(text, "p.gpol"), "nvidia.com/gpu", "blue")


def test_kinds_and_their_order() -> None:
    """What others refer to comes first, and each object has the label of its guard and a path."""
    objects, notes = guarded(HEAD + BELOW)

    names = ["resourceflavors h100", "workloadpriorityclasses prod", "cohorts all", "clusterqueues a", "localqueues team/gpus"]
    assert list(objects) == names
    assert all(each.body["metadata"]["labels"] == {GUARD_LABEL: "blue"} for each in objects.values())
    assert objects["localqueues team/gpus"].path == "/apis/kueue.x-k8s.io/v1beta2/namespaces/team/localqueues/gpus"
    assert notes == []


def test_keys() -> None:
    """A key names a kind, a namespace where there is one, and a name."""
    assert KUEUE_GUARDED.parted("clusterqueues a") == (CLUSTER_QUEUE, "", "a")
    assert KUEUE_GUARDED.parted("localqueues team/gpus") == (LOCAL_QUEUE, "team", "gpus")


def test_defaults_are_said() -> None:
    """A queue that evicts nobody says so, so that nobody else can change it unseen; a field that is said stays as it is."""
    objects, _ = guarded(HEAD + QUEUES.replace("  local", "  evicts its own of lower priority\n  local"))
    queue = objects["clusterqueues a"]
    spec: dict[str, Any] = queue.body["spec"]

    assert spec["preemption"] == {
        "withinClusterQueue": "LowerPriority",
        "reclaimWithinCohort": "Never",
        "borrowWithinCohort": {"policy": "Never"},
    }
    assert (spec["queueingStrategy"], spec["fairSharing"]) == ("BestEffortFIFO", {"weight": 1})
    assert ("spec", "preemption", "reclaimWithinCohort") in queue.filled
    assert ("spec", "preemption", "withinClusterQueue") not in queue.filled


def test_what_has_to_be_absent() -> None:
    """Without a cohort there must be none, and with one it is said; the same goes for other fields without a value that says nothing."""
    alone, _ = guarded(HEAD + QUEUES)
    below, _ = guarded(HEAD + BELOW)

    assert ("spec", "cohortName") in alone["clusterqueues a"].absent
    assert ("spec", "cohortName") not in below["clusterqueues a"].absent
    assert ("spec", "namespaceSelector") not in alone["clusterqueues a"].absent  # every namespace may come, which is said
    assert below["cohorts all"].absent == (("spec", "parentName"),)
    assert below["cohorts all"].body["spec"]["resourceGroups"] == []


def test_the_configuration_is_not_guarded() -> None:
    """Kueue's manager reads its Configuration when it starts: that is told, and it is no guarded object."""
    objects, notes = guarded(HEAD.replace("kueue.classical", "kueue.fair") + QUEUES)

    assert all(not key.startswith("configmaps") for key in objects)
    assert "the Configuration of Kueue's manager is not guarded: put it there as `gpol export kueue` writes it" in notes


def test_a_policy_that_kueue_cannot_say() -> None:
    """It is refused as a whole, as by the export."""
    at_once = 'policy "p" { use gpol.fair }\nflavor h100 { gpu 8 }\nqueue a { owns 8 gpu on h100 }\n'
    with pytest.raises(ExportRefused, match="protect rule p"):
        guarded(at_once + "protect p { where victim.running < 10m }\n")


def test_flavors_that_give_places_are_refused() -> None:
    """A guard keeps no Topologies, and says so."""
    with pytest.raises(ExportRefused, match="flavor h100: placed: says where pods stand, and a guard keeps no Topologies"):
        guarded(HEAD.replace("as owned", "as owned\n  placed on nodes\n") + QUEUES)


def test_a_topology_of_a_flavor_is_left_as_it_is() -> None:
    """A flavor that is an amount here may have its pods placed by Kueue: whoever wants that says so in its ResourceFlavor."""
    flavor = 'policy "p" { use kueue.classical }\nflavor f {\n  gpu as owned\n  label model = "f"\n}\n'
    made, _ = guarded_objects(compile_policy(flavor, "p.gpol"), "nvidia.com/gpu", "gpol")
    [wanted] = [each for each in made.values() if each.kind.kind == "ResourceFlavor"]
    found = {**wanted.body, "spec": {**wanted.body["spec"], "topologyName": "fabric"}}
    assert differences(wanted, found, KUEUE_GUARDED.forms) == []

"""The way out as a whole: kinds and their order, flavors, priorities, the Configuration."""

from gpol.adapters.kueue.export.export_policy import yaml_documents
from gpol.adapters.kueue.import_.load import read_files

from ..exports import AT_ONCE, IN_CYCLES, exported, notes, opened, problems, specs

TEAM = 'queue q { serves "nvidia.com/gpu" from a100 }\n'
WHOLE = (
    IN_CYCLES.replace("use kueue.classical", "use kueue.fair")
    + """
priority low -5
priority high 100
cohort z { queue b {
  serves "nvidia.com/gpu" from a100
  local queue "ns/lq"
} }
cohort y { queue a { serves "nvidia.com/gpu" from h100 } }
"""
)


def test_kinds_come_in_the_order_to_apply_them() -> None:
    """What others name comes before them, each kind by name, the ConfigMap of the Configuration last."""
    made = [(item["kind"], item.get("metadata", {}).get("name")) for item in exported(WHOLE).objects]
    assert made == [
        ("ResourceFlavor", "a100"),
        ("ResourceFlavor", "h100"),
        ("WorkloadPriorityClass", "high"),
        ("WorkloadPriorityClass", "low"),
        ("Cohort", "y"),
        ("Cohort", "z"),
        ("ClusterQueue", "a"),
        ("ClusterQueue", "b"),
        ("LocalQueue", "lq"),
        ("ConfigMap", "kueue-manager-config"),
    ]


def test_objects_are_of_the_newest_version() -> None:
    """Each object says its version and kind first."""
    for item in exported(WHOLE).objects:
        assert list(item)[:2] == ["apiVersion", "kind"]
        assert item["apiVersion"] == ("v1" if item["kind"] == "ConfigMap" else "kueue.x-k8s.io/v1beta2")


def test_the_order_of_declarations_means_nothing() -> None:
    """Two policies that say the same in another order are exported byte for byte alike."""
    head, first, second = (
        WHOLE[: WHOLE.index("priority")],
        WHOLE[WHOLE.index("priority") : WHOLE.index("cohort y")],
        WHOLE[WHOLE.index("cohort y") :],
    )
    assert yaml_documents(exported(head + second + first).objects) == yaml_documents(exported(WHOLE).objects)


def test_yaml_of_an_export_is_read_back() -> None:
    """What is written is read as the same objects, the Configuration out of its ConfigMap."""
    objects = exported(WHOLE).objects
    assert [raw.data for raw in read_files([("dump.yaml", yaml_documents(objects).encode())])] == list(map(opened, objects))


def test_the_configuration_is_an_object_of_the_cluster() -> None:
    """It stands as lines of text where Kueue's manager looks for it, so that `kubectl apply` takes it."""
    item = exported(IN_CYCLES.replace("kueue.classical", "kueue.fair") + TEAM).objects[-1]
    assert item["metadata"] == {"name": "kueue-manager-config", "namespace": "kueue-system"}
    assert yaml_documents([item]).endswith(
        "data:\n"
        "  controller_manager_config.yaml: |\n"
        "    apiVersion: config.kueue.x-k8s.io/v1beta2\n"
        "    kind: Configuration\n"
        "    fairSharing:\n"
        "      preemptionStrategies:\n"
        "      - LessThanOrEqualToFinalShare\n"
        "      - LessThanInitialShare\n"
    )


def test_flavors() -> None:
    """Labels, taints and tolerations of a flavor are those of its ResourceFlavor."""
    text = (
        IN_CYCLES
        + TEAM
        + """
flavor spot {
  "nvidia.com/gpu" as owned
  label pool = "spot"
  label arch = ""
  taint pool = "spot" NoSchedule
  taint old NoExecute
  tolerates pool = "spot" NoSchedule
  tolerates old
  tolerates anything
}
"""
    )
    spec = specs(text, "ResourceFlavor")["spot"]
    assert spec["nodeLabels"] == {"arch": "", "pool": "spot"}
    assert sorted(spec["nodeTaints"], key=str) == [
        {"key": "old", "effect": "NoExecute"},
        {"key": "pool", "value": "spot", "effect": "NoSchedule"},
    ]
    assert sorted(spec["tolerations"], key=str) == [
        {"key": "old", "operator": "Exists"},
        {"key": "pool", "operator": "Equal", "value": "spot", "effect": "NoSchedule"},
        {"operator": "Exists"},
    ]


def test_nodes_become_labels() -> None:
    """What a flavor's nodes are found by is what Kueue sends pods to them by; how much they have is noted as unknown to it."""
    text = 'policy "p" { use gpol.fair }\nflavor a { gpu from nodes where model = "A100" and zone = "b" }\nqueue q { owns 8 gpu }\n'
    assert specs(text, "ResourceFlavor")["a"] == {"nodeLabels": {"model": "A100", "zone": "b"}}
    assert "flavor a: from nodes: has more than is owned as its nodes come; Kueue knows only what is owned" in notes(text)


def test_choices_about_places_are_noted() -> None:
    """Kueue has its own ways, and no object says them."""
    text = 'policy "p" {\n  place pods spread\n  when a node is lost wait\n}\nflavor a { gpu 8 }\nqueue q { owns 8 gpu }\n'
    assert "policy p: place pods: is left out: Kueue places pods in its own way" in notes(text)
    lost = "policy p: when a node is lost: is left out: what Kueue does then is said by the feature gates of its manager"
    assert lost in notes(text)


def test_missing_flavors_are_not_created() -> None:
    """A flavor that nothing defines stays so; the quotas that name it are exported."""
    text = IN_CYCLES.replace('h100 { "nvidia.com/gpu" as owned }', 'h100 {\n  "nvidia.com/gpu" as owned\n  missing\n}')
    text += 'queue q { serves "nvidia.com/gpu" from h100 }\n'
    assert list(specs(text, "ResourceFlavor")) == ["a100"]
    assert "flavor h100: missing: is not exported: the queues that serve it admit nothing, in Kueue too" in notes(text)


def test_worths_are_noted_where_they_differ() -> None:
    """Kueue counts all flavors alike, which matters only where they are not."""
    text = 'policy "p" { use gpol.fair }\nflavor a {\n  gpu 8\n  worth 2\n}\nflavor b { gpu 8 }\nqueue q { owns 8 gpu on a }\n'
    assert "flavor a: worth: is 2 here; Kueue counts all flavors alike in shares" in notes(text)
    alike = text.replace("flavor b { gpu 8 }", "flavor b {\n  gpu 8\n  worth 2\n}")
    assert [note for note in notes(alike) if "worth" in note] == []


def test_priorities() -> None:
    """A priority is a WorkloadPriorityClass, its value beside its metadata."""
    assert [item["value"] for item in exported(WHOLE).objects if item["kind"] == "WorkloadPriorityClass"] == [100, -5]


# --- the Configuration


def test_usage() -> None:
    """How usage fades, and what its resources weigh, is told to Kueue's manager."""
    choices = 'use kueue.classical\n  usage halves every 7d, sampled every 90s\n  usage weighs cpu 0, gpu 2.5, "nvidia.com/gpu" 3'
    text = IN_CYCLES.replace("use kueue.classical", choices) + TEAM
    assert specs(text, "Configuration", gpu="example.com/gpu")[""]["admissionFairSharing"] == {
        "usageHalfLifeTime": "168h",
        "usageSamplingInterval": "1m30s",
        "resourceWeights": {"cpu": 0, "example.com/gpu": 2.5, "nvidia.com/gpu": 3},
    }
    assert any(note.startswith("policy p: needs the Configuration") for note in notes(text, gpu="example.com/gpu"))


def test_weights_of_usage_have_to_be_decimals() -> None:
    """A third is no number of Kueue's."""
    choices = "use kueue.classical\n  usage halves every 7d, sampled every 5m\n  usage weighs cpu 1/3"
    assert problems(IN_CYCLES.replace("use kueue.classical", choices) + TEAM) == [
        "p.gpol:1: policy p: usage weighs: counts cpu for 1/3, which no decimal number says exactly; "
        "multiply all weights by 3: only their ratio counts"
    ]


def test_ignored_resources() -> None:
    """What the policy does not count, Kueue leaves out by the beginning of the name: not where that would take more with it.

    One whose name begins as another's is left out with that.
    """
    text = AT_ONCE.replace("use gpol.fair", "\n  use gpol.fair\n  ignore cpu, memory\n") + "queue q { owns 8 gpu }\n"
    assert specs(text, "Configuration")[""]["resources"] == {"excludeResourcePrefixes": ["cpu", "memory"]}
    both = text.replace("flavor a100", 'resource "x.com/"\nresource "x.com/nic"\nflavor a100').replace(
        "cpu, memory", '"x.com/", "x.com/nic"'
    )
    assert specs(both, "Configuration")[""]["resources"] == {"excludeResourcePrefixes": ["x.com/"]}
    assert problems(text.replace("ignore cpu, memory", "ignore nvidia")) == [
        "p.gpol:1: policy p: ignore: leaves nvidia out, and Kueue would leave nvidia.com/gpu out with it, which begins so; "
        "call nvidia.com/gpu otherwise, or do not ignore nvidia"
    ]


def test_nothing_needs_no_configuration() -> None:
    """A policy without fair sharing, usage and ignored resources has none."""
    assert specs(IN_CYCLES + TEAM, "Configuration") == {}

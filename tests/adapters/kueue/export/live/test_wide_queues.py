"""The wide ClusterQueues: Kueue reserves at once whatever is asked for, and leaves the rest to gpol."""

from typing import Any

from gpol.adapters.kueue.export.live.live_objects import LiveChoices, export_live
from gpol.adapters.kueue.read.quantity import amount, parse
from gpol.dsl import compile_policy
from gpol.engine.units import INT64_MAX

Json = dict[str, Any]

POLICY = """policy "p" {
  use gpol.fair
  ignore cpu, memory
}

flavor h100 {
  gpu 16
  label gpu = "h100"
}

cohort all {
  queue a {
    owns 8 gpu on h100
    borrows up to 4 gpu on h100
    weight 2
  }
  queue b {
    owns 8 gpu on h100
    stopped
  }
}
"""


def queues(text: str = POLICY, **choices: Any) -> dict[str, Json]:
    """The specs of the ClusterQueues, by name."""
    made = export_live(compile_policy(text, "p.gpol"), LiveChoices(**choices)).objects
    return {item["metadata"]["name"]: item["spec"] for item in made if item["kind"] == "ClusterQueue"}


def quotas(spec: Json) -> dict[str, str]:
    """The quotas of a ClusterQueue."""
    [group] = spec["resourceGroups"]
    [flavor] = group["flavors"]
    assert group["coveredResources"] == [quota["name"] for quota in flavor["resources"]]
    return {quota["name"]: quota["nominalQuota"] for quota in flavor["resources"]}


def test_all_queues_are_alike() -> None:
    """What the policy says of quotas, weights and stops is in none of them, and no cohort is above them."""
    found = queues()

    assert list(found) == ["a", "b"]
    assert found["a"] == found["b"]
    assert set(found["a"]) == {"namespaceSelector", "admissionChecksStrategy", "resourceGroups"}
    assert found["a"]["namespaceSelector"] == {}
    assert found["a"]["admissionChecksStrategy"] == {"admissionChecks": [{"name": "gpol"}]}


def test_what_is_covered() -> None:
    """Resources of the policy by their names in the cluster, those that it ignores, those that are asked for, and always pods."""
    assert quotas(queues(gpu="amd.com/gpu", cover=("example.com/fpga", "hugepages-2Mi", "ephemeral-storage"))["a"]) == {
        "amd.com/gpu": "1000000000",
        "cpu": "1000000000",
        "ephemeral-storage": "1Ei",
        "example.com/fpga": "1000000000",
        "hugepages-2Mi": "1Ei",
        "memory": "1Ei",
        "pods": "1000000000",
    }


def test_quotas_are_within_64_bits() -> None:
    """Kueue counts cpu in thousandths: the quota of each resource is far below the greatest number, and far above what anybody asks for."""
    for name, quota in quotas(queues()["a"]).items():
        counted = amount(parse(quota), "cpu" if name == "cpu" else "other")
        assert 10**9 <= counted < INT64_MAX // 4
    assert amount(parse(quotas(queues()["a"])["memory"]), "memory") == 2**60


def test_namespaces_that_may_come() -> None:
    """Kueue asks for their labels where the policy says so."""
    text = POLICY.replace("    weight 2\n", '    weight 2\n    for namespaces where label "team" in "x"\n')
    found = queues(text)

    assert found["a"]["namespaceSelector"] == {"matchExpressions": [{"key": "team", "operator": "In", "values": ["x"]}]}
    assert found["b"]["namespaceSelector"] == {}

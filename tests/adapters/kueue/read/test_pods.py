"""What a pod asks for: the sum that Kubernetes makes of its containers."""

from typing import Any

import pytest
from gpol.adapters.kueue.problems import Findings
from gpol.adapters.kueue.read.fields import Fields
from gpol.adapters.kueue.read.pods import affinity, beyond_limits, requests


def asks(cpu: str | None = None, limit: str | None = None, **others: Any) -> dict[str, Any]:
    """A container with a request and a limit of cpu."""
    resources = {"requests": {"cpu": cpu} if cpu else {}, "limits": {"cpu": limit} if limit else {}}
    return {"name": "c", "resources": {key: value for key, value in resources.items() if value}, **others}


def spec(*containers: dict[str, Any], **others: Any) -> Fields:
    """A pod's spec."""
    return Fields({"containers": list(containers), **others}, "", Findings())


SIDECAR = {"restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("pod", "milli"),
    [
        (spec(asks("1"), asks("500m")), 1500),
        (spec(asks("100u"), asks("100u")), 1),
        (spec(asks("1"), initContainers=[asks("3"), asks("2")]), 3000),
        (spec(asks("4"), initContainers=[asks("3")]), 4000),
        (spec(asks("1"), initContainers=[asks("2", **SIDECAR)]), 3000),
        (spec(asks("1"), initContainers=[asks("2", **SIDECAR), asks("5")]), 7000),
        (spec(asks("1"), initContainers=[asks("5"), asks("2", **SIDECAR)]), 5000),
        (spec(asks("1"), initContainers=[asks("1", **SIDECAR), asks("2", **SIDECAR), asks("1")]), 4000),
        (spec(asks("1"), overhead={"cpu": "250m"}), 1250),
        (spec(asks("1"), initContainers=[asks("3")], overhead={"cpu": "1"}), 4000),
        (spec(asks(limit="2")), 2000),
        (spec(asks("1", limit="2")), 1000),
        (spec(asks("1"), asks("1"), resources={"requests": {"cpu": "5"}}), 5000),
        (spec(asks("1"), asks("1"), resources={"limits": {"cpu": "5"}}), 5000),
        (spec(asks("1"), resources={"requests": {"cpu": "2"}}, overhead={"cpu": "1"}), 3000),
        (spec(asks("1e30")), 2**63 - 1),
    ],
)
def test_the_sum_of_a_pod(pod: Fields, milli: int) -> None:
    """Containers add up with sidecars; init containers need their own and the sidecars' before them; overhead is on top; rounded once."""
    assert requests(pod) == {"cpu": milli}


@pytest.mark.parametrize(
    ("pod", "place"),
    [
        (spec(asks("1"), asks("-500m")), "containers[1].resources.requests.cpu"),
        (spec(asks("1"), asks(limit="-500m")), "containers[1].resources.limits.cpu"),
        (spec(asks("1"), initContainers=[asks("-500m")]), "initContainers[0].resources.requests.cpu"),
        (spec(asks("1"), resources={"requests": {"cpu": "-500m"}}), "resources.requests.cpu"),
        (spec(asks("1"), overhead={"cpu": "-500m"}), "overhead.cpu"),
    ],
)
def test_nobody_asks_for_less_than_nothing(pod: Fields, place: str) -> None:
    """It is a problem of the pod, and takes nothing away from what the others ask for."""
    assert requests(pod) == {"cpu": 1000}
    assert [str(problem) for problem in pod.found.problems] == [f"{place}: is -500m, below 0; write 0 or more"]


def test_resources_come_in_order_of_name() -> None:
    """Whatever container names them, and each with its own unit."""
    pod = spec({"resources": {"requests": {"nvidia.com/gpu": 2, "memory": "1Ki"}}}, asks("1"))
    assert list(requests(pod).items()) == [("cpu", 1000), ("memory", 1024), ("nvidia.com/gpu", 2)]


def test_requests_beyond_limits_are_seen() -> None:
    """A container that asks for more than its own limit is found, an init container as well; other containers' limits are nothing to it."""
    container = "a container asks for more cpu than its limit"
    assert beyond_limits(spec(asks("2", limit="1"))) == container
    assert beyond_limits(spec(asks("1"), initContainers=[asks("2", limit="1")])) == container
    assert beyond_limits(spec(asks("2"), asks("1", limit="1"))) == ""
    whole = {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}
    assert beyond_limits(spec(asks("2"), resources=whole)) == "a pod asks for more memory than its limit"


def test_what_a_pod_as_a_whole_can_ask_for() -> None:
    """Its cpu, memory and huge pages stand in place of what its containers ask for; of anything else they alone count."""
    resources = {"requests": {"memory": "4Ki", "hugepages-2Mi": "2Mi", "nvidia.com/gpu": 9}}
    pod = spec({"resources": {"requests": {"nvidia.com/gpu": 2, "memory": "1Ki"}}}, resources=resources)
    assert requests(pod) == {"hugepages-2Mi": 2097152, "memory": 4096, "nvidia.com/gpu": 2}


def test_required_affinity_is_alternatives_of_conditions() -> None:
    """Each term is a conjunction; preferred affinity is of no account."""
    terms = [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["1"]}, {"key": "b", "operator": "Exists"}]}, {}]
    said = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    said["preferredDuringSchedulingIgnoredDuringExecution"] = {}
    read = affinity(spec(affinity={"nodeAffinity": said}))
    assert [[(each.key, each.operator, each.values) for each in term] for term in read] == [[("a", "In", ("1",)), ("b", "Exists", ())], []]

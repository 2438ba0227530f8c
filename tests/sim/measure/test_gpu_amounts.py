"""What figures count as devices."""

import pytest
from gpol.sim.measure.gpu_amounts import GPUS, counted_as


@pytest.mark.parametrize("resource", ["cpu", "memory", "pods", "storage", "ephemeral-storage", "hugepages-2Mi", "hugepages-1Gi"])
def test_what_any_machine_has_is_no_device(resource: str) -> None:
    """Pods, and what Kubernetes counts of any machine, are not counted."""
    assert counted_as(resource) is None


@pytest.mark.parametrize(
    ("resource", "counted"), [("gpu", GPUS), ("nvidia.com/gpu", GPUS), ("nvidia.com/mig-1g.5gb", "nvidia.com/mig-1g.5gb")]
)
def test_devices(resource: str, counted: str) -> None:
    """GPUs are counted together, each other device by itself."""
    assert counted_as(resource) == counted

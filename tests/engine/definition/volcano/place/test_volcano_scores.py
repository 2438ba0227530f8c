"""How good nodes are: against the formulas of Kubernetes' scheduler, computed in another way."""

import math

from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase
from gpol.engine.definition.volcano.model.volcano_cycle import VolcanoCycle
from gpol.engine.definition.volcano.place.volcano_scores import (
    balanced_allocation,
    binpack_score,
    least_allocated,
    most_allocated,
    open_nodeorder,
    weights_of_resources,
)
from hypothesis import given
from hypothesis import strategies as st
from small_clusters import Asked, Gang, cluster, plugin


def _cycle(used: Asked, asked: Asked) -> VolcanoCycle:
    """A node of 10 cpus, 64 GiB and 8 GPUs on which a pod stands; another one waits."""
    return cluster({"n": 10}, [Gang("old", (used,), phase=GroupPhase.RUNNING), Gang("new", (asked,))], ())


_ASKED = st.builds(Asked, cpu=st.integers(1, 5), memory=st.integers(1, 32), gpu=st.integers(0, 4))


@given(_ASKED, _ASKED)
def test_the_scores_of_kubernetes(used: Asked, asked: Asked) -> None:
    """Empty and full in hundredths of cpu and of memory; evenness by the standard deviation, with GPUs where they are asked for."""
    cycle = _cycle(Asked(used.cpu, used.memory, used.gpu, on="n"), asked)
    pod = cycle.session.pods[1]
    full = [(used.cpu + asked.cpu) / 10, (used.memory + asked.memory) / 64]
    assert least_allocated(cycle, pod, 0) == sum(math.floor(100 - 100 * part + 1e-9) for part in full) // 2
    assert most_allocated(cycle, pod, 0) == sum(math.floor(100 * part + 1e-9) for part in full) // 2

    def evenness(cpu: int, memory: int, gpu: int) -> int:
        parts = [cpu / 10, memory / 64, *([gpu / 8] if asked.gpu else [])]
        mean = sum(parts) / len(parts)
        return math.floor(100 - 100 * math.sqrt(sum((part - mean) ** 2 for part in parts) / len(parts)) + 1e-9)

    without, together = (
        evenness(used.cpu, used.memory, used.gpu),
        evenness(*(getattr(used, of) + getattr(asked, of) for of in ("cpu", "memory", "gpu"))),
    )
    assert balanced_allocation(cycle, pod, 0) == 50 + (50 + together - without) // 2


def test_pods_that_ask_for_no_cpu_count_with_a_little() -> None:
    """A tenth of a cpu, and 200 MiB, where free room is compared; evenness takes them as they are."""
    cycle = _cycle(Asked(0, 0, on="n"), Asked(0, 0))
    pod = cycle.session.pods[1]
    assert least_allocated(cycle, pod, 0) == (98 + 99) // 2
    assert open_nodeorder(cycle, plugin("nodeorder")).node_scores(pod, [0], "") == {0: 98}


def test_a_fuller_node_is_better_to_binpack() -> None:
    """With weights on average of what is asked for; 0 where there is no room."""
    cycle = _cycle(Asked(4, 16, on="n"), Asked(1, 16, 2))
    pod = cycle.session.pods[1]
    weights = weights_of_resources(plugin("binpack", binpack__resources="nvidia.com/gpu, other"), "binpack.resources")
    assert weights == {"nvidia.com/gpu": 1, "other": 1}
    assert binpack_score(cycle, {"cpu": 1, "memory": 1, "nvidia.com/gpu": 2}, 1, pod, 0) == 100 * (0.5 + 0.5 + 2 * 0.25) / 4
    assert binpack_score(cycle, {"cpu": 1}, 3, pod, 0) == 150
    large = _cycle(Asked(4, on="n"), Asked(7))
    assert binpack_score(large, {"cpu": 1, "memory": 1}, 1, large.session.pods[1], 0) == 0

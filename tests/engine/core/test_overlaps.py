"""Both cores where a policy says what Kueue's webhook refuses, or where an order of candidates could go round in a circle."""

from typing import Any

from cores_by_name import CORES
from player import Case, difference

Plain = dict[str, Any]
HEADER = 'policy "p" {\n  use kueue.classical\n}\nflavor a { gpu, cpu as owned }\nflavor b { gpu, cpu as owned }\n'


def same(policy: str, facts: list[Plain]) -> bool:
    """Whether the definition and the core over arrays do the same."""
    found = difference(
        Case((policy,), ({"kind": "PolicyActivated", "time": 0, "policy": 0}, *facts)), CORES["definition"], CORES["careful"]
    )
    assert found is None, str(found[0])
    return True


def submitted(name: str, flavors: tuple[str, ...] = (), queue: str = "q", *, time: int = 0, priority: int = 0, **requests: str) -> Plain:
    """A submission of one pod."""
    pods = {"requests": requests, "flavors": list(flavors)}
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": queue, "priority": priority, "pod_sets": [pods]}


def cycle(time: int) -> Plain:
    """A cycle that many seconds after the first."""
    return {"kind": "TimeAdvanced", "time": time * 1_000_000}


def test_a_resource_in_two_groups() -> None:
    """gpu is served after cpu, and by the second group, which serves cpu as well."""
    groups = "  serves cpu from a, b\n  serves cpu, gpu from b, a\n"
    policy = HEADER + "queue q {\n" + groups + "  owns 4 cpu on a\n  owns 4 cpu on b\n  owns 4 gpu on b\n}\n"
    facts = [submitted("w", cpu="1"), submitted("v", cpu="1", gpu="1"), submitted("x", cpu="1", gpu="4"), submitted("y", cpu="5", gpu="1")]
    assert same(policy, [*facts, *(cycle(time) for time in range(6))])


def test_a_flavor_in_two_groups() -> None:
    """w waits for quota of b; but a, the only flavor with gpu, does not match, whichever resource it was tried for."""
    queues = "  queue q {\n    serves cpu from a, b\n    serves gpu from a\n    owns 4 gpu on a\n  }\n  queue r { owns 4 cpu on b }\n"
    facts = [submitted("v", ("b",), "r", cpu="4"), cycle(0), submitted("w", ("b",), cpu="1", gpu="1", time=1)]
    assert same(f"{HEADER}cohort c {{\n{queues}}}\n", [*facts, cycle(1), cycle(2)])


def test_candidates_that_precede_one_another_in_a_circle() -> None:
    """By usage much precedes some; by priority some precedes beside, and beside much. Every order of submission gives the same victim."""
    policy = (
        'policy "p" {\n  use kueue.classical\n  usage halves every 1h, sampled every 1m\n}\nflavor a { gpu as owned }\ncohort c {\n'
        '  queue u {\n    owns nothing\n    admits by usage\n    local queue "n/x"\n    local queue "n/y"\n  }\n'
        "  queue v { owns nothing }\n  queue q {\n    owns 3 gpu\n    reclaims from anyone\n  }\n}\n"
    )
    facts: list[Plain] = [{"kind": "UsageReported", "time": 0, "local_queue": "n/x", "consumed": {"gpu": "5"}}]
    much, some = submitted("much", queue="u", priority=10, gpu="1"), submitted("some", queue="u", priority=1, gpu="1")
    facts += [submitted("beside", queue="v", priority=5, gpu="1"), {**some, "local_queue": "n/y"}, cycle(0), cycle(1)]
    facts += [{**much, "local_queue": "n/x", "time": 2_000_000}, cycle(2), submitted("w", priority=20, time=3_000_000, gpu="1")]
    assert same(policy, [*facts, *(cycle(time) for time in range(3, 8))])

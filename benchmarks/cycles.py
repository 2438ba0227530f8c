"""How long one cycle takes by the number of queues: all in one cohort, each with a head.

    python benchmarks/cycles.py

Prints seconds for 100 and 400 queues and their ratio, in one process on one machine; nothing is asserted. A cycle in which heads fit
looks at each queue once (a ratio of 4); one in which each head looks for victims among all others looks at them once for each (16).
"""

import time

from gpol.dsl import compile_policy
from gpol.dsl.analysis.profiles import shipped
from gpol.engine.default_core import new_core
from gpol.engine.facts import FACT, PolicyActivated, TimeAdvanced

RUNS = 3
PROFILES = {name: shipped(name) or "" for name in ("kueue.classical", "kueue.fair")}
FLAVORS = ("a", "b", "c")


def policy(profile: str, queues: int) -> str:
    """A policy of queues that own four GPUs on each of three flavors, share them, and evict whoever borrows."""
    owned = "".join(f"    owns 4 gpu on {flavor}\n" for flavor in FLAVORS)
    body = f"    serves gpu from {', '.join(FLAVORS)}\n{owned}    reclaims from anyone\n    evicts its own of lower priority\n"
    below = "".join(f"  queue q{number} {{\n{body}  }}\n" for number in range(queues))
    flavors = "".join(f"flavor {flavor} {{ gpu as owned }}\n" for flavor in FLAVORS)
    return f'policy "cycles" {{ use {profile} }}\n{flavors}cohort all {{\n{below}}}\n'


def cycle(profile: str, queues: int, gpus: tuple[int, ...]) -> float:
    """Seconds of the last of several cycles; in each every queue has a new head, more important than the last, of so many GPUs."""
    core, graph = new_core(), compile_policy(policy(profile, queues), "cycles.gpol", PROFILES)
    core.step(PolicyActivated(time=0, file="cycles.gpol", text="", digest=graph.digest), graph)
    seconds = 0.0
    for turn, amount in enumerate(gpus):
        for number in range(queues):
            pods = [{"count": 1, "requests": {"gpu": str(amount)}}]
            said = {"workload": f"w{turn}-{number}", "queue": f"q{number}", "priority": number % 3 + turn, "pod_sets": pods}
            core.step(FACT.validate_python({"kind": "WorkloadSubmitted", "time": core.time, **said}))
        wake = core.next_wake()
        assert wake is not None
        start = time.perf_counter()
        core.step(TimeAdvanced(time=wake))
        seconds = time.perf_counter() - start
    return seconds


def main() -> None:
    """Measure and print."""
    print(f"{'':<40} {'100 queues':>12} {'400 queues':>12} {'ratio':>8}")
    for profile in sorted(PROFILES):
        for what, gpus in (("heads fit", (1,)), ("heads need victims", (13, 13, 13, 13))):
            few, many = (min(cycle(profile, queues, gpus) for _ in range(RUNS)) for queues in (100, 400))
            print(f"{f'{profile}, {what}':<40} {few:>10.3f} s {many:>10.3f} s {many / few:>8.1f}")


if __name__ == "__main__":
    main()

"""Large clusters: single decisions, searches for victims, and Kueue's own loads. See `one_decision.py` and `kueue_load.py`."""

import random
from collections.abc import Iterator, Sequence
from statistics import median

from gpol.compiled.compile import compiled_kernels
from gpol.compiled.kernel_folder import kernel_folder
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.outcome.history import ADMITTING, EVICTING_ONE
from kueue_load import LOADS, count, jobs, play, policy
from one_decision import EACH, PROFILES, VICTIMS, Cluster, contest, limited, plain, victims

from .figure import Figure

QUEUES, ADMITTED, REFUSED, FACTS = 1_000, 50_000, 10_000, 300
FEW_FACTS = 30
"""Where many wait: in cycles they are all nominated once after an end, which takes long."""

LARGE = (10_000, 200_000)
"""Queues and workloads that run, in a cluster where only what is frequent is measured."""


def decisions(runs: int) -> Iterator[Figure]:
    """Deciding after one fact where 50,000 workloads run in 1,000 queues: in the kernels, with their calls."""
    kernels = compiled_kernels(kernel_folder())
    for profile in PROFILES:
        for refused in (0, REFUSED):
            cluster = Cluster(kernels, profile, QUEUES, ADMITTED, 10 * EACH)
            for number in range(refused):
                cluster.wait(20 * EACH + number, number % QUEUES)
            cluster.rest()
            waiting = f", while {refused:,} wait for more than is idle" if refused else ""
            yield from _plain(cluster, profile, waiting, FEW_FACTS if refused else FACTS, 20 if refused else 10)
        waiting = f", while {QUEUES * 9 // 10:,} wait for the borrowing limit of their queue"
        yield from _plain(limited(kernels, profile, QUEUES, ADMITTED), profile, waiting, FACTS, 20)
        yield from _full(kernels, profile)
        beyond = f", with {LARGE[0]:,} queues and {LARGE[1]:,} workloads that run"
        yield from _plain(Cluster(kernels, profile, *LARGE, 10 * EACH), profile, beyond, FACTS, 20)


def _plain(cluster: Cluster, profile: str, while_: str, facts: int, goal: float) -> Iterator[Figure]:
    """A submission, another one right after it, and an end; what each decision takes where every end has some."""
    found = plain(cluster, facts, random.Random(1))
    yield _figure(profile, f"a workload comes that fits{while_}", found.submit[1:], goal)
    yield _figure(profile, f"another one comes right after it{while_}", found.again[1:], goal)
    yield _figure(profile, f"one ends, and helps nobody{while_}", found.finish[1:], goal)
    if len(found.each) == len(found.finish):
        yield _figure(profile, f"the same, for each of its decisions{while_}", found.each[1:], None)


def _full(kernels: KernelSet, profile: str) -> Iterator[Figure]:
    times = victims(Cluster(kernels, profile, QUEUES, ADMITTED, 0, VICTIMS), FACTS, random.Random(1))[1:]
    yield _figure(profile, "one comes, and eight have to go", times, 200)
    times = contest(Cluster(kernels, profile, QUEUES, ADMITTED, 0), FACTS, random.Random(1))
    yield _figure(profile, "one ends, and every queue proposes another", times, None)
    ordered = sorted(times)
    p99 = (ordered[len(ordered) * 99 // 100] / 1000,)
    yield Figure("one decision", f"{profile}: the same, 99th percentile", "us", p99, goal=200)


def _figure(profile: str, name: str, times: Sequence[int], goal: float | None) -> Figure:
    """The medians of three parts of some times in nanoseconds, as microseconds."""
    parts = tuple(median(times[part::3]) / 1000 for part in range(3))
    return Figure("one decision", f"{profile}: {name}", "us", parts, goal=goal)


def loads(runs: int) -> Iterator[Figure]:
    """Kueue's own loads in virtual time: deciding alone, for each admission and eviction."""
    kernels = compiled_kernels(kernel_folder())
    for profile in ("kueue.classical", "kueue.fair"):
        for name in ("baseline", "large"):
            cohorts, queues, workloads = LOADS[name]
            values = []
            for _ in range(runs):
                seconds, chunks = play(kernels, policy(profile, cohorts, queues), jobs(cohorts, queues, workloads))
                values.append(seconds / count(chunks, ADMITTING, EVICTING_ONE) * 1e6)
            told = f"{profile}: {name}, {cohorts * queues:,} queues, for each admission and eviction"
            yield Figure("Kueue's loads", told, "us", tuple(values), goal=10)

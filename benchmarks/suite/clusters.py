"""Large clusters: single decisions, and Kueue's own loads. See `one_decision.py` and `kueue_load.py`.

The definition decides on facts of each kind from the same state, except where that takes minutes: where thousands wait, and in the largest
cluster. Of Kueue's loads it plays a tenth of the baseline.
"""

import random
from collections.abc import Iterator, Sequence
from statistics import median

from gpol.compiled.compile import compiled_kernels
from gpol.compiled.kernel_folder import kernel_folder
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.facts import WorkloadFinished
from gpol.engine.outcome.history import ADMITTING, EVICTING_ONE
from gpol.sim.drive.job import Job
from gpol.sim.drive.policy import Policy
from kueue_load import LOADS, count, jobs, play, play_by_definition, policy
from one_decision import EACH, PROFILES, VICTIMS, Cluster, by_definition, contest, crowded, limited, plain, victims

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
            if refused:
                yield from _plain(cluster, profile, waiting, FEW_FACTS, 20)
            else:
                yield from _plain(cluster, profile, waiting, FACTS, 10, _by_definition(cluster))
        waiting = f", while {QUEUES * 9 // 10:,} wait for the borrowing limit of their queue"
        yield from _plain(limited(kernels, profile, QUEUES, ADMITTED), profile, waiting, FACTS, 20)
        yield from _full(kernels, profile)
        beyond = f", with {LARGE[0]:,} queues and {LARGE[1]:,} workloads that run"
        yield from _plain(Cluster(kernels, profile, *LARGE, 10 * EACH), profile, beyond, FACTS, 20)


def _by_definition(cluster: Cluster) -> tuple[int, int]:
    """Nanoseconds that the definition takes for a submission that fits, and for an end: of each the median of three after a first one."""
    draw, moment = random.Random(1), cluster.core.time + 1
    come = [cluster.submission(EACH, draw.randrange(cluster.queues), moment) for _ in range(4)]
    end = [WorkloadFinished(time=moment, workload=name) for name in draw.sample(cluster.running, 4)]
    times = by_definition(cluster, *come, *end)
    return int(median(times[1:4])), int(median(times[5:]))


def _plain(cluster: Cluster, profile: str, while_: str, facts: int, goal: float, definition: tuple[int, int] = (0, 0)) -> Iterator[Figure]:
    """A submission, another one right after it, and an end; what each decision takes where every end has some."""
    found, (came, ended) = plain(cluster, facts, random.Random(1)), definition
    yield _figure(profile, f"a workload comes that fits{while_}", found.submit[1:], goal, came)
    yield _figure(profile, f"another one comes right after it{while_}", found.again[1:], goal, came)
    yield _figure(profile, f"one ends, and helps nobody{while_}", found.finish[1:], goal, ended)
    if len(found.each) == len(found.finish):
        yield _figure(profile, f"the same, for each of its decisions{while_}", found.each[1:], None)


def _full(kernels: KernelSet, profile: str) -> Iterator[Figure]:
    cluster = Cluster(kernels, profile, QUEUES, ADMITTED, 0, VICTIMS)
    _, evicting = by_definition(cluster, *(cluster.submission(EACH * VICTIMS, queue, cluster.core.time + 1) for queue in (0, 10)))
    times = victims(cluster, FACTS, random.Random(1))[1:]
    yield _figure(profile, "one comes, and eight have to go", times, 200, evicting)
    cluster = crowded(kernels, profile, QUEUES, ADMITTED, FACTS)
    (contested,) = by_definition(cluster, WorkloadFinished(time=cluster.core.time + 1, workload=cluster.running[0]))
    times = contest(cluster, FACTS, random.Random(1))
    yield _figure(profile, "one ends, and every queue proposes another", times, None, contested)
    ordered = sorted(times)
    p99 = (ordered[len(ordered) * 99 // 100] / 1000,)
    yield Figure("one decision", f"{profile}: the same, 99th percentile", "us", p99, goal=200)


def _figure(profile: str, name: str, times: Sequence[int], goal: float | None, definition: int = 0) -> Figure:
    """The medians of three parts of some times in nanoseconds, as microseconds; `definition`: the definition's, 0 if none."""
    parts = tuple(median(times[part::3]) / 1000 for part in range(3))
    return Figure("one decision", f"{profile}: {name}", "us", parts, goal=goal, definition=definition / 1000 or None)


def loads(runs: int) -> Iterator[Figure]:
    """Kueue's own loads in virtual time: deciding alone, for each admission and eviction."""
    kernels = compiled_kernels(kernel_folder())
    for profile in ("kueue.classical", "kueue.fair"):
        plan, arriving = _load(profile, "tenth")
        _, chunks = play(kernels, plan, arriving)
        definition = 1e6 * play_by_definition(plan, arriving, chunks) / count(chunks, ADMITTING, EVICTING_ONE)
        for name in ("baseline", "large"):
            cohorts, queues, _ = LOADS[name]
            values = []
            for _ in range(runs):
                seconds, chunks = play(kernels, *_load(profile, name))
                values.append(seconds / count(chunks, ADMITTING, EVICTING_ONE) * 1e6)
            told = f"{profile}: {name}, {cohorts * queues:,} queues, for each admission and eviction"
            beside = definition if name == "baseline" else None
            yield Figure("Kueue's loads", told, "us", tuple(values), goal=10, definition=beside)


def _load(profile: str, name: str) -> tuple[Policy, list[Job]]:
    """The policy and the workloads of one of Kueue's loads."""
    return policy(profile, *LOADS[name][:2]), jobs(*LOADS[name])

"""How the time for a fact, and memory, grow with the cluster: with queues, with what waits, with what runs, and with what has happened.

Each time is that of `Core.step`, from a fact to the decisions that are told: of a workload that comes and fits, and of one that ends and
helps nobody. `page.py` says what a slope is.
"""

import gc
import os
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from ctypes import CDLL
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import thread_time_ns

import numpy as np
from gpol.compiled.compile import compiled_kernels
from gpol.compiled.kernel_folder import kernel_folder
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import WorkloadFinished, WorkloadSubmitted
from gpol.sim.drive.policy import Policy
from kueue_load import MILLISECOND
from one_decision import EACH, Cluster

from .figure import Figure, cpu_seconds

GROUP = "scale"
QUEUES, LIVE, MILLION, FACTS = 100, 10_000, 1_000_000, 300
WINDOW = 10_000
"""Of how many events the time is taken after so many."""


def scale(runs: int) -> Iterator[Figure]:
    """The memory of a workload where a million run or wait, times, their slopes, and a large policy."""
    for kind, running, waiting in (("running", MILLION, 0), ("waiting", QUEUES, MILLION)):
        # each in a process of its own: in this one, what other figures left behind counts
        with ProcessPoolExecutor(1, get_context("spawn")) as alone:
            found = alone.submit(_bytes, running, waiting).result()
        yield Figure(GROUP, f"memory of a workload, with {MILLION:,} {kind}", "bytes", (found,), goal=300)
    kernels = compiled_kernels(kernel_folder())
    yield from _grows("queues", (100, 1_000, 10_000), 0.3, runs, lambda size: _fact(kernels, size, 10 * size, 0))
    shapes = "workloads waiting, each of its own shape"
    yield from _grows(shapes, (100, 1_000, 10_000, 100_000), 0.3, runs, lambda size: _fact(kernels, QUEUES, LIVE, size))
    yield from _grows("workloads running", (1_000, 10_000, 100_000, MILLION), 0.3, runs, lambda size: _fact(kernels, QUEUES, size, 0))
    sizes = (10_000, 100_000, MILLION)
    values = [_events(kernels, sizes) for _ in range(runs)]
    yield from _slopes("events before it", sizes, 0.05, values)
    text = _large(10_000)
    yield Figure(GROUP, "check a policy of 10,000 queues", "s", tuple(cpu_seconds(lambda: check(text, "large.gpol")) for _ in range(runs)))
    checked = Policy.of(check(text, "large.gpol"))
    yield Figure(GROUP, "activate it", "s", tuple(cpu_seconds(lambda: _activate(kernels, checked)) for _ in range(runs)))


def _grows(what: str, sizes: Sequence[int], goal: float, runs: int, timed: Callable[[int], float]) -> Iterator[Figure]:
    """The time for a fact at each size, and the slope."""
    yield from _slopes(what, sizes, goal, [[timed(size) for size in sizes] for _ in range(runs)])


def _slopes(what: str, sizes: Sequence[int], goal: float, values: Sequence[Sequence[float]]) -> Iterator[Figure]:
    """Figures of times by size, one sequence for each run."""
    for place, size in enumerate(sizes):
        yield Figure(GROUP, f"a fact, with {size:,} {what}", "us", tuple(times[place] for times in values))
    found = tuple(float(np.polyfit(np.log(sizes), np.log(times), 1)[0]) for times in values)
    yield Figure(GROUP, f"slope by {what}", "", found, goal=goal)


def _fact(kernels: KernelSet, queues: int, running: int, waiting: int) -> float:
    """Median microseconds of a fact, half of them submissions and half of them ends."""
    cluster, draw, times = Cluster(kernels, "gpol.fair", queues, running, 10 * EACH), random.Random(1), list[int]()
    for number in range(waiting):
        cluster.wait(20 * EACH + number, number % queues)
    cluster.rest()
    gc.collect()
    core = cluster.core
    for _ in range(FACTS):
        fact = cluster.submission(EACH, draw.randrange(queues), core.time + 1)
        begin = thread_time_ns()
        assert len(core.step(fact)) == 1
        submitted = thread_time_ns() - begin
        last = draw.randrange(len(cluster.running))
        end = WorkloadFinished(time=core.time + 1, workload=cluster.running[last])
        cluster.running[last] = fact.workload
        begin = thread_time_ns()
        assert core.step(end) == []
        times.append(submitted + thread_time_ns() - begin)
    return median(times[1:]) / 2000


def _events(kernels: KernelSet, sizes: Sequence[int]) -> list[float]:
    """Microseconds an event of a closed loop, in the last events before there are so many."""
    plan = Policy.of(check(_large(QUEUES), "large.gpol"))
    load = [_submission(number) for number in range(sizes[-1] // 3 + WINDOW)]
    core, found, done = ArrayCore(kernels=kernels), list[float](), 0
    core.step(plan.activation(0), plan.graph)
    loop = core.closed_loop(load, [400 * MILLISECOND] * len(load), False)
    assert loop is not None
    for size in sizes:
        while done < size - WINDOW:
            done += len(loop.play(min(20_000, size - WINDOW - done)).events)
        begin = thread_time_ns()
        played = len(loop.play(WINDOW).events)
        found.append((thread_time_ns() - begin) / 1000 / played)
        done += played
    return found


def _submission(number: int) -> WorkloadSubmitted:
    """One of many workloads that come one a millisecond, fit at once and run for less than half a second."""
    pods = PodSet(requests={"gpu": EACH * 1000})
    return WorkloadSubmitted(time=number * MILLISECOND, workload=f"w{number}", queue=f"q{number % QUEUES}", pod_sets=(pods,))


def _bytes(running: int, waiting: int) -> float:
    """By how much the memory of this process grows with each workload that runs or, where some do, waits.

    Those who run come by a closed loop. Its jobs, and when they end, are no part of them: the loop is over with the next fact by itself.
    """
    kernels = compiled_kernels(kernel_folder())
    Cluster(kernels, "gpol.fair", QUEUES, QUEUES, 0)  # what is loaded once is there before
    gc.collect()
    before = _memory()
    cluster = Cluster(kernels, "gpol.fair", QUEUES, running, 0)
    for number in range(waiting):
        cluster.wait(20 * EACH + number % 8, number % QUEUES)
    assert cluster.submit(20 * EACH, 0)[1] == 0
    cluster.running.clear()
    gc.collect()
    return (_memory() - before) / (waiting or running)


def _memory() -> int:
    """Bytes of memory that this process has, without what the C library keeps to use it again."""
    CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _large(queues: int) -> str:
    """A policy of so many queues, ten in each cohort."""
    lines = ['policy "large" { use gpol.fair }', "flavor pool { gpu as owned }"]
    for first in range(0, queues, 10):
        inside = [f"  queue q{number} {{\n    owns 8 gpu\n  }}" for number in range(first, min(first + 10, queues))]
        lines += [f"cohort c{first} {{", *inside, "}"]
    return "\n".join(lines) + "\n"


def _activate(kernels: KernelSet, plan: Policy) -> None:
    """Make the tables of a policy."""
    core = ArrayCore(kernels=kernels)
    core.step(plan.activation(0), plan.graph)
    assert core.next_wake() is None

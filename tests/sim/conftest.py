"""What the tests of simulations share: policies from text, jobs, and a run of them."""

from collections.abc import Callable, Sequence

import pytest
from gpol.dsl.analysis.checker import check
from gpol.engine.cores import PlayedBatch
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import WorkloadSubmitted
from gpol.engine.units import parse_duration
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import OnEvict, Simulation
from policy_texts import TWO_QUEUES


def _policy(text: str = TWO_QUEUES) -> Policy:
    checked = check(text, "two.gpol")
    assert checked.errors == ()
    return Policy.of(checked)


def _job(name: str, queue: str, at: str, duration: str, gpus: str = "8", **said: object) -> Job:
    fields = {"time": parse_duration(at), "workload": name, "queue": queue, "pod_sets": (PodSet(requests={"gpu": gpus}),), **said}
    return Job(WorkloadSubmitted.model_validate(fields), parse_duration(duration))


def _simulated(policy: Policy, jobs: Sequence[Job], on_evict: OnEvict = "restart") -> list[PlayedBatch]:
    return list(Simulation(policy, jobs, Player(), on_evict).run())


@pytest.fixture
def policy() -> Callable[..., Policy]:
    """Makes policies: `policy(text)`; without text one flavor of 8 GPUs, all owned by `owner`; `guest` owns none."""
    return _policy


@pytest.fixture
def job() -> Callable[..., Job]:
    """Makes jobs: `job(name, queue, at, duration, gpus="8")`."""
    return _job


@pytest.fixture
def simulated() -> Callable[..., list[PlayedBatch]]:
    """Runs jobs: `simulated(policy, jobs, on_evict="restart")` gives all batches."""
    return _simulated

"""Policies with jobs for a simulation: submissions with everything that one may say, and how long each runs."""

from collections import Counter

from draws import Dice
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.facts import WorkloadSubmitted
from gpol.sim.drive.job import Job
from gpol.sim.drive.policy import Policy
from policy_draws import compiled, policy
from submission_draws import Plain, submission
from worlds import SECOND, World, world


def policy_and_jobs(name: str, in_cycles: bool, count: int, replacing: bool = False) -> tuple[Policy, list[Job], Dice]:
    """A policy and so many jobs by the name of a seed, and the dice to go on with; with `replacing` some jobs replace the one before."""
    draw = Dice(name)
    place = world(draw, in_cycles)
    text = policy(draw, place, Counter())
    drawn = Policy(compiled(text), "p.gpol", text, ())
    return drawn, drawn_jobs(draw, place, drawn, count, replacing), draw


def drawn_jobs(draw: Dice, place: World, policy: Policy, count: int, replacing: bool = False) -> list[Job]:
    """So many jobs for a policy of a world; with `replacing` some jobs replace the one before."""
    time, jobs, core = 1_000 * SECOND, list[Job](), DefinitionCore()
    core.step(policy.activation(0), policy.graph)
    for number in range(count):
        time += draw.pick([0, 0, 1, SECOND, 20 * SECOND])
        plain = submission(draw, place, core, f"w{number if not draw.chance(40) else number // 2}", time)
        if replacing and number and draw.chance(10):
            _replace_last(plain, jobs[-1].fact)
        jobs.append(Job(WorkloadSubmitted.model_validate({**plain, "time": time}), draw.pick([1, SECOND, 10 * SECOND, 45 * SECOND])))
    return jobs


def _replace_last(plain: Plain, last: WorkloadSubmitted) -> None:
    """Let a submission replace the last one: of its queue most likely, and maybe running by then."""
    plain |= {"replaces": last.workload, "queue": last.queue, "namespace": last.namespace, "pod_sets": last.pod_sets}
    plain.pop("local_queue", None)
    if plain["replaces"] == plain["workload"]:
        del plain["replaces"]


def gang(name: str, time: int, gpus: int, duration: int, queue: str = "owner", priority: int = 0) -> Job:
    """A job of one pod."""
    plain = {"workload": name, "time": time, "queue": queue, "priority": priority}
    pods = [{"name": "main", "count": 1, "requests": {"gpu": gpus * 1000}}]
    return Job(WorkloadSubmitted.model_validate({**plain, "pod_sets": pods}), duration)

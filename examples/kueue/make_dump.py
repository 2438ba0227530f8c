"""Make dump/: what `kubectl get -o yaml` shows of a cluster under Kueue with fair sharing, at half past two on a Thursday.

The jobs of three and a half days are played through gpol under `kueue.fair`, so that who runs, who waits and who has just been told
to stop is as Kueue would have it. The same bytes each time.

    python examples/kueue/make_dump.py examples/kueue/dump
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import yaml
from cluster import TENANTS, Job, Object, jobs
from gpol.adapters.kueue.import_.load import load, read_files
from gpol.compiled.fast_core import fast_core
from gpol.dsl import print_tree
from gpol.dsl.analysis.checker import check
from gpol.engine.events import AnyDecision, WorkloadAdmitted, WorkloadDeferred, WorkloadEvicted
from gpol.engine.facts import Fact, WorkloadFinished, WorkloadSubmitted
from gpol.engine.units import SECOND
from gpol.sim.drive.job import Job as Played
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from objects import (
    admission_checks,
    cluster_queue,
    cohorts,
    configuration,
    flavors,
    local_queues,
    namespaces,
    priority_classes,
    workload,
)
from status import Story, cluster_queue_status, local_queue_status, workload_status

START = datetime(2026, 3, 2, 0, 0, tzinfo=UTC)
END = datetime(2026, 3, 5, 14, 30, tzinfo=UTC)
"""When the jobs begin to come, a Monday, and the moment of the dump."""

INSTALLED = "2026-01-12T09:00:00Z"
"""When the administrators made their objects."""

JOBS = 460
KEPT = 300
"""Jobs that are submitted; workloads of the dump: those that wait or run, and of the finished ones the last, until they are so many."""


def plain(moment: datetime) -> str:
    """A moment as Kubernetes writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def at(micros: int) -> str:
    """The same, of microseconds since the epoch."""
    return plain(datetime.fromtimestamp(0, UTC) + timedelta(microseconds=micros))


@dataclass(slots=True)
class History:
    """What became of each workload, by `namespace/name`."""

    stories: dict[str, Story] = field(default_factory=dict)

    def take(self, fact: Fact, decisions: list[AnyDecision]) -> None:
        """Note a fact and what was decided because of it."""
        if isinstance(fact, WorkloadSubmitted):
            self.stories[fact.workload] = Story()
        elif isinstance(fact, WorkloadFinished):
            self.stories[fact.workload].finished = fact.time
        for decision in decisions:
            story = self.stories[decision.workload]
            if isinstance(decision, WorkloadAdmitted):
                story.admitted, story.deferred = decision, None
            elif isinstance(decision, WorkloadEvicted):
                story.evicted = decision
            elif isinstance(decision, WorkloadDeferred):
                story.deferred = decision


def submissions() -> list[tuple[Job, Object]]:
    """Every job, and its workload as it is submitted; the last one comes when the dump is made."""
    length = int((END - START).total_seconds())
    made = jobs(JOBS, length)
    seconds = [job.second for job in made[:-1]] + [length]
    return [(job, workload(job, plain(START + timedelta(seconds=second)))) for job, second in zip(made, seconds, strict=True)]


def administered() -> dict[str, list[Object]]:
    """What administrators wrote, by the file that it goes to."""
    return {
        "cluster-queues": [cluster_queue(tenant, INSTALLED) for tenant in TENANTS],
        "cohorts": cohorts(INSTALLED),
        "flavors": flavors(INSTALLED),
        "local-queues": local_queues(INSTALLED),
        "namespaces": namespaces(INSTALLED),
        "priorities": priority_classes(INSTALLED),
        "admission-checks": admission_checks(INSTALLED),
        "configuration": [configuration()],
    }


def play(objects: list[Object], submitted: list[tuple[Job, Object]]) -> History:
    """Play the submissions up to the moment of the dump, the cycle of that moment included."""
    end = int(END.timestamp()) * SECOND
    dumps = [("cluster", text(objects).encode()), ("workloads", text([item for _, item in submitted]).encode())]
    imported = load(read_files(dumps), end)
    policy = Policy.of(check(print_tree(imported.tree), "kueue.gpol"))
    seconds = {key(item): job.seconds for job, item in submitted}
    facts = [fact.model_copy(update={"time": fact.created}) for fact in imported.facts if isinstance(fact, WorkloadSubmitted)]
    history, player = History(), Player(fast_core(lambda missing: None, is_long=True))
    for fact, decisions in Simulation(policy, _played(facts, seconds), player).run():
        if fact.time > end:
            return history
        history.take(fact, decisions)
    return history


def _played(facts: list[WorkloadSubmitted], seconds: dict[str, int]) -> Iterator[Played]:
    return (Played(fact, seconds[fact.workload] * SECOND) for fact in facts)


def key(item: Object) -> str:
    """The name of a workload among all."""
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"


def dump() -> dict[str, list[Object]]:
    """All objects, by file."""
    files, submitted = administered(), submissions()
    history = play([item for items in files.values() for item in items], submitted)
    end = int(END.timestamp()) * SECOND
    live = [item for _, item in submitted if history.stories[key(item)].finished is None]
    over = sorted((story.finished, name) for name, story in history.stories.items() if story.finished is not None)
    kept = {name for _, name in over[len(over) + len(live) - KEPT :]}
    shown = [item for _, item in submitted if history.stories[key(item)].finished is None or key(item) in kept]
    for item in shown:
        item["status"] = workload_status(item, history.stories[key(item)], end, at)
    for item in files["cluster-queues"]:
        item["status"] = cluster_queue_status(item, shown, INSTALLED)
    for item in files["local-queues"]:
        item["status"] = local_queue_status(item, shown, INSTALLED)
    return {**files, "workloads": sorted(shown, key=key)}


def text(objects: list[Object]) -> str:
    """Objects as `kubectl get -o yaml` writes them: one List, keys in order of name."""
    whole = {"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {"resourceVersion": ""}}
    return yaml.dump(whole, Dumper=_Plain, default_flow_style=False, width=1 << 30)


class _Plain(yaml.CSafeDumper):
    """Writes equal parts each time they come, never by reference."""

    def ignore_aliases(self, data: object) -> bool:
        """No value is named to be repeated."""
        return True


def main() -> None:
    """Write the files into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for name, objects in dump().items():
        (folder / f"{name}.yaml").write_text(text(objects), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

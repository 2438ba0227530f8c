"""Writes what was watched as steps of a script, in terms of the policy that the cluster's objects make.

The time of a step is the cluster's own where an object names one, else that of this program; both in whole seconds, as Kueue compares them.
Kueue ranks those who run by the second in which they got quota. So no step before a reservation is later than it, and gpol's cycles can run
at that very second.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from ......engine.facts import WorkloadAdopted, WorkloadSubmitted, WorkloadUpdated
from ......engine.policy_graph import PolicyGraph
from ......engine.units import SECOND
from ......sim.drive.policy import Policy
from .....kubernetes.resource_kinds import NAMESPACE
from ....import_.facts import Moment, facts
from ....problems import Findings, ImportRefused
from ....read.objects import Configuration, KueueWorkload
from ...protocol import LOCAL_QUEUE, WORKLOAD
from .cluster_objects import ClusterObjects
from .script import ScriptStep
from .seen_workload import MOST_AHEAD, SeenWorkload, WatchedWorkload, gone, standing_of
from .watched_cluster import WatchedChange

NOT_COUNTED = "it has no pods, or holds quota of a ClusterQueue that is not there: Kueue counts it for nothing"


class ScriptWriter:
    """Writes steps. `seen` are the workloads as they were written last; `problems` are those that gpol cannot represent, by name.

    `refused` is why the cluster's objects make no policy, empty where they do; no policy is written then.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.objects = ClusterObjects(configuration)
        self.seen: dict[str, SeenWorkload] = {}
        self.problems: dict[str, str] = {}
        self.refused = ""
        self._names: dict[str, str] = {}
        self._graph: PolicyGraph | None = None
        self._beyond: dict[str, KueueWorkload] = {}
        self._written: dict[str, int | None] = {}
        self._reserved: dict[str, int | None] = {}
        self._serials = count()

    def name_of(self, uid: str) -> str:
        """The name of a workload by its uid; empty where there is none."""
        return self._names.get(uid, "")

    def configure(self, configuration: Configuration, time: int, received: float) -> list[ScriptStep]:
        """The steps by which Kueue's manager goes by another configuration."""
        if configuration == self.objects.configuration:
            return []
        self.objects.configuration = configuration
        return self._numbered(self._policy_step(time, received))

    def write(self, changes: Sequence[WatchedChange]) -> list[ScriptStep]:
        """The steps of changes, in their order."""
        changes = _objects_first(changes)
        steps: list[ScriptStep] = []
        is_pending = False  # several objects of a policy that change in a row make one policy
        for change in changes:
            if change.kind == WORKLOAD:
                steps += self._policy_step(_second(change), change.received) if is_pending else ()
                is_pending = False
                steps += self._workload_steps(change)
                continue
            news = self.objects.take(change.kind, change.key, change.value)
            is_pending = is_pending or news == "policy"
            if news == "usage" or (news == "policy" and change.kind == LOCAL_QUEUE):
                steps += self._policy_step(_second(change), change.received) if is_pending else ()
                is_pending = False
                steps += self._usage_step(change)
            elif news == "labels" and change.kind == NAMESPACE:
                steps += self._relabelled(change)
        steps += self._policy_step(_second(changes[-1]), changes[-1].received) if is_pending else ()
        return self._numbered(_in_time(sorted(steps, key=_follows_gap), self._reserved))

    def from_scratch(self, time: int, received: float) -> list[ScriptStep]:
        """The steps that tell everything as it is now: the policy, usage, and all workloads, those that hold quota first."""
        self._graph = None
        steps = self._policy_step(time, received)
        for name in sorted(local.namespace + "/" + local.name for local in self.objects.objects().local_queues):
            found = self.objects.usage(name, time)
            steps += [ScriptStep(time, received, facts=tuple(found))] if found else []
        ordered = sorted(self.seen.values(), key=lambda seen: (not seen.placements, seen.since or 0, seen.key))
        steps += [ScriptStep(time, received, seen=seen, after_gap=True) for seen in ordered]
        return self._numbered(steps)

    # --- steps ------------------------------------------------------------------------------------------------------

    def _policy_step(self, time: int, received: float) -> list[ScriptStep]:
        try:
            policy: Policy = self.objects.policy(self._beyond.values())
        except ImportRefused as error:
            self.refused = str(error)
            return []
        self.refused = ""
        if self._graph is not None and self._graph.digest == policy.graph.digest:
            return []
        self._graph = policy.graph
        return [ScriptStep(time, received, policy=policy)]

    def _usage_step(self, change: WatchedChange) -> Iterator[ScriptStep]:
        found = self.objects.usage(change.key, change.time)
        if found:
            yield ScriptStep(_second(change), change.received, facts=tuple(found))

    def _relabelled(self, change: WatchedChange) -> Iterator[ScriptStep]:
        """The workloads of a namespace whose labels have changed."""
        for key in [key for key in self.seen if key.startswith(f"{change.key}/")]:
            before = self.seen[key]
            now = self.seen[key] = before.in_namespace(self.objects.labels_of(change.key))
            if now is not before:
                yield ScriptStep(_second(change), change.received, seen=now)

    def _workload_steps(self, change: WatchedChange) -> Iterator[ScriptStep]:
        key, watched = change.key, change.value
        assert watched is None or isinstance(watched, WatchedWorkload)
        seen = gone(key, change.uid) if watched is None else self.seen_workload(key, change.uid, watched, change.time)
        asked = watched.asked if watched is not None else None
        if asked is not None and self._graph is not None and self.objects.is_beyond(self._graph, asked):
            self._beyond[key] = asked
            yield from self._policy_step(_second(change), change.received)
        time = self._time(change, watched)
        if watched is None:
            self._forget(key)
        else:
            self._note(seen)
        if change.listed and not seen.is_over:
            yield ScriptStep(time, change.received, seen=seen, only_outside=True, after_gap=True)
        yield ScriptStep(time, change.received, seen=seen, after_gap=change.listed)

    def _note(self, seen: SeenWorkload) -> None:
        self.seen[seen.key] = seen
        self._names[seen.uid] = seen.key

    def _forget(self, key: str) -> None:
        known = self.seen.pop(key, None)
        if known is not None:
            self._names.pop(known.uid, None)
        self.problems.pop(key, None)
        self._written.pop(key, None)
        self._reserved.pop(key, None)
        self._beyond.pop(key, None)

    # --- a workload -------------------------------------------------------------------------------------------------

    def seen_workload(self, key: str, uid: str, watched: WatchedWorkload, now: int) -> SeenWorkload:
        """A workload in terms of the policy."""
        self.problems.pop(key, None)
        plain = SeenWorkload(key, uid, standing_of(watched), watched.words)
        if watched.asked is None:
            if plain.standing != "finished":
                self.problems[key] = watched.problem
            return replace(plain, standing="finished" if plain.standing == "finished" else "gone")
        asked, found = self.objects.without_excluded(watched.asked), Findings()
        latest = max(time for time in (now, watched.written, asked.created) if time is not None)
        objects = replace(self.objects.objects(), workloads=[replace(asked, finished=False)])
        made = facts(objects, Moment(latest, in_cycles=True), found)
        submitted = next((fact for fact in made if isinstance(fact, WorkloadSubmitted)), None)
        if submitted is None:
            if plain.standing != "finished":
                self.problems[key] = str(found.problems[0]) if found.problems else f"{key}: {NOT_COUNTED}"
            return replace(plain, standing="finished" if plain.standing == "finished" else "gone")
        updated = next((fact for fact in made if isinstance(fact, WorkloadUpdated)), None)
        adopted = next((fact for fact in made if isinstance(fact, WorkloadAdopted)), None)
        return replace(
            plain,
            submitted=submitted,
            held=asked.held,
            checks=asked.checks,
            reclaimable=asked.reclaimable,
            requeued=updated.requeued if updated is not None else None,
            queue=adopted.queue if adopted is not None else "",
            placements=adopted.placements if adopted is not None else (),
            since=adopted.since if adopted is not None else None,
        )

    # --- time -------------------------------------------------------------------------------------------------------

    def _time(self, change: WatchedChange, watched: WatchedWorkload | None) -> int:
        """The time that a change itself names, if it names a new one; else when it was learned of."""
        before = self._written.get(change.key)
        written = watched.written if watched is not None else None
        if watched is not None:
            self._written[change.key] = written
        return _second(change) if written is None or written == before else min(written, change.time + MOST_AHEAD)

    def _numbered(self, steps: Iterable[ScriptStep]) -> list[ScriptStep]:
        return [replace(step, serial=next(self._serials)) for step in steps]


def _objects_first(changes: Sequence[WatchedChange]) -> Sequence[WatchedChange]:
    """Changes, with all other objects of lists before the workloads of lists.

    Lists are in order of the last writes, and Kueue writes the status of a ClusterQueue after the workloads that hold quota in it.
    """
    first = next((place for place, change in enumerate(changes) if change.listed and change.kind == WORKLOAD), len(changes))
    later = sorted(changes[first:], key=lambda change: not change.listed or change.kind == WORKLOAD)
    return [*changes[:first], *later]


def _second(change: WatchedChange) -> int:
    return change.time - change.time % SECOND


def _follows_gap(step: ScriptStep) -> bool:
    """Whether a step of a gap comes after all others: nobody knows what Kueue's scheduler knew when it decided, so it knew all of it."""
    is_over = step.seen is not None and step.seen.is_over
    return step.after_gap and not step.only_outside and not is_over


def _in_time(steps: Sequence[ScriptStep], reserved: dict[str, int | None]) -> list[ScriptStep]:
    """The steps in their order, none of them later than a reservation of quota after it. `reserved` are those known so far, by workload."""
    new = []
    for step in steps:
        seen = step.seen
        is_new = seen is not None and bool(seen.placements) and not step.only_outside and reserved.get(seen.key) != seen.since
        if seen is not None and is_new:
            reserved[seen.key] = seen.since
        new.append(is_new)
    timed, latest = [], None
    for step, is_new in zip(reversed(steps), reversed(new), strict=True):
        time = step.time if latest is None else min(step.time, latest)
        if is_new and step.seen is not None and step.seen.since is not None:
            latest = time = min(time, step.seen.since)
        timed.append(replace(step, time=time))
    return timed[::-1]

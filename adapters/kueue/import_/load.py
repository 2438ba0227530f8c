"""The import: from the objects of a cluster to a policy, the facts that rebuild its state, and notes about what was changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ....dsl.syntax import tree
from ....engine.facts import Fact
from ..policy_names import PolicyNames
from ..problems import ConversionNote, Findings, ImportRefused, Problem
from ..read.documents.dumps import read
from ..read.fields import Fields
from ..read.kinds import Raw, read_objects
from ..read.objects import Configuration, Objects
from .excluded_resources import leave_out_excluded
from .facts import Moment, facts
from .impossible_places import check_places
from .node_facts import node_facts
from .policy import CLASSICAL, FAIR, PROFILES, PolicyChoice, policy
from .revoked_reservations import take_back
from .topologies import check_topologies
from .validation import leave_out_pods, validate

__all__ = [
    "KINDS_BY_KEY",
    "PROFILES",
    "ConversionNote",
    "ImportRefused",
    "Imported",
    "Problem",
    "latest_moment",
    "load",
    "raws_of",
    "read_files",
]

KINDS_BY_KEY = {
    "flavors": "ResourceFlavor",
    "clusterQueues": "ClusterQueue",
    "cohorts": "Cohort",
    "localQueues": "LocalQueue",
    "workloads": "Workload",
    "admissionChecks": "AdmissionCheck",
    "priorityClasses": "WorkloadPriorityClass",
    "namespaces": "Namespace",
    "topologies": "Topology",
    "nodes": "Node",
    "pods": "Pod",
}
"""The kinds of the objects in a scenario, which do not say it themselves, by the scenario's keys."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A cluster as a policy and the facts that follow its activation, all at one moment; `objects` are what was read."""

    tree: tree.File
    facts: list[Fact]
    notes: list[ConversionNote]
    objects: Objects
    names: PolicyNames


def read_files(files: Iterable[tuple[str, bytes]]) -> list[Raw]:
    """The objects of dumps, each a name and its bytes. Raises ImportRefused with what is wrong in any of them."""
    found = Findings()
    raws = [raw for name, data in files for raw in read(data, name, found)]
    found.check()
    return raws


def raws_of(scenario: Mapping[str, Any], file: str = "") -> list[Raw]:
    """The objects of a scenario: lists by key, without kinds of their own."""
    return [Raw(data, file, kind) for key, kind in KINDS_BY_KEY.items() for data in scenario.get(key) or []]


def latest_moment(raws: Iterable[Raw]) -> int:
    """The latest moment at which anything in these objects was created or changed, in microseconds; 0 where they name none."""
    latest = 0
    for raw in raws:
        unread = [raw.data]
        while unread:
            value = unread.pop()
            if isinstance(value, list):
                unread += value
            elif isinstance(value, dict):
                unread += [part for part in value.values() if isinstance(part, dict | list)]
                for name in ("creationTimestamp", "lastTransitionTime"):
                    if isinstance(value.get(name), str):
                        latest = max(latest, Fields(value, "", Findings()).time(name) or 0)
    return latest


def load(
    raws: Iterable[Raw],
    now: int,
    profile: str | None = None,
    name: str = "kueue",
    configuration: Configuration | None = None,
    boost: bool | None = None,
    queues: Mapping[str, str] | None = None,
    clock: int | None = None,
    controllers: bool = True,
) -> Imported:
    """Import objects as of a moment (microseconds since the epoch).

    `profile` is one of PROFILES; without it the Configuration decides between Kueue's two. `configuration` stands in place of the
    dump's, `boost` in place of what it says of the priority boost. `queues` are the ClusterQueues of workloads
    that name no LocalQueue, by `namespace/name`; `clock` is the time of the facts, where it is not that moment. Without `controllers`,
    Kueue's scheduler alone looks at the objects, and every reservation stands. Raises ImportRefused, with all problems found.
    """
    found = Findings()
    objects = read_objects(raws, found)
    validate(objects, found)
    found.check()
    settings = configuration or objects.configuration or Configuration()
    objects.configuration = settings if boost is None else replace(settings, boost=boost)
    wanted = PolicyChoice(name, profile or (FAIR if settings.fair else CLASSICAL))
    if controllers:
        take_back(objects, found)
    leave_out_excluded(objects, found)
    if not wanted.in_cycles:
        leave_out_pods(objects, found)
    check_topologies(objects, wanted.in_cycles, found)
    made, moment = policy(objects, wanted, found), Moment(now, wanted.in_cycles, queues or {}, clock)
    nodes = node_facts(objects, now if clock is None else clock, found)
    check_places(objects, nodes, wanted.in_cycles, found)
    played = [*nodes, *facts(objects, moment, found, {node.node for node in nodes})]
    found.check()
    return Imported(made, played, found.notes(), objects, PolicyNames(objects))

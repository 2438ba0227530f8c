"""The objects of a cluster that Kueue's decisions depend on, beside Workloads: they make the policy under which gpol decides beside it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ......dsl import check, print_tree
from ......engine.facts import Fact
from ......engine.policy_graph import PolicyGraph
from ......sim.drive.policy import Policy
from .....kubernetes.api import Plain
from .....kubernetes.resource_kinds import NAMESPACE, Kind
from ....import_.excluded_resources import leave_out_excluded
from ....import_.facts import Moment, facts
from ....import_.policy import CLASSICAL, FAIR, PolicyChoice, policy
from ....import_.validation import refuse_topologies, validate
from ....problems import Findings, ImportRefused, Problem
from ....read.kinds import CONFIG_KEY, Raw, read_objects
from ....read.objects import Configuration, KueueLocalQueue, KueueWorkload, Objects
from ...protocol import ADMISSION_CHECK, CLUSTER_QUEUE, COHORT, LOCAL_QUEUE, PRIORITY_CLASS, RESOURCE_FLAVOR

POLICY_NAME, POLICY_FILE = "kueue", "kueue.gpol"
"""What the policy is called, and the file that its lines are told of; its text stands in the journal."""

CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps")

_LISTS = {
    CLUSTER_QUEUE: "cluster_queues",
    COHORT: "cohorts",
    LOCAL_QUEUE: "local_queues",
    RESOURCE_FLAVOR: "flavors",
    PRIORITY_CLASS: "priorities",
    ADMISSION_CHECK: "checks",
}
"""The kinds that make a policy, and where an import keeps them."""

POLICY_KINDS = (*_LISTS, NAMESPACE)
"""The kinds that are followed, beside Workloads."""


class ReadObject(NamedTuple):
    """An object as data of an import, or why it cannot be imported. Of a namespace these are its labels."""

    value: Any
    problem: str = ""


ObjectNews = Literal["nothing", "policy", "usage", "labels"]
"""What an object that changed concerns: the policy, what a local queue has used so far, or the labels of a namespace."""


def object_reader(kind: Kind) -> Callable[[Plain], ReadObject]:
    """What reads objects of a kind."""
    return lambda plain: _read(kind, plain)


def _read(kind: Kind, plain: Plain) -> ReadObject:
    if kind == NAMESPACE:
        labels = (plain.get("metadata") or {}).get("labels")
        return ReadObject({str(key): str(labels[key]) for key in sorted(labels)} if isinstance(labels, dict) else {})
    found = Findings()
    objects = read_objects([Raw(plain, "", kind.kind)], found)
    made = getattr(objects, _LISTS[kind])
    if found.problems or not made:
        return ReadObject(None, str(found.problems[0]) if found.problems else f"{kind.kind}: cannot be read")
    return ReadObject(made[0])


def read_configuration(data: bytes, place: str) -> Configuration:
    """The Configuration of Kueue's manager in YAML or JSON. `place` is where it was found. Raises ImportRefused."""
    from ....read.documents.dumps import read  # loads PyYAML

    found = Findings()
    made = read_objects(read(data, place, found), found).configuration
    found.check()
    if made is None:
        raise ImportRefused((Problem(place, "", "", "has no Configuration of Kueue's manager", "give that of the manager"),))
    return made


def configuration_of_map(plain: Plain) -> Configuration:
    """The same in the manager's ConfigMap. Raises ImportRefused."""
    text = (plain.get("data") or {}).get(CONFIG_KEY)
    if not isinstance(text, str):
        raise ImportRefused((Problem("", "ConfigMap", "data", f"has no {CONFIG_KEY}", "name the one of Kueue's manager"),))
    return read_configuration(text.encode(), CONFIG_KEY)


def configuration_of_file(path: Path) -> Configuration:
    """The same in a file. Raises ImportRefused, for a file that cannot be read as well."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ImportRefused((Problem(str(path), "", "", f"cannot be read: {error.strerror or error}", "name a file that can"),)) from None
    return read_configuration(data, str(path))


@dataclass(slots=True)
class ClusterObjects:
    """The objects as they were taken in last. `configuration` is that of Kueue's manager, `labels` are those of namespaces."""

    configuration: Configuration = field(default_factory=Configuration)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    _known: dict[Kind, dict[str, Any]] = field(default_factory=lambda: {kind: {} for kind in _LISTS})
    _problems: dict[tuple[Kind, str], str] = field(default_factory=dict)
    _made: Objects | None = None

    def take(self, kind: Kind, key: str, read: ReadObject | None) -> ObjectNews:
        """Take in an object as it is now (None: it is gone), and tell what has changed by that."""
        if kind == NAMESPACE:
            before = self.labels.pop(key, None)
            if read is not None:
                self.labels[key] = read.value
            return "labels" if before != self.labels.get(key) else "nothing"
        self._made = None
        before, problem = self._known[kind].get(key), self._problems.pop((kind, key), "")
        if read is None:
            self._known[kind].pop(key, None)
            return "policy"
        if read.problem:
            self._problems[kind, key] = read.problem
            return "policy"
        self._known[kind][key] = read.value
        if problem or before is None:
            return "policy"
        return _news(before, read.value)

    def objects(self, workloads: Iterable[KueueWorkload] = ()) -> Objects:
        """The objects as an import has them, in order of name."""
        if self._made is None:
            lists: dict[str, Any] = {name: [self._known[kind][key] for key in sorted(self._known[kind])] for kind, name in _LISTS.items()}
            self._made = Objects(**lists, namespaces=self.labels)
        return replace(self._made, workloads=list(workloads), configuration=self.configuration)

    def policy(self, workloads: Iterable[KueueWorkload] = ()) -> Policy:
        """The policy that these objects make. `workloads` are those of which it has to know (`is_beyond`). Raises ImportRefused."""
        if self._problems:
            raise ImportRefused(tuple(Problem("", "", "", problem, "") for problem in self._problems.values()))
        found, objects = Findings(), self.objects(workloads)
        validate(objects, found)
        refuse_topologies(objects, found)
        found.check()
        leave_out_excluded(objects, found)
        tree = policy(objects, PolicyChoice(POLICY_NAME, FAIR if self.configuration.fair else CLASSICAL), found)
        found.check()
        checked = check(print_tree(tree), POLICY_FILE)
        if checked.graph is None:
            raise ImportRefused(tuple(Problem("", "", "", error.message, error.help) for error in checked.errors))
        return Policy.of(checked)

    def usage(self, local_queue: str, time: int) -> list[Fact]:
        """The fact of what Kueue says that a local queue has used; none where its ClusterQueue does not go by that."""
        found = self._known[LOCAL_QUEUE].get(local_queue)
        if found is None:
            return []
        objects = replace(self.objects(), local_queues=[found])
        return facts(objects, Moment(time, in_cycles=True), Findings())

    def is_beyond(self, graph: PolicyGraph, workload: KueueWorkload) -> bool:
        """Whether a policy has to be made anew for a workload: it holds what nobody has a quota of, or asks for something that Kueue
        excludes by the beginning of its name."""
        slots = set(graph.slot_names)
        given = workload.admission.assignments if workload.admission is not None and not workload.finished else ()
        if any((flavor, resource) not in slots for each in given for resource, flavor in each.flavors.items()):
            return True
        excluded = self.configuration.excluded
        asked = (resource for pods in workload.pod_sets for resource in pods.requests)
        return bool(excluded) and any(resource.startswith(excluded) and resource not in graph.ignored for resource in asked)

    def labels_of(self, namespace: str) -> Mapping[str, str]:
        """The labels of a namespace; of one that is not known the one that every namespace has."""
        known = self.labels.get(namespace)
        return known if known is not None else ({"kubernetes.io/metadata.name": namespace} if namespace else {})

    def without_excluded(self, workload: KueueWorkload) -> KueueWorkload:
        """A workload as Kueue counts it, without the resources that it excludes."""
        if not self.configuration.excluded:
            return workload
        objects = Objects(workloads=[workload], configuration=self.configuration)
        leave_out_excluded(objects, Findings())
        return objects.workloads[0]


def _news(before: Any, now: Any) -> ObjectNews:
    if before == now:
        return "nothing"
    if isinstance(now, KueueLocalQueue) and replace(before, consumed=(), updated=None) == replace(now, consumed=(), updated=None):
        return "usage"
    return "policy"

"""What workloads ask for, as numbers: one demand for all workloads of a queue that ask for the same and look the same to the rules."""

from dataclasses import dataclass, field

import numpy as np

from ..elastic.pod_counts import is_elastic
from ..eligibility import barrier, companions, groups_of, turn, without_places
from ..event_parts import POD_COUNT, PodSet, as_json
from ..guard import matches
from ..policy_graph import PolicyGraph, Queue
from ..workload import Workload
from . import columns as c
from .placed.place_parts import PlaceParts
from .policy.guard_programs import TextField
from .policy.policy_tables import PolicyTables
from .tables import BeyondBoundsError, Ints

_MOST_RESOURCES = 60
"""The most resources that a workload of the tables asks for."""

_KINDS = {
    "missing": c.MISSING, "not-selected": c.NOT_SELECTED, "taint": c.TAINT, "too-large": c.TOO_LARGE,
    "without-places": c.WITHOUT_PLACES, "only-with-places": c.ONLY_WITH_PLACES, "no-level": c.NO_LEVEL,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Demand:
    """A demand: where it begins in `spec`, its pod sets by name, its resources in the order of their names."""

    at: int
    pod_sets: tuple[str, ...]
    resources: tuple[str, ...]


_Key = tuple[object, ...]

Groups = tuple[tuple[tuple[str, ...], int], ...]
"""The resource groups of a queue: the resources of each, and where its flavors begin in the pool."""


def _empty_head() -> list[int]:
    """The head of a demand, of which nobody holds anything yet."""
    head = [0] * c.SPEC_HEAD
    head[c.S_HOLDINGS] = c.NONE
    return head


@dataclass(slots=True)
class Demands:
    """The demands of a policy's workloads. `spec` has them as numbers; texts are numbered in the order in which they are met."""

    policy: PolicyTables
    spec: list[int] = field(default_factory=_empty_head)
    _known: dict[_Key, Demand] = field(default_factory=dict)
    _by_place: dict[int, Demand] = field(default_factory=dict)
    _texts: dict[str, int] = field(default_factory=dict)
    _parts_known: dict[tuple[int, ...], int] = field(default_factory=dict)
    most_pod_sets: int = 1
    most_resources: int = 1
    most_standing: int = 0
    parts: PlaceParts = field(init=False)

    def __post_init__(self) -> None:
        self.parts = PlaceParts(self.policy.graph, self.policy.places)

    def of(self, workload: Workload) -> Demand:
        """The demand of a workload in its queue. Raises BeyondBoundsError."""
        fact = workload.fact
        labels = tuple((name, fact.labels[name]) for name in sorted(fact.labels)) if self._reads_labels else ()
        who = (fact.namespace, fact.user, fact.group, fact.workload_kind, labels)
        key = (workload.queue, workload.remaining, *who, tuple(as_json(pod_set) for pod_set in fact.pod_sets))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._made(workload)
            self._by_place[known.at] = known
        return known

    def at(self, place: int) -> Demand:
        """The demand that begins at a place."""
        return self._by_place[place]

    def text(self, text: str) -> int:
        """The number of a text."""
        return self._texts.setdefault(text, len(self._texts))

    @property
    def _reads_labels(self) -> bool:
        programs = self.policy.programs
        return any(path == "label" for path, _ in [*programs.texts, *(each for each, _ in programs.patterns)])

    def _made(self, workload: Workload) -> Demand:
        policy, fact = self.policy, workload.fact
        groups, ignored = policy.groups[workload.queue], policy.graph.ignored
        counts_pods = any(POD_COUNT in resources for resources, _ in groups)
        asked = {resource for pod_set in fact.pod_sets for resource in pod_set.requests if resource not in ignored}
        resources = sorted(asked | {POD_COUNT} if counts_pods else asked)
        most = _most(workload, resources)
        self._check(workload, most, resources, groups)
        parts, queue = self.parts.of(fact.pod_sets), policy.graph.queue_at(workload.queue)
        at = len(self.spec)
        head = _empty_head()
        self.spec += head
        head[c.S_PODSETS], head[c.S_RESOURCES], head[c.S_PODS] = len(fact.pod_sets), len(resources), workload.pods
        head[c.S_NAMESPACE] = self.text(fact.namespace)
        head[c.S_MOST] = most if policy.graph.settings.heads_keep_room else 0
        head[c.S_SPARE] = sum(each.count - each.min_count for each in fact.pod_sets if each.min_count is not None)
        head[c.S_BITS] = self._append(self._bits(workload))
        head[c.S_TEXTS] = self._append([self.text(_text(policy.graph, workload, each)) for each in policy.programs.texts])
        head[c.S_TOTALS] = self._append([workload.total(resource) for resource in policy.programs.totals])
        in_turn = sorted(resources, key=turn)
        known = [policy.resources.index(each) if each in policy.resources else -2 for each in resources]
        listed = [(number, _group_of(groups, each), in_turn.index(each)) for number, each in zip(known, resources, strict=True)]
        head[c.S_LIST] = self._append([number for row in listed for number in row])
        head[c.S_SET_WIDTH] = c.P_REQUESTS + len(resources) + len(policy.graph.flavors)
        head[c.S_SETS] = len(self.spec)
        names = [companions(index, each) for index, each in enumerate(fact.pod_sets)]
        for index, (pod_set, left) in enumerate(workload.pod_sets()):
            least = pod_set.count if pod_set.min_count is None else pod_set.min_count
            self._append([left, pod_set.count, least, names.index(names[index]), self.text(pod_set.name)])
            one = {**pod_set.requests, **({POD_COUNT: 1} if counts_pods else {})}
            self._append([one.get(resource, c.NONE) for resource in resources])
            self._append([self._barrier(flavor, pod_set, resources, groups, queue) for flavor in range(len(policy.graph.flavors))])
        head[c.S_PLACES] = self._parts_at(parts)
        self.spec[at : at + c.SPEC_HEAD] = head
        if parts:
            self.most_standing = max(self.most_standing, self._most_standing(workload))
        self.most_pod_sets = max(self.most_pod_sets, len(fact.pod_sets))
        self.most_resources = max(self.most_resources, len(resources))
        return Demand(at, tuple(each.name for each in fact.pod_sets), tuple(resources))

    def _check(self, workload: Workload, most: int, resources: list[str], groups: Groups) -> None:
        """Raise BeyondBoundsError for amounts or numbers of searches that are not proven to be small enough."""
        pod_sets = workload.fact.pod_sets
        if is_elastic(workload.fact):
            raise BeyondBoundsError("a workload may have more and fewer pods")
        if most > self.policy.most:
            raise BeyondBoundsError("a workload asks for too much")
        flavors = sum(self.policy.programs.pool[at] * len(of) for of, at in groups)
        spare = sum(each.count - each.min_count for each in pod_sets if each.min_count is not None)
        if len(resources) > _MOST_RESOURCES:
            raise BeyondBoundsError("a workload asks for too many resources")
        if (flavors * len(pod_sets) + 1) * (2 + spare.bit_length()) > c.MOST_FOUND:
            raise BeyondBoundsError("a workload has too many flavors to choose from for its pod sets")

    def _most_standing(self, workload: Workload) -> int:
        """At how many places the pods of a workload may stand at most."""
        return sum(min(each.count, int(self.policy.state[c.MOST_DOMAINS])) for each in workload.fact.pod_sets)

    def _parts_at(self, parts: list[int]) -> int:
        """Where what pod sets ask for of places stands: once for all who ask for the same, so that what was counted for one serves all."""
        known = tuple(parts)
        if known not in self._parts_known:
            self._parts_known[known] = self._append(parts)
        return self._parts_known[known]

    def _append(self, numbers: list[int]) -> int:
        at = len(self.spec)
        self.spec += numbers
        return at

    def _bits(self, workload: Workload) -> list[int]:
        """Whether the workload's texts match the policy's patterns, 62 answers in a number."""
        words = [0] * (len(self.policy.programs.patterns) // 62 + 1)
        for index, (field_, pattern) in enumerate(self.policy.programs.patterns):
            if matches(_text(self.policy.graph, workload, field_), pattern):
                words[index // 62] |= 1 << index % 62
        return words

    def _barrier(self, flavor: int, pod_set: PodSet, resources: list[str], groups: Groups, queue: Queue) -> int:
        """What keeps a pod set off a flavor, with its taint or, of pods that are too large, the resource; 0: nothing."""
        served = next((of for of, at in groups if flavor in self._flavors(at)), ())
        serving = [group for group in groups_of(self.policy.graph, queue) if flavor in group.flavors]
        if len(serving) > 1 and pod_set.asks_for_places:
            raise BeyondBoundsError("a pod set asks for places of a flavor that serves two groups of resources")
        apart = without_places(self.policy.graph, queue, serving[0], flavor, pod_set) if serving else None
        found = apart or barrier(self.policy.graph, self.policy.sizes, flavor, pod_set, [each for each in resources if each in served])
        if found is None:
            return 0
        detail = resources.index(found.resource) if found.resource else found.index
        return _KINDS[found.kind] + 16 * (detail + 1)

    def _flavors(self, at: int) -> list[int]:
        """The flavors of the group that begins at a place of the pool."""
        return self.policy.programs.pool[at + 1 : at + 1 + self.policy.programs.pool[at]]


def _most(workload: Workload, resources: list[str]) -> int:
    """The most that a workload may be charged of one slot: the greatest of its totals, by resource."""
    pod_sets = workload.fact.pod_sets
    asked = [[1 if resource == POD_COUNT else each.requests.get(resource, 0) for each in pod_sets] for resource in resources]
    return max((sum(one * each.count for one, each in zip(of, pod_sets, strict=True)) for of in asked), default=0)


def _text(graph: PolicyGraph, workload: Workload, read: TextField) -> str:
    """The value of a text field of a workload."""
    path, label = read
    if label is not None:
        return workload.fact.labels.get(label, "")
    if path == "queue":
        return graph.nodes[workload.queue].name
    return workload.fact.workload_kind if path == "kind" else str(getattr(workload.fact, path))


def _group_of(groups: Groups, resource: str) -> int:
    """Where the flavors of the group begin that serves a resource; NONE where none does."""
    return next((at for resources, at in groups if resource in resources), c.NONE)


def packed(text: str) -> list[int]:
    """A text for `text_order`: its length in bytes, then seven of them a number."""
    content = text.encode("utf-8", "surrogatepass")
    words = [int.from_bytes(content[at : at + 7].ljust(7, b"\0"), "big") for at in range(0, len(content), 7)]
    return [len(content), *words]


def as_ints(numbers: list[int]) -> Ints:
    """Numbers as an array."""
    return np.array(numbers, np.int64)

"""What would give a workload places where it has none even on empty nodes. Each change is tried before it is named.

The work is bounded: one nomination on empty nodes for each of a few taints, each level, and a few numbers of pods.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial

from ..cores import Probe, View
from ..eligibility import repelling
from ..event_parts import Operand, PodSet, Toleration
from ..facts import WorkloadSubmitted
from ..nodes.conditions import Taint
from ..nodes.domains import belongs_to
from ..nodes.inventory import Machine
from ..nodes.without_places import WithoutPlace, nodes_without_place
from ..outcome.grounds import Unplaced
from ..outcome.nomination import Mode
from ..policy_graph import Flavor
from ..units import format_amount
from .standing import NodesLacking, PlaceHelp

_MOST_TAINTS, _MOST_TOGETHER, _MOST_LEVELS = 4, 16, 8
"""How many taints are tried each alone, and up to how many all together; how many levels are tried."""

_Change = Callable[[PodSet], PodSet]


def place_help(idle: Probe, view: View, workload: str, told: Unplaced) -> PlaceHelp | None:
    """What would help a waiting workload that finds no places on a flavor, though nothing runs: `idle` is asked about that."""
    known = view.workload(workload)
    graph = idle.graph
    flavor = next((each for each in graph.flavors if each.name == told.flavor), None)
    if known is None or flavor is None or flavor.topology < 0:
        return None
    return _TriedChanges(idle, view, known.fact, flavor, told).place_help()


class _TriedChanges:
    """Changes of the pod sets that find no places together, on one flavor."""

    def __init__(self, idle: Probe, view: View, fact: WorkloadSubmitted, flavor: Flavor, told: Unplaced) -> None:
        self.idle, self.fact, self.flavor, self.told, self.graph = idle, fact, flavor, told, idle.graph
        machines: Mapping[str, Machine] = view.machines()
        outside = list(nodes_without_place(self.graph, machines))
        self.lacking = _lacking(flavor, self.graph.flavors.index(flavor), outside)
        out = {each.node for each in outside}
        self.nodes = [machines[name] for name in sorted(machines) if name not in out and belongs_to(flavor, machines[name])]
        labels = (*(flavor.nodes or ()), *flavor.labels)
        of_flavor = [machines[name] for name in sorted(machines) if all(machines[name].labels.get(key) == value for key, value in labels)]
        self.cordoned = sum(machine.cordoned for machine in of_flavor)
        self.pod_sets = [each for each in fact.pod_sets if each.name in told.pod_sets]
        self.workers = max(self.pod_sets, key=lambda each: each.count)

    def place_help(self) -> PlaceHelp:
        """All that was found to help."""
        if self.told.kind in ("no-domains", "no-level", "place-gone", "slices-broken"):
            return PlaceHelp(lacking=self.lacking, cordoned=self.cordoned)
        unsaid, within = self._unsaid(), self._within()
        known = {*self.graph.ignored, *(slot.resource for slot in self.graph.slots)}
        return PlaceHelp(
            tolerating=self._tolerating(),
            other_nodes=self._other_nodes(),
            within=within,
            apart=bool(self.workers.within) and not within and self._works(partial(_changed, within="")),
            no_slices=bool(self.workers.slices) and self._works(partial(_changed, slices=())),
            pods=tuple(self._pods()),
            at_most=self._at_most(),
            unsaid=unsaid,
            unsaid_alone=bool(unsaid) and self._works(partial(_asking, instead=dict.fromkeys(unsaid, 0))),
            uncounted=tuple(resource for resource in unsaid if resource not in known),
            lacking=self.lacking,
            cordoned=self.cordoned,
        )

    @cached_property
    def _tried_with(self) -> tuple[PodSet, ...]:
        """The pod sets that are tried: all, or only those without places where the others have trouble of their own."""
        others = tuple(each for each in self.fact.pod_sets if each.name not in self.told.pod_sets)
        return self.fact.pod_sets if not others or self._fits(others) else tuple(self.pod_sets)

    def _fits(self, pod_sets: Sequence[PodSet]) -> bool:
        """Whether a workload of these pod sets would fit on empty nodes."""
        nomination = self.idle.suppose(instead=self.fact.model_copy(update={"pod_sets": tuple(pod_sets)})).nominate(self.fact.workload)
        return nomination.flavors.mode is not Mode.NO_FIT

    def _works(self, change: _Change, only: str = "") -> bool:
        """Whether the workload would have places on the flavor on empty nodes; `only` one pod set is changed, or all without places."""
        pod_sets = []
        for each in self._tried_with:
            if each.name in self.told.pod_sets:
                each = each.model_copy(update={"flavors": (self.flavor.name,)})
                each = change(each) if only in ("", each.name) else each
            pod_sets.append(each)
        return self._fits(pod_sets)

    def _tolerating(self) -> tuple[str, ...]:
        """A taint that is enough to be tolerated, or all of them together."""
        if all(each.cause != "taint" for each in self.told.kept_off):
            return ()
        taints: dict[Taint, None] = {}
        for machine in self.nodes:
            for pod_set in self.pod_sets:
                left = machine.taints
                while (taint := repelling(left, [*pod_set.tolerations, *self.flavor.tolerations])) is not None:
                    taints[taint] = None
                    left = tuple(each for each in left if each != taint)
        in_order = sorted(taints, key=lambda taint: (taint.key, taint.value, taint.effect))
        together = [in_order] if 1 < len(in_order) <= _MOST_TOGETHER else []
        for chosen in [*([taint] for taint in in_order[:_MOST_TAINTS]), *together]:
            if self._works(partial(_tolerant, taints=chosen)):
                return tuple(_taint_told(taint) for taint in chosen)
        return ()

    def _other_nodes(self) -> bool:
        """Whether it is the nodes which the pods choose."""
        chosen = any(each.cause in ("selector", "affinity") for each in self.told.kept_off)
        return chosen and self._works(partial(_changed, node_selector={}, affinity=()))

    def _within(self) -> str:
        """The nearest wider level within which there is room."""
        levels = [level.name for level in self.graph.topologies[self.flavor.topology].levels]
        if self.workers.within not in levels:
            return ""
        wider = levels[: levels.index(self.workers.within)][::-1][:_MOST_LEVELS]
        return next((name for name in wider if self._works(partial(_changed, within=name))), "")

    def _pods(self) -> Iterator[int]:
        """Other numbers of pods that would do: as many as have room, or a whole number of slices."""
        told = self.told
        if told.kind == "no-room" and told.fit >= told.of:
            return
        tried = [told.of * told.size, (told.of + 1) * told.size] if told.kind == "uneven-slices" else [told.fit * told.size]
        for pods in tried:
            if pods > 0 and self._works(partial(_changed, count=pods), self.workers.name):
                yield pods

    def _unsaid(self) -> tuple[str, ...]:
        """Resources that pods ask for and of which no node says how much it has."""
        asked = sorted({resource for each in self.pod_sets for resource, amount in each.requests.items() if amount})
        return tuple(resource for resource in asked if self.nodes and all(resource not in node.capacity for node in self.nodes))

    def _at_most(self) -> tuple[Operand, ...]:
        """What a pod may ask for at most, where no node has as much as it does."""
        most = {resource: max((node.capacity.get(resource, 0) for node in self.nodes), default=0) for resource in self.workers.requests}
        over = {resource: most[resource] for resource, amount in sorted(self.workers.requests.items()) if amount > most[resource] > 0}
        if not over or not self._works(partial(_asking, instead=over), self.workers.name):
            return ()
        return tuple(Operand(name=resource, value=format_amount(amount, resource)) for resource, amount in sorted(over.items()))


def _changed(pod_set: PodSet, **said: object) -> PodSet:
    return pod_set.model_copy(update=said)


def _tolerant(pod_set: PodSet, taints: Sequence[Taint]) -> PodSet:
    more = (Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect) for taint in taints)
    return pod_set.model_copy(update={"tolerations": (*pod_set.tolerations, *more)})


def _taint_told(taint: Taint) -> str:
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"


def _asking(pod_set: PodSet, instead: Mapping[str, int]) -> PodSet:
    """The pod set where a pod asks for other amounts of some resources; 0: for none."""
    requests = {resource: amount for resource, amount in {**pod_set.requests, **instead}.items() if amount and resource in pod_set.requests}
    return pod_set.model_copy(update={"requests": requests})


def _lacking(flavor: Flavor, index: int, nodes: Iterable[WithoutPlace]) -> tuple[NodesLacking, ...]:
    """The labels that nodes of a flavor lack, with how many lack each."""
    counts: dict[tuple[str, str], int] = {}
    for each in nodes:
        if index in each.flavors:
            counts[each.level, each.label] = counts.get((each.level, each.label), 0) + 1
    values = dict(flavor.labels)
    return tuple(
        NodesLacking(level=level, label=label, value="" if level else values.get(label, ""), nodes=counts[level, label])
        for level, label in sorted(counts)
    )

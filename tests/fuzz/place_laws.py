"""The laws of places, held to a core after each fact; see `place_ledger.py` for those that events alone can show."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from cores_by_name import Side
from gpol.engine.cores import Core
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.definition.placement.placer import find_places, to_place
from gpol.engine.definition.placement.places import PodsHeld
from gpol.engine.definition.state.state import State
from gpol.engine.events import AnyDecision, AnyEvent, WorkloadAdmitted, WorkloadEvicted, WorkloadPlaced
from gpol.engine.facts import FACT
from gpol.engine.outcome.nomination import Request
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.workload import Workload
from place_ledger import BrokenLawError, PlaceLedger

Held = tuple[int, Request, tuple[PodsHeld, ...]]
"""What a running workload holds: its queue, what it is charged, and its places."""

_NODE = re.compile(rb"\bn(\d+x?)\b")


class PlaceLaws:
    """The laws, held to the definition or to what another core decides as well. `seen` counts to what they were held."""

    def __init__(self) -> None:
        self.ledger = PlaceLedger()
        self.seen = Counter[str]()
        self._held: dict[str, Held] = {}

    def follow(self, core: Core, events: Sequence[tuple[AnyEvent, PolicyGraph | None]]) -> None:
        """A core has come to where it is by these events, from where it was before. Raises BrokenLawError.

        Laws of events are held to each of them, those of states to the last fact.
        """
        decisions, facts = list[AnyDecision](), 0
        for event, graph in events:
            self.ledger.take(event, graph)
            if isinstance(event, AnyDecision):
                decisions.append(event)
            else:
                decisions, facts = [], facts + 1
        assert isinstance(core, DefinitionCore)
        self._conserved(core.state)
        self._within_flavors(core.state, decisions)
        if facts == 1:  # else it is not known what victims had
            self._victims_needed(core.state, decisions)
        for name in dict.fromkeys(name for event, _ in events if (name := getattr(event, "workload", None))):
            self._note(core.state, name)
        self.seen["facts after which places are conserved"] += 1

    def finish(self, events: Sequence[tuple[AnyEvent, PolicyGraph | None]], side: Side) -> None:
        """A history is over: with other names of nodes, in the same order, the same is decided but for the names."""
        core, wanted = side.new(), list[bytes]()
        for event, graph in events:
            if event.is_decision:
                _need(bool(wanted) and wanted.pop(0) == _renamed(event.payload()), "renamed nodes", event.payload().decode())
                continue
            _need(not wanted, "renamed nodes", "more is decided")
            fact = FACT.validate_json(_renamed(event.payload()))
            with side.around():
                wanted = [decision.payload() for decision in core.step(fact, graph)]
        _need(not wanted, "renamed nodes", "more is decided")
        self.seen["histories with renamed nodes"] += 1

    def counts(self) -> Counter[str]:
        """To what the laws were held so far."""
        return self.seen + self.ledger.checked

    # --- after each fact --------------------------------------------------------------------------------------------------

    def _conserved(self, state: State) -> None:
        """What is used of each place is what those use who stand there, under each flavor."""
        graph, used = state.graph, self.ledger.used()
        assert graph is not None
        nodes = [(name,) for name in self.ledger.nodes]
        for flavor in (number for number, flavor in enumerate(graph.flavors) if flavor.topology >= 0):
            for place in sorted({*nodes, *(place for seen_by, place in used if seen_by == flavor)}):
                noted = state.active.places.used(flavor, place)
                expected = used.get((flavor, place), Counter())
                same = {key: noted[key] for key in noted if noted[key]} == {key: expected[key] for key in expected if expected[key]}
                _need(same, "use is conserved", f"of {place} {dict(noted)} is noted, and {dict(expected)} used, as flavor {flavor} sees it")

    def _within_flavors(self, state: State, decisions: Sequence[AnyDecision]) -> None:
        """After an admission no more is used of a flavor than there is, of what was asked for."""
        tree = state.active.tree
        for decision in decisions:
            workload = state.workloads.get(decision.workload) if isinstance(decision, WorkloadAdmitted) and not decision.replaces else None
            for slot, _ in workload.usage if workload is not None else ():
                uses, has = tree.total[0][slot], tree.capacity[slot]
                _need(uses <= has, "no flavor is exceeded", f"{uses} of {has} are used of slot {slot} once {decision.workload} runs")
                self.seen["amounts admitted within their flavor"] += 1

    def _victims_needed(self, state: State, decisions: Sequence[AnyDecision]) -> None:
        """At once, put any one victim back, and who was admitted for it fits no more: by quota, or as its pods find no places.

        Told of facts that admit one workload alone, and evict for it alone; else there may be more room in the end than there was.
        """
        assert state.graph is not None
        admitted = [each for each in decisions if isinstance(each, WorkloadAdmitted)]
        victims = [each for each in decisions if isinstance(each, WorkloadEvicted)]
        if state.graph.settings.defers or len(admitted) != 1 or admitted[0].replaces:
            return
        if any(each.beneficiary != admitted[0].workload for each in victims) or any(isinstance(each, WorkloadPlaced) for each in decisions):
            return
        workload = state.workloads[admitted[0].workload]
        for each in victims:
            _need(not _fits_beside(state, workload, self._held[each.workload]), "each victim is needed", each.payload().decode())
            self.seen["victims that were needed"] += 1

    def _note(self, state: State, name: str) -> None:
        workload = state.workloads.get(name)
        if workload is None or workload.admitted is None:
            self._held.pop(name, None)
        else:
            self._held[name] = (workload.queue, workload.usage, tuple(state.active.places.holdings(workload)))


def _fits_beside(state: State, workload: Workload, victim: Held) -> bool:
    """Whether a running workload would have fitted with somebody there who went for it. The state is put back."""
    assert state.graph is not None
    tree, places = state.active.tree, state.active.places
    queue, usage, standing = victim
    own = tuple(places.holdings(workload))
    flavors = {flavor.name: number for number, flavor in enumerate(state.graph.flavors) if flavor.topology >= 0}
    given = {each.pod_set: each for each in workload.assignments}
    placed = {name: flavors[each] for name in given for each in given[name].flavors.values() if each in flavors}
    counts = [given[pod_set.name].count if pod_set.name in given else 0 for pod_set in workload.fact.pod_sets]
    tree.remove(workload.queue, workload.usage)
    places.remove(own)
    tree.add(queue, usage)
    places.add(standing)
    fits = tree.fits(workload.queue, workload.usage) and not find_places(places, to_place(workload, counts, placed)).failures
    places.remove(standing)
    tree.remove(queue, usage)
    places.add(own)
    tree.add(workload.queue, workload.usage)
    return fits


def _renamed(payload: bytes) -> bytes:
    """An event with other names of nodes, in the same order."""
    return _NODE.sub(rb"node-\1", payload)


def _need(holds: bool, law: str, detail: Any) -> None:
    if not holds:
        raise BrokenLawError(law, detail)

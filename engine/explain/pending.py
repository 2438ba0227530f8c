"""Where a live workload stands: why it runs or waits, by which rule and limit, and the changes that would let it run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..cores import Core, Probe
from ..eligibility import lacking_levels
from ..event_parts import Operand
from ..nodes.lost_nodes import checks_of, waits_for_places
from ..outcome.decision import Hold, tightest
from ..outcome.named import charges
from ..outcome.nomination import Attempt, Grade, Mode, Nomination, PodSetFlavors
from ..policy_graph import PolicyGraph
from ..workload import Workload
from .candidates import candidates
from .holding import hold_standing
from .kept import kept_candidates
from .never import idle, impediments, with_helps
from .policy_lines import limit_named, node_line, rule_line
from .remedies import nominate, release, remedies
from .standing import FlavorStanding, Impediment, Keeper, Remedy, RuleStanding, Standing
from .unplaced import evictions_free_quota_alone, place_failure, unplaced
from .wording import MOST_FLAVORS, describe

WAITING, PROTECTED, UNPLACED = "WaitingForQuota", "WaitingForProtectedWorkloads", "TopologyPlacementFailed"
"""The second reason is gpol's own; all others are Kueue's, which has the last one only where there would be no places on empty nodes."""

_REASONS = {Grade.FIT: "Fits", Grade.NO_VICTIMS: WAITING, Grade.PROTECTED: PROTECTED, Grade.PREEMPT: "Preempt", Grade.RECLAIM: "Preempt"}


def standing(core: Core, name: str, briefly: bool = False) -> Standing | None:
    """Where a live workload stands; None if it is not live. The state is as before afterwards.

    `briefly`: only why it waits, and not what could be done about it: no flavors, rules, candidates and remedies, which take far longer.
    Of one that something holds not even what it would lack otherwise.
    """
    workload, graph = core.view.workload(name), core.graph
    if workload is None or graph is None:
        return None
    base = Standing(
        workload=name,
        state="pending" if workload.admitted is None else "running",
        time=core.time,
        queue=graph.nodes[workload.queue].name if workload.queue >= 0 else workload.fact.local_queue or workload.fact.queue or "",
        priority=workload.priority,
        asked_priority=workload.asked_priority,
        submitted=workload.submitted,
        evictions=workload.evictions,
        reason="Running",
    )
    if workload.admitted is not None:
        running = {"admitted": workload.admitted, "assignments": workload.assignments, "usage": charges(graph, workload.usage)}
        return base.model_copy(update={**running, "operands": tuple(_about_places(graph, workload))})
    if workload.queue < 0:
        asked = Operand(name="local queue", value=workload.fact.local_queue or workload.fact.queue or "none")
        return base.model_copy(update={"reason": "Misconfigured", "operands": (asked,)})
    return base.model_copy(update=_Pending(core, graph, workload, briefly).told())


def _about_places(graph: PolicyGraph, workload: Workload) -> Iterator[Operand]:
    """What a running workload lacks of places: nodes that it has lost, and checks until which its pods wait for theirs."""
    yield from (Operand(name="lost node", value=node) for node in workload.lost_nodes)
    placing = {flavor.name for flavor in graph.flavors if flavor.topology >= 0}
    for given in workload.assignments:
        if (
            given.count > 0
            and not given.places
            and not given.delayed
            and placing & set(given.flavors.values())
            and graph.settings.follows_nodes
        ):
            yield Operand(name="places", value=f"not known of {given.pod_set}, which holds quota and no node")
    if waits_for_places(workload):
        unready = [check for check in checks_of(graph, workload) if workload.checks.get(check) != "Ready"]
        yield Operand(name="waits for places", value=f"until {', '.join(unready)} is ready" if unready else "until there is room for them")


@dataclass(frozen=True, slots=True)
class _Pending:
    """A waiting workload, and what is asked about it."""

    core: Core
    graph: PolicyGraph
    workload: Workload
    briefly: bool

    def told(self) -> dict[str, object]:
        """The fields of its standing."""
        probe, name = self.core.probe, self.workload.name
        holds = probe.holds(name)
        if self.graph.settings.passes is not None and not holds:
            return {**self._place(), **self._by_passes(probe)}
        if holds and self.briefly:
            return {**self._place(), **self._held(holds)}
        reserved = list(probe.reservations())
        mine = next((index for index, nomination in enumerate(reserved) if nomination.workload == name), None)
        others = reserved[:mine]  # who reserves after it finds less room for its sake
        probe = (probe.released(name) if holds else probe).suppose(reserved=others)
        nomination = nominate(probe, name) if mine is None else reserved[mine]
        if holds:
            now: dict[str, object] = (
                {}
                if self.graph.settings.defers
                else {"now": _now(nomination), "limit": limit_named(self.graph, probe.binding_limit(nomination))}
            )
            now["places"] = unplaced(self.graph, nomination.flavors)
            told = {**self._held(holds), "remedies": release(holds, nomination), "never": self._never(nomination)}
            return {**self._place(), **told, **now}
        return {**self._place(), **self._reason(probe, nomination, others), **self._judged(probe, nomination)}

    def _by_passes(self, probe: Probe) -> dict[str, object]:
        """How the last cycle of passes ended for it, and what the next one does. A nomination goes by other rules than
        passes do: of that there is only told what holds for both, whether there are places at all."""
        deferral = self.workload.deferred
        told: dict[str, object] = {"reason": "PendingEvaluation"}
        if deferral is not None:
            told = {"reason": deferral.reason, "outcome": deferral.outcome, "victims": deferral.victims}
        if self.briefly:
            return told
        nomination = nominate(probe, self.workload.name)
        now = "cycle " + probe.next_cycle(self.workload.name)
        return {**told, "now": now, "places": unplaced(self.graph, nomination.flavors), "never": self._never(nomination)}

    def _held(self, holds: Sequence[Hold]) -> dict[str, object]:
        """What holds it."""
        first, *more = (hold_standing(self.graph, self.workload, hold) for hold in holds)
        return {"held": True, "reason": first.reason, "rule": first.rule, "operands": first.operands, "also": tuple(more)}

    def _never(self, nomination: Nomination) -> tuple[Impediment, ...]:
        """Why it can never run as things stand, whoever ends."""
        if nomination.flavors.mode is not Mode.NO_FIT:
            return ()
        probe = self.core.probe
        alone = idle(probe, self.core.view)
        return with_helps(alone, self.core.view, self.workload.name, impediments(alone, self.core.view, nomination))

    def _place(self) -> dict[str, object]:
        """Its place in its queue's line; nothing of one that is not queued."""
        if not self.workload.in_line:
            return {}
        line = self.core.probe.line(self.workload.queue)
        return {"position": line.index(self.workload.name) + 1, "waiting": len(line), "parked": self.workload.parked}

    def _is_behind(self) -> bool:
        """Whether it waits in a strict queue that puts up another workload: nobody passes that one."""
        strict = self.graph.queue_at(self.workload.queue).strict
        return strict and not self.workload.parked and self.core.probe.head(self.workload.queue) != self.workload.name

    # --- why ------------------------------------------------------------------------------------------------------------

    def _reason(self, probe: Probe, nomination: Nomination, others: list[Nomination]) -> dict[str, object]:
        """The reason token with its limit, rule and operands; `others` are those for whose sake it finds less room."""
        binding = probe.binding_limit(nomination)
        if binding is None and nomination.flavors.mode is Mode.PREEMPT:  # nominated as if it fitted
            binding = probe.limit(nomination.queue, nomination.flavors.request)
        limit = limit_named(self.graph, binding)
        operands = (*self._operands(), *self._gives_way(others))
        told: dict[str, object] = {"limit": limit, "rule": limit.source if limit is not None else None, "operands": operands}
        told["places"] = unplaced(self.graph, nomination.flavors)
        deferral = self.workload.deferred
        if deferral is not None and (deferral.parked or not self.workload.parked):
            return {**told, "reason": deferral.reason, "outcome": deferral.outcome, "victims": deferral.victims}
        if self.workload.parked:
            return {**told, "reason": nomination.flavors.reason or WAITING}
        behind = self._is_behind()
        queue_line = node_line(self.graph, self.workload.queue)
        if self.graph.settings.defers:
            return {**told, "reason": "PendingEvaluation", "rule": queue_line if behind else told["rule"]}
        if nomination.runs or (behind and nomination.flavors.mode is Mode.PREEMPT):
            return {"reason": "BehindFirstInLine", "rule": queue_line, "operands": operands}
        if nomination.until is not None:
            return {**told, **self._protected(probe, nomination)}
        return {**told, "reason": nomination.flavors.reason or (WAITING if nomination.flavors.unplaced is None else UNPLACED)}

    def _operands(self) -> Iterator[Operand]:
        """Who is before it, who is parked with it, and what decides before priority where its queue admits by usage."""
        probe, workload = self.core.probe, self.workload
        yield from self._parked_with() if workload.parked else ()
        head = probe.head(workload.queue)
        first = self.core.view.workload(head) if head is not None and head != workload.name and not workload.parked else None
        defers = self.graph.settings.defers
        if first is not None and (defers or self._is_behind()):
            strict = ", whom nobody passes in this queue" if self.graph.queue_at(workload.queue).strict and defers else ""
            yield Operand(name="first in line", value=first.name + strict)
        yield from self._usage(workload)
        if first is not None and first.fact.local_queue != workload.fact.local_queue:
            yield from self._usage(first)

    def _parked_with(self) -> Iterator[Operand]:
        """The workload for whose sake all that ask for the same are parked."""
        line = [self.core.view.workload(name) for name in self.core.probe.line(self.workload.queue)]
        alike = [each for each in line if each is not None and each.parked and each.shape == self.workload.shape]
        first = next((each for each in alike if each.deferred is not None and each.deferred.alike), self.workload)
        if first.name != self.workload.name:
            yield Operand(name="parked with", value=first.name)

    def _usage(self, workload: Workload) -> Iterator[Operand]:
        """The usage by which a workload stands in a queue that admits by usage."""
        known = self.core.probe.usage_of(workload.name)
        if known is not None:
            last, usage = known
            thousandths = int(usage * 1000)
            shown = "weight 0, comes last" if last else f"{thousandths // 1000}.{thousandths % 1000:03}"
            yield Operand(name=f"usage of {workload.fact.local_queue}", value=shown)

    def _gives_way(self, others: Sequence[Nomination]) -> Iterator[Operand]:
        """Those whose room is reserved, and those whom it may not evict."""
        yield from (Operand(name="room is reserved for", value=other.workload) for other in others)
        for name in self.core.probe.superiors(self.workload.name):
            superior = self.core.view.workload(name)
            if superior is not None and superior.admitted is not None:
                yield Operand(name="gave way to", value=name)

    def _protected(self, probe: Probe, nomination: Nomination) -> dict[str, object]:
        """Whom time alone keeps from making room, and the rule that says so."""
        victims, index = probe.protected(nomination)
        protect = next((self.graph.protect[victim.protect] for victim in victims if victim.protect >= 0), None)
        rule = protect or (self.graph.preempt[index] if index >= 0 else None)
        keepers = tuple(
            Keeper(
                workload=victim.workload,
                until=victim.until,
                protect=rule_line(self.graph.protect[victim.protect]) if victim.protect >= 0 else None,
            )
            for victim in victims
        )
        return {"reason": PROTECTED, "rule": rule_line(rule) if rule is not None else None, "keepers": keepers}

    # --- what could be done -----------------------------------------------------------------------------------------------

    def _judged(self, probe: Probe, nomination: Nomination) -> dict[str, object]:
        """What could be done now, flavors, rules, candidates and remedies, as things stand; nothing of it where it is told briefly."""
        if self.briefly:
            return {}
        helps: tuple[Remedy, ...] = ()
        if self.graph.settings.defers or not (nomination.runs or self._is_behind()):  # else whatever changes it waits for the first
            helps = remedies(probe, self.core.view, nomination)
        listed, left_out = kept_candidates(probe, self.core.view, nomination)
        return {
            "now": _now(nomination),
            "flavors": tuple(self._flavors(probe, nomination)),
            "rules": tuple(self._rules(probe, nomination)),
            "evicts": "in cycles" if self.graph.settings.victims != "rules" else "by rules" if self.graph.preempt else "nothing",
            "candidates": (*candidates(probe, self.core.view, nomination), *listed),
            "left_out": left_out,
            "never": self._never(nomination),
            "remedies": helps,
        }

    def _rules(self, probe: Probe, nomination: Nomination) -> Iterator[RuleStanding]:
        """What each preempt rule could do for it."""
        if nomination.flavors.mode is Mode.PREEMPT and not nomination.runs:
            later = probe.protected(nomination)[1]
            for index, (rule, triggered) in enumerate(zip(self.graph.preempt, probe.triggered(nomination), strict=True)):
                outcome = "enough later" if index == later else "not enough" if triggered else "not triggered"
                yield RuleStanding.model_validate({"rule": rule_line(rule), "outcome": outcome})

    def _flavors(self, probe: Probe, nomination: Nomination) -> Iterator[FlavorStanding]:
        """Every flavor of every pod set that was looked at: those that were tried, and those that come after one that was good enough."""
        for index, pods in enumerate(nomination.flavors.pod_sets):
            for obstacle in pods.obstacles:
                if obstacle.kind == "unserved":
                    because = (describe(self.graph, obstacle),)
                    yield FlavorStanding(
                        pod_set=pods.name, resources=(obstacle.resource,), flavor="", reason="NoMatchingFlavor", limit=None, because=because
                    )
            for number, attempt in enumerate(pods.attempts):
                yield self._flavor(probe, nomination, index, number)
                if number + 1 == len(pods.attempts) or pods.attempts[number + 1].resources != attempt.resources:
                    yield from self._not_tried(pods, attempt)

    def _not_tried(self, pods: PodSetFlavors, last: Attempt) -> Iterator[FlavorStanding]:
        """The flavors of a group that come after the last one that was tried."""
        queue = self.graph.queue_at(self.workload.queue)
        order = next((group.flavors for group in queue.groups if set(last.resources) <= set(group.resources)), queue.flavors)
        for flavor in order[order.index(last.flavor) + 1 :] if last.flavor in order else ():
            has = {resource for resource, _ in self.graph.flavors[flavor].capacity}
            if queue.groups or has & set(last.resources):
                because = (f"{self.graph.flavors[last.flavor].name} is good enough",)
                yield FlavorStanding(
                    pod_set=pods.name,
                    resources=last.resources,
                    flavor=self.graph.flavors[flavor].name,
                    reason="NotTried",
                    limit=None,
                    because=because,
                )

    def _flavor(self, probe: Probe, nomination: Nomination, pod_set: int, number: int) -> FlavorStanding:
        """Why a flavor does not serve; in Kueue's words, and `Preempt` where somebody could go for it."""
        pods = nomination.flavors.pod_sets[pod_set]
        attempt = pods.attempts[number]
        limits = probe.obstacle_limits(nomination, pod_set, number)
        named = (limit_named(self.graph, limit) for limit in limits)
        return FlavorStanding(
            pod_set=pods.name,
            resources=attempt.resources,
            flavor=self.graph.flavors[attempt.flavor].name,
            reason=UNPLACED if self._lacks_places(pods, attempt) else _REASONS.get(attempt.grade, attempt.reason),
            limit=limit_named(self.graph, tightest(limits)),
            limits=tuple(limit for limit in named if limit is not None),
            because=tuple(self._because(probe, nomination, pods, attempt)),
            borrows=attempt.level > 0,
        )

    @staticmethod
    def _lacks_places(pods: PodSetFlavors, attempt: Attempt) -> bool:
        """Whether a flavor has no places for a pod set, now or ever."""
        return any(each.kind == "no-places" and each.flavor == attempt.flavor for each in (*attempt.obstacles, *pods.obstacles))

    def _because(self, probe: Probe, nomination: Nomination, pods: PodSetFlavors, attempt: Attempt) -> Iterator[str]:
        """What keeps a flavor from serving that no limit says."""
        pod_set = next(pod_set for pod_set in self.workload.fact.pod_sets if pod_set.name == pods.name)
        asked, flavor = pod_set.flavors, self.graph.flavors[attempt.flavor]
        if asked and flavor.name not in asked:
            yield f"it asks for {' or '.join(asked[:MOST_FLAVORS])}" + (" or others" if len(asked) > MOST_FLAVORS else "")
        else:
            others = (each for each in attempt.obstacles if not each.by_quota and each.kind not in ("no-places", "no-level"))
            yield from (describe(self.graph, each) for each in others)
            if any(each.kind == "no-level" for each in attempt.obstacles):
                lacking = lacking_levels(self.graph.topologies[flavor.topology], pod_set)
                yield f"its topology has no level {' or '.join(lacking)}"
        no_places = [each for each in (*attempt.obstacles, *pods.obstacles) if each.kind == "no-places" and each.flavor == attempt.flavor]
        yield from (describe(self.graph, each) for each in no_places[:1])
        chosen = {each.flavor for each in pods.flavors.values()}
        seeks_victims = attempt.flavor in chosen and Grade.NO_VICTIMS <= attempt.grade < Grade.FIT and not nomination.victims
        without_places = probe.unplaced_after_victims(nomination) if seeks_victims else None
        if without_places is not None and without_places[1].flavor == attempt.flavor:
            yield evictions_free_quota_alone(without_places[0], place_failure(self.graph, without_places[1], if_empty=False))
        elif attempt.grade is Grade.FIT and attempt.obstacles:
            yield "the resource for which it would borrow decides, and there is enough of that one"
        elif attempt.grade is Grade.NO_VICTIMS:
            yield "nobody whom it may evict makes room for it"
        elif attempt.grade is Grade.MAY_NOT_EVICT:
            yield "it would have to borrow, and its queue evicts nobody for that"
        elif attempt.grade in (Grade.PREEMPT, Grade.RECLAIM) and seeks_victims:
            yield "victims make room for each resource alone, but not for all it asks for"


def _now(nomination: Nomination) -> str:
    """What could be done for a workload, were it the next."""
    return "fits" if nomination.fits else "evicts" if nomination.victims else "waits"

"""What state prints: the cluster as it was, as JSON or as tables."""

from collections.abc import Iterator
from dataclasses import asdict

from ...engine.event_parts import POD_COUNT, PodSet
from ...engine.explain.unplaced import cause_told, without_place_told
from ...engine.facts import PolicyActivated
from ...engine.outcome.grounds import KeptOffPlaces
from ...engine.policy_graph import PolicyGraph
from ...engine.questions.standing_room import FlavorRoom, PlaceState
from ...engine.units import format_amount, format_time
from ...journal.journal import Recorded
from ...sim.measure.cluster_figures import CapacityFigures, ClusterFigures, NodeFigures, WorkloadRow
from ...sim.measure.gpu_amounts import GPUS, counted_as
from ...sim.report.wording import amount, gpus, names
from ..shared.output import Format, counted, say, say_json
from ..shared.tables import table
from .fact_details import details

# --- json -----------------------------------------------------------------------------------------------------------


def print_json(cluster: ClusterFigures, policy: Recorded | None, places: list[NodeFigures], live: list[WorkloadRow] | None) -> None:
    """Print a cluster as JSON, the cluster first, then what exists, places and workloads."""
    machines = [{"flavor": flavor or None, "machines": count} for flavor, count in cluster.machines]
    say_json("state", seq=cluster.seq, time=cluster.time, policy=policy_data(policy), machines=machines, in_no_queue=cluster.in_no_queue)
    for each in cluster.capacity:
        say_json("state_capacity", **asdict(each), idle=each.idle)
    for place in places:
        said = asdict(place)
        say_json("state_queue" if said.pop("is_queue") else "state_cohort", **said)
    for workload in live or ():
        said = asdict(workload)
        say_json("state_workload", **{**said, "usage": [charge.model_dump() for charge in workload.usage]})


def policy_data(policy: Recorded | None) -> dict[str, object] | None:
    """What JSON says of the activation of a policy."""
    if policy is None or not isinstance(policy.event, PolicyActivated):
        return None
    event = policy.event
    return {
        "file": event.file,
        "digest": event.digest,
        "since": event.time,
        "seq": policy.seq,
        "by": event.by or None,
        "note": event.note or None,
    }


def moment_told(seq: int, time: int, asked: int | None) -> str:
    """The moment after an event: the time that was asked for, where one was, and the event, with its own time where that is another."""
    if asked is None or asked == time:
        return f"{format_time(time)} (event {seq})"
    return f"{format_time(asked)} (event {seq}, of {format_time(time)})"


# --- tables ---------------------------------------------------------------------------------------------------------

_CAPACITY = ("flavor", "resource", "exists", "owned", "in use", "idle")
_PLACES = ("queue", "owns", "uses", "borrows", "lends", "running", "waiting", "on hold")
_HOLDINGS = ("queue", "flavor", "resource", "owns", "uses", "borrows", "lends")
_WORKLOADS = ("workload", "state", "since", "queue", "is charged", "place", "why")


def print_tables(
    cluster: ClusterFigures,
    policy: Recorded | None,
    places: list[NodeFigures],
    live: list[WorkloadRow] | None,
    form: Format,
    *,
    whole: bool,
    asked: int | None = None,
) -> None:
    """Print a cluster as tables: the `whole` of it, or some places with what they hold by flavor and resource. `asked`: for which time."""
    until = f", as it still was at {format_time(asked)}" if asked is not None and asked != cluster.time else ""
    say(f"after event {cluster.seq}, at {format_time(cluster.time)}{until}")
    if policy is None or not isinstance(policy.event, PolicyActivated):
        say("no policy was active yet")
        return
    event = policy.event
    told = ", ".join([f"since {format_time(event.time)} (event {policy.seq})", *details(event)])
    say(f"policy {event.file}, {told}, {event.digest}")
    if cluster.machines:
        say("machines: " + ", ".join(f"{count:,} of {flavor or 'no flavor'}" for flavor, count in cluster.machines))
    if whole:
        table("what exists", _CAPACITY, [_capacity_row(each) for each in cluster.capacity], form)
    table("GPUs and workloads", _PLACES, [_place_row(place, form) for place in places], form)
    if not whole:
        table("by flavor and resource", _HOLDINGS, list(_holding_rows(places)), form)
    elif devices := list(_holding_rows(places, devices=True)):
        table("other devices", _HOLDINGS, devices, form)
    if whole and cluster.in_no_queue:
        say(f"{counted(cluster.in_no_queue, 'workload')} waiting in no queue")
    if live is not None:
        table("workloads", _WORKLOADS, [_workload_row(workload) for workload in live], form)


def _capacity_row(each: CapacityFigures) -> tuple[str, ...]:
    amounts = (each.exists, each.owned, each.used, each.idle)
    return (each.flavor, each.resource, *(format_amount(amount, each.resource) for amount in amounts))


def _place_row(place: NodeFigures, form: Format) -> tuple[str, ...]:
    owns, uses, borrows, lends = place.gpus()
    name = ("  " * place.depth if form is Format.human else "") + place.name
    shared = (gpus(borrows), gpus(lends)) if place.is_queue else ("-", "-")
    return (name, gpus(owns), gpus(uses), *shared, f"{place.running:,}", f"{place.waiting:,}", f"{place.held:,}")


def _holding_rows(places: list[NodeFigures], devices: bool = False) -> Iterator[tuple[str, ...]]:
    """What places hold of each resource of each flavor, or only of `devices` that are no GPUs."""
    for place in places:
        for each in place.holdings:
            if devices and counted_as(each.resource) in (None, GPUS):
                continue
            shared = [format_amount(amount, each.resource) if place.is_queue else "-" for amount in (each.borrows, each.lends)]
            yield (
                place.name,
                each.flavor,
                each.resource,
                format_amount(each.owns, each.resource),
                format_amount(each.uses, each.resource),
                *shared,
            )


def _workload_row(workload: WorkloadRow) -> tuple[str, ...]:
    charged = " + ".join(
        f"{format_amount(charge.amount, charge.resource)} {charge.resource} of {charge.flavor}" for charge in workload.usage
    )
    place = f"{workload.position:,} of {workload.waiting:,}" if workload.position is not None else "-"
    return (workload.name, workload.state, format_time(workload.since), workload.queue or "-", charged or "-", place, workload.reason)


# --- places ---------------------------------------------------------------------------------------------------------

_NODES = ("place", "flavors", "used of what exists", "takes", "who stands there")
_ROOM = ("flavor", "level", "pods that fit", "where")


def print_places(graph: PolicyGraph, places: list[PlaceState], form: Format) -> None:
    """Print the places of flavors that give some: what is used there, what keeps pods off, and who stands there."""
    if form is Format.json:
        for each in places:
            say_json("state_place", **each.as_data(graph))
        return
    table("places", _NODES, [_place_told(graph, each) for each in places], form)


def _place_told(graph: PolicyGraph, each: PlaceState) -> tuple[str, ...]:
    resources = [resource for resource in sorted({*each.capacity, *each.used}) if resource in each.capacity or resource != POD_COUNT]
    used = ", ".join(
        f"{format_amount(each.used.get(resource, 0), resource)} of {amount(each.capacity.get(resource, 0), resource)}"
        for resource in resources
    )
    taints = [f"taint {taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}" for taint in each.taints]
    kept = ["gone" if not each.machines else "no new pods"] if each.cordoned or not each.machines else []
    kept = kept if each.lacks is None else [f"nobody: {without_place_told(graph, each.lacks)}"]
    who = [f"{name} ({pods})" if pods > 1 else name for name, pods in each.pods]
    flavors = ", ".join(graph.flavors[flavor].name for flavor in each.flavors)
    return ("/".join(each.path), flavors, used, ", ".join([*kept, *taints]) or "all", names(who) or "-")


def print_room(graph: PolicyGraph, shape: PodSet, rooms: list[FlavorRoom], form: Format) -> None:
    """Print for how many pods of one shape there is room, in the best domain of each level and in all."""
    asked = " and ".join(amount(value, resource) for resource, value in shape.requests.items())
    if form is Format.json:
        for room in rooms:
            kept = [{"cause": cause.cause, "detail": cause.detail, "places": places} for cause, places in room.kept_off]
            levels = [asdict(level) for level in room.levels]
            said = {"flavor": graph.flavors[room.flavor].name, "asked": shape.requests, "levels": levels, "anywhere": room.anywhere}
            say_json("state_room", **said, places=room.places, kept_off=kept)
        return
    rows = []
    for room in rooms:
        name = graph.flavors[room.flavor].name
        rows += [(name, level.level, f"{level.pods:,}", "/".join(level.domain) if level.pods else "-") for level in room.levels]
        rows.append((name, "anywhere", f"{room.anywhere:,}", _kept_off_told(room)))
    table(f"room for pods of {asked}, one by one and whatever quota there is", _ROOM, rows, form)


def _kept_off_told(room: FlavorRoom) -> str:
    """How many places take none of them, by the first thing in the way; the first few causes."""
    causes = [
        f"{cause_told(KeptOffPlaces(cause=cause.cause, detail=cause.detail, places=places))} {places}" for cause, places in room.kept_off
    ]
    none = sum(places for _, places in room.kept_off)
    return f"not in {none:,} of {counted(room.places, 'place')}: {names(causes)}" if none else "-"

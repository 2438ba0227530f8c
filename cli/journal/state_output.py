"""state: the cluster as it was at a moment of its journal."""

from collections.abc import Iterator
from dataclasses import asdict
from difflib import get_close_matches

from ..engine.events import PolicyActivated
from ..engine.units import format_amount, format_time
from ..journal.asof import core_at
from ..journal.errors import JournalError
from ..journal.journal import Journal, Recorded
from ..sim.cluster import Capacity, Cluster, LiveWorkload, Place, cluster_of, live_workloads
from ..sim.words import gpus
from .auditing import open_journal, refuse_use
from .moments import find_moment
from .output import GOOD, Format, counted, refuse, say, say_json, table
from .progress import progress


def show_state(path: str, form: Format, *, at: str | None, queue: str | None, workloads: bool, no_snapshot: bool) -> int:
    """Print the cluster as of a moment: all of it, or a queue or cohort with what is below it."""
    try:
        with open_journal(path) as journal:
            moment = find_moment(journal, at)
            with progress("going through events", moment) as tick:
                core = core_at(journal, moment, snapshots=not no_snapshot, progress=tick)
            cluster = cluster_of(core)
            places = _below(cluster, queue)
            policy = _policy(journal, core.seq)
            live = list(_live(cluster, live_workloads(core, journal, _queues(places, queue)))) if workloads else None
    except JournalError as error:
        refuse_use(error)
    if form is Format.json:
        _print_json(cluster, policy, places, live)
    else:
        _print(cluster, policy, places, live, form, whole=queue is None)
    return GOOD


def _policy(journal: Journal, seq: int) -> Recorded | None:
    """The last activation of a policy; None: there was none yet."""
    return next(journal.backwards(upto=seq, stream="policy"), None)


def _below(cluster: Cluster, name: str | None) -> list[Place]:
    """A place and all below it, without a name all there are. Ends the command for a name that is none."""
    if name is None:
        return list(cluster.places)
    start = next((number for number, place in enumerate(cluster.places) if place.name == name), None)
    if start is None:
        near = get_close_matches(name, [place.name for place in cluster.places], n=1)
        refuse(f"--queue: the policy had no queue or cohort `{name}` then" + (f"; did you mean {near[0]}?" if near else ""))
    first, *rest = cluster.places[start:]
    end = next((number for number, place in enumerate(rest) if place.depth <= first.depth), len(rest))
    return [first, *rest[:end]]


def _queues(places: list[Place], name: str | None) -> frozenset[str] | None:
    """The queues that workloads are wanted of; None: of all, and of no queue."""
    return None if name is None else frozenset(place.name for place in places if place.is_queue)


def _live(cluster: Cluster, workloads: Iterator[LiveWorkload]) -> Iterator[LiveWorkload]:
    total = cluster.in_no_queue + sum(place.running + place.waiting for place in cluster.places if place.is_queue)
    with progress("explaining", total) as tick:
        for number, workload in enumerate(workloads, start=1):
            tick(number)
            yield workload


# --- json -----------------------------------------------------------------------------------------------------------


def _print_json(cluster: Cluster, policy: Recorded | None, places: list[Place], live: list[LiveWorkload] | None) -> None:
    machines = [{"flavor": flavor or None, "machines": count} for flavor, count in cluster.machines]
    say_json("state", seq=cluster.seq, time=cluster.time, policy=_policy_data(policy), machines=machines, in_no_queue=cluster.in_no_queue)
    for each in cluster.capacity:
        say_json("state_capacity", **asdict(each), idle=each.idle)
    for place in places:
        said = asdict(place)
        say_json("state_queue" if said.pop("is_queue") else "state_cohort", **said)
    for workload in live or ():
        said = asdict(workload)
        say_json("state_workload", **{**said, "usage": [charge.model_dump() for charge in workload.usage]})


def _policy_data(policy: Recorded | None) -> dict[str, object] | None:
    if policy is None or not isinstance(policy.event, PolicyActivated):
        return None
    event = policy.event
    return {"file": event.file, "digest": event.digest, "since": event.time, "seq": policy.seq}


# --- tables ---------------------------------------------------------------------------------------------------------

_CAPACITY = ("flavor", "resource", "exists", "owned", "in use", "idle")
_PLACES = ("queue", "owns", "uses", "borrows", "lends", "running", "waiting", "on hold")
_HOLDINGS = ("queue", "flavor", "resource", "owns", "uses", "borrows", "lends")
_WORKLOADS = ("workload", "state", "since", "queue", "is charged", "place", "why")


def _print(
    cluster: Cluster, policy: Recorded | None, places: list[Place], live: list[LiveWorkload] | None, form: Format, *, whole: bool
) -> None:
    say(f"after event {cluster.seq}, at {format_time(cluster.time)}")
    if policy is None or not isinstance(policy.event, PolicyActivated):
        say("no policy was active yet")
        return
    event = policy.event
    say(f"policy {event.file}, since {format_time(event.time)} (event {policy.seq}), {event.digest}")
    if cluster.machines:
        say("machines: " + ", ".join(f"{count:,} of {flavor or 'no flavor'}" for flavor, count in cluster.machines))
    if whole:
        table("what exists", _CAPACITY, [_capacity_row(each) for each in cluster.capacity], form)
    table("GPUs and workloads", _PLACES, [_place_row(place, form) for place in places], form)
    if not whole:
        table("by flavor and resource", _HOLDINGS, list(_holding_rows(places)), form)
    if whole and cluster.in_no_queue:
        say(f"{counted(cluster.in_no_queue, 'workload')} waiting in no queue")
    if live is not None:
        table("workloads", _WORKLOADS, [_workload_row(workload) for workload in live], form)


def _capacity_row(each: Capacity) -> tuple[str, ...]:
    amounts = (each.exists, each.owned, each.used, each.idle)
    return (each.flavor, each.resource, *(format_amount(amount, each.resource) for amount in amounts))


def _place_row(place: Place, form: Format) -> tuple[str, ...]:
    owns, uses, borrows, lends = place.gpus()
    name = ("  " * place.depth if form is Format.human else "") + place.name
    shared = (gpus(borrows), gpus(lends)) if place.is_queue else ("-", "-")
    return (name, gpus(owns), gpus(uses), *shared, f"{place.running:,}", f"{place.waiting:,}", f"{place.held:,}")


def _holding_rows(places: list[Place]) -> Iterator[tuple[str, ...]]:
    for place in places:
        for each in place.holdings:
            shared = [format_amount(amount, each.resource) if place.is_queue else "-" for amount in (each.borrows, each.lends)]
            yield (
                place.name,
                each.flavor,
                each.resource,
                format_amount(each.owns, each.resource),
                format_amount(each.uses, each.resource),
                *shared,
            )


def _workload_row(workload: LiveWorkload) -> tuple[str, ...]:
    charged = " + ".join(
        f"{format_amount(charge.amount, charge.resource)} {charge.resource} of {charge.flavor}" for charge in workload.usage
    )
    place = f"{workload.position:,} of {workload.waiting:,}" if workload.position is not None else "-"
    return (workload.name, workload.state, format_time(workload.since), workload.queue or "-", charged or "-", place, workload.reason)

"""What a fact changes, and the amounts that an event is about, in words."""

from ...engine.event_parts import PodSet
from ...engine.events import AnyEvent, WorkloadAdmitted, WorkloadEvicted, WorkloadReplaced
from ...engine.facts import (
    CapacityChanged,
    NodeAdded,
    NodeChanged,
    OperatorAction,
    PolicyActivated,
    SimulationStarted,
    WorkloadAdopted,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from ...engine.units import format_amount
from ...sim.report.wording import amount, charges_told
from ..shared.output import counted


def details(event: AnyEvent) -> list[str]:
    """What a fact changes, beyond what it is about."""
    match event:
        case PolicyActivated() if event.by or event.note:
            return ["activated" + (f" by {event.by}" if event.by else "") + (f": {event.note}" if event.note else "")]
        case SimulationStarted():
            return [f"evicted jobs {event.on_evict}", event.source_digest]
        case CapacityChanged():
            return [f"now {format_amount(amount, resource)} {resource}" for resource, amount in event.capacity.items()]
        case OperatorAction():
            return [f"{event.action} by operator {event.by}" + (f": {event.note}" if event.note else "")]
        case WorkloadUpdated():
            done = [
                f"{counted(count, 'pod')} of {pod_set} {'is' if count == 1 else 'are'} done"
                for pod_set, count in (event.reclaimable or {}).items()
            ]
            held = {None: [], True: ["held by its owner"], False: ["no longer held by its owner"]}[event.hold]
            lost = [] if event.lost_nodes is None else [f"lost {', '.join(event.lost_nodes) or 'no node'}"]
            return [*([f"priority {event.priority}"] if event.priority is not None else []), *held, *done, *lost]
        case _:
            return []


def amounts(event: AnyEvent) -> str:
    """What a workload asks for, is given or gives back, or what a machine has; empty for an event that is about no amount."""
    match event:
        case WorkloadSubmitted():
            asked = [asked_by(event, number) for number in range(len(event.pod_sets))]
            return ", ".join(each for each in asked if each)
        case WorkloadAdmitted():
            borrowed = "all borrowed" if event.borrowed == event.usage else f"borrowing {charges_told(event.borrowed)}"
            return ", ".join([charges_told(event.usage), *([borrowed] if event.borrowed else [])]) if event.usage else ""
        case WorkloadEvicted() | WorkloadReplaced():
            return charges_told(event.usage)
        case WorkloadAdopted():
            used = [
                (placement.flavors.get(resource, ""), resource, used)
                for placement in event.placements
                for resource, used in placement.usage.items()
            ]
            return " and ".join(f"{amount(value, resource)} of {flavor}" for flavor, resource, value in used)
        case NodeAdded() | NodeChanged():
            return " and ".join(amount(value, resource) for resource, value in event.capacity.items())
        case _:
            return ""


def asked_by(event: WorkloadSubmitted, number: int) -> str:
    """What a pod set of a submission asks for, such as `4 x 2 gpu on a100`."""
    pod_set = event.pod_sets[number]
    each = " and ".join(amount(asked, resource) for resource, asked in pod_set.requests.items())
    flavors = f" on {' or '.join(pod_set.flavors)}" if pod_set.flavors else ""
    least = f", at least {pod_set.minimum}" if pod_set.minimum is not None and pod_set.minimum < pod_set.count else ""
    return (f"{pod_set.count} x {each}" if pod_set.count > 1 else each) + flavors + _wish(pod_set) + least


def _wish(pod_set: PodSet) -> str:
    """Where the pods of a pod set are to stand, such as ` within rack in slices of 4 within host`."""
    said = next((f" {word} {level}" for word, level in (("within", pod_set.within), ("near", pod_set.near)) if level), "")
    slices = "".join(f" in slices of {part.size} within {part.level}" for part in pod_set.slices)
    return said + (" anywhere" if pod_set.anywhere else "") + slices

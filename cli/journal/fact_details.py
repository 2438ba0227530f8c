"""What a fact changes, in words."""

from ...engine.events import AnyEvent
from ...engine.facts import CapacityChanged, OperatorAction, PolicyActivated, SimulationStarted, WorkloadUpdated
from ...engine.units import format_amount
from ..shared.output import counted


def details(event: AnyEvent) -> list[str]:
    """What a fact changes, beyond what it is about."""
    match event:
        case PolicyActivated() if event.by:
            return [f"activated by {event.by}"]
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
            return [*([f"priority {event.priority}"] if event.priority is not None else []), *held, *done]
        case _:
            return []

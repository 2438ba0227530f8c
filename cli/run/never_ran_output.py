"""What run and simulate say of the workloads that never ran: how many they are, and the first reasons."""

from shlex import quote
from typing import TYPE_CHECKING, Any

from ...engine.cores import Core
from ...engine.explain.unplaced import unplaced_told
from ...sim.measure.never_ran import NeverRan, WaitingGroup, first_standing, never_admitted
from ...sim.report.wording import by, limit_told, names, never_told, rejection_told
from ..shared.output import Format, counted, say, say_json

if TYPE_CHECKING:
    from ...engine.explain.standing import Standing
    from ...engine.policy_graph import PolicyGraph

_MOST_GROUPS = 5
"""How many groups of workloads are told."""


def show_never_ran(core: Core, played: NeverRan, form: Format, journal: str | None = None) -> None:
    """Print who never ran and why; nothing where all did. `journal` is what was written."""
    groups, rejected, graph = never_admitted(core, played.adopted), played.rejected(), core.graph
    if form is Format.json:
        for group in rejected:
            told = rejection_told(group.reason, group.rule, group.operands, _queues(graph))
            _print_json("rejected", None, group.reason, group.count, group.workloads, [], told)
        for waiting in groups:
            state = "can never run" if waiting.never else "waiting"
            first = None if waiting.never else first_standing(core, waiting)
            reason = first.reason if first is not None else None
            never = [each.model_dump() for each in waiting.never]
            _print_json(state, waiting.queue, reason, waiting.count, waiting.workloads, never, _told(waiting, first))
        return
    waits, ended = sum(group.count for group in groups), sum(group.count for group in rejected)
    if waits + ended == 0:
        return
    hopeless = sum(group.count for group in groups if group.never)
    parts = [(ended, "rejected"), (hopeless, "can never run"), (waits - hopeless, "still waiting")]
    say(f"{counted(waits + ended, 'workload')} never ran: " + ", ".join(f"{number:,} {what}" for number, what in parts if number))
    lines = [
        f"{names(group.workloads, group.count)} rejected: {rejection_told(group.reason, group.rule, group.operands, _queues(graph))}"
        for group in rejected[:_MOST_GROUPS]
    ]
    if len(rejected) > _MOST_GROUPS:
        lines.append(f"{sum(group.count for group in rejected[_MOST_GROUPS:]):,} more rejected for other reasons")
    for hopeless_ones in (True, False):
        some = [group for group in groups if bool(group.never) is hopeless_ones]
        lines += [_line(core, group) for group in some[:_MOST_GROUPS]]
        if rest := sum(group.count for group in some[_MOST_GROUPS:]):
            lines.append(f"{rest:,} more {'can never run' if hopeless_ones else 'wait'} for other reasons")
    for line in lines:
        say(f"  {line}")
    path, condition = ("PATH", ", once there is a journal") if journal is None else (quote(journal), "")
    commands = [f"gpol log {path} --kind WorkloadRejected"] if ended else []
    commands += [f"gpol explain {path} WORKLOAD"] if waits else []
    say(f"  {' and '.join(f'`{command}`' for command in commands)} {'says' if len(commands) == 1 else 'say'} more{condition}")


def _line(core: Core, group: WaitingGroup) -> str:
    who = names(group.workloads, group.count) + (f" of {group.queue}" if group.queue else "")
    if group.never:
        return f"{who} can never run: {_told(group, None)}"
    return f"{who} waiting: {_told(group, first_standing(core, group))}" + (f" ({group.workloads[0]})" if group.count > 1 else "")


def _told(group: WaitingGroup, first: "Standing | None") -> str:
    """Why the workloads of a group never ran; `first` is where the first one stands."""
    if group.never:
        more = len({each.flavor for each in group.never} - {"", group.never[0].flavor})
        return never_told(group.never[0]) + (f"; {counted(more, 'more flavor')} will not do either" if more else "")
    if first is None:
        return ""
    said = [f"{operand.name} {operand.value}" for operand in first.operands]
    said += [limit_told(first.limit, first.reason)] if first.limit is not None else []
    said += [f"no places on {unplaced_told(first.places)}"] if first.places is not None else []
    return ", ".join([f"{first.reason}{by(first.rule)}", *said])


def _queues(graph: "PolicyGraph | None") -> list[str]:
    return [graph.nodes[queue.node].name for queue in graph.queues] if graph is not None else []


def _print_json(state: str, queue: str | None, reason: str | None, count: int, workloads: list[str], never: list[Any], told: str) -> None:
    named = {"queue": queue, "reason": reason, "count": count, "workloads": workloads}
    say_json("never-ran", state=state, **named, never=never, told=told)

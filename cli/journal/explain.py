"""explain: where a workload stands, how it got there, and what would change it."""

from typing import TYPE_CHECKING

import click

from ...journal.errors import JournalError
from ..shared.journals import refuse_use, whole_part
from ..shared.moments import asked_time, find_moment, moment
from ..shared.options import journal_place, no_snapshot, with_format
from ..shared.output import GOOD, Format, refuse, say, say_json
from ..shared.progress import progress
from ..shared.selection import known_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...engine.cores import Core
    from ...engine.explain.standing import Standing
    from ...journal.journal import Journal, Recorded


@click.command()
@journal_place
@click.argument("workload", metavar="WORKLOAD")
@moment
@no_snapshot
@with_format
def explain(journal: str, workload: str, at: str | None, no_snapshot: bool, form: Format) -> int:
    """Say why a workload runs, waits or was evicted, and what would change that."""
    from ...dsl.syntax.names import closest
    from ...engine.units import format_time
    from ...journal.recorded_policies import last_activation
    from .state_output import moment_told, policy_data

    try:
        with whole_part(journal) as part:
            read = part.journal
            with progress("going through events", read.head.seq) as tick:
                core, history = part.state(lambda: _at_moment(read, workload, at, snapshots=not no_snapshot, tick=tick))
                asked = asked_time(read, at)
            policy = last_activation(read, core.seq)
            if not history:
                coming = next(iter(read.of_workload(workload)), None)
                near = closest(workload, known_names(read, "workload")) if coming is None else None
                rest = f"did you mean {near}?" if near else "`gpol log --kind WorkloadSubmitted` lists what was"
                rest = f"its first event is {coming.seq}, at {format_time(coming.event.time)}" if coming is not None else rest
                refuse(f"no workload `{workload}` was submitted up to event {core.seq}; {rest}")
            standing = _standing(core, workload)
            if form is Format.json:
                events = [{"seq": recorded.seq, "event": recorded.event.model_dump()} for recorded in history]
                where = standing.model_dump() if standing else None
                active = policy_data(policy)
                say_json(
                    "explain", workload=workload, seq=core.seq, time=core.time, asked=asked, policy=active, history=events, standing=where
                )
            else:
                _show(workload, moment_told(core.seq, core.time, asked), policy, history, standing)
    except JournalError as error:
        refuse_use(error)
    return GOOD


def _at_moment(
    journal: "Journal", workload: str, at: str | None, *, snapshots: bool, tick: "Callable[[int], None]"
) -> "tuple[Core, list[Recorded]]":
    """The state at a moment, and what happened to the workload up to then."""
    from ...journal.read.as_of import core_at

    core = core_at(journal, find_moment(journal, at), snapshots=snapshots, progress=tick)
    return core, list(journal.of_workload(workload, upto=core.seq))


def _standing(core: "Core", name: str) -> "Standing | None":
    """Where a workload stands; for one that waits a core is asked that answers quickly."""
    from ...compiled.core_to_ask import quickly
    from ...engine.explain.pending import standing

    known = core.view.workload(name)
    return standing(quickly(core) if known is not None and known.admitted is None else core, name)


def _show(workload: str, when: str, policy: "Recorded | None", history: "list[Recorded]", standing: "Standing | None") -> None:
    from ...engine.events import WorkloadRejected
    from ...engine.facts import PolicyActivated
    from ...engine.units import format_time
    from ...sim.report.wording import places_told
    from .history import history_lines
    from .standings import waiting

    last = history[-1].event
    state = standing.state if standing is not None else "rejected" if isinstance(last, WorkloadRejected) else "over"
    say(f"{workload} is {state} at {when}")
    if policy is not None and isinstance(policy.event, PolicyActivated) and (policy.event.by or policy.event.note):
        event = policy.event
        who = f" by {event.by}" if event.by else ""
        why = f": {event.note}" if event.note else ""
        say(f"  policy: {event.file}, activated{who} at {format_time(event.time)} (event {policy.seq}){why}")
    if standing is not None and standing.state == "pending":
        for line in waiting(standing):
            say(f"  {line}")
    if standing is not None and standing.state == "running":
        for line in places_told(standing.assignments):
            say(f"  {line}")
        for operand in standing.operands:
            say(f"  {operand.name}: {operand.value}")
    say("history")
    for line in history_lines(workload, history):
        say(f"  {line}")

"""explain: where a workload stands, how it got there, and what would change it."""

from typing import TYPE_CHECKING

import click

from ...journal.errors import JournalError
from ..shared.journals import open_journal, refuse_use
from ..shared.moments import find_moment, moment
from ..shared.options import journal_place, no_snapshot, with_format
from ..shared.output import GOOD, Format, refuse, say, say_json
from ..shared.progress import progress

if TYPE_CHECKING:
    from ...engine.explain.standing import Standing
    from ...journal.journal import Recorded


@click.command()
@journal_place
@click.argument("workload", metavar="WORKLOAD")
@moment
@no_snapshot
@with_format
def explain(journal: str, workload: str, at: str | None, no_snapshot: bool, form: Format) -> int:
    """Say why a workload runs, waits or was evicted, and what would change that."""
    from ...engine.explain.pending import standing as standing_of
    from ...journal.read.as_of import core_at
    from ...journal.recorded_policies import last_activation
    from .state_output import policy_data

    try:
        with open_journal(journal) as read:
            seq = find_moment(read, at)
            with progress("going through events", seq) as tick:
                core = core_at(read, seq, snapshots=not no_snapshot, progress=tick)
            policy = last_activation(read, core.seq)
            history = list(read.events(upto=core.seq, stream=f"workload/{workload}"))
            if not history:
                refuse(f"no workload `{workload}` was submitted up to event {core.seq}; `gpol log` lists what was")
            standing = standing_of(core, workload)
            if form is Format.json:
                events = [{"seq": recorded.seq, "event": recorded.event.model_dump()} for recorded in history]
                where = standing.model_dump() if standing else None
                active = policy_data(policy)
                say_json("explain", workload=workload, seq=core.seq, time=core.time, policy=active, history=events, standing=where)
            else:
                _show(workload, core.seq, core.time, policy, history, standing)
    except JournalError as error:
        refuse_use(error)
    return GOOD


def _show(workload: str, seq: int, time: int, policy: "Recorded | None", history: "list[Recorded]", standing: "Standing | None") -> None:
    from ...engine.events import WorkloadRejected
    from ...engine.facts import PolicyActivated
    from ...engine.units import format_time
    from .history import history_lines
    from .standings import waiting

    last = history[-1].event
    state = standing.state if standing is not None else "rejected" if isinstance(last, WorkloadRejected) else "over"
    say(f"{workload} is {state} at {format_time(time)} (event {seq})")
    if policy is not None and isinstance(policy.event, PolicyActivated) and policy.event.by:
        event = policy.event
        say(f"  policy: {event.file}, activated by {event.by} at {format_time(event.time)} (event {policy.seq})")
    if standing is not None and standing.state == "pending":
        for line in waiting(standing):
            say(f"  {line}")
    say("history")
    for line in history_lines(workload, history):
        say(f"  {line}")

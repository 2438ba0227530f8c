"""Which events a command is about: its options, checked, as a selection."""

from typing import TYPE_CHECKING, get_args

import click

from .moments import parse_seq, parse_time
from .options import Command
from .output import refuse

if TYPE_CHECKING:
    from ...journal.journal import Journal
    from ...journal.read.event_selection import Selection


def with_selection(command: Command) -> Command:
    """Give a command the options that select events; `make_selection` takes them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option("--workload", metavar="W", help="events of this workload"),
    click.option("--queue", metavar="Q", help="events of this queue"),
    click.option("--kind", metavar="K", multiple=True, help="events of this kind, such as WorkloadEvicted; may be given again"),
    click.option("--user", metavar="U", help="events of workloads that this user submitted"),
    click.option("--namespace", metavar="N", help="events of workloads of this namespace"),
    click.option("--reason", metavar="R", help="decisions with this reason, such as FitsBorrowing"),
    click.option("--rule", metavar="R", help="decisions that this rule or line of the policy caused, by its name"),
    click.option("--cause", metavar="SEQ", help="the decisions that this fact caused"),
    click.option("--since", metavar="T", help="from this time on (RFC 3339, or microseconds)"),
    click.option("--until", metavar="T", help="up to this time"),
    click.option("--after", metavar="SEQ", help="events after this one"),
)


def make_selection(
    *,
    workload: str | None,
    queue: str | None,
    kind: tuple[str, ...],
    user: str | None,
    namespace: str | None,
    reason: str | None,
    rule: str | None,
    cause: str | None,
    since: str | None,
    until: str | None,
    after: str | None,
) -> "Selection":
    """The selection that options ask for. Ends the command for an option that can't be meant so."""
    from ...journal.read.event_selection import Selection

    for name in kind:
        _check_kind(name)
    first, last = parse_time(since, "--since"), parse_time(until, "--until")
    if first is not None and last is not None and first > last:
        refuse("--since is after --until, so nothing can be shown; exchange the two")
    return Selection(
        workload=workload,
        kinds=kind,
        queue=queue,
        user=user,
        namespace=namespace,
        reason=reason,
        rule=rule,
        cause=parse_seq(cause, "--cause"),
        since=first,
        until=last,
        after=parse_seq(after, "--after") or 0,
    )


def check_places(journal: "Journal", selection: "Selection") -> None:
    """End the command where a selection names an event that the journal does not have, or a cause that is none."""
    last = journal.head.seq
    if selection.after > last:
        refuse(f"--after: the journal has events 1 to {last}, not {selection.after}")
    if selection.cause is None:
        return
    if not 1 <= selection.cause <= last:
        refuse(f"--cause: the journal has events 1 to {last}, not {selection.cause}")
    event = journal.at(selection.cause).event
    if event.is_decision:
        cause = getattr(event, "cause", None)
        refuse(f"--cause: event {selection.cause} is a decision and causes nothing; give its own cause, {cause}")


def _check_kind(kind: str) -> None:
    from ...engine.events import AnyEvent

    kinds = sorted(event.__name__ for event in get_args(AnyEvent))
    if kind not in kinds:
        from difflib import get_close_matches

        near = get_close_matches(kind, kinds, n=1)
        refuse(f"--kind: no event is a `{kind}`; {f'did you mean {near[0]}?' if near else 'kinds are ' + ', '.join(kinds)}")

"""Which events a command is about: its options, checked, as a selection."""

from typing import TYPE_CHECKING, Any, get_args

import click

from ...dsl.syntax.names import closest as closest_name
from ...dsl.syntax.names import listed
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
    click.option("--since", metavar="T", help="from this time on (RFC 3339, microseconds, or a duration since 1970)"),
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


def check_names(journal: "Journal", selection: "Selection") -> None:
    """End the command where nothing is selected because a name occurs nowhere in the journal, in no event and in no policy."""
    for option in _NAMES:
        name = getattr(selection, option)
        if name is not None and not _occurs(journal, option, name):
            known = known_names(journal, option)
            near = closest_name(name, known)
            whose = "its policies and events name" if option in ("queue", "rule") else "there are"
            rest = f"did you mean {near}?" if near else f"{whose} {listed(known, like=name)}" if known else "there is none"
            refuse(f"--{option}: {_NAMES[option]} `{name}` occurs in the journal; {rest}")


_MOST_NAMES = 20_000
"""Among how many names the one is looked for that was probably meant."""

_NAMES = {
    "workload": "no workload",
    "queue": "no queue",
    "user": "no user",
    "namespace": "no namespace",
    "reason": "no decision for the reason",
    "rule": "no decision by a rule or line",
}
"""The options that name something, and how it is said that it occurs nowhere."""


def _occurs(journal: "Journal", option: str, name: str) -> bool:
    from ...journal.read.event_selection import Selection, select

    asked: dict[str, Any] = {option: name}
    return any(True for _ in select(journal, Selection(**asked))) or name in _in_policies(journal, option)


def known_names(journal: "Journal", option: str) -> list[str]:
    """What could have been meant: all such names that occur, in the order of the alphabet."""
    names = set(_in_policies(journal, option))
    for recorded in journal.events():
        if len(names) >= _MOST_NAMES:
            break
        event = recorded.event
        rule = getattr(getattr(event, "why", None), "rule", None)
        found = rule.name if option == "rule" and rule is not None else getattr(event, option, None) if option != "rule" else None
        if isinstance(found, str) and found:
            names.add(found)
    return sorted(names)


def _in_policies(journal: "Journal", option: str) -> list[str]:
    """The queues, or the rules, of all policies that were active."""
    from ...engine.facts import PolicyActivated
    from ...journal.recorded_policies import PolicyRefusedError, compile_recorded

    names: set[str] = set()
    if option not in ("queue", "rule"):
        return []
    for recorded in journal.events(stream="policy"):
        try:
            graph = compile_recorded(recorded.event) if isinstance(recorded.event, PolicyActivated) else None
        except PolicyRefusedError:
            continue
        if graph is not None and option == "queue":
            names |= {graph.nodes[queue.node].name for queue in graph.queues}
        elif graph is not None:
            names |= {rule.name for rule in graph.preempt} | {rule.name for rule in graph.protect} | {rule.name for rule in graph.admission}
            names |= {node.name for node in graph.nodes} | {flavor.name for flavor in graph.flavors}
    return sorted(names)


def _check_kind(kind: str) -> None:
    from ...engine.events import AnyEvent

    kinds = sorted(event.__name__ for event in get_args(AnyEvent))
    if kind not in kinds:
        near = closest_name(kind, kinds)
        refuse(f"--kind: no event is a `{kind}`; {f'did you mean {near}?' if near else 'kinds are ' + ', '.join(kinds)}")

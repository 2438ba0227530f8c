"""diff: what two policies differ in, by meaning and not by text, and a workload that shows each difference."""

import click

from ..shared.options import PLACE, with_format
from ..shared.output import GOOD, NO, Format, refuse
from ..shared.policies import checked_policy
from ..shared.progress import progress
from ..speed.garbage import seldom_collecting


@click.command()
@click.argument("old", metavar="OLD", type=PLACE)
@click.argument("new", metavar="NEW", type=PLACE)
@with_format
def diff(old: str, new: str, form: Format) -> int:
    """Say what differs between the meanings of two policies, with a workload that shows it; exit 2 if anything does."""
    from ...dsl.diff.differences import differences
    from ...sim.drive.policy import Policy
    from ...sim.witness.policy_comparison import findings, queue_changes
    from .diff_output import show_differences

    if old == new == "-":
        refuse("only one of the two policies can be read from standard input; give a file for the other")
    with seldom_collecting():
        before, after = (Policy.of(checked_policy(path, form, decides=False)) for path in (old, new))
        changes = differences(before.graph, after.graph)
        found = []
        with progress("looking for workloads", len(changes)) as tick:
            for finding in findings(before, after, changes):
                found.append(finding)
                tick(len(found))
        show_differences(found, queue_changes(before, after), form)
    return NO if changes else GOOD

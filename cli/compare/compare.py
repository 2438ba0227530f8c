"""compare: the same jobs under several policies, side by side."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..run.simulation_inputs import check_trace, jobs_of, nodes_of, on_evict_of
from ..shared.options import PLACE, force, with_format
from ..shared.output import FAILED, GOOD, INVALID, NO, Format, complain, refuse
from ..shared.policies import checked_policy, names_apart, refuse_twins
from ..shared.progress import progress
from ..shared.report import check_report, write_report
from ..speed.garbage import seldom_collecting

if TYPE_CHECKING:
    from ...engine.facts import NodeAdded
    from ...sim.compare.comparison import Comparison
    from ...sim.drive.driver import OnEvict
    from ...sim.drive.job import Job, JobSource
    from ...sim.drive.policy import Policy

_CODES = {"loop": NO, "calendar": INVALID, "impossible": INVALID}
"""The exit code for a policy that was not played to its end, by why."""


@click.command()
@click.argument("files", metavar="POLICY...", type=PLACE, nargs=-1, required=True)
@click.argument("workloads", metavar="WORKLOADS", type=PLACE)
@click.option("--trace", metavar="FORM", help="the form of the file: csv, jsonl or philly; else its name decides")
@click.option("--nodes", metavar="NODES.csv", type=PLACE, help="the nodes of the cluster, for the policies that take nodes")
@click.option("--on-evict", metavar="restart|resume", default="restart", help="whether an evicted job runs anew, or what was left of it")
@click.option("--report", metavar="PATH", type=PLACE, help="write a page with charts here")
@force
@with_format
def compare(
    files: tuple[str, ...],
    workloads: str,
    trace: str | None,
    nodes: str | None,
    on_evict: str,
    report: str | None,
    force: bool,
    form: Format,
) -> int:
    """Play the same jobs under several policies, and show what each makes of them; exit 2 if one never comes to rest."""
    with progress("starting", None):
        from ...adapters.traces import form_of
        from ...journal.errors import JournalError
        from ...sim.drive.policy import Policy
        from .compare_output import show_comparison

    evicted = on_evict_of(on_evict)
    check_trace(trace)
    if workloads.endswith(".gpol"):
        refuse(f"the last file has the workloads, and `{workloads}` is a policy; add the file with the workloads")
    if files.count("-") > 1:
        refuse("only one policy can be read from standard input; give files for the others")
    policies = [Policy.of(checked_policy(file, form)) for file in files]
    names = names_apart(files)
    refuse_twins(names, [policy.graph.digest for policy in policies])
    with progress("reading jobs", None):
        jobs, source = jobs_of(workloads, trace)
    there = _nodes(nodes, names, policies)
    check_report(report, (*files, workloads, *filter(None, (nodes,))), force=force)
    with seldom_collecting(), ExitStack() as stack:
        try:
            found = _played(names, policies, jobs, source, evicted, there, stack)
        except JournalError as error:
            refuse(str(error), FAILED)
        show_comparison(found, form, source, evicted)
        if report is not None:
            from ...sim.report.compare_report import compare_page
            from ...sim.report.run_record import RunSettings

            settings = RunSettings(evicted, source, trace or form_of(Path(workloads)))
            write_report(report, compare_page(found, settings), form, force=force)
    return _code(found)


def _nodes(path: str | None, names: Sequence[str], policies: "Sequence[Policy]") -> "list[list[NodeAdded]]":
    """The nodes as each policy sees them. One that goes by what is owned alone is played without, and that is said."""
    from ...adapters.node_rows import takes_nodes
    from ..run.node_notes import machines_of, tell_without_place

    if path is None:
        return [[] for _ in policies]
    taking = any(takes_nodes(policy.graph) for policy in policies)
    found: list[list[NodeAdded]] = []
    for name, policy in zip(names, policies, strict=True):
        if taking and not takes_nodes(policy.graph):
            complain(f"note: {name} decides by what is owned alone and places no pods, so it is played without nodes")
            found.append([])
            continue
        nodes = nodes_of(path, policy.graph, name)
        tell_without_place(policy.graph, machines_of(nodes))
        found.append(nodes)
    return found


def _played(
    names: Sequence[str],
    policies: "Sequence[Policy]",
    jobs: "Sequence[Job]",
    source: "JobSource",
    on_evict: "OnEvict",
    nodes: "Sequence[list[NodeAdded]]",
    stack: ExitStack,
) -> "Comparison":
    """Play the policies one after the other, and compare. The stack keeps their events until it closes."""
    from ...journal.temporary import temporary_journal
    from ...sim.compare.comparison import compare as compare_policies
    from ...sim.compare.played_policy import play_policy
    from ..speed.kernels import cores_for_command

    new_core, played = cores_for_command(2 * len(jobs)), []
    for number, (name, policy, there) in enumerate(zip(names, policies, nodes, strict=True), start=1):
        core = new_core()  # what it has to say is said before the progress is shown
        with progress(f"playing {name} ({number} of {len(names)})", len(jobs)) as tick:
            journal = stack.enter_context(temporary_journal())
            played.append(play_policy(name, policy, jobs, source, on_evict, core, journal, nodes=there, progress=tick))
    with progress("comparing", None):
        return compare_policies(played, on_evict, [job.fact.workload for job in jobs])


def _code(comparison: "Comparison") -> int:
    """Of all exit codes the highest counts, but that a defect of gpol is no answer."""
    early = [_CODES[each.early.kind] for each in comparison.played if each.early is not None]
    is_whole = len(comparison.played) == len(comparison.policies)
    return max(early, default=GOOD) if is_whole else FAILED

"""simulate: jobs in virtual time."""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import click

from ..shared.journals import new_journal
from ..shared.options import PLACE, force, pod_asking, policy_file, with_format
from ..shared.output import GOOD, INVALID, Format, counted, refuse, say, say_json
from ..shared.policies import checked_policy
from ..shared.progress import progress
from ..shared.report import check_report, write_report
from ..speed.garbage import seldom_collecting
from .recording import Signer, Wanted, acting, check_acting, keep, sink_of, tell_last, told_at_an_early_end, with_checkpoints
from .simulation_inputs import check_trace, jobs_of, nodes_of, on_evict_of, refuse_beyond_policy


@click.command()
@policy_file
@click.argument("workloads", metavar="WORKLOADS", type=PLACE)
@click.option("--trace", metavar="FORM", help="the form of the file: csv, jsonl or philly; else its name decides")
@click.option("--nodes", metavar="NODES.csv", type=PLACE, help="the nodes of the cluster, which are there from the start")
@click.option(
    "--stranded-for",
    metavar="AMOUNTS",
    help="GPUs are stranded that are of no use to a pod that asks for so much, such as '8 gpu'",
)
@click.option("--on-evict", metavar="restart|resume", default="restart", help="whether an evicted job runs anew, or what was left of it")
@keep
@acting
@click.option("--report", metavar="PATH", type=PLACE, help="write a page with charts here")
@force
@click.option("--seed", metavar="N", help="refused: nothing in a simulation is random")
@with_checkpoints
@with_format
def simulate(
    policy: str,
    workloads: str,
    trace: str | None,
    nodes: str | None,
    stranded_for: str | None,
    on_evict: str,
    journal: str | None,
    by: str,
    note: str,
    report: str | None,
    force: bool,
    seed: str | None,
    form: Format,
    **signing: Any,
) -> int:
    """Play jobs in virtual time: a job ends its duration after its admission."""
    with progress("starting", None):
        from ...adapters.traces import form_of
        from ...journal.temporary import temporary_journal
        from ...sim.drive.player import EndlessError, Player
        from ...sim.drive.policy import Policy
        from ...sim.drive.simulation import Simulation
        from ...sim.measure.columns.compiled_count import count_at_hand
        from ...sim.measure.columns.history_measure import HistoryMeasure
        from ...sim.measure.never_ran import NeverRan
        from ...sim.measure.place_measure import PlaceMeasure
        from ...sim.report.run_record import RunRecord, RunSettings
        from ..speed.kernels import core_for_command
        from .figures import show_figures, show_places
        from .never_ran_output import show_never_ran
        from .node_notes import machines_of, tell_without_place

    if seed is not None:
        refuse("nothing in a simulation is random, so a seed would change nothing; leave --seed out")
    evicted = on_evict_of(on_evict)
    check_trace(trace)
    check_acting(by, note, journal)
    judge = pod_asking("--stranded-for", stranded_for) if stranded_for is not None else None
    active = Policy.of(checked_policy(policy, form), by, note)
    if judge is not None and not active.graph.gives_places:
        refuse("--stranded-for: no flavor of the policy gives pods places; leave the option out, or let a flavor be `placed`")
    wanted = Wanted(**signing)
    signer = Signer.of(wanted, journal)
    with progress("reading jobs", None):
        jobs, source = jobs_of(workloads, trace)
    refuse_beyond_policy(jobs, active.graph)
    there = nodes_of(nodes, active.graph) if nodes is not None else []
    tell_without_place(active.graph, machines_of(there))
    check_report(report, (policy, workloads, *filter(None, (nodes,)), journal, wanted.key), force=force)
    record = RunRecord(evicted) if report is not None else None
    with told_at_an_early_end(journal), ExitStack() as stack:
        stack.enter_context(seldom_collecting())
        kept = new_journal(journal, stack)
        checkpointer = signer.sign(kept, stack) if signer is not None and kept is not None else None
        player = Player(core_for_command(2 * len(jobs)))
        read_back = kept if kept is not None or record is None else stack.enter_context(temporary_journal())
        player.sink = sink_of(kept, checkpointer, player.core, stack) if kept is not None else read_back
        simulation = Simulation(active, jobs, player, evicted, source, there)
        figures, never_ran, stood = HistoryMeasure(record, count_at_hand), NeverRan(), PlaceMeasure(judged_by=judge)
        tick = stack.enter_context(progress("simulating", len(jobs)))
        try:
            for played in stack.enter_context(closing(simulation.chunks())):  # closed before its journal is
                figures.take(played, active.graph)
                never_ran.take(played)
                stood.take(played, active.graph)
                tick(player.core.view.submissions)
        except EndlessError as error:
            refuse(str(error), INVALID)
        head = kept.head if kept is not None else None
        longest = record.finish(read_back) if record is not None and read_back is not None else ()
    name = kept.name if kept is not None else None
    measure = figures.measure()
    measure.check_accounts()
    show_figures(measure, form)
    show_places(stood, form)
    show_never_ran(player.core, never_ran, form, name)
    if head is not None:
        if form is Format.json:
            say_json("journal", path=name, seq=head[0], chain=head[1].hex())
        else:
            say(f"journal {name}: {counted(head[0], 'event')}, chain {head[1].hex()}")
    tell_last(checkpointer, form)
    if record is not None and report is not None:
        from ...sim.report.run_report import report_page

        settings = RunSettings(evicted, source, trace or form_of(Path(workloads)))
        write_report(report, report_page(active, measure, record, longest, settings, stood), form, force=force)
    return GOOD

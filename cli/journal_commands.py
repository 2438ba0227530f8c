"""The commands about journals: log, state, replay, verify, fsck, snapshot, explain, impact, backup."""

import sys
from typing import Any

import click

from .app import PLACE, app, journal_place, moment, no_snapshot, with_evidence, with_format, with_selection
from .output import Format


@app.command()
@journal_place
@with_selection
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="the first N of them")
@click.option("--reverse", is_flag=True, help="the newest first")
@click.option("--follow", is_flag=True, help="and then those that are appended, as they come, until stopped")
@with_format
def log(journal: str, form: Format, **options: Any) -> None:
    """Read the events of a journal; of several filters all must hold."""
    from .auditing import show_log

    sys.exit(show_log(journal, form, **options))


@app.command()
@journal_place
@moment
@click.option("--queue", metavar="Q", help="this queue or cohort and what is below it, by flavor and resource")
@click.option("--workloads", is_flag=True, help="also the workloads that are not over")
@no_snapshot
@with_format
def state(journal: str, form: Format, **options: Any) -> None:
    """Show the cluster as it was: the policy, what existed, who owned and used how much, who ran and who waited."""
    from .state import show_state

    sys.exit(show_state(journal, form, **options))


@app.command()
@journal_place
@with_format
def replay(journal: str, form: Format) -> None:
    """Decide every recorded fact again and compare each decision byte for byte."""
    from .auditing import replay_journal

    sys.exit(replay_journal(journal, form))


@app.command()
@journal_place
@click.option("--head", metavar="SEQ:CHAIN", help="a head noted earlier that must still be there")
@with_evidence
@with_format
def verify(journal: str, head: str | None, checkpoints: tuple[str, ...], keys: tuple[str, ...], form: Format) -> None:
    """Check that nothing recorded was changed, left out or put in."""
    from .auditing import verify_journal

    sys.exit(verify_journal(journal, head, checkpoints, keys, form))


@app.command()
@journal_place
@with_evidence
@with_format
def fsck(journal: str, checkpoints: tuple[str, ...], keys: tuple[str, ...], form: Format) -> None:
    """Look for everything that can be wrong with a journal, and say what to do about it."""
    from .checking import check_journal

    sys.exit(check_journal(journal, checkpoints, keys, form))


@app.command()
@journal_place
@click.option("--afresh", is_flag=True, help="drop those that are there, and go through all events")
@with_format
def snapshot(journal: str, afresh: bool, form: Format) -> None:
    """Keep the state at the end of a journal in it, so that it opens without going through all events."""
    from .snapshots import snapshot_journal

    sys.exit(snapshot_journal(journal, form, afresh=afresh))


@app.command()
@journal_place
@click.argument("workload", metavar="WORKLOAD")
@moment
@no_snapshot
@with_format
def explain(journal: str, workload: str, at: str | None, no_snapshot: bool, form: Format) -> None:
    """Say why a workload runs, waits or was evicted, and what would change that."""
    from .explaining import explain_workload

    sys.exit(explain_workload(journal, workload, at, no_snapshot, form))


@app.command()
@journal_place
@click.argument("files", metavar="NEW.gpol...", type=PLACE, nargs=-1, required=True)
@click.option("--open-loop", is_flag=True, help="decide each recorded moment again, on the recorded state; else play history again")
@click.option("--on-evict", metavar="restart|resume", default="restart", help="whether an evicted run begins anew, or goes on")
@click.option("--journal", "kept", metavar="PATH", type=PLACE, help="keep the other history in this new journal")
@click.option("--report", metavar="PATH", type=PLACE, help="write a page with both histories side by side here")
@click.option("--set", "settings", metavar="PATH=VALUES", multiple=True, help="try these numbers, such as queue.nlp.owns.h100=32..96:16")
@click.option("--backend", metavar="local|dask|ray", default="local", help="where a sweep of several policies is played")
@click.option("--jobs", metavar="N", type=click.IntRange(min=1), help="policies played at once; else as many as there are cores")
@click.option("--scheduler", metavar="ADDRESS", help="of a Dask cluster; else one is started on this machine")
@with_format
def impact(journal: str, files: tuple[str, ...], form: Format, **options: Any) -> None:
    """Say what another policy would have made of a recorded history, or each of several; exit 2 if anything differs."""
    from .impact import show_impact

    sys.exit(show_impact(journal, files, form, **options))


@app.command()
@journal_place
@click.argument("destination", metavar="DESTINATION", type=PLACE)
@with_format
def backup(journal: str, destination: str, form: Format) -> None:
    """Copy a journal, which may be in use, to a new file or URL, verified; from there it can be copied back."""
    from .copying import back_up

    sys.exit(back_up(journal, destination, form))

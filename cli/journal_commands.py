"""The commands about journals: log, replay, verify, explain."""

import sys
from typing import Any

import click

from .app import app, journal_place, with_format
from .output import Format


@app.command()
@journal_place
@click.option("--workload", metavar="W", help="events of this workload")
@click.option("--queue", metavar="Q", help="events of this queue")
@click.option("--kind", metavar="K", help="events of this kind, such as WorkloadEvicted")
@click.option("--since", metavar="T", help="from this time on (RFC 3339, or microseconds)")
@click.option("--until", metavar="T", help="up to this time")
@with_format
def log(journal: str, form: Format, **filters: Any) -> None:
    """Read the events of a journal."""
    from .auditing import show_log

    sys.exit(show_log(journal, form, **filters))


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
@with_format
def verify(journal: str, head: str | None, form: Format) -> None:
    """Check that nothing recorded was changed, left out or put in."""
    from .auditing import verify_journal

    sys.exit(verify_journal(journal, head, form))


@app.command()
@journal_place
@click.argument("workload", metavar="WORKLOAD")
@click.option("--at", metavar="SEQ|TIME", help="as of this event or time; else the end of the journal")
@with_format
def explain(journal: str, workload: str, at: str | None, form: Format) -> None:
    """Say why a workload runs, waits or was evicted, and what would change that."""
    from .explaining import explain_workload

    sys.exit(explain_workload(journal, workload, at, form))

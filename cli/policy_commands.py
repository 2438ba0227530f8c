"""The commands about policies: check, fmt, test, diff, run, simulate. Each loads what it needs when called, so that all start fast."""

import sys
from typing import Any

import click

from .app import PLACE, app, keep, policy_file, policy_files, with_checkpoints, with_format
from .output import Format


@app.command()
@policy_files
@with_format
def check(files: tuple[str, ...], form: Format) -> None:
    """Check syntax, names, types, units and contradictions; all errors at once."""
    from .policies import check_files

    sys.exit(check_files(files, form))


@app.command()
@policy_files
@click.option("--check", "only_check", is_flag=True, help="change nothing; exit 2 if something would change")
@click.option("--diff", is_flag=True, help="change nothing; show what would change; exit 2 if something would")
@with_format
def fmt(files: tuple[str, ...], only_check: bool, diff: bool, form: Format) -> None:
    """Bring files into the one layout."""
    from .policies import format_files

    sys.exit(format_files(files, only_check, diff, form))


@app.command()
@policy_files
@with_format
def test(files: tuple[str, ...], form: Format) -> None:
    """Run the test blocks of policies; name the reason that differed."""
    from .policies import test_files

    sys.exit(test_files(files, form))


@app.command()
@click.argument("old", metavar="OLD", type=PLACE)
@click.argument("new", metavar="NEW", type=PLACE)
@with_format
def diff(old: str, new: str, form: Format) -> None:
    """Say what differs between the meanings of two policies, with a workload that shows it; exit 2 if anything does."""
    from .diffing import compare_policies

    sys.exit(compare_policies(old, new, form))


@app.command()
@policy_file
@click.argument("facts", metavar="FACTS.jsonl", type=PLACE)
@keep
@click.option("--out", metavar="PATH", type=PLACE, help="write decisions here, one a line")
@click.option("--skip-invalid", is_flag=True, help="skip lines that are no possible fact, and list them")
@click.option("--as-recorded", is_flag=True, help="play these facts and no other moments: `gpol export facts` has written all there were")
@with_checkpoints
@with_format
def run(policy: str, facts: str, form: Format, **options: Any) -> None:
    """Play facts, one a line, through the core under a policy; - is standard input, .gz is fine."""
    from .running import run_facts
    from .signing import Wanted

    wanted = Wanted(options.pop("checkpoints"), options.pop("checkpoint_every"), options.pop("key"))
    sys.exit(run_facts(policy, facts, form, wanted, **options))


@app.command()
@policy_file
@click.argument("workloads", metavar="WORKLOADS", type=PLACE)
@click.option("--trace", metavar="FORM", help="the form of the file: csv, jsonl or philly; else its name decides")
@click.option("--on-evict", metavar="restart|resume", default="restart", help="whether an evicted job runs anew, or what was left of it")
@keep
@click.option("--report", metavar="PATH", type=PLACE, help="write a page with charts here")
@click.option("--seed", metavar="N", help="refused: nothing in a simulation is random")
@with_checkpoints
@with_format
def simulate(policy: str, workloads: str, form: Format, **options: Any) -> None:
    """Play jobs in virtual time: a job ends its duration after its admission."""
    from .running import simulate_jobs
    from .signing import Wanted

    wanted = Wanted(options.pop("checkpoints"), options.pop("checkpoint_every"), options.pop("key"))
    sys.exit(simulate_jobs(policy, workloads, form, wanted, **options))

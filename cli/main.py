"""The command `gpol`: every command is loaded only when it is called, so that check and fmt start fast."""

import os
import sys
from typing import Annotated

import typer
from typer.exceptions import TyperException

from .output import FAILED, INVALID, Format, FormatOption, RefusalError, complain

app = typer.Typer(
    name="gpol",
    help="A policy engine for GPU clusters: decisions that replay, explain themselves and can be tried out first.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="policies; - for standard input")]
PolicyFile = Annotated[str, typer.Argument(metavar="POLICY", help="a .gpol file")]
JournalFile = Annotated[str, typer.Argument(metavar="JOURNAL", help="the file of a journal")]


@app.command()
def check(files: Files, form: FormatOption = Format.human) -> None:
    """Check syntax, names, types, units and contradictions; all errors at once."""
    from .policies import check_files

    raise typer.Exit(check_files(files, form))


@app.command()
def fmt(
    files: Files,
    only_check: Annotated[bool, typer.Option("--check", help="change nothing; exit 2 if something would change")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="change nothing; show what would change")] = False,
    form: FormatOption = Format.human,
) -> None:
    """Bring files into the one layout."""
    from .policies import format_files

    raise typer.Exit(format_files(files, only_check, diff, form))


@app.command()
def test(files: Files, form: FormatOption = Format.human) -> None:  # noqa: PT028
    """Run the test blocks of policies; name the reason that differed."""
    from .policies import test_files

    raise typer.Exit(test_files(files, form))


@app.command()
def run(
    policy: PolicyFile,
    facts: Annotated[str, typer.Argument(metavar="FACTS.jsonl", help="one fact a line; - for standard input; .gz is fine")],
    journal: Annotated[str | None, typer.Option(help="keep all events in this new journal")] = None,
    out: Annotated[str | None, typer.Option(help="write decisions here, one a line")] = None,
    skip_invalid: Annotated[bool, typer.Option("--skip-invalid", help="skip lines that are no possible fact, and list them")] = False,
    form: FormatOption = Format.human,
) -> None:
    """Play facts through the core under a policy."""
    from .running import run_facts

    raise typer.Exit(run_facts(policy, facts, journal, out, skip_invalid, form))


@app.command()
def simulate(
    policy: PolicyFile,
    workloads: Annotated[str, typer.Argument(metavar="WORKLOADS", help="a file of jobs with their durations")],
    trace: Annotated[str | None, typer.Option(help="the form of the file: csv, jsonl or philly; else its name decides")] = None,
    on_evict: Annotated[str, typer.Option("--on-evict", help="restart (run anew) or resume (run what is left)")] = "restart",
    journal: Annotated[str | None, typer.Option(help="keep all events in this new journal")] = None,
    report: Annotated[str | None, typer.Option(help="write a page with charts here")] = None,
    seed: Annotated[int | None, typer.Option(help="refused: nothing in a simulation is random")] = None,
    form: FormatOption = Format.human,
) -> None:
    """Play jobs in virtual time: a job ends its duration after its admission."""
    from .running import simulate_jobs

    raise typer.Exit(simulate_jobs(policy, workloads, trace, on_evict, journal, report, seed, form))


@app.command()
def log(
    journal: JournalFile,
    workload: Annotated[str | None, typer.Option(help="events of this workload")] = None,
    queue: Annotated[str | None, typer.Option(help="events of this queue")] = None,
    kind: Annotated[str | None, typer.Option(help="events of this kind")] = None,
    since: Annotated[str | None, typer.Option(help="from this time on (RFC 3339, or microseconds)")] = None,
    until: Annotated[str | None, typer.Option(help="up to this time")] = None,
    form: FormatOption = Format.human,
) -> None:
    """Read the events of a journal."""
    from .auditing import show_log

    raise typer.Exit(show_log(journal, workload, queue, kind, since, until, form))


@app.command()
def replay(journal: JournalFile, form: FormatOption = Format.human) -> None:
    """Decide every recorded fact again and compare each decision byte for byte."""
    from .auditing import replay_journal

    raise typer.Exit(replay_journal(journal, form))


@app.command()
def verify(
    journal: JournalFile,
    head: Annotated[str | None, typer.Option(help="SEQ:CHAIN, a head noted earlier that must still be there")] = None,
    form: FormatOption = Format.human,
) -> None:
    """Check that nothing recorded was changed, left out or put in."""
    from .auditing import verify_journal

    raise typer.Exit(verify_journal(journal, head, form))


@app.command()
def explain(
    journal: JournalFile,
    workload: Annotated[str, typer.Argument(metavar="WORKLOAD")],
    at: Annotated[str | None, typer.Option(help="a seq, or a time (RFC 3339); else the end of the journal")] = None,
    form: FormatOption = Format.human,
) -> None:
    """Say why a workload runs, waits or was evicted, and what would change that."""
    from .explaining import explain_workload

    raise typer.Exit(explain_workload(journal, workload, at, form))


def main() -> None:
    """Run the command; a user's mistake ends in one clear message, never in a traceback."""
    sys.exit(_main(sys.argv[1:]))


def _main(arguments: list[str]) -> int:
    if not arguments:
        arguments = ["--help"]
    try:
        result: object = app(arguments, standalone_mode=False)
        sys.stdout.flush()
    except RefusalError as refusal:
        complain(f"gpol: {refusal}")
        return refusal.code
    except typer.Exit as ended:
        return ended.exit_code
    except TyperException as error:
        complain(f"gpol: {str(error).rstrip('.')}; see `gpol --help`")
        return INVALID
    except (typer.Abort, KeyboardInterrupt):
        complain("gpol: stopped")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:  # the last resort: a defect is told in one line, its trace only on demand
        if os.environ.get("GPOL_TRACEBACK"):
            raise
        complain(f"gpol: internal error: {type(error).__name__}: {error}; set GPOL_TRACEBACK=1 to see where, and report it")
        return FAILED
    return result if isinstance(result, int) else 0

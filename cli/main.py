"""The command `gpol`: every command is loaded only when it is called, so that check and fmt start fast."""

import os
import sys
from collections.abc import Callable
from typing import Any

import click

from .output import FAILED, INVALID, Format, RefusalError, complain, use_streams

Command = Callable[..., None]


def _with_format(command: Command) -> Command:
    """Give a command its `--format`."""
    help_text = "for people, for logs and screen readers, or one JSON object a line"
    choice = click.Choice([each.value for each in Format])
    option = click.option("--format", "form", type=choice, default="human", callback=_chosen, help=help_text)
    return option(command)


def _chosen(_context: click.Context, _option: click.Parameter, value: str) -> Format:
    use_streams(utf8=value == Format.json)
    return Format(value)


_policy = click.argument("policy", metavar="POLICY")
_journal = click.argument("journal", metavar="JOURNAL")
_files = click.argument("files", metavar="FILE...", nargs=-1, required=True)
_keep = click.option("--journal", metavar="PATH", help="keep all events in this new journal")


@click.group(context_settings={"max_content_width": 110})
@click.version_option(package_name="gpol", prog_name="gpol")
def app() -> None:
    """A policy engine for GPU clusters: decisions that replay, explain themselves and can be tried out first."""


@app.command()
@_files
@_with_format
def check(files: tuple[str, ...], form: Format) -> None:
    """Check syntax, names, types, units and contradictions; all errors at once."""
    from .policies import check_files

    sys.exit(check_files(files, form))


@app.command()
@_files
@click.option("--check", "only_check", is_flag=True, help="change nothing; exit 2 if something would change")
@click.option("--diff", is_flag=True, help="change nothing; show what would change; exit 2 if something would")
@_with_format
def fmt(files: tuple[str, ...], only_check: bool, diff: bool, form: Format) -> None:
    """Bring files into the one layout."""
    from .policies import format_files

    sys.exit(format_files(files, only_check, diff, form))


@app.command()
@_files
@_with_format
def test(files: tuple[str, ...], form: Format) -> None:
    """Run the test blocks of policies; name the reason that differed."""
    from .policies import test_files

    sys.exit(test_files(files, form))


@app.command()
@_policy
@click.argument("facts", metavar="FACTS.jsonl")
@_keep
@click.option("--out", metavar="PATH", help="write decisions here, one a line")
@click.option("--skip-invalid", is_flag=True, help="skip lines that are no possible fact, and list them")
@_with_format
def run(policy: str, facts: str, journal: str | None, out: str | None, skip_invalid: bool, form: Format) -> None:
    """Play facts, one a line, through the core under a policy; - is standard input, .gz is fine."""
    from .running import run_facts

    sys.exit(run_facts(policy, facts, journal, out, skip_invalid, form))


@app.command()
@_policy
@click.argument("workloads", metavar="WORKLOADS")
@click.option("--trace", metavar="FORM", help="the form of the file: csv, jsonl or philly; else its name decides")
@click.option("--on-evict", metavar="restart|resume", default="restart", help="whether an evicted job runs anew, or what was left of it")
@_keep
@click.option("--report", metavar="PATH", help="write a page with charts here")
@click.option("--seed", metavar="N", help="refused: nothing in a simulation is random")
@_with_format
def simulate(policy: str, workloads: str, form: Format, **options: Any) -> None:
    """Play jobs in virtual time: a job ends its duration after its admission."""
    from .running import simulate_jobs

    sys.exit(simulate_jobs(policy, workloads, form, **options))


@app.command()
@_journal
@click.option("--workload", metavar="W", help="events of this workload")
@click.option("--queue", metavar="Q", help="events of this queue")
@click.option("--kind", metavar="K", help="events of this kind, such as WorkloadEvicted")
@click.option("--since", metavar="T", help="from this time on (RFC 3339, or microseconds)")
@click.option("--until", metavar="T", help="up to this time")
@_with_format
def log(journal: str, form: Format, **filters: Any) -> None:
    """Read the events of a journal."""
    from .auditing import show_log

    sys.exit(show_log(journal, form, **filters))


@app.command()
@_journal
@_with_format
def replay(journal: str, form: Format) -> None:
    """Decide every recorded fact again and compare each decision byte for byte."""
    from .auditing import replay_journal

    sys.exit(replay_journal(journal, form))


@app.command()
@_journal
@click.option("--head", metavar="SEQ:CHAIN", help="a head noted earlier that must still be there")
@_with_format
def verify(journal: str, head: str | None, form: Format) -> None:
    """Check that nothing recorded was changed, left out or put in."""
    from .auditing import verify_journal

    sys.exit(verify_journal(journal, head, form))


@app.command()
@_journal
@click.argument("workload", metavar="WORKLOAD")
@click.option("--at", metavar="SEQ|TIME", help="as of this event or time; else the end of the journal")
@_with_format
def explain(journal: str, workload: str, at: str | None, form: Format) -> None:
    """Say why a workload runs, waits or was evicted, and what would change that."""
    from .explaining import explain_workload

    sys.exit(explain_workload(journal, workload, at, form))


@app.group("import")
def import_() -> None:
    """Make a policy and facts of another system's state."""


@import_.command("kueue")
@click.argument("dumps", metavar="DUMP...", nargs=-1, required=True)
@click.option("-o", "--out", metavar="PATH", help="write the policy into this new file; else it is printed")
@click.option("--facts", metavar="PATH", help="write the facts that rebuild the present state into this new file, one a line")
@click.option("--profile", metavar="NAME", help="kueue.classical, kueue.fair or gpol.fair; else as the dumps' Configuration says")
@click.option("--at", metavar="TIME", help="the moment of the dumps; else the latest one that they name")
@click.option("--priority-boost", "boost", is_flag=True, help="count priority boosts, as with Kueue's feature gate PriorityBoost")
@_with_format
def import_kueue(dumps: tuple[str, ...], form: Format, **options: Any) -> None:
    """Import Kueue's objects as `kubectl get -o yaml|json` writes them; - is standard input."""
    from .kueue import import_dumps

    sys.exit(import_dumps(dumps, form=form, **options))


@app.group("export")
def export() -> None:
    """Make another system's objects of a policy."""


@export.command("kueue")
@_policy
@click.option("-o", "--out", metavar="PATH", help="write the objects into this new file; else they are printed")
@click.option("--json", "as_json", is_flag=True, help="as one List in JSON; else as YAML documents")
@click.option("--gpu", metavar="NAME", help="what the resource gpu is called in the cluster; else nvidia.com/gpu")
@_with_format
def export_kueue(policy: str, form: Format, **options: Any) -> None:
    """Export a policy to Kueue's objects, for `kubectl apply`; what they can't say is refused, or told on stderr."""
    from .kueue import export_policy

    sys.exit(export_policy(policy, form=form, **options))


@app.group()
def kueue() -> None:
    """What Kueue itself would decide."""


@kueue.command("decide")
@click.argument("scenarios", metavar="SCENARIOS.jsonl")
def decide(scenarios: str) -> None:
    """Answer scenarios, one a line: a workload on a cluster's objects, or steps of a history; - is standard input, .gz is fine."""
    from .kueue import decide_scenarios

    use_streams(utf8=True)
    sys.exit(decide_scenarios(scenarios))


def main() -> None:
    """Run the command; a user's mistake ends in one clear message, never in a traceback."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by who called us
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # open till the end
    sys.exit(run_command(sys.argv[1:]))


def run_command(arguments: list[str]) -> int:
    """Run the command with arguments; return its exit code."""
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
        return code
    except RefusalError as refusal:
        complain(f"gpol: {refusal}")
        return refusal.code
    except click.ClickException as error:
        complain(f"gpol: {error.format_message().rstrip('.')}; see `gpol --help`")
        return INVALID
    except (click.Abort, KeyboardInterrupt):
        complain("gpol: stopped")
        return 130
    except BrokenPipeError:
        return 141
    except OSError as error:  # the world's doing, not a defect: no such folder, a full disk, no rights
        complain(f"gpol: `{error.filename}`: {error.strerror}" if error.filename else f"gpol: {error.strerror or error}")
        return FAILED
    except Exception as error:  # the last resort: a defect is told in one line, its trace only on demand
        if os.environ.get("GPOL_TRACEBACK"):
            raise
        complain(f"gpol: internal error: {type(error).__name__}: {error}; set GPOL_TRACEBACK=1 to see where, and report it")
        return FAILED
    finally:
        _leave_nothing_to_print()


def _invoke(arguments: list[str]) -> int:
    try:
        with app.make_context("gpol", arguments or ["--help"]) as context:  # not main(): it takes a broken pipe for a failure
            app.invoke(context)
    except click.exceptions.Exit as ended:  # --help and --version
        return ended.exit_code
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 0
    return 0


def _leave_nothing_to_print() -> None:
    """What stdout does not take is dropped here: Python would try it again at its end, and complain in its own words."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

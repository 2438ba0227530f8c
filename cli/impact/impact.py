"""impact: what another policy would have made of a recorded history."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from ..shared.journals import new_journal, open_journal
from ..shared.options import PLACE, force, journal_place, with_format
from ..shared.output import FAILED, GOOD, INVALID, NO, NOT_VERIFIED, Format, refuse
from ..shared.policies import checked_policy
from ..shared.progress import progress
from ..shared.report import check_report, write_report
from ..speed.kernels import core_for_command, tools_of

if TYPE_CHECKING:
    from ...journal.journal import Journal
    from ...sim.drive.driver import OnEvict
    from ...sim.drive.policy import Policy


@click.command()
@journal_place
@click.argument("files", metavar="NEW.gpol...", type=PLACE, nargs=-1, required=True)
@click.option("--open-loop", is_flag=True, help="decide each recorded moment again, on the recorded state; else play history again")
@click.option(
    "--on-evict", metavar="restart|resume", help="whether an evicted run begins anew, or goes on, where the journal does not record it"
)
@click.option("--journal", "kept", metavar="PATH", type=PLACE, help="keep the other history in this new journal")
@click.option("--report", metavar="PATH", type=PLACE, help="write a page with both histories side by side here")
@force
@click.option("--set", "settings", metavar="PATH=VALUES", multiple=True, help="try these numbers, such as queue.nlp.owns.h100=32..96:16")
@click.option("--backend", metavar="local|dask|ray", default="local", help="where a sweep of several policies is played")
@click.option("--jobs", metavar="N", type=click.IntRange(min=1), help="policies played at once; else as many as there are cores")
@click.option("--scheduler", metavar="ADDRESS", help="of a Dask cluster; else one is started on this machine")
@with_format
def impact(
    journal: str,
    files: tuple[str, ...],
    form: Format,
    open_loop: bool,
    on_evict: str | None,
    kept: str | None,
    report: str | None,
    force: bool,
    settings: tuple[str, ...],
    **how: Any,
) -> int:
    """Say what another policy would have made of a recorded history, or each of several; exit 2 if anything differs."""
    from ...sim.drive.policy import Policy

    evicted = _on_evict(on_evict)
    if open_loop and kept is not None:
        refuse("--journal: an open loop makes no other history that could be kept; leave one of the two out")
    if open_loop and report is not None:
        refuse("--report: an open loop makes no other history that could be drawn; leave one of the two out")
    if open_loop and evicted is not None:
        refuse("--on-evict: an open loop plays no runs, so none begins anew or goes on; leave one of the two out")
    if files.count("-") > 1:
        refuse("only one policy can be read from standard input; give files for the others")
    policies = [Policy.of(checked_policy(file, form)) for file in files]
    if len(policies) == 1 and not settings:
        _alone(how)
        return (
            _open(journal, policies[0], form) if open_loop else _closed(journal, policies[0], files[0], form, evicted, kept, report, force)
        )
    for option, given in (("--open-loop", open_loop), ("--journal", kept is not None), ("--report", report is not None)):
        if given:
            refuse(f"{option} is for one policy, and this is a sweep of several; give one policy, without --set")
    from ...sim.impact.recorded_settings import recorded_settings
    from .sweep import chosen_variants, show_sweep

    tried = chosen_variants(files, policies, settings, form)
    with _open_to_play(journal) as recorded:  # before any worker starts
        upto = recorded.head.seq
        with _told():
            evicted = recorded_settings(recorded, evicted, upto).on_evict
    return show_sweep(journal, tried, evicted, form, upto=upto, tools=tools_of(upto), **how)


def _alone(how: dict[str, Any]) -> None:
    """Refuse options that say how to spread work where there is nothing to spread."""
    for option, without in (("backend", "local"), ("jobs", None), ("scheduler", None)):
        if how[option] != without:
            refuse(f"--{option} is for a sweep; give several policies, or --set")


def _open(place: str, policy: "Policy", form: Format) -> int:
    from ...sim.impact.open_impact import open_impact
    from ..speed.kernels import core_for_command
    from .impact_output import show_open

    with _told(), _open_to_play(place) as journal, progress("deciding again", journal.head.seq) as tick:
        found = open_impact(journal, policy, core=core_for_command(journal.head.seq), progress=tick)
    show_open(found, form, place)
    return GOOD if found.nothing_changes else NO


def _closed(
    place: str, policy: "Policy", file: str, form: Format, evicted: "OnEvict | None", kept: str | None, report: str | None, force: bool
) -> int:
    from ...sim.impact.closed_impact import closed_impact
    from ...sim.impact.recorded_settings import recorded_settings
    from ...sim.measure.series import Series
    from .impact_output import show_closed

    check_report(report, (place, file, kept), force=force)
    series = (Series(), Series()) if report is not None else None
    with _told(), ExitStack() as stack:
        journal = stack.enter_context(_open_to_play(place))
        setting = recorded_settings(journal, evicted, journal.head.seq)  # before anything is made
        tools, core = (tools_of(journal.head.seq), None) if report is None else (None, core_for_command(journal.head.seq))
        sink = new_journal(kept, stack)
        tick = stack.enter_context(progress("playing again", journal.head.seq))
        found = closed_impact(journal, policy, setting.on_evict, kept=sink, series=series, progress=tick, tools=tools, core=core)
    show_closed(found, form, place)
    if series is not None and report is not None:
        from ...sim.report.impact_report import impact_page

        write_report(report, impact_page(found, *series), form, force=force)
    return GOOD if found.nothing_changes else NO


def _on_evict(text: str | None) -> "OnEvict | None":
    if text not in (None, "restart", "resume"):
        refuse(f"--on-evict is restart or resume, not `{text}`")
    return None if text is None else "resume" if text == "resume" else "restart"


def _open_to_play(place: str) -> "Journal":
    """A journal with events to play again. Ends the command where there is none."""
    journal = open_journal(place)
    if journal.head.seq == 0:
        journal.close()
        refuse("the journal is empty, so there is nothing to play again")
    return journal


@contextmanager
def _told() -> Iterator[None]:
    """End the command where a history cannot be played, with what is wrong and the exit code for it."""
    from ...journal.errors import DamagedError, JournalError
    from ...sim.drive.player import EndlessError
    from ...sim.impact.open_impact import UnlikeError
    from ...sim.impact.recorded_settings import MixedSettingsError, SettingsError

    try:
        yield
    except UnlikeError as error:
        refuse(f"{error}; leave --open-loop out: a closed loop plays either")
    except SettingsError as error:
        mixed = isinstance(error, MixedSettingsError)
        refuse(str(error) + ("; give one policy and --open-loop, which plays no runs" if mixed else "; leave --on-evict out"))
    except EndlessError as error:
        refuse(str(error), INVALID)
    except JournalError as error:
        refuse(str(error), NOT_VERIFIED if isinstance(error, DamagedError) else FAILED)

"""impact: what another policy would have made of a recorded history."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..journal.errors import DamagedError, JournalError
from ..journal.journal import Journal
from ..sim.driving import OnEvict
from ..sim.impact import closed_impact
from ..sim.open_impact import UnlikeError, open_impact
from ..sim.play import EndlessError
from ..sim.policy import Policy
from .auditing import open_journal
from .files import replace_file
from .impact_figures import show_closed, show_open
from .output import FAILED, GOOD, INVALID, NO, NOT_VERIFIED, Format, checked_policy, refuse, say, say_json
from .progress import progress
from .running import new_journal, series_for


def show_impact(
    place: str,
    files: tuple[str, ...],
    form: Format,
    *,
    open_loop: bool,
    on_evict: str,
    kept: str | None,
    report: str | None,
    settings: tuple[str, ...],
    **how: Any,
) -> int:
    """Print what policies would have made of a journal, one or a sweep of several; the exit code says whether anything differs."""
    evicted = _on_evict(on_evict)
    if open_loop and kept is not None:
        refuse("--journal: an open loop makes no other history that could be kept; leave one of the two out")
    if open_loop and report is not None:
        refuse("--report: an open loop makes no other history that could be drawn; leave one of the two out")
    if open_loop and evicted == "resume":
        refuse("--on-evict: an open loop plays no runs, so none begins anew or goes on; leave one of the two out")
    if files.count("-") > 1:
        refuse("only one policy can be read from standard input; give files for the others")
    policies = [Policy.of(checked_policy(file, form)) for file in files]
    if len(policies) == 1 and not settings:
        _alone(how)
        return _open(place, policies[0], form) if open_loop else _closed(place, policies[0], files[0], form, evicted, kept, report)
    for option, given in (("--open-loop", open_loop), ("--journal", kept is not None), ("--report", report is not None)):
        if given:
            refuse(f"{option} is for one policy, and this is a sweep of several; give one policy, without --set")
    from .sweeping import chosen_variants, show_sweep

    tried = chosen_variants(files, policies, settings, form)
    with open_to_play(place) as journal:  # before any worker starts
        upto = journal.head.seq
    return show_sweep(place, tried, evicted, form, upto=upto, **how)


def _alone(how: dict[str, Any]) -> None:
    """Refuse options that say how to spread work where there is nothing to spread."""
    for option, without in (("backend", "local"), ("jobs", None), ("scheduler", None)):
        if how[option] != without:
            refuse(f"--{option} is for a sweep; give several policies, or --set")


def _open(place: str, policy: Policy, form: Format) -> int:
    with _told(), open_to_play(place) as journal, progress("deciding again", journal.head.seq) as tick:
        found = open_impact(journal, policy, progress=tick)
    show_open(found, form, place)
    return GOOD if found.nothing_changes else NO


def _closed(place: str, policy: Policy, file: str, form: Format, evicted: OnEvict, kept: str | None, report: str | None) -> int:
    before, after = (series_for(report, (place, file, kept)) for _ in range(2))
    series = (before, after) if before is not None and after is not None else None
    with _told(), ExitStack() as stack:
        journal = stack.enter_context(open_to_play(place))
        sink = new_journal(kept, stack)
        tick = stack.enter_context(progress("playing again", journal.head.seq))
        found = closed_impact(journal, policy, evicted, kept=sink, series=series, progress=tick)
    show_closed(found, form, place)
    if series is not None and report is not None:
        from ..sim.impact_report import impact_page

        replace_file(report, impact_page(found, *series))
        say(f"report {report}") if form is not Format.json else say_json("report", path=report)
    return GOOD if found.nothing_changes else NO


def _on_evict(text: str) -> OnEvict:
    if text not in ("restart", "resume"):
        refuse(f"--on-evict is restart or resume, not `{text}`")
    return "resume" if text == "resume" else "restart"


def open_to_play(place: str) -> Journal:
    """A journal with events to play again. Ends the command where there is none."""
    journal = open_journal(place)
    if journal.head.seq == 0:
        journal.close()
        refuse("the journal is empty, so there is nothing to play again")
    return journal


@contextmanager
def _told() -> Iterator[None]:
    """End the command where a history cannot be played, with what is wrong and the exit code for it."""
    try:
        yield
    except UnlikeError as error:
        refuse(f"{error}; leave --open-loop out: a closed loop plays either")
    except EndlessError as error:
        refuse(str(error), INVALID)
    except JournalError as error:
        refuse(str(error), NOT_VERIFIED if isinstance(error, DamagedError) else FAILED)

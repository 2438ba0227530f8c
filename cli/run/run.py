"""run: facts from a file or a stream, played under a policy."""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import click

from ...journal.store.durable_files import OF_THE_GROUP
from ..outputs.file_kinds import DECISIONS
from ..shared.files import Target, explained, is_stdout, keep_apart, open_stdout
from ..shared.journals import new_journal
from ..shared.options import PLACE, force, policy_file, with_format
from ..shared.output import GOOD, INVALID, Format, complain, refuse, shown_json
from ..shared.policies import checked_policy
from ..shared.progress import progress
from ..speed.garbage import seldom_collecting
from .recording import Signer, Wanted, acting, check_acting, keep, sink_of, tell_last, told_at_an_early_end, with_checkpoints

if TYPE_CHECKING:
    from ...engine.cores import PlayedBatch
    from ...sim.drive.given_facts import PlayedStretch

TICK = 500
"""After how many facts the progress moves."""


@click.command()
@policy_file
@click.argument("facts", metavar="FACTS.jsonl", type=PLACE)
@keep
@acting
@click.option("--out", metavar="PATH", type=PLACE, help="write decisions here, one a line")
@force
@click.option("--skip-invalid", is_flag=True, help="skip lines that are no possible fact, and list them")
@click.option("--as-recorded", is_flag=True, help="play these facts and no other moments; for what `gpol export facts` wrote")
@with_checkpoints
@with_format
def run(
    policy: str,
    facts: str,
    journal: str | None,
    by: str,
    note: str,
    out: str | None,
    force: bool,
    skip_invalid: bool,
    as_recorded: bool,
    form: Format,
    **signing: Any,
) -> int:
    """Play facts, one a line, through the core under a policy; - is standard input, .gz is fine."""
    with progress("starting", None):
        from ...sim.drive.job import InputError
        from ...sim.drive.player import Player
        from ...sim.drive.policy import Policy
        from ...sim.measure.columns.compiled_count import count_at_hand
        from ...sim.measure.columns.history_measure import HistoryMeasure
        from ...sim.measure.never_ran import NeverRan
        from ...sim.measure.place_measure import PlaceMeasure, asked_by
        from ..speed.kernels import core_for_command
        from .fact_lines import Facts, open_facts, play
        from .figures import show_figures, show_places
        from .never_ran_output import show_never_ran
        from .node_notes import tell_without_place

    if policy == facts == "-":
        refuse("standard input is either the policy or the facts; give a file for one of them")
    check_acting(by, note, journal)
    active = Policy.of(checked_policy(policy, form), by, note)
    wanted = Wanted(**signing)
    signer = Signer.of(wanted, journal)
    figures, never_ran, stood = HistoryMeasure(None, count_at_hand), NeverRan(), PlaceMeasure(lambda name: asked_by(player.core, name))
    with told_at_an_early_end(journal), explained(out), ExitStack() as stack:
        stack.enter_context(seldom_collecting())
        lines = Facts(facts, open_facts(facts, stack), skip_invalid, as_recorded)
        decided = _open_out(out, (policy, facts, journal, wanted.key), stack, force=force)
        kept = new_journal(journal, stack)
        checkpointer = signer.sign(kept, stack) if signer is not None and kept is not None else None
        player = Player(core_for_command(), group=500 if decided is None else 1)  # no decision is out that is not kept
        player.sink = sink_of(kept, checkpointer, player.core, stack)
        if out is not None and decided is not None and stat.S_ISREG(os.fstat(decided.fileno()).st_mode) and not is_stdout(out):
            decided.truncate(0)  # not before everything else is known to work
        tick = stack.enter_context(progress("playing facts", None))
        code, seq, count = GOOD, 0, 0
        try:
            for played in stack.enter_context(closing(play(active, lines, player))):
                graph = player.core.graph
                assert graph is not None, "the first fact activates a policy"
                figures.take(played, graph)
                never_ran.take(played)
                stood.take(played, graph)
                if decided is not None:
                    for before, payload in _decisions(played):
                        print(shown_json(f'{{"seq":{seq + before + 1},{payload.decode()[1:]}'), file=decided)
                more_facts, more_events = _sizes(played)
                seq, count = seq + more_events, count + more_facts
                if count // TICK > (count - more_facts) // TICK:
                    tick(count)
        except InputError as error:
            complain(f"gpol: {error}")
            code = INVALID
        finally:
            player.flush()
    measure = figures.measure()
    measure.check_accounts()
    if measure.facts == 0 and code == GOOD:
        complain(f"gpol: no fact was played: {lines.name} has none" + (" that is possible" if lines.skipped else ""))
    if player.core.graph is not None:
        tell_without_place(player.core.graph, player.core.view.machines())
    show_figures(measure, form, skipped=lines.skipped)
    show_places(stood, form)
    show_never_ran(player.core, never_ran, form, journal)
    tell_last(checkpointer, form)
    return code


def _sizes(played: "PlayedBatch | PlayedStretch") -> tuple[int, int]:
    """How many facts, and how many events in all, were played."""
    return (1, 1 + len(played[1])) if isinstance(played, tuple) else (len(played.fact_rows), len(played.events))


def _decisions(played: "PlayedBatch | PlayedStretch") -> Iterator[tuple[int, bytes]]:
    """How many events were played before each decision, and its bytes."""
    return enumerate((each.payload() for each in played[1]), start=1) if isinstance(played, tuple) else played.decisions()


def _open_out(path: str | None, others: tuple[str | None, ...], stack: ExitStack, *, force: bool) -> TextIO | None:
    """A file to write decisions to, line by line so that none is held back, opened as it is."""
    if path is None:
        return None
    keep_apart("--out", path, others)
    Target("--out", path, DECISIONS, force).check()
    if is_stdout(path):
        return stack.enter_context(open(open_stdout(), "w", buffering=1, encoding="utf-8", newline="\n"))
    with_rights = partial(os.open, mode=OF_THE_GROUP)
    return stack.enter_context(open(path, "a", buffering=1, encoding="utf-8", newline="\n", opener=with_rights))

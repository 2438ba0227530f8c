"""run and simulate: facts from a stream, or jobs in virtual time, through the core."""

import gzip
import json
import os
import stat
import sys
import zlib
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO

from pydantic import ValidationError

from ..adapters.rows import once
from ..adapters.traces import READERS, read_jobs
from ..engine.errors import FactError, describe_error
from ..engine.events import FACT, Fact, PolicyActivated
from ..engine.reference import Core
from ..engine.units import format_time
from ..journal.errors import JournalError, TakenError
from ..journal.journal import Journal
from ..journal.snapshots import Snapshotter
from ..sim.measure import Measure
from ..sim.play import Batch, EndlessError, OvertakenError, Player
from ..sim.policy import Policy
from ..sim.simulate import Simulation
from ..sim.workload import InputError, Job
from .auditing import refuse_use
from .figures import show_figures
from .files import explained, keep_apart, real_path, replace_file
from .output import FAILED, GOOD, INVALID, Format, checked_policy, complain, counted, refuse, say, say_json
from .progress import progress
from .signing import Signer, Wanted, tell_last

MAX_LINE = 1_000_000
"""The longest line of facts that is read, in bytes."""

_Bytes = IO[bytes] | gzip.GzipFile

if TYPE_CHECKING:
    from ..journal.checkpointer import Checkpointer
    from ..sim.series import Series


def new_journal(path: str | None, stack: ExitStack) -> Journal | None:
    """A new journal that is closed with the stack; none without a path."""
    if path is None:
        return None
    try:
        return stack.enter_context(Journal.create(path))
    except TakenError as error:  # no command appends to a journal, as a program may
        refuse(f"{error.message}; choose another name, or remove it if nobody needs it")
    except JournalError as error:
        refuse_use(error, INVALID)


def _sink(journal: Journal | None, checkpointer: "Checkpointer | None", core: Core, stack: ExitStack) -> Snapshotter | None:
    """What takes the batches into a journal: with snapshots of the core, a last one when the stack closes, and checkpoints if wanted."""
    return stack.enter_context(Snapshotter(journal, core, checkpointer)) if journal is not None else None


# --- run ------------------------------------------------------------------------------------------------------------


class _Facts:
    """The facts of a file, line by line; a line that is none ends the run, or is skipped and listed."""

    def __init__(self, path: str, file: _Bytes, skip: bool) -> None:
        self.name = path if path != "-" else "stdin"
        self.file = file
        self.skip = skip
        self.line = 0
        self.skipped = 0

    def __iter__(self) -> Iterator[Fact]:
        while text := self._next_line():
            if not text.strip():
                continue
            try:
                if len(text) > MAX_LINE:
                    raise ValueError(f"the line is longer than {MAX_LINE:,} bytes")
                fact = FACT.validate_json(text)
                json.loads(text, object_pairs_hook=once)  # of a key that is there twice, pydantic takes the last one
                if isinstance(fact, PolicyActivated):
                    raise ValueError("PolicyActivated: the policy is given on the command line; remove this line")
                yield fact
            except RecursionError:
                self.bad("the line nests too deep")
            except (ValidationError, ValueError) as error:
                self.bad(describe_error(error) if isinstance(error, ValidationError) else str(error))

    def _next_line(self) -> bytes:
        """The next line; of one that is too long its beginning alone, so that no line fills the memory."""
        self.line += 1
        try:
            text = rest = self.file.readline(MAX_LINE + 1)
            while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
                rest = self.file.readline(MAX_LINE + 1)
        except (OSError, EOFError, zlib.error) as error:
            remedy = "write or copy the file again"
            raise InputError(self.name, self.line, f"the file cannot be read on: {error}", remedy) from None
        return text.removeprefix(b"\xef\xbb\xbf") if self.line == 1 else text

    def bad(self, problem: str, applied: str = "") -> None:
        """Say what is wrong with the line at hand, and what of it was applied; end the run unless lines may be skipped."""
        if not self.skip:
            rest = applied or "nothing from this line on was applied"
            raise InputError(self.name, self.line, problem, f"{rest}; correct it, or use --skip-invalid")
        complain(f"skipped {self.name}:{self.line}: {problem}" + (f"; {applied}" if applied else ""))
        self.skipped += 1


def run_facts(
    policy_path: str,
    facts_path: str,
    form: Format,
    signing: Wanted,
    *,
    journal: str | None,
    out: str | None,
    skip_invalid: bool,
    as_recorded: bool,
) -> int:
    """Play the facts of a file, and between them the moments at which time alone decides, unless they hold these `as_recorded`."""
    if policy_path == facts_path == "-":
        refuse("standard input is either the policy or the facts; give a file for one of them")
    policy = Policy.of(checked_policy(policy_path, form))
    signer = Signer.of(signing, journal)
    measure = Measure()
    with explained(out), ExitStack() as stack:
        facts = _Facts(facts_path, _open(facts_path, stack), skip_invalid)
        decided = _open_out(out, (policy_path, facts_path, journal, signing.key), stack)
        kept = new_journal(journal, stack)
        checkpointer = signer.sign(kept, stack) if signer is not None and kept is not None else None
        player = Player(group=500 if decided is None else 1)  # no decision is out that is not kept
        player.sink = _sink(kept, checkpointer, player.core, stack)
        if decided is not None and stat.S_ISREG(os.fstat(decided.fileno()).st_mode):
            decided.truncate(0)  # not before everything else is known to work
        tick = stack.enter_context(progress("playing facts", None))
        code = GOOD
        try:
            try:
                for fact, decisions in stack.enter_context(closing(_play(policy, facts, player, as_recorded))):
                    measure.take(fact, decisions, player.core.graph)
                    if measure.facts % 500 == 0:
                        tick(measure.facts)
                    if decided is not None:
                        seq = player.core.seq - len(decisions)
                        for number, decision in enumerate(decisions, start=1):
                            print(f'{{"seq":{seq + number},{decision.payload().decode()[1:]}', file=decided)
            except InputError as error:
                complain(f"gpol: {error}")
                code = INVALID
            finally:
                player.flush()
        except JournalError as error:
            refuse(str(error), FAILED)
    measure.check_accounts()
    if measure.facts == 0 and code == GOOD:
        complain(f"gpol: no fact was played: {facts.name} has none" + (" that is possible" if facts.skipped else ""))
    show_figures(measure, form, journal, skipped=facts.skipped)
    tell_last(checkpointer, form)
    return code


def _open_out(path: str | None, others: tuple[str | None, ...], stack: ExitStack) -> TextIO | None:
    """A file to write decisions to, line by line so that none is held back, opened as it is."""
    if path is None:
        return None
    keep_apart("--out", path, others)
    return stack.enter_context(open(path, "a", buffering=1, encoding="utf-8", newline="\n"))


def _open(path: str, stack: ExitStack) -> _Bytes:
    """A file to read, closed with the stack; standard input stays open."""
    if path == "-":
        return sys.stdin.buffer
    try:
        if path.endswith(".gz"):
            return stack.enter_context(gzip.open(path, "rb"))
        return stack.enter_context(open(path, "rb"))
    except OSError as error:
        refuse(f"`{path}` cannot be read: {error.strerror}; check the name and your rights")


def _play(policy: Policy, facts: _Facts, player: Player, as_recorded: bool) -> Generator[Batch]:
    """Activate the policy at the first possible fact's time, then play all; a fact that cannot have happened counts as a bad line."""
    blank = Player()
    blank.step(policy.activation(0), policy.graph)
    for fact in facts:
        try:
            if player.core.graph is None:
                blank.core.check(fact)  # a refused line must not even activate the policy at its time
                yield player.step(policy.activation(fact.time), policy.graph)
            if as_recorded:
                yield player.step(fact)
            else:
                yield from player.play(fact)
        except OvertakenError as error:
            moment = format_time(player.core.time)
            facts.bad(str(error), f"what time alone decided on the way to it, up to {moment}, was applied, and nothing of the fact itself")
        except FactError as error:
            facts.bad(str(error))
        except EndlessError as error:
            applied = "of this line nothing but what time alone decided was applied"
            raise InputError(facts.name, facts.line, f"on the way to this line {error}", applied) from None
    if as_recorded:
        return
    try:
        yield from player.come_to_rest()
    except EndlessError as error:
        raise InputError(facts.name, facts.line, f"after this line, the last one, {error}", "all facts were applied") from None


# --- simulate -------------------------------------------------------------------------------------------------------


def simulate_jobs(
    policy_path: str,
    workloads: str,
    form: Format,
    signing: Wanted,
    *,
    trace: str | None,
    on_evict: str,
    journal: str | None,
    report: str | None,
    seed: str | None,
) -> int:
    """Play the jobs of a file in virtual time."""
    if seed is not None:
        refuse("a simulation has nothing random, so a seed would change nothing; leave --seed out")
    if on_evict not in ("restart", "resume"):
        refuse(f"--on-evict is restart or resume, not `{on_evict}`")
    if trace is not None and trace not in READERS:
        refuse(f"--trace is one of {', '.join(sorted(READERS))}, not `{trace}`")
    policy = Policy.of(checked_policy(policy_path, form))
    signer = Signer.of(signing, journal)
    jobs = _jobs(workloads, trace)
    measure = Measure()
    series = series_for(report, (policy_path, workloads, journal, signing.key))
    with ExitStack() as stack:
        kept = new_journal(journal, stack)
        checkpointer = signer.sign(kept, stack) if signer is not None and kept is not None else None
        player = Player()
        player.sink = _sink(kept, checkpointer, player.core, stack)
        simulation = Simulation(policy, jobs, player, "resume" if on_evict == "resume" else "restart")
        tick = stack.enter_context(progress("simulating", len(jobs)))
        try:
            for fact, decisions in stack.enter_context(closing(simulation.run())):  # closed before its journal is
                measure.take(fact, decisions, player.core.graph)
                if series is not None:
                    series.take(fact, decisions, measure)
                if measure.facts % 500 == 0:
                    tick(player.core.state.submissions)
        except EndlessError as error:
            refuse(str(error), INVALID)
        except JournalError as error:
            refuse(str(error), FAILED)
        head = kept.head if kept is not None else None
    name = kept.name if kept is not None else None
    measure.check_accounts()
    show_figures(measure, form, name)
    if head is not None:
        if form is Format.json:
            say_json("journal", path=name, seq=head[0], chain=head[1].hex())
        else:
            say(f"journal {name}: {counted(head[0], 'event')}, chain {head[1].hex()}")
    tell_last(checkpointer, form)
    if series is not None and report is not None:
        from ..sim.report import report_page

        replace_file(report, report_page(policy, measure, series))
        say(f"report {report}") if form is not Format.json else say_json("report", path=report)
    return GOOD


def _jobs(path: str, trace: str | None) -> list[Job]:
    try:
        return read_jobs(Path(path), trace)
    except InputError as error:
        refuse(str(error))
    except OSError as error:
        refuse(f"`{path}` cannot be read: {error.strerror}; check the name and your rights")


def series_for(report: str | None, others: tuple[str | None, ...]) -> "Series | None":
    """What a report is made of; whether it can be written is looked at before the work, not after it."""
    if report is None:
        return None
    from ..sim.series import Series

    keep_apart("--report", report, others)
    path = real_path(report)
    if not path.parent.is_dir():
        refuse(f"the folder of `{report}` does not exist; make it first")
    if path.is_dir():
        refuse(f"`{report}` is a folder; give a file's name")
    if not os.access(path.parent, os.W_OK):
        refuse(f"`{report}` cannot be written; check your rights", FAILED)
    return Series()

"""log, verify and replay: what an auditor does with a journal."""

import re
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..engine.events import AnyEvent, CapacityChanged, OperatorAction, WorkloadUpdated
from ..engine.units import format_amount, format_time
from ..journal.errors import DamagedError, EvidenceError, JournalError, UnavailableError
from ..journal.journal import Journal, Recorded, pause
from ..journal.read import select, select_live
from .output import FAILED, GOOD, INVALID, NOT_VERIFIED, Format, complain, counted, refuse, say, say_json, say_text
from .progress import progress
from .selecting import check_places, make_selection

if TYPE_CHECKING:
    from ..journal.evidence import Evidence


def open_journal(path: str) -> Journal:
    """A journal to read. Ends the command where it cannot be opened."""
    try:
        return Journal.open(path)
    except DamagedError as error:
        refuse_use(error, NOT_VERIFIED)
    except JournalError as error:
        refuse_use(error, INVALID)


def refuse_use(error: JournalError, code: int = NOT_VERIFIED) -> NoReturn:
    """End the command for what is wrong with a journal; with this exit code, unless the store or the evidence can't be used."""
    if isinstance(error, UnavailableError):
        code = FAILED
    refuse(str(error), INVALID if isinstance(error, EvidenceError) else code)


def show_log(path: str, form: Format, *, limit: int | None, reverse: bool, follow: bool, **filters: Any) -> int:
    """Print the events that are selected, one a line: all or the first `limit`, in order or the newest first; or as they come."""
    selection = make_selection(**filters)
    if follow:
        for option, given in (("--reverse", reverse), ("--until", filters["until"]), ("--cause", filters["cause"])):
            if given:
                refuse(f"--follow goes on to what is still to come, and {option} does not; leave one of them out")
    found = empty = False
    try:
        with open_journal(path) as journal:
            empty = journal.head.seq == 0
            check_places(journal, selection)
            events = select_live(journal, selection, _flushed_pause) if follow else select(journal, selection, newest_first=reverse)
            for recorded in islice(events, limit):
                _show(recorded, recorded.event, form)
                found = True
    except JournalError as error:
        refuse_use(error)
    if not found:
        complain("gpol: the journal is empty" if empty else "gpol: no event is selected")
    return GOOD


def _flushed_pause() -> bool:
    """Let nothing lie in a buffer while there is nothing to read."""
    sys.stdout.flush()
    return pause()


def _show(recorded: Recorded, event: AnyEvent, form: Format) -> None:
    if form is Format.json:
        say_text(f'{{"v":1,"seq":{recorded.seq},"event":{recorded.payload.decode()}}}')
        return
    told = [getattr(event, "workload", "") or getattr(event, "flavor", "") or getattr(event, "node", "") or getattr(event, "file", "")]
    if getattr(event, "queue", None):
        told.append(f"in {event.queue}")  # type: ignore[union-attr]
    if getattr(event, "beneficiary", None):
        told.append(f"for {event.beneficiary}")  # type: ignore[union-attr]
    told += [", ".join(details(event))] if details(event) else []
    why = getattr(event, "why", None)
    if why is not None:
        told.append(why.reason + (f" by {why.rule.name} ({why.rule.file}:{why.rule.line})" if why.rule is not None else ""))
    say(f"{recorded.seq:>8}  {format_time(event.time)}  {event.kind:<18} {' '.join(told)}".rstrip())


def details(event: AnyEvent) -> list[str]:
    """What a fact changes, beyond what it is about."""
    match event:
        case CapacityChanged():
            return [f"now {format_amount(amount, resource)} {resource}" for resource, amount in event.capacity.items()]
        case OperatorAction():
            return [f"{event.action} by operator {event.operator}" + (f": {event.note}" if event.note else "")]
        case WorkloadUpdated():
            done = [
                f"{counted(count, 'pod')} of {pod_set} {'is' if count == 1 else 'are'} done"
                for pod_set, count in (event.reclaimable or {}).items()
            ]
            held = {None: [], True: ["held by its owner"], False: ["no longer held by its owner"]}[event.hold]
            return [*([f"priority {event.priority}"] if event.priority is not None else []), *held, *done]
        case _:
            return []


def open_to_verify(path: str) -> Journal:
    """A journal to verify: one that is damaged raises DamagedError."""
    try:
        return Journal.open(path)
    except DamagedError:
        raise
    except JournalError as error:
        refuse_use(error, INVALID)


def read_evidence(checkpoints: tuple[str, ...], keys: tuple[str, ...]) -> "Evidence | None":
    """The checkpoints given, each verified; None without any."""
    from ..journal.evidence import Evidence
    from .signing import code_of, public_keys

    if bool(checkpoints) != bool(keys):
        refuse("--checkpoint and --key go together: give the public key that signed the checkpoints; or leave both out")
    try:
        return Evidence.gather([Path(each) for each in checkpoints], public_keys(keys)) if checkpoints else None
    except JournalError as error:
        refuse(f"--checkpoint: {error}", code_of(error))


def verify_journal(path: str, head: str | None, checkpoints: tuple[str, ...], keys: tuple[str, ...], form: Format) -> int:
    """Say whether the journal is whole and unchanged."""
    from ..journal.verify import verify

    expected = None
    if head is not None:
        if re.fullmatch("[1-9][0-9]{0,18}:[0-9a-f]{64}", head) is None:
            refuse("--head is a seq, a colon and 64 hexadecimal digits, as verify prints them")
        seq, _, chain = head.partition(":")
        expected = (int(seq), chain)
    evidence = read_evidence(checkpoints, keys)
    try:
        with open_to_verify(path) as journal, progress("verifying", journal.head[0]) as tick:
            report = verify(journal, tick, expected, evidence)
    except DamagedError as error:  # so much so that not even the good events can be told from the others
        if form is Format.json:
            say_json(
                "verify", good=False, seq=None, chain=None, signed=None, bad_seq=error.seq, bad_within=None, problem=error.message
            )  # fmt: skip
        refuse(f"{error.message}; restore a copy that verifies", NOT_VERIFIED)
    except JournalError as error:
        refuse_use(error)
    if form is Format.json:
        say_json(
            "verify", good=report.good, seq=report.seq, chain=report.chain, signed=report.signed, bad_seq=report.bad_seq,
            bad_within=report.fault.within if report.fault is not None else None, problem=report.problem,
        )  # fmt: skip
    elif report.fault is None:
        signed = f"; events 1 to {report.signed} are those that were signed" if report.signed else ""
        say(f"good: {counted(report.seq, 'event')}; head {report.seq}:{report.chain}{signed}")
    else:
        fault = report.fault
        place = f"event {fault.seq}: " if fault.seq is not None else ""
        say(f"bad: {place}{fault.problem}; {counted(report.seq, 'event')} {'is' if report.seq == 1 else 'are'} good")
        for what, text in (("expected", fault.expected), ("found", fault.found), ("meaning", fault.meaning)):
            if text:
                say(f"  {what}: {text}")
    return GOOD if report.good else NOT_VERIFIED


def replay_journal(path: str, form: Format) -> int:
    """Say whether every decision is the one that the policy demands."""
    from ..journal.replay import replay

    try:
        with open_journal(path) as journal, progress("replaying", journal.head[0]) as tick:
            report = replay(journal, tick)
    except JournalError as error:
        refuse_use(error)
    if form is Format.json:
        say_json(
            "replay", same=report.same, seq=report.seq, facts=report.facts, decisions=report.decisions,
            bad_seq=report.bad_seq, problem=report.problem, recorded=report.recorded, recomputed=report.recomputed,
        )  # fmt: skip
    elif report.same:
        say(f"same: {counted(report.facts, 'fact')} decided again, {counted(report.decisions, 'decision')}, all identical")
    else:
        say(f"differs: event {report.bad_seq}: {report.problem}")
        say(f"  recorded:   {report.recorded or '(nothing)'}")
        say(f"  recomputed: {report.recomputed or '(nothing)'}")
    return GOOD if report.same else NOT_VERIFIED

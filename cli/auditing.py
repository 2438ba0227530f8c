"""log, verify and replay: what an auditor does with a journal."""

from collections.abc import Iterator

from ..engine.events import AnyEvent
from ..journal.errors import JournalError
from ..journal.journal import Journal, Recorded
from .moments import parse_moment, show_time
from .output import GOOD, NOT_VERIFIED, Format, refuse, say, say_json
from .progress import progress


def open_journal(path: str) -> Journal:
    """A journal to read. Ends the command where it cannot be opened."""
    try:
        return Journal.open(path)
    except JournalError as error:
        refuse(str(error))


def show_log(
    path: str, form: Format, *, workload: str | None, queue: str | None, kind: str | None, since: str | None, until: str | None
) -> int:
    """Print events, one a line."""
    first, last = parse_moment(since, "--since"), parse_moment(until, "--until")
    try:
        with open_journal(path) as journal:
            for recorded in _selected(journal, workload, first, last):
                event = recorded.event
                if (kind is None or event.kind == kind) and (queue is None or getattr(event, "queue", None) == queue):
                    _show(recorded, event, form)
    except JournalError as error:
        refuse(str(error), NOT_VERIFIED)
    return GOOD


def _selected(journal: Journal, workload: str | None, first: int | None, last: int | None) -> Iterator[Recorded]:
    after = journal.seq_at(first - 1) if first is not None else 0
    upto = journal.seq_at(last) if last is not None else None
    yield from journal.events(after=after, upto=upto, stream=None if workload is None else f"workload/{workload}")


def _show(recorded: Recorded, event: AnyEvent, form: Format) -> None:
    if form is Format.json:
        say(f'{{"v":1,"seq":{recorded.seq},"event":{recorded.payload.decode()}}}')
        return
    told = [getattr(event, "workload", "") or getattr(event, "flavor", "") or getattr(event, "node", "") or getattr(event, "file", "")]
    if getattr(event, "queue", None):
        told.append(f"in {event.queue}")  # type: ignore[union-attr]
    if getattr(event, "beneficiary", None):
        told.append(f"for {event.beneficiary}")  # type: ignore[union-attr]
    why = getattr(event, "why", None)
    if why is not None:
        told.append(why.reason + (f" by {why.rule.name} ({why.rule.file}:{why.rule.line})" if why.rule is not None else ""))
    say(f"{recorded.seq:>8}  {show_time(event.time)}  {event.kind:<18} {' '.join(told)}".rstrip())


def verify_journal(path: str, head: str | None, form: Format) -> int:
    """Say whether the journal is whole and unchanged."""
    from ..journal.verify import verify

    expected = None
    if head is not None:
        seq, _, chain = head.partition(":")
        if not seq.isdigit() or len(chain) != 64:
            refuse("--head is a seq, a colon and 64 hexadecimal digits, as verify prints them")
        expected = (int(seq), chain)
    with open_journal(path) as journal, progress("verifying", journal.head[0]) as tick:
        report = verify(journal, tick, expected)
    if form is Format.json:
        say_json("verify", good=report.good, seq=report.seq, chain=report.chain, bad_seq=report.bad_seq, problem=report.problem)
    elif report.good:
        say(f"good: {report.seq:,} events; head {report.seq}:{report.chain}")
    else:
        say(f"bad: event {report.bad_seq}: {report.problem}; the {report.seq:,} events before it are good")
    return GOOD if report.good else NOT_VERIFIED


def replay_journal(path: str, form: Format) -> int:
    """Say whether every decision is the one that the policy demands."""
    from ..journal.replay import replay

    with open_journal(path) as journal, progress("replaying", journal.head[0]) as tick:
        report = replay(journal, tick)
    if form is Format.json:
        say_json(
            "replay", same=report.same, seq=report.seq, facts=report.facts, decisions=report.decisions,
            bad_seq=report.bad_seq, problem=report.problem, recorded=report.recorded, recomputed=report.recomputed,
        )  # fmt: skip
    elif report.same:
        say(f"same: {report.facts:,} facts decided again, {report.decisions:,} decisions, all identical")
    else:
        say(f"differs: event {report.bad_seq}: {report.problem}")
        say(f"  recorded:   {report.recorded or '(nothing)'}")
        say(f"  recomputed: {report.recomputed or '(nothing)'}")
    return GOOD if report.same else NOT_VERIFIED

"""verify: whether a journal is whole and unchanged."""

import re

import click

from ...journal.errors import DamagedError, JournalError
from ..shared.journals import refuse_use
from ..shared.options import journal_place, with_format
from ..shared.output import GOOD, NOT_VERIFIED, Format, counted, refuse, say, say_json
from ..shared.progress import progress
from .evidence import open_to_verify, read_evidence, with_evidence


@click.command()
@journal_place
@click.option("--head", metavar="SEQ:CHAIN", help="a head that you noted earlier; it must still be in the journal")
@with_evidence
@with_format
def verify(journal: str, head: str | None, checkpoints: tuple[str, ...], keys: tuple[str, ...], form: Format) -> int:
    """Check that a journal agrees with itself: its chain, its rows and its file.

    Who can write to it can also compute its chain anew. Only a head or a checkpoint that was kept elsewhere shows that, so give one.
    """
    from ...journal.audit.verify import verify

    expected = None
    if head is not None:
        if re.fullmatch("[1-9][0-9]{0,18}:[0-9a-f]{64}", head) is None:
            refuse("--head is a seq, a colon and 64 hexadecimal digits, as verify prints them")
        seq, _, chain = head.partition(":")
        expected = (int(seq), chain)
    evidence = read_evidence(checkpoints, keys)
    try:
        with open_to_verify(journal, evidence) as read, progress("verifying", read.last_row) as tick:
            report = verify(read, tick, expected, evidence)
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

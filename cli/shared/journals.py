"""Journals that a command opens or makes; what is wrong with one ends the command with its exit code."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NoReturn

from ...journal.errors import DamagedError, EvidenceError, JournalError, TakenError, UnavailableError
from .output import FAILED, INVALID, NOT_VERIFIED, RefusalError, complain, refuse

if TYPE_CHECKING:
    from ...journal.audit.whole_part import WholePart
    from ...journal.journal import Journal


def open_journal(path: str) -> "Journal":
    """A journal to read. Ends the command where it cannot be opened."""
    from ...journal.journal import Journal

    try:
        return Journal.open(path)
    except DamagedError as error:
        refuse_use(error, NOT_VERIFIED)
    except JournalError as error:
        refuse_use(error, INVALID)


def new_journal(path: str | None, stack: ExitStack) -> "Journal | None":
    """A new journal that is closed with the stack; none without a path."""
    from ...journal.journal import Journal

    if path is None:
        return None
    try:
        return stack.enter_context(Journal.create(path))
    except TakenError as error:  # no command appends to a journal, as a program may
        refuse(f"{error.message}; choose another name, or remove it if nobody needs it")
    except JournalError as error:
        refuse_use(error, INVALID)


@contextmanager
def whole_part(path: str) -> "Iterator[WholePart]":
    """A journal to read, as far as it is whole. Where it is damaged, the command says so once it is done, and its exit code is 4."""
    from ...journal.audit.whole_part import WholePart

    with open_journal(path) as journal:
        part = WholePart(journal)
        try:
            yield part
        except RefusalError as error:
            if part.damage is None:
                raise
            complain(f"gpol: {error}")
        if part.damage is not None:
            sys.stdout.flush()  # what is whole stands before what is not
            last = journal.head.seq
            told = f"{part.damage.message}; what is told is that of the events up to {last}, which come before it"
            refuse(f"{told}; `gpol fsck {journal.name}` says what to do", NOT_VERIFIED)


def refuse_use(error: JournalError, code: int = NOT_VERIFIED) -> NoReturn:
    """End the command for what is wrong with a journal; with this exit code, unless the store or the evidence can't be used."""
    if isinstance(error, UnavailableError):
        code = FAILED
    refuse(str(error), INVALID if isinstance(error, EvidenceError) else code)

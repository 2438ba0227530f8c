"""Journals that a command opens or makes; what is wrong with one ends the command with its exit code."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, NoReturn

from ...journal.errors import DamagedError, EvidenceError, JournalError, TakenError, UnavailableError
from .output import FAILED, INVALID, NOT_VERIFIED, refuse

if TYPE_CHECKING:
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


def refuse_use(error: JournalError, code: int = NOT_VERIFIED) -> NoReturn:
    """End the command for what is wrong with a journal; with this exit code, unless the store or the evidence can't be used."""
    if isinstance(error, UnavailableError):
        code = FAILED
    refuse(str(error), INVALID if isinstance(error, EvidenceError) else code)

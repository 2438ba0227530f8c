"""What PostgreSQL's errors mean for a journal, by their SQLSTATE, and where they have none by the words of libpq and psycopg.

Source: PostgreSQL's manual, appendix A, error codes.
"""

import re

from ..errors import DamagedError, JournalError, TakenError, UnavailableError

_TAKEN = ("42P06", "42P07", "42710")
"""The schema, a table or a trigger is there already: somebody else made the journal in the same moment."""

_DAMAGE = "XX"
"""The class of what PostgreSQL finds damaged in its own files."""

_ENDED = ("25P03", "25P04")
"""The server ended the session, for it had been idle inside a transaction, or the transaction took too long."""

_MISTAKEN = re.compile("connection is bad: (?!connection to server)")
"""How psycopg begins where libpq did not even try to connect, as the options make no sense to it."""

_BUSY = re.compile("FATAL: .*(too many|connection slots|starting up|shutting down|recovery mode|accepting connections)")
"""In what libpq says of a connection that a server has no place for, or does not take yet, or no longer."""

_ANSWERED = re.compile("FATAL|fe_sendauth|password")
"""In what libpq says of a failed connection, for which there is no code: a server did answer."""


def meaning(error: BaseException | None, name: str) -> JournalError:
    """What an error means for the journal that messages call `name`; None: its tables could not even be made out."""
    import psycopg

    state, words = _state(error), _words(error)
    if not state and (isinstance(error, psycopg.ProgrammingError) or _MISTAKEN.match(words)):
        return JournalError(f"the URL of `{name}` is refused: {words}", "correct its options")
    if state == "53100":
        return UnavailableError(f"there is no room left to write `{name}`", "free some disk space, then try again")
    if (not state and _BUSY.search(words)) or state == "57014" or state[:2] in ("40", "53", "55"):
        return UnavailableError(f"the server of `{name}` could not do it: {words}", "try again later")
    if not state and _ANSWERED.search(words):
        remedy = "check database and user in the URL, and the password: in the URL, in PGPASSWORD or in ~/.pgpass"
        return JournalError(f"the server of `{name}` refuses the connection: {words}", remedy)
    if not state or state[:2] in ("08", "57") or state in _ENDED:
        return UnavailableError(f"the server of `{name}` cannot be reached: {words}", "check host and port, and that the server runs")
    if state in _TAKEN:
        return TakenError(f"`{name}` is already there", "choose another name")
    if state == "23505":
        return JournalError(f"somebody else has appended to `{name}`; nothing was appended", "open it again, and go on from where it ends")
    if state == "42501":
        return JournalError(f"`{name}`: {words}", "ask the database's owner for the right")
    if state == "25006":
        return JournalError(f"`{name}` is on a server, or for a user, that may only read: {words}", "write to the primary server")
    if state[:2] == "58":
        return UnavailableError(f"the disk failed on `{name}`: {words}", "check the server's disk, then run `gpol verify`")
    return DamagedError(None, f"`{name}` is damaged: {words}")


def damage(error: BaseException | None) -> str | None:
    """What PostgreSQL says of damage that it found in its own files; None: the error is about something else."""
    return _words(error) if _state(error)[:2] == _DAMAGE else None


def _state(error: BaseException | None) -> str:
    return getattr(error, "sqlstate", None) or ""


def _words(error: BaseException | None) -> str:
    """The first line of what the database says."""
    if error is None:
        return "its tables cannot be made out"
    return next(iter(str(error).strip().removeprefix("connection failed: ").splitlines()), "")

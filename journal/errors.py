"""What the journal refuses, in a form to show to a user."""


class JournalError(Exception):
    """A journal that cannot be opened, read or written as asked. `message` says what is wrong, `remedy` what to do about it."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message}; {remedy}")
        self.message = message
        self.remedy = remedy


def unwritten(path: object, error: OSError) -> JournalError:
    """The error for a file that the system does not let be written."""
    remedy = "check the rights and the room in its folder"
    if isinstance(error, FileExistsError):
        remedy = "look at what is there now, then run the command again, or choose another name"
    return JournalError(f"`{path}` cannot be written: {error.strerror or error}", remedy)


class TakenError(JournalError):
    """A journal cannot be made where there is something already."""


class MissingError(JournalError):
    """There is no journal where one is to be opened."""


class UnavailableError(JournalError):
    """The store cannot be used now, though journal and call are right: no server, no disk, no space."""


class DamagedError(JournalError):
    """A journal whose content cannot be trusted from sequence number `seq` on (None: no single event is to blame)."""

    def __init__(self, seq: int | None, message: str, remedy: str = "run `gpol verify` on it, and go back to a copy that verifies") -> None:
        super().__init__(message, remedy)
        self.seq = seq


def impossible_event(seq: int, error: Exception) -> DamagedError:
    """A recorded event that cannot have happened then, as an error says."""
    return DamagedError(seq, f"event {seq} cannot have happened then: {error}", "run `gpol replay`")


class FutureError(DamagedError):
    """An event of a kind or version that a newer program wrote. The journal may be as it should be; this program cannot tell."""

    def __init__(self, seq: int, message: str) -> None:
        super().__init__(seq, message, "use a newer gpol")


class EvidenceError(JournalError):
    """A key, checkpoint or proof that cannot be used: the text is none, its file is damaged, or it is about something else."""


class ForgedError(JournalError):
    """A checkpoint or proof in the right form that does not prove what it says: its signature, root or hashes are not right."""

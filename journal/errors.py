"""What a journal refuses."""


class JournalError(RuntimeError):
    """A journal that cannot be opened, read or written; the message says what happened and what to do."""


class ConflictError(JournalError):
    """Somebody else has written to the journal since it was read; nothing of this write was kept."""

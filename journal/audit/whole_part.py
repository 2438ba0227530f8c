"""What is whole of a journal in which something is damaged: it is served as ever, up to the damage."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from ...engine.default_core import new_core
from ...engine.errors import FactError
from ..errors import DamagedError
from ..journal import Journal
from ..read.as_of import core_at
from ..recorded_policies import compile_recorded
from .replay_batch import replay_batch

_Item = TypeVar("_Item")

_IMPOSSIBLE = (FactError, AssertionError, LookupError, ValueError)
"""What a core raises at a history that nobody should have recorded."""


class WholePart:
    """A journal, and the first damage that was met when it was read; None as long as there was none."""

    def __init__(self, journal: Journal) -> None:
        """Raises DamagedError only where not even the last row can be looked for."""
        self.journal = journal
        self.damage: DamagedError | None = None
        try:
            if journal.head.seq:
                _ = journal.at(journal.head.seq).event
        except DamagedError as error:
            self._note(error)

    def rows(self, read: Callable[[], Iterable[_Item]], *, again: bool = True) -> Iterator[_Item]:
        """What is read of the journal, item by item, up to the first damage.

        Who reads ahead meets it early. So it is read `again` up to there, for what is still to come; not where the newest comes first.
        """
        done = 0
        while True:
            try:
                for item in islice(read(), done, None):
                    yield item
                    done += 1
            except DamagedError as error:
                self._note(error)
                if again:
                    continue
            return

    def state(self, read: Callable[[], _Item]) -> _Item:
        """What is read of the journal at a moment; where damage is met, what is read where the last whole batch before it ended."""
        while True:
            try:
                if self.damage is not None:
                    self._end_with_a_batch()
                return read()
            except DamagedError as error:  # there may be more than one damage; each is nearer to the beginning
                self._note(error)
            except _IMPOSSIBLE as error:
                if self.damage is None:
                    raise
                raise DamagedError(None, f"{self.damage.message}; and the history before leads to what cannot be: {error}") from None

    def _note(self, error: DamagedError) -> None:
        """Take the journal to end before the damage. Raises it where that is no event's, or the same one again."""
        known = self.damage.seq if self.damage is not None else None
        if error.seq is None or error.seq <= 1 or (known is not None and error.seq >= known):
            raise error
        self.journal.end_before(error.seq)
        self.damage = error

    def _end_with_a_batch(self) -> None:
        """Where the last batch before the damage is not whole, as the core finds when it decides its fact again, end before its fact."""
        last = self.journal.head.seq
        if last == 0:
            return
        event = self.journal.at(last).event
        fact = min(int(getattr(event, "cause", last)), last)
        core = core_at(self.journal, fact - 1) if fact > 1 else new_core()
        try:
            [batch] = self.journal.batches(fact - 1, last)
            whole = replay_batch(batch, core, compile_recorded) is None
        except _IMPOSSIBLE:
            whole = False
        if not whole:
            self.journal.end_before(fact)

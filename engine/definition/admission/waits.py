"""A memory of nominations that led to nothing at once. It is for speed alone: a core that forgets decides the same.

The law is `tests/property/test_waits.py`.
"""

from dataclasses import replace

from ...outcome.nomination import Nomination, Request
from ..state.workload import Shape, Workload

Reserved = tuple[tuple[int, Request], ...]
"""What is reserved in a pass, by queue, in the order in which it was."""


class Waits:
    """How workloads were nominated that have to wait, since anything but time and submissions changed the state.

    It is kept by what was reserved for others at that time, by queue and by shape.
    INVARIANT: such a nomination depends on the state, and on the time only from its `changes_at` on; `forget` is called whenever the
    state changes.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Reserved, int, Shape], Nomination] = {}

    def forget(self) -> None:
        """The state changed: everything may be different."""
        self._known.clear()

    def recall(self, workload: Workload, reserved: Reserved, now: int) -> Nomination | None:
        """How a workload was nominated that asks for the same, if nothing changed since; None where that is not known."""
        known = self._known.get((reserved, workload.queue, workload.shape))
        if known is None or (known.changes_at is not None and known.changes_at <= now):
            return None
        return replace(known, workload=workload.name)

    def note(self, workload: Workload, reserved: Reserved, nomination: Nomination) -> None:
        """A workload has to wait."""
        self._known[reserved, workload.queue, workload.shape] = nomination

    def copy(self) -> "Waits":
        """The same memory for a copy of the state."""
        other = Waits()
        other._known = dict(self._known)
        return other

"""What wants to know how the work goes on: counters and times, for whoever runs it. Nothing is decided by them."""

from collections.abc import Sequence
from typing import Protocol

from .decider import Numbered


class Observer(Protocol):
    """Told of what was committed and refused, and how many seconds each part took."""

    def decided(self, events: Sequence[Numbered]) -> None:
        """These events were committed."""

    def fact_refused(self, kind: str) -> None:
        """A fact of this kind could not have happened as things stood."""

    def observe_decide(self, seconds: float) -> None:
        """Deciding took so long, from the first fact to the last decision."""

    def observe_commit(self, seconds: float) -> None:
        """A commit took so long."""

    def observe_effect(self, seconds: float) -> None:
        """A write to the cluster took so long, with its answer."""


class Unobserved:
    """An observer that wants to know nothing."""

    def decided(self, events: Sequence[Numbered]) -> None:
        """Nothing."""

    def fact_refused(self, kind: str) -> None:
        """Nothing."""

    def observe_decide(self, seconds: float) -> None:
        """Nothing."""

    def observe_commit(self, seconds: float) -> None:
        """Nothing."""

    def observe_effect(self, seconds: float) -> None:
        """Nothing."""

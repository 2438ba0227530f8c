"""The times of facts: the moment at which this program learned of them, and never earlier than the fact before."""

from collections.abc import Callable
from time import time_ns


class Stamps:
    """Gives times that never run backwards, in microseconds since the epoch, from a clock that may (`clock` in nanoseconds).

    An API server's own times have whole seconds, and a list gives objects in another order than that of these times. So they are no times
    of facts.
    """

    def __init__(self, last: int, clock: Callable[[], int] = time_ns) -> None:
        self._last, self._clock = last, clock

    def now(self) -> int:
        """The time of a fact that is learned now."""
        self._last = max(self._last, self._clock() // 1000)
        return self._last

    def behind(self) -> int:
        """By how many microseconds the clock is behind the last time given: more than 0 once it was set back."""
        return max(0, self._last - self._clock() // 1000)

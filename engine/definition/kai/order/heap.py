"""A heap whose order may change while things are in it.

KAI keeps queues in heaps and puts only the top right after each turn, so how the heap is built decides. This is the heap of Go's standard
library: sift up, sift down, nothing else moves. KAI: scheduler_util/priority_queue.go.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class LazyHeap(Generic[T]):
    """A binary heap; `sooner` says whether one item comes before another as things stand."""

    def __init__(self, sooner: Callable[[T, T], bool]) -> None:
        self.items: list[T] = []
        self._sooner = sooner

    def __len__(self) -> int:
        return len(self.items)

    def push(self, item: T) -> None:
        """Add an item."""
        self.items.append(item)
        self._up(len(self.items) - 1)

    def top(self) -> T:
        """The item that stands first, whether it should or not."""
        return self.items[0]

    def pop(self) -> T:
        """Take the first item out."""
        last = len(self.items) - 1
        self._swap(0, last)
        self._down(0, last)
        return self.items.pop()

    def settle_top(self) -> None:
        """Let the first item sink to where it belongs now."""
        self._down(0, len(self.items))

    def _swap(self, one: int, other: int) -> None:
        self.items[one], self.items[other] = self.items[other], self.items[one]

    def _up(self, at: int) -> None:
        while at > 0:
            above = (at - 1) // 2
            if not self._sooner(self.items[at], self.items[above]):
                break
            self._swap(at, above)
            at = above

    def _down(self, at: int, size: int) -> None:
        while 2 * at + 1 < size:
            below = 2 * at + 1
            if below + 1 < size and self._sooner(self.items[below + 1], self.items[below]):
                below += 1
            if not self._sooner(self.items[below], self.items[at]):
                break
            self._swap(at, below)
            at = below

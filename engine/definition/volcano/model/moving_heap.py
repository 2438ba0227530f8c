"""A heap whose order may change while things lie in it, as Volcano's do: what comes out next then depends on how they lie.

Go: container/heap; Volcano: pkg/scheduler/util/priority_queue.go.
"""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class MovingHeap(Generic[Item]):
    """A binary heap by a comparison that is asked anew each time: whether one thing comes before another one."""

    def __init__(self, before: Callable[[Item, Item], bool], items: Iterable[Item] = ()) -> None:
        self._before = before
        self._items: list[Item] = []
        for item in items:
            self.push(item)

    def __len__(self) -> int:
        return len(self._items)

    def copy(self) -> "MovingHeap[Item]":
        """The same things, lying in the same way."""
        other = MovingHeap(self._before)
        other._items = list(self._items)
        return other

    def push(self, item: Item) -> None:
        """Put something in: it goes up while it comes before what is above it."""
        items = self._items
        items.append(item)
        at = len(items) - 1
        while at > 0:
            above = (at - 1) // 2
            if not self._before(items[at], items[above]):
                break
            items[at], items[above] = items[above], items[at]
            at = above

    def pop(self) -> Item:
        """Take out what is on top: the last one goes down from there."""
        items = self._items
        items[0], items[-1] = items[-1], items[0]
        taken = items.pop()
        at = 0
        while (child := 2 * at + 1) < len(items):
            if child + 1 < len(items) and self._before(items[child + 1], items[child]):
                child += 1
            if not self._before(items[child], items[at]):
                break
            items[at], items[child] = items[child], items[at]
            at = child
        return taken

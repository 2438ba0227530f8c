"""Choices that generators make: from a seed, or by hypothesis, so that what a test finds is shrunk."""

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Draw(ABC):
    """Where choices come from. All are made of numbers, the smallest of which is the plainest choice."""

    @abstractmethod
    def number(self, low: int, high: int) -> int:
        """A whole number, both bounds included."""

    def chance(self, one_in: int) -> bool:
        """True once in so many times."""
        return self.number(1, one_in) == one_in

    def pick(self, options: Sequence[T]) -> T:
        """One of several; the first is the plainest."""
        return options[self.number(0, len(options) - 1)]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """All of them in some order."""
        left = list(options)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(len(left))]

    def some(self, options: Sequence[T], least: int = 0, most: int | None = None) -> list[T]:
        """Some of them in some order, none twice."""
        top = len(options) if most is None else min(most, len(options))
        return self.shuffled(options)[: self.number(min(least, top), top)]


class Dice(Draw):
    """Choices from a seed: the same seed, the same choices."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def number(self, low: int, high: int) -> int:
        """A whole number, evenly among all."""
        return low + int(self._random() * (high - low + 1))


class Guided(Draw):
    """Choices that hypothesis makes, and makes smaller once a test has failed."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data

    def number(self, low: int, high: int) -> int:
        """A whole number."""
        return self._data.draw(st.integers(low, high))

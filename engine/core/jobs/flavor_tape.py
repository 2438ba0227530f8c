"""What the tape has about flavors, as far as decisions tell of it that are alike: what is the same in them, and which numbers are not."""

from collections.abc import Iterator
from typing import NamedTuple

from .. import columns as c

_BY_QUOTA = (c.EXCEEDS, c.SHORT)


class Flavors(NamedTuple):
    """The flavors of a block: `key` is what all those have in common that are told alike, but for the amounts of obstacles. These are told
    as `attempts`, and those of flavors that were not taken as `passed_over`."""

    key: tuple[int, ...]
    attempts: tuple[bytes, ...]
    passed_over: tuple[bytes, ...]


def flavors_at(numbers: list[int], block: int) -> Flavors:
    """What a block of the tape has about flavors."""
    key, attempts, passed_over = list[int](), list[bytes](), list[bytes]()
    at = block + c.FLAVORS_AT + 1
    for _ in range(numbers[at - 1]):
        begin, members = at, numbers[at]
        tried, at = _tried(numbers, at)
        key += numbers[begin:at]
        for _, first, many in tried:
            for place in range(first, first + many * c.OBSTACLE_WIDTH, c.OBSTACLE_WIDTH):
                _leave_out(key, len(key) - at + place, numbers, place)
        for _ in range(members):
            chosen = numbers[at + 1]
            taken = {numbers[at + 2 + 5 * k + 1] for k in range(chosen)}
            for flavor, first, many in tried:
                amounts = list(_amounts(numbers, first, many))
                attempts += amounts
                passed_over += () if flavor in taken else amounts
            key += numbers[at : at + 2 + 5 * chosen]
            at += 2 + 5 * chosen
    return Flavors(tuple(key), tuple(attempts), tuple(passed_over))


def obstacles_at(numbers: list[int], block: int) -> Iterator[int]:
    """Where the amounts of obstacles stand that may be others in a decision that is told alike."""
    at = block + c.FLAVORS_AT + 1
    for _ in range(numbers[at - 1]):
        members = numbers[at]
        tried, at = _tried(numbers, at)
        for _, first, many in tried:
            for place in range(first, first + many * c.OBSTACLE_WIDTH, c.OBSTACLE_WIDTH):
                if numbers[place + c.O_KIND] in _BY_QUOTA:
                    if numbers[place + c.O_ASSUMED] + numbers[place + c.O_ASKED]:
                        yield place + c.O_ASKED
                    if numbers[place + c.O_LIMIT]:
                        yield place + c.O_LIMIT
        for _ in range(members):
            at += 2 + 5 * numbers[at + 1]


def _tried(numbers: list[int], at: int) -> tuple[list[tuple[int, int, int]], int]:
    """Of pod sets that get their flavors together: the flavors tried, where the obstacles of each begin, and how many; and what follows."""
    at += 1 + numbers[at]
    searches, at, found = numbers[at + 1], at + 2, list[tuple[int, int, int]]()
    for _ in range(searches):
        tries, at = numbers[at + c.Q_ATTEMPTS], at + c.SEARCH_WIDTH
        for _ in range(tries):
            flavor, grade, many = numbers[at + c.T_FLAVOR], numbers[at + c.T_GRADE], numbers[at + c.T_OBSTACLES]
            at += c.ATTEMPT_WIDTH
            if grade != c.NONE:
                found.append((flavor, at, many))
            at += many * c.OBSTACLE_WIDTH
    return found, at


def _leave_out(key: list[int], begin: int, numbers: list[int], place: int) -> None:
    """Leave the amounts of an obstacle out of a key, but for whether they are told."""
    if numbers[place + c.O_KIND] in _BY_QUOTA:
        key[begin + c.O_ASKED] = int(numbers[place + c.O_ASSUMED] + numbers[place + c.O_ASKED] != 0)
        key[begin + c.O_ASSUMED], key[begin + c.O_LIMIT] = 0, int(numbers[place + c.O_LIMIT] != 0)


def _amounts(numbers: list[int], first: int, many: int) -> Iterator[bytes]:
    """The amounts of obstacles as they are told: those that are 0 are not."""
    for place in range(first, first + many * c.OBSTACLE_WIDTH, c.OBSTACLE_WIDTH):
        if numbers[place + c.O_KIND] in _BY_QUOTA:
            for amount in (numbers[place + c.O_ASSUMED] + numbers[place + c.O_ASKED], numbers[place + c.O_LIMIT]):
                if amount:
                    yield b"%d" % amount

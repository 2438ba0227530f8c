"""Names by number, and numbers by name: the bytes of all names one after the other, and a table that finds them by their hash.

A list and a dict of strings take four times as much. What is found does not depend on hashes: names are told apart by their bytes.
"""

from collections.abc import Sequence

import numpy as np

from . import columns as c
from .tables import longer, zeros

_HASH = 2**31 - 1
"""The bits of a hash that are kept."""


class Names(Sequence[str]):
    """All names that were met, numbered in that order.

    `_begins` says where each one begins, and where the next one will; `_hashes` has their hashes. `_places` has their numbers, each where
    its hash says, or behind others that are there already; at most half of it is taken.
    """

    def __init__(self) -> None:
        self._bytes, self._count = bytearray(), 0
        self._begins, self._hashes = zeros(1).data, np.zeros(1, np.int32).data
        self._places = np.full(1, c.NONE, np.int32).data

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> str:  # type: ignore[override]  # no slices
        if not 0 <= number < self._count:
            raise IndexError(number)
        return self._said(number).decode("utf-8", "surrogatepass")

    def find(self, name: str) -> int:
        """The number of a name; NONE of one that was never met."""
        said = name.encode("utf-8", "surrogatepass")
        return self._places[self._place(said, hash(said) & _HASH)]

    def numbers(self, names: Sequence[str]) -> list[int]:
        """The numbers of some names; those that were never met are met now."""
        self._make_room(self._count + len(names))
        content, begins, hashes, places, count = self._bytes, self._begins, self._hashes, self._places, self._count
        last, found = len(places) - 1, list[int]()
        for name in names:
            said = name.encode("utf-8", "surrogatepass")
            known = hash(said) & _HASH
            place = known & last
            while (number := places[place]) != c.NONE and (hashes[number] != known or content[begins[number] : begins[number + 1]] != said):
                place = place + 1 & last
            if number == c.NONE:
                number = places[place] = count
                count += 1
                content += said
                begins[count], hashes[number] = len(content), known
            found.append(number)
        self._count = count
        return found

    def _said(self, number: int) -> bytearray:
        return self._bytes[self._begins[number] : self._begins[number + 1]]

    def _place(self, said: bytes, known: int) -> int:
        """Where the number of a name stands, or would stand; `known` is its hash."""
        places, hashes = self._places, self._hashes
        last = len(places) - 1
        place = known & last
        while (number := places[place]) != c.NONE and (hashes[number] != known or self._said(number) != said):
            place = place + 1 & last
        return place

    def _make_room(self, count: int) -> None:
        """Make room for so many names."""
        if count >= len(self._begins):
            self._begins = longer(np.asarray(self._begins), count + 16, self._count + 1).data
            self._hashes = longer(np.asarray(self._hashes), count + 16, self._count).data
        if 2 * count > len(self._places):
            places, hashes = np.full(2 << count.bit_length(), c.NONE, np.int32).data, self._hashes
            last = len(places) - 1
            for number in range(self._count):
                place = hashes[number] & last
                while places[place] != c.NONE:
                    place = place + 1 & last
                places[place] = number
            self._places = places

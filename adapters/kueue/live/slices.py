"""Slices of elastic jobs: a job that grows gets a new Workload, which takes the place of the one before it.

Kueue finishes the earlier slice as soon as it reserves quota for the later one, before any check has answered. The pods of the earlier
one run on, and belong to the later one. So for gpol the earlier slice runs until the later one is admitted in its place, or is gone; and
whoever evicts the earlier one has to tell the later one to stop.
"""

from collections.abc import Mapping

from ...kubernetes.reflector import Seen
from .observed import Observed


class Slices:
    """Which Workload takes the place of which, among those that are there, by name."""

    def __init__(self, known: Mapping[str, Seen[Observed]]) -> None:
        self._known = known
        self._later: dict[str, str] = {}

    def see(self, name: str) -> None:
        """Take in that a Workload is there, has changed or is gone."""
        earlier = self.replaces(name)
        if earlier:
            self._later[earlier] = name

    def replaces(self, name: str) -> str:
        """The Workload whose place another one takes, empty if it takes none."""
        seen = self._known.get(name)
        return seen.value.asked.replaces if seen is not None and seen.value.asked is not None else ""

    def last(self, name: str) -> str | None:
        """The slice to which the pods of a finished slice belong now; None if there is none, or if slices stand in a circle."""
        found, passed = None, {name}
        while (later := self._later.get(found or name)) is not None and self.replaces(later) == (found or name):
            seen = self._known[later]
            if later in passed or (seen.value.is_finished and not seen.value.is_replaced):
                return None
            found = later
            passed.add(later)
        return found

    def earlier(self, name: str) -> list[str]:
        """The slices before a Workload, the one right before it first."""
        found: list[str] = []
        while (earlier := self.replaces(found[-1] if found else name)) and earlier not in found:
            found.append(earlier)
        return found

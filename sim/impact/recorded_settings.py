"""What a journal records of how it was simulated, for those who play it again."""

from typing import NamedTuple

from ...engine.facts import SimulationStarted
from ...journal.journal import Journal
from ..drive.driver import OnEvict


class SettingsError(ValueError):
    """A history that cannot be played again as asked, because it records that it came about in another way."""


class MixedSettingsError(SettingsError):
    """A history that cannot be played again at all, because it records that it came about in two ways."""


class EvictionSetting(NamedTuple):
    """What becomes of the work of an evicted run, and the event that records it (None: nothing does)."""

    on_evict: OnEvict
    seq: int | None


def recorded_settings(journal: Journal, asked: OnEvict | None = None, upto: int | None = None) -> EvictionSetting:
    """The setting under which a journal is played again: the recorded one, else the one that is asked for, else `restart`.

    Run times are taken from the history up to event `upto`, and only the recorded setting makes them out right: under another one an
    evicted run would have lost work that it kept, or kept work that it lost. So raises SettingsError where another one is asked for, and
    MixedSettingsError for a journal that holds simulations of both kinds.
    """
    found: EvictionSetting | None = None
    for recorded in journal.of_kinds(("SimulationStarted",), upto=upto):
        event = recorded.event
        assert isinstance(event, SimulationStarted)
        if found is not None and found.on_evict != event.on_evict:
            raise MixedSettingsError(
                f"the journal has a simulation with on_evict {found.on_evict} (event {found.seq}) and one with {event.on_evict} "
                f"(event {recorded.seq}), and a closed loop plays one of the two"
            )
        found = found or EvictionSetting(event.on_evict, recorded.seq)
    if found is None:
        return EvictionSetting(asked or "restart", None)
    if asked not in (None, found.on_evict):
        raise SettingsError(f"the journal records a simulation with on_evict {found.on_evict} (event {found.seq}), not {asked}")
    return found

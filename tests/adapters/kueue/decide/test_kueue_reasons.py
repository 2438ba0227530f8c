"""Kueue's words for what gpol decides."""

from typing import get_args

from gpol.adapters.kueue.decide.kueue_reasons import REASONS
from gpol.engine.event_parts import EvictionKind


def test_every_way_to_go_for_another_has_its_word() -> None:
    """Each kind of victim that a cycle may name has a word of its own in Kueue, and no other has one."""
    of_passes = {"consolidation", "broken-gang", "balance"}
    assert set(REASONS) == set(get_args(EvictionKind)) - {"other", "operator", "stopped", *of_passes}
    assert len(set(REASONS.values())) == len(REASONS)

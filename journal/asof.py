"""The state at a moment of the past: recorded events applied again, up to a seq."""

from ..engine.reference import Core
from .journal import Journal
from .replay import graph_of


def core_at(journal: Journal, seq: int) -> Core:
    """A core as it stood after the batch that holds event `seq`."""
    core = Core()
    for batch in journal.batches(upto=seq):
        for recorded in batch:
            core.apply(recorded.event, graph_of(recorded.event))
    return core

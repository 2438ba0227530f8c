"""What a small cluster has gone through, once more through the core over arrays."""

from gpol.engine.core.core import ArrayCore
from gpol.engine.events import Decision
from played import PlayedCluster


def decided_alike(cluster: PlayedCluster) -> list[str]:
    """Check that the core over arrays decides a history as the definition did; return why it had to leave something to the definition."""
    beyond: list[str] = []
    core, decided = ArrayCore(tell_beyond=beyond.append), list[bytes]()
    for event, graph in cluster.history:
        if isinstance(event, Decision):
            assert decided.pop(0) == event.payload()
        else:
            assert decided == []
            decided = [each.payload() for each in core.step(event, graph)]
    assert decided == []
    assert core.freeze() == cluster.core.freeze()
    return beyond

"""One cycle of KAI: its passes in order, over one session."""

from collections.abc import Callable, Mapping
from functools import partial

from .kai_cycle import KaiCycle
from .passes.allocate import allocate
from .passes.broken import end_broken
from .passes.evicting import evict_for_others
from .settings import KaiPass

PASSES: Mapping[KaiPass, Callable[[KaiCycle], None]] = {
    KaiPass.ALLOCATE: allocate,
    KaiPass.CONSOLIDATE: partial(evict_for_others, by=KaiPass.CONSOLIDATE),
    KaiPass.RECLAIM: partial(evict_for_others, by=KaiPass.RECLAIM),
    KaiPass.PREEMPT: partial(evict_for_others, by=KaiPass.PREEMPT),
    KaiPass.BROKEN: end_broken,
}


def run_cycle(cycle: KaiCycle) -> None:
    """Run the passes that the settings name, in their order."""
    for each in cycle.settings.passes:
        PASSES[each](cycle)

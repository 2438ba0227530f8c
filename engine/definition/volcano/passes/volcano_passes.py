"""A whole cycle of Volcano's passes: it begins, runs them in order, and ends.

Volcano: pkg/scheduler/scheduler.go (`runOnce`), framework/framework.go.
"""

from collections.abc import Callable, Mapping

from ..model.job_standing import phase_at_end
from ..model.plugin_votes import OpenPlugin
from ..model.volcano_cycle import VolcanoCycle
from ..place.hyper_node_scores import open_network_topology_aware
from ..place.strategy_fit import open_strategy_fit
from ..place.volcano_scores import open_binpack, open_nodeorder
from ..shares.capacity import open_capacity
from ..shares.drf import open_drf
from ..shares.proportion import open_proportion
from ..votes.by_priority import open_conformance, open_priority
from ..votes.gang import open_gang
from ..votes.overcommit import open_overcommit
from ..votes.sla import open_sla
from ..votes.tiers import PluginTiers
from .standing_in import begin_standing
from .volcano_allocate import allocate
from .volcano_backfill import backfill
from .volcano_enqueue import enqueue
from .volcano_preempt import preempt
from .volcano_reclaim import reclaim

PASSES: Mapping[str, Callable[[PluginTiers], None]] = {
    "enqueue": enqueue,
    "allocate": allocate,
    "backfill": backfill,
    "preempt": preempt,
    "reclaim": reclaim,
}
"""All passes by name."""

PLUGINS: Mapping[str, OpenPlugin] = {
    "gang": open_gang,
    "priority": open_priority,
    "conformance": open_conformance,
    "drf": open_drf,
    "proportion": open_proportion,
    "capacity": open_capacity,
    "overcommit": open_overcommit,
    "binpack": open_binpack,
    "nodeorder": open_nodeorder,
    "resource-strategy-fit": open_strategy_fit,
    "network-topology-aware": open_network_topology_aware,
    "sla": open_sla,
}
"""The plugins that vote, by name. `predicates` is asked where passes look for nodes: `place/predicates.py`."""


def run_cycle(cycle: VolcanoCycle) -> PluginTiers:
    """Run the passes of a cycle. What they decided is what differs in it then; the plugins come back, to be asked for their figures."""
    begin_standing(cycle)
    tiers = PluginTiers(cycle, PLUGINS)
    for name in cycle.settings.passes:
        PASSES[name](tiers)
    for workload in cycle.jobs:
        cycle.phases[workload.number] = phase_at_end(cycle, workload)
    return tiers

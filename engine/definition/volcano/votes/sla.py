"""The plugin `sla`: PodGroups say how long they wait at most; then they are let in, and keep room that is promised.

Volcano: pkg/scheduler/plugins/sla/sla.go.
"""

from ...session.pods import SessionWorkload
from ..model.plugin_votes import PluginVotes
from ..model.volcano_cycle import VolcanoCycle
from ..model.volcano_settings import VolcanoPlugin

LONGEST_WAIT = "sla-waiting-time"
"""The argument that says how long PodGroups wait at most that say nothing themselves, in microseconds; 0: without end."""


def open_sla(cycle: VolcanoCycle, plugin: VolcanoPlugin) -> PluginVotes:
    """What `sla` says in a cycle."""
    usual = plugin.number(LONGEST_WAIT, 0)

    def wait(workload: SessionWorkload) -> int:
        return cycle.groups[workload.number].longest_wait or usual

    def order(left: SessionWorkload, right: SessionWorkload) -> int:
        """Who waits without end comes last, else the one whose wait is over first."""
        waits = wait(left), wait(right)
        if not all(waits):
            return int(not waits[0]) - int(not waits[1])
        return left.created + waits[0] - right.created - waits[1]

    def permits(workload: SessionWorkload) -> int:
        """Yes once the wait is over; no opinion before."""
        longest = wait(workload)
        return 1 if longest and cycle.now - workload.created >= longest else 0

    return PluginVotes(job_order=order, job_enqueueable=permits, job_promised=permits)

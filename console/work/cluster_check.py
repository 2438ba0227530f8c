"""What a cluster lacks for what the settings want. Nothing is written."""

from collections.abc import AsyncIterator

from ...adapters.kubernetes.api import Api
from ...adapters.kubernetes.nodes import follows_nodes
from ...adapters.kueue.cluster_setup import lacks
from ...adapters.live.guard.guard_rights import guard_lacks
from ...adapters.live.settings import ServeSettings
from ...sim.drive.policy import Policy
from .guard_work import guarded_systems


async def cluster_lacks(settings: ServeSettings, policy: Policy, api: Api) -> AsyncIterator[str]:
    """What a cluster lacks, a line each with what to do. Raises ApiError where it does not answer."""
    kueue = settings.kueue
    if kueue.way == "decide":
        async for line in lacks(api, kueue.check, follows_nodes(policy.graph), kueue.follow_pods):
            yield line
    for guarding, system in guarded_systems(settings):
        async for line in guard_lacks(api, system, guarding.mode == "repair", guarding.deletes):
            yield line

"""What a cluster lacks for what the settings want, and what of that cannot be used. Nothing is written."""

from collections.abc import AsyncIterator

from ...adapters.kubernetes.access import Right, missing_rights
from ...adapters.kubernetes.api import Api
from ...adapters.kubernetes.nodes import follows_nodes
from ...adapters.kubernetes.resource_kinds import LEASE
from ...adapters.kueue.cluster_setup import lacks, watch_lacks
from ...adapters.kueue.problems import ExportRefused
from ...adapters.live.guard.guard_rights import guard_lacks
from ...adapters.live.journal_place import cluster_identity, place_of
from ...adapters.live.settings.serve_settings import ServeSettings
from ...adapters.volcano.live.volcano_setup import volcano_lacks
from ...sim.drive.policy import Policy
from .decided_policy import undecidable
from .files_check import unusable_files, unusable_journal
from .guard_work import guarded_systems


async def cluster_lacks(settings: ServeSettings, policy: Policy | None, api: Api) -> AsyncIterator[str]:
    """What a cluster lacks, and what of files and policy cannot be used, a line each with what to do.

    Raises ApiError where the cluster does not answer.
    """
    for line in unusable_files(settings):
        yield line
    if settings.journal is not None:
        for line in unusable_journal(settings.journal, place_of(settings, await cluster_identity(api))):
            yield line
    if refused := undecidable(settings, policy):
        yield refused
    kueue = settings.kueue
    if kueue.way == "decide" and policy is not None:
        async for line in lacks(api, kueue.check, policy.graph, kueue.follow_pods):
            yield line
    if kueue.way == "watch":
        async for line in watch_lacks(api, kueue.watch.config_map):
            yield line
    if settings.volcano.way == "decide" and policy is not None:
        async for line in volcano_lacks(api, follows_nodes(policy.graph)):
            yield line
    lease = settings.lease
    if lease.enabled:
        wanted = [Right(verb, LEASE, namespace=lease.namespace) for verb in ("get", "create", "patch")]
        for right in await missing_rights(api, wanted):
            yield f"gpol may not {right}; the roles that `gpol export` writes with --live allow it, or set lease.enabled to false"
    for guarding, system in guarded_systems(settings):
        assert policy is not None  # the settings demand one
        try:
            system.objects(policy.graph, settings.gpu, guarding.name)
        except ExportRefused as error:
            yield f"{system.name} cannot say the policy: {error}"
        async for line in guard_lacks(api, system, guarding.mode == "repair", guarding.deletes):
            yield line

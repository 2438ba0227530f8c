"""Whether a cluster is set up so that gpol can decide for Volcano, and what is missing. Nothing is written."""

from collections.abc import AsyncIterator

from ...kubernetes.access import missing_rights, rights, served_versions
from ...kubernetes.api import Api
from ...kubernetes.resource_kinds import EVENT, NAMESPACE, NODE
from .volcano_resources import POD_GROUP, VOLCANO_GROUP, VOLCANO_VERSION


async def volcano_lacks(api: Api, with_nodes: bool) -> AsyncIterator[str]:
    """What a cluster lacks, a line each with what to do. Raises ApiError where it does not answer."""
    versions = await served_versions(api, VOLCANO_GROUP)
    if VOLCANO_VERSION not in versions:
        has = f"it serves {', '.join(versions)} of it" if versions else "it does not have it at all"
        yield f"the cluster does not serve {VOLCANO_GROUP}/{VOLCANO_VERSION}: {has}; install Volcano"
        return
    wanted = [
        *rights(("list", "watch"), POD_GROUP),
        *rights(("list", "watch"), NAMESPACE),
        *(rights(("list", "watch"), NODE) if with_nodes else ()),
        *rights(("create",), EVENT),
    ]
    for right in await missing_rights(api, wanted):
        yield f"gpol may not {right}; `gpol export volcano --live` writes the roles that it needs"

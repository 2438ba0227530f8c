"""Whether a cluster is set up so that gpol can decide for Volcano, and what is missing. Nothing is written."""

from collections.abc import AsyncIterator

from ...kubernetes.access import missing_rights, not_served, rights
from ...kubernetes.api import Api
from ...kubernetes.resource_kinds import CLUSTER_NAMESPACE, EVENT, NAMESPACE, NODE
from .volcano_resources import POD_GROUP, VOLCANO_GROUP, VOLCANO_VERSION


async def volcano_lacks(api: Api, with_nodes: bool) -> AsyncIterator[str]:
    """What a cluster lacks, a line each with what to do. Raises ApiError where it does not answer."""
    if missing := await not_served(api, VOLCANO_GROUP, VOLCANO_VERSION, "install Volcano"):
        yield missing
        return
    wanted = [
        *rights(("list", "watch"), POD_GROUP),
        *rights(("list", "watch"), NAMESPACE),
        *rights(("get",), NAMESPACE, name=CLUSTER_NAMESPACE),
        *(rights(("list", "watch"), NODE) if with_nodes else ()),
        *rights(("create",), EVENT),
    ]
    for right in await missing_rights(api, wanted):
        yield f"gpol may not {right}; `gpol export volcano --live` writes the roles that it needs"

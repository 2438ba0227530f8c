"""What a cluster lacks so that the quotas of a system can be kept, or only compared. Nothing is written."""

from collections.abc import AsyncIterator

from ...kubernetes.access import missing_rights, not_served, rights
from ...kubernetes.api import Api
from ...kubernetes.resource_kinds import EVENT
from .guarded_system import GuardedSystem


async def guard_lacks(api: Api, system: GuardedSystem, repairs: bool, deletes: bool) -> AsyncIterator[str]:
    """What is missing, a line each with what to do. Raises ApiError where the cluster does not answer."""
    for group, version in dict.fromkeys((kind.group, kind.version) for kind in system.kinds):
        if missing := await not_served(api, group, version, f"install a release of {system.name} that has it"):
            yield missing
            return
    verbs = ("get", "list", "watch", *(("create", "patch") if repairs else ()), *(("delete",) if repairs and deletes else ()))
    wanted = [right for kind in system.kinds for right in rights(verbs, kind)] + rights(("create",), EVENT)
    option = " --may-delete" if deletes else ""
    for right in await missing_rights(api, wanted):
        yield f"gpol may not {right}; `gpol export {system.name.lower()} --live --way guard{option}` writes the roles that it needs"

"""What a program may do in a cluster, asked of the cluster itself."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .api import Api
from .resource_kinds import SELF_ACCESS_REVIEW, Kind


class Right(NamedTuple):
    """A verb on a kind, or on a part of it such as `status`; in all namespaces or in one, on all objects or on one by name."""

    verb: str
    kind: Kind
    part: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        """As a role would say it."""
        where = f" in namespace {self.namespace}" if self.namespace else ""
        group = self.kind.group or "the core group"
        return f"{self.verb} {self.kind.plural}{'/' + self.part if self.part else ''} of {group}{where}"


def rights(verbs: Iterable[str], kind: Kind, part: str = "", name: str = "") -> list[Right]:
    """Several verbs on one kind."""
    return [Right(verb, kind, part, name=name) for verb in verbs]


async def missing_rights(api: Api, wanted: Sequence[Right]) -> list[Right]:
    """Those of some rights that this program does not have. Raises ApiError where the cluster does not say."""
    answers = await asyncio.gather(*(_has(api, right) for right in wanted))
    return [right for right, has in zip(wanted, answers, strict=True) if not has]


async def _has(api: Api, right: Right) -> bool:
    asked = {
        "group": right.kind.group,
        "version": right.kind.version,
        "resource": right.kind.plural,
        "subresource": right.part,
        "verb": right.verb,
        "namespace": right.namespace,
        "name": right.name,
    }
    body = {
        "apiVersion": SELF_ACCESS_REVIEW.api_version,
        "kind": SELF_ACCESS_REVIEW.kind,
        "spec": {"resourceAttributes": {name: text for name, text in asked.items() if text}},
    }
    answer = await api.create(SELF_ACCESS_REVIEW.path(), body)
    return bool((answer.get("status") or {}).get("allowed"))


async def served_versions(api: Api, group: str) -> list[str]:
    """The versions of an API group that a cluster serves; none where it does not have the group. Raises ApiError."""
    groups = await api.get("/apis")
    found = [each for each in groups.get("groups") or [] if each.get("name") == group]
    return [str(version.get("version")) for each in found for version in each.get("versions") or []]


async def not_served(api: Api, group: str, version: str, remedy: str) -> str:
    """That a cluster does not serve a version of an API group, and what to do; empty where it does. Raises ApiError."""
    versions = await served_versions(api, group)
    if version in versions:
        return ""
    has = f"it serves {', '.join(versions)} of it" if versions else "it does not have it at all"
    return f"the cluster does not serve {group}/{version}: {has}; {remedy}"

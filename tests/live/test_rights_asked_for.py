"""What `gpol serve --check` asks for is what the exported roles give, no right more and none less."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest
from gpol.adapters.kubernetes.api import Api
from gpol.adapters.kueue.cluster_setup import lacks
from gpol.adapters.kueue.export.live.live_objects import LiveChoices, export_live
from gpol.adapters.kueue.live.guard.guarded_objects import KUEUE_GUARDED
from gpol.adapters.live.guard.guard_rights import guard_lacks
from gpol.adapters.volcano.export.live_for_volcano import VolcanoLiveChoices, export_live_for_volcano
from gpol.adapters.volcano.live.guarded_queues import volcano_guarded
from gpol.adapters.volcano.live.volcano_setup import volcano_lacks
from gpol.dsl import compile_policy

Json = dict[str, Any]
Right = tuple[str, str, str, str]
COUNTED = 'policy "p" { use gpol.fair }\nflavor f { gpu 8 }\nqueue q { owns 8 gpu on f }\n'
FROM_NODES = 'policy "p" { use gpol.fair }\nflavor f { gpu from nodes where model = "f" }\nqueue q { owns nothing }\n'
GROUPS = {"kueue.x-k8s.io": "v1beta2", "scheduling.volcano.sh": "v1beta1", "scheduling.k8s.io": "v1"}


class Reviewer:
    """A cluster that has all groups, in which gpol may do nothing: it is told what it lacks, and `asked` is what it asked for."""

    def __init__(self) -> None:
        self.asked: set[Right] = set()

    async def get(self, path: str) -> Json:
        """The groups."""
        return {"groups": [{"name": name, "versions": [{"version": version}]} for name, version in GROUPS.items()]}

    async def create(self, path: str, body: Json) -> Json:
        """The answer to a review."""
        said = body["spec"]["resourceAttributes"]
        resource = "/".join(filter(None, (said["resource"], said.get("subresource"))))
        self.asked.add((said.get("group", ""), resource, said["verb"], said.get("name", "")))
        return {"status": {"allowed": False}}


def asked(check: Callable[[Api], AsyncIterator[str]]) -> set[Right]:
    """The rights that a check asks for."""
    reviewer = Reviewer()

    async def run() -> list[str]:
        return [line async for line in check(cast(Api, reviewer))]

    assert len(asyncio.run(run())) == len(reviewer.asked)
    return reviewer.asked


def given(objects: list[Json]) -> set[Right]:
    """The rights that a ClusterRole gives."""
    return {
        (group, resource, verb, name)
        for item in objects
        if item["kind"] == "ClusterRole"
        for rule in item["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        for name in rule.get("resourceNames", [""])
    }


@pytest.mark.parametrize(("text", "nodes"), [(COUNTED, False), (FROM_NODES, True)])
def test_to_decide(text: str, nodes: bool) -> None:
    """For Kueue and for Volcano; nodes are read only where a flavor takes its capacity from them."""
    graph = compile_policy(text, "p.gpol")
    assert asked(lambda api: lacks(api, "gpol", graph, True)) == given(export_live(graph, LiveChoices()).objects)
    assert asked(lambda api: volcano_lacks(api, nodes)) == given(export_live_for_volcano(graph, VolcanoLiveChoices()).objects)


@pytest.mark.parametrize("deletes", [False, True])
def test_to_guard(deletes: bool) -> None:
    """For Kueue and for Volcano, with and without the right to delete."""
    graph = compile_policy(COUNTED, "p.gpol")
    kueue = export_live(graph, LiveChoices(way="guard", deletes=deletes)).objects
    volcano = export_live_for_volcano(graph, VolcanoLiveChoices(way="guard", deletes=deletes)).objects
    assert asked(lambda api: guard_lacks(api, KUEUE_GUARDED, True, deletes)) == given(kueue)
    assert asked(lambda api: guard_lacks(api, volcano_guarded(), True, deletes)) == given(volcano)

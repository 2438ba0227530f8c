"""Laws of import and export: what one writes, the other reads back with the same quotas, and the quotas mean what Volcano says."""

import json

from gpol.adapters.volcano.export.export_to_volcano import export_to_volcano as export
from gpol.adapters.volcano.export.export_to_volcano import json_list, yaml_documents
from gpol.adapters.volcano.import_.load_volcano import load_volcano, read_files
from gpol.dsl import check, print_tree
from gpol.engine.default_core import new_core
from gpol.engine.facts import PolicyActivated
from gpol.engine.policy_graph import PolicyGraph
from hypothesis import given
from hypothesis import strategies as st

from .volcano_clusters import CAPACITY, Json, clusters, in_units, normal_form
from .volcano_objects import NOW


def imported(text: str) -> tuple[str, PolicyGraph]:
    """The policy of a dump, and its graph by way of its text."""
    made = print_tree(load_volcano(read_files([("dump", text.encode())]), NOW, capacity=CAPACITY).tree)
    checked = check(made, "volcano.gpol")
    assert checked.graph is not None, checked.errors
    return made, checked.graph


@given(clusters())
def test_objects_come_back_with_the_same_quotas(objects: list[Json]) -> None:
    """export(import(objects)) are the objects in their normal form, and no import is refused."""
    _, graph = imported(json_list(objects))
    assert normal_form(export(graph).objects) == normal_form(objects)


@given(clusters(), st.booleans())
def test_a_policy_comes_back(objects: list[Json], as_yaml: bool) -> None:
    """Imported, exported and imported again it is the same policy, but for Queues that are closed, and classes that each cluster has."""
    kept = [item for item in objects if not item["metadata"]["name"].startswith("system-")]
    opened = [{**item, "status": {"state": "Open"}} if item["kind"] == "Queue" else item for item in kept]
    before, graph = imported(json_list(opened))
    after, again = imported((yaml_documents if as_yaml else json_list)(export(graph).objects))
    assert after == before
    assert again.digest == graph.digest


@given(clusters(), st.data())
def test_an_import_is_deterministic(objects: list[Json], data: st.DataObject) -> None:
    """The order of the objects and of their fields counts for nothing."""
    shuffled = [dict(reversed(item.items())) for item in data.draw(st.permutations(objects))]
    assert imported(json_list(shuffled))[0] == imported(json.dumps({"kind": "List", "items": objects}))[0]


@given(clusters())
def test_a_queue_may_use_what_volcano_lets_it_use(objects: list[Json]) -> None:
    """What a queue can get at most, were everything else idle, is its real capability as Volcano's plugin capacity computes it.

    That is at most its capability, and what its parent may use, less what its siblings guarantee.
    """
    _, graph = imported(json_list(objects))
    core = new_core()
    core.step(PolicyActivated(time=NOW, file="p.gpol", text="x", digest=graph.digest), graph)
    real = real_capability(objects)
    for item in graph.queues:
        name = graph.nodes[item.node].name.removeprefix("queue/")
        for number, slot in enumerate(graph.slots):
            assert core.probe.most(item.node, number) == real[name][slot.resource], (name, slot.resource)


def real_capability(objects: list[Json]) -> dict[str, dict[str, int]]:
    """The real capability of each Queue, where the root may use all that exists."""
    specs = {item["metadata"]["name"]: item["spec"] for item in objects if item["kind"] == "Queue" and item["metadata"]["name"] != "root"}
    kept = {name: in_units((spec.get("guarantee") or {}).get("resource") or {}) for name, spec in specs.items()}
    limits = {name: in_units(spec.get("capability") or {}, zeros=True) for name, spec in specs.items()}
    parent = {name: "" if spec.get("parent") in (None, "root") else spec["parent"] for name, spec in specs.items()}
    made: dict[str, dict[str, int]] = {"": dict(CAPACITY)}

    def of(name: str) -> dict[str, int]:
        if name not in made:
            siblings = [other for other in specs if parent[other] == parent[name] and other != name]
            above = of(parent[name])
            left = {each: above[each] - sum(kept[other].get(each, 0) for other in siblings) for each in above}
            made[name] = {each: min(left[each], limits[name].get(each, left[each])) for each in left}
        return made[name]

    return {name: of(name) for name in specs}

"""Generated Queues that Volcano's webhook accepts, and their normal form: what its scheduler makes of them."""

from collections.abc import Iterable
from math import ceil
from typing import Any

from gpol.adapters.kueue.read.quantity import parse
from hypothesis import strategies as st

from .volcano_objects import GPU, Json, priority, queue

RESOURCES = ("cpu", GPU, "memory", "example.com/nic")
CAPACITY = {"cpu": 10_000_000, GPU: 10_000, "memory": 10 << 50, "example.com/nic": 10_000}
"""More than any Queue deserves, in gpol's smallest unit."""

_NAMES = ("a", "b-1", "cluster", "default", "p", "team.x", "6a", "u", "z9")
_FORMS = {"cpu": "{}m", "memory": "{}Mi"}
_LIMITS = ("cpu", "memory")
"""Resources of which a capability of 0 is none."""

Amounts = dict[str, int]
"""In thousandths of a cpu, MiB of memory, and whole units of all else."""


@st.composite
def amounts(draw: st.DrawFn, most: Amounts | None = None) -> Amounts:
    """Amounts of some resources; at most these, where `most` is given, and then of no others."""
    chosen = draw(st.lists(st.sampled_from(RESOURCES if most is None else sorted(most)), unique=True)) if most is None or most else []
    return {resource: draw(st.integers(0, 400 if most is None else most[resource])) for resource in chosen}


@st.composite
def clusters(draw: st.DrawFn) -> list[Json]:
    """Queues in a tree of up to four levels, in any order, with PriorityClasses.

    Amounts are made from the leaves up, so that each Queue deserves and guarantees at least what those below it do.
    """
    names = draw(st.lists(st.sampled_from(_NAMES), unique=True, min_size=1))
    parents = {name: draw(st.sampled_from(["", "root", *names[:number]])) for number, name in enumerate(names)}
    made: dict[str, dict[str, Amounts]] = {}
    for name in reversed(names):
        below = [made[other] for other in names if parents[other] == name]
        made[name] = draw(quotas(below))
    limit_by_parents(names, parents, made)
    objects = [written(draw, name, parents[name], made[name]) for name in names]
    if draw(st.booleans()):
        objects.append(queue("root", weight=1))
    classes = [
        priority("low", 0),
        priority("high", 1000, globalDefault=draw(st.booleans())),
        priority("system-node-critical", 2_000_001_000),
    ]
    return draw(st.permutations([*objects, *classes[: draw(st.integers(0, 3))]]))


@st.composite
def quotas(draw: st.DrawFn, below: list[dict[str, Amounts]]) -> dict[str, Amounts]:
    """What a Queue deserves, guarantees and uses at most, over what those below it do."""
    own = draw(amounts())
    owned = added([own, *(each["deserved"] for each in below)])
    kept = added([draw(amounts(own)), *(each["guarantee"] for each in below)])
    limits = {resource: owned.get(resource, 0) + more for resource, more in draw(amounts()).items()}
    widest = {resource: max(each["capability"].get(resource, 0) for each in below) for each in below for resource in each["capability"]}
    capability = {resource: max(limits[resource], widest.get(resource, 0)) for resource in limits}
    return {"deserved": owned, "guarantee": kept, "capability": capability}


def added(lists: Iterable[Amounts]) -> Amounts:
    """The sum of amounts."""
    total: Amounts = {}
    for each in lists:
        for resource, amount in each.items():
            total[resource] = total.get(resource, 0) + amount
    return total


def limit_by_parents(names: list[str], parents: dict[str, str], made: dict[str, dict[str, Amounts]]) -> None:
    """Lower each capability to that of the nearest Queue above that has one."""
    for name in names:  # parents stand before their children
        above = parents[name]
        limits: Amounts = {}
        while above not in ("", "root"):
            limits = {**made[above]["capability"], **limits}
            above = parents[above]
        capability = made[name]["capability"]
        made[name]["capability"] = {resource: min(capability[resource], limits.get(resource, 1 << 62)) for resource in capability}


def written(draw: st.DrawFn, name: str, parent: str, made: dict[str, Amounts]) -> Json:
    """A Queue with these amounts, some of what says nothing new left out."""
    texts = {field: {resource: _FORMS.get(resource, "{}").format(amount) for resource, amount in made[field].items()} for field in made}
    return queue(
        name,
        state=draw(st.sampled_from(["Open", "Open", "Closed", ""])),
        **({"parent": parent} if parent else {}),
        **draw(st.sampled_from([{}, {"weight": 1}, {"weight": 7}])),
        **draw(st.sampled_from([{}, {"reclaimable": True}, {"reclaimable": False}])),
        deserved=texts["deserved"],
        guarantee={"resource": texts["guarantee"]},
        capability=texts["capability"],
    )


# --- normal form


def normal_form(objects: Iterable[Json]) -> dict[tuple[str, str], Any]:
    """The objects by kind and name: amounts in one unit, without zeros and defaults that say nothing."""
    given = list(objects)
    parents = {item["spec"].get("parent") for item in given if item["kind"] == "Queue"}
    made: dict[tuple[str, str], Any] = {}
    for item in given:
        name = item["metadata"]["name"]
        if item["kind"] == "PriorityClass" and not name.startswith("system-"):
            made["PriorityClass", name] = (item["value"], item.get("globalDefault", False))
        elif item["kind"] == "Queue" and name != "root":
            spec = item["spec"]
            parent = "" if spec.get("parent") in (None, "", "root") else spec["parent"]
            reclaimable = spec.get("reclaimable", True) or name in parents  # it counts for leaves alone
            guarantee = in_units((spec.get("guarantee") or {}).get("resource") or {})
            deserved = {**guarantee, **in_units(spec.get("deserved") or {})}
            capability = in_units(spec.get("capability") or {}, zeros=True)
            made["Queue", name] = (parent, spec.get("weight", 1), reclaimable, deserved, guarantee, capability)
    return made


def in_units(said: Json, zeros: bool = False) -> Amounts:
    """Amounts in thousandths of a cpu and whole units of all else, without zeros, unless they are limits."""
    found = {resource: ceil(parse(text) * (1000 if resource == "cpu" else 1)) for resource, text in said.items()}
    return {resource: found[resource] for resource in sorted(found) if found[resource] or (zeros and resource not in _LIMITS)}

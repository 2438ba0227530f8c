"""Why a workload has no places, as data of bounded size, and in words."""

from collections.abc import Sequence

from ..nodes.without_places import WithoutPlace
from ..outcome.grounds import KeptOffPlaces, LayerFit, Unplaced
from ..outcome.nomination import FlavorAssignment, Mode, NoPlaces
from ..policy_graph import PolicyGraph
from .standing import NodesLacking, PlaceHelp

MOST_CAUSES = 8
"""How many causes are told apart that keep pods off; places of all others are added up."""

_CAUSES = {"selector": "node selector", "affinity": "affinity", "outside": "another domain"}


def unplaced(graph: PolicyGraph, flavors: FlavorAssignment | None) -> Unplaced | None:
    """Why an assignment has no places now, or where it has none even if nothing ran, why that is so; None where it lacks none."""
    if flavors is None:
        return None
    if flavors.unplaced_if_empty is not None:
        return place_failure(graph, flavors.unplaced_if_empty, if_empty=True)
    if flavors.unplaced is None or flavors.mode is Mode.FIT:
        return None
    return place_failure(graph, flavors.unplaced, if_empty=False)


def place_failure(graph: PolicyGraph, failure: NoPlaces, if_empty: bool) -> Unplaced:
    """Why there are no places, by the names of the policy. Where slices do not come out even, how much room there is does not matter."""
    if failure.kind == "uneven-slices":
        return Unplaced(
            kind=failure.kind,
            pod_sets=failure.pod_sets,
            flavor=graph.flavors[failure.flavor].name,
            of=failure.of,
            size=failure.size,
            left_over=failure.left_over,
            if_empty=if_empty,
        )
    by_number = sorted(failure.kept_off, key=lambda each: (-each[2], each[0], each[1]))
    no_room = failure.kind == "no-room"
    return Unplaced(
        kind=failure.kind,
        pod_sets=failure.pod_sets,
        flavor=graph.flavors[failure.flavor].name,
        level=failure.asked if no_room else failure.level,
        together=no_room and bool(failure.level),
        above="" if no_room else failure.asked,
        fit=failure.fit,
        of=failure.of,
        size=failure.size,
        layers=tuple(LayerFit(level=layer.level, fit=layer.fit, of=layer.of) for layer in failure.layers),
        closest=failure.closest,
        closest_fit=failure.closest_fit,
        places=failure.nodes,
        kept_off=tuple(KeptOffPlaces(cause=cause, detail=detail, places=places) for cause, detail, places in by_number[:MOST_CAUSES]),
        others=sum(places for *_, places in by_number[MOST_CAUSES:]),
        if_empty=if_empty,
    )


# --- words ----------------------------------------------------------------------------------------------------------


def unplaced_told(told: Unplaced) -> str:
    """Why there are no places, in one line."""
    where = f"{told.flavor} for {' and '.join(told.pod_sets)}"
    match told.kind:
        case "no-level":
            return f"{where}: {f'its topology has no level {told.level}' if told.level else 'without its slices it names no level'}"
        case "no-domains":
            return f"{where}: no node of {told.flavor} that takes pods is in any {told.level}"
        case "slice-above":
            return f"{where}: slices within {told.level} are not below {told.above}"
        case "uneven-slices":
            return f"{where}: {_all_pods(told)} pods are no whole number of slices of {told.size}"
        case "place-gone":
            what = f"is in no {told.level}" if told.level else "takes no pods"
            return f"{where}: other pods stand on {told.above}, which {what} any more"
        case "slices-broken":
            return f"{where}: a slice would not stand in one {told.level}"
        case "no-room":
            return f"{where}: {'; '.join((_room(told), *_closest(told), *_kept_off(told)))}"


def _all_pods(told: Unplaced) -> int:
    """How many pods there are where they make up no whole number of slices."""
    return told.of * told.size + told.left_over


def evictions_free_quota_alone(victims: int, told: Unplaced) -> str:
    """What it says of a flavor on which evictions would free enough quota for a workload, and no places for its pods."""
    who = "an eviction" if victims == 1 else f"{victims} evictions"
    return f"{who} would free the quota, but there would still be no places on {unplaced_told(told)}"


def _unit(told: Unplaced, count: int) -> str:
    many = "" if count == 1 else "s"
    return f"{count} pod{many}" if told.size == 1 else f"{count} slice{many} of {told.size} pods"


def _room(told: Unplaced) -> str:
    """For how many there is room, and where they are to stand."""
    where = f" within one {told.level}" if told.together else f" near one another by {told.level}" if told.level else ""
    even = ", even if nothing ran" if told.if_empty else ""
    if told.fit >= told.of:
        return f"room for {_unit(told, told.of)}{where}, and none for all that is to stand with them{even}"
    layers = "".join(f", {layer.fit} of {layer.of} in slices within {layer.level}" for layer in told.layers)
    return f"room for {told.fit} of {_unit(told, told.of)}{where}{even}{layers}"


def _closest(told: Unplaced) -> list[str]:
    """The domain that comes closest, where there are several and it has room for some."""
    beside = " beside the leader" if len(told.pod_sets) > 1 else ""
    return [f"closest is {'/'.join(told.closest)} with room for {told.closest_fit}{beside}"] if told.closest and told.closest_fit else []


def _kept_off(told: Unplaced) -> list[str]:
    """How many places take no pod at all, by what is in the way."""
    causes = [f"{cause_told(each)} {each.places}" for each in told.kept_off] + ([f"other {told.others}"] if told.others else [])
    none = sum(each.places for each in told.kept_off) + told.others
    return [f"{none} of {told.places} places {'takes' if none == 1 else 'take'} none ({', '.join(causes)})"] if causes else []


def cause_told(kept_off: KeptOffPlaces) -> str:
    """What keeps pods off places: a taint, a resource of which too little is free, or what the pods choose."""
    match kept_off.cause:
        case "taint":
            return f"taint {kept_off.detail}"
        case "resource":
            return kept_off.detail
        case _:
            return _CAUSES[kept_off.cause]


def known_of_nodes(told: Unplaced, helps: PlaceHelp | None) -> str:
    """What is the matter with nodes of the flavor: labels that they lack, cordons, and resources of which they say nothing."""
    if helps is None:
        return ""
    said = []
    for each in helps.lacking:
        of = f"level {each.level}" if each.level else "of the flavor"
        who = f"1 node of {told.flavor} has" if each.nodes == 1 else f"{each.nodes} nodes of {told.flavor} have"
        said.append(f"{who} no label `{each.label}` ({of})")
    if helps.cordoned:
        said.append(
            f"1 node of {told.flavor} is cordoned" if helps.cordoned == 1 else f"{helps.cordoned} nodes of {told.flavor} are cordoned"
        )
    said += [f"nodes of {told.flavor} say nothing of {' and '.join(helps.unsaid)}"] if helps.unsaid else []
    return "".join(f"; {each}" for each in said)


def instead_of(told: Unplaced, helps: PlaceHelp | None) -> str:
    """What to do where there are no places even if nothing ran: what was tried and helps, and what nobody can know beforehand."""
    helps = PlaceHelp() if helps is None else helps
    match told.kind:
        case "no-level":
            return f"ask for a level that the topology of {told.flavor} has, or add {told.level} to it"
        case "place-gone" | "slices-broken":
            return "let it start anew, so that all its pods are placed together"
        case "no-domains":
            ways = [f"give nodes their label `{_label_told(each)}`" for each in helps.lacking]
            ways += ["uncordon nodes"] if helps.cordoned else []
            return _either([*ways, f"add nodes that have the labels of {told.flavor} and are in a {told.level}"])
    ways = [f"tolerate taint {' and '.join(helps.tolerating)}"] if helps.tolerating else []
    ways += ["choose other nodes"] if helps.other_nodes else []
    apart = f"let pods stand in more than one {told.level}" if told.together else "do not ask for one domain"
    ways += [f"let pods stand within one {helps.within}"] if helps.within else [apart] if helps.apart else []
    ways += ["ask for no slices"] if helps.no_slices else []
    ways += [f"submit {' or '.join(map(str, helps.pods))} pod{'' if helps.pods == (1,) else 's'}"] if helps.pods else []
    most = " and ".join(f"{each.value} {each.name}" for each in helps.at_most)
    ways += [f"let a pod ask for at most {most}"] if most else []
    ways += [_ignored_and_said(helps)] if helps.unsaid_alone else []
    if told.kind == "uneven-slices":
        return _either([*ways, f"choose a slice size that divides {_all_pods(told)}"])
    if told.kind == "slice-above":
        return _either(ways or [f"ask for slices within a level that is not above {told.above}"])
    return _either([*ways, f"add nodes to {told.flavor}"])


def _label_told(lacking: NodesLacking) -> str:
    return f'{lacking.label} = "{lacking.value}"' if lacking.value else lacking.label


def let_nodes_say(resources: str) -> str:
    """What to do where nodes say nothing of a resource."""
    return f"let nodes say how much {resources} they have (a column of `--nodes`)"


def _ignored_and_said(helps: PlaceHelp) -> str:
    """To say how much of a resource nodes have; they are asked for it where a policy ignores it, and where it counts it."""
    ignore = f"write {' and '.join(f'`ignore {resource}`' for resource in helps.uncounted)} in the policy and " if helps.uncounted else ""
    return ignore + let_nodes_say(" and ".join(helps.unsaid))


def _either(ways: Sequence[str]) -> str:
    """Ways of which each is enough."""
    return f"{', '.join(ways[:-1])}, or {ways[-1]}" if len(ways) > 1 else ways[0]


def without_place_told(graph: PolicyGraph, told: WithoutPlace) -> str:
    """What a node lacks that is of a flavor and stands in none of its domains."""
    if told.level:
        return f"has no label `{told.label}` (level {told.level})"
    flavor = graph.flavors[told.flavors[0]]
    return f'has no label `{told.label} = "{dict(flavor.labels)[told.label]}"` of flavor {flavor.name}'


def placed_told(domains: tuple[tuple[tuple[str, ...], int], ...], most: int) -> str:
    """Where pods stand: the first few domains with their pods, and how many more there are."""
    shown = [f"{'/'.join(domain)}{f' ({pods})' if pods > 1 else ''}" for domain, pods in domains[:most]]
    return ", ".join(shown) + (f" and {len(domains) - most} more" if len(domains) > most else "")

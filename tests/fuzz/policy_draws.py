"""Whole policies as text, one statement a line, so that lines can be left out again."""

from collections import Counter
from functools import lru_cache

from draws import Dice, Draw
from gpol.dsl import compile_policy
from gpol.dsl.analysis.profiles import shipped
from gpol.dsl.diagnostics import PolicyError
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.units import INT64_MAX
from quota_draws import Tree, flavor_choices
from rule_draws import LONG, admission_rule, preempt_rule, protect_rule
from worlds import EFFECTS, NODE_LABELS, World, listed, named, supply, written

BARE = 'profile "test.bare" {\n  order workloads by priority desc, submitted asc\n}\n'
"""A profile for policies that say nearly everything themselves."""

PROFILES = {"test.bare": BARE, **{name: shipped(name) or "" for name in ("gpol.fair", "gpol.reclaim", "kueue.classical", "kueue.fair")}}
RULES = {"gpol.fair": ["reclaim-owned", "fair-share", "make-room"], "gpol.reclaim": ["reclaim-owned", "make-room"], "test.bare": []}
"""The preempt rules of each profile."""


@lru_cache(maxsize=64)
def compiled(text: str) -> PolicyGraph:
    """The graph of a policy."""
    return compile_policy(text, "p.gpol", PROFILES)


def policy(draw: Draw, world: World, refused: Counter[str], tries: int = 20) -> str:
    """A policy that checks without errors: one that is refused is drawn again, and counted by the code of its first error."""
    for _ in range(tries):
        text = policy_text(draw, world)
        try:
            compiled(text)
        except PolicyError as error:
            refused[error.diagnostics[0].code] += 1
            continue
        return text
    raise AssertionError(f"the compiler refuses all of {tries} policies, the last one is\n{text}")


def policy_text(draw: Draw, world: World) -> str:
    """A policy; few of them are refused by the compiler."""
    if world.in_cycles:
        header, by_usage = _header_in_cycles(draw, world)
        rules: list[str] = []
    else:
        header, rules = _header_at_once(draw, world)
        by_usage = False
    lines = ['policy "generated" {', *header, "}"]
    lines += [f"resource {named(resource)}" for resource in world.resources if resource not in ("gpu", "cpu", "memory")]
    room: dict[tuple[str, str], int] = {}
    flavors = [_flavor(draw, world, flavor, room) for flavor in world.flavors]
    priorities = [line for name in world.priorities for line in _priority(draw, name)]
    tree = Tree(draw, world, room, by_usage).lines()
    for number in range(draw.pick([0, 0, 0, 0, 1, 1, 2])):
        rules += admission_rule(draw, world, draw.pick(["hold", "deny"]), f"a{number}")
    if by_usage and draw.chance(3):
        rules += admission_rule(draw, world, "hold", "some")
    topologies = _places(draw, world, flavors)
    return indented([*lines, *topologies, *(line for flavor in flavors for line in flavor), *priorities, *tree, *rules])


def indented(lines: list[str]) -> str:
    """Lines as the text of a policy: inner ones do not begin in column one."""
    depth, made = 0, []
    for line in lines:
        depth -= line == "}"
        made.append("  " * depth + line)
        depth += line.endswith("{")
    return "\n".join(made) + "\n"


def _priority(draw: Draw, name: str) -> list[str]:
    value = {"low": draw.pick([-1, 0, -(2**31)]), "normal": draw.pick([0, 1]), "high": draw.pick([2, 1000, 2**31 - 1])}[name]
    pinned = draw.chance(8 if name == "high" else 30)
    block = " { never evicted }" if pinned else draw.pick(["", "", "", "", "", " { }"])
    return [f"priority {name} {value}{block}"]


# --- flavors --------------------------------------------------------------------------------------------------------


def _flavor(draw: Draw, world: World, name: str, room: dict[tuple[str, str], int]) -> list[str]:
    resources = world.flavors[name]
    way = "owned" if world.in_cycles else draw.pick(["amounts", "amounts", "amounts", "nodes", "nodes", "owned", "mixed"])
    room |= {(name, resource): INT64_MAX for resource in resources}
    lines = []
    if way == "nodes":
        pool, zone = draw.pick([name, name, name, "f0"]), draw.pick(["", "", ' and zone = "a"'])
        lines.append(f'{listed(resources)} from nodes where pool = "{pool}"{zone}')
    elif way == "owned":
        lines.append(f"{listed(resources)} as owned")
    else:
        for resource in resources:
            if way == "mixed" and draw.chance(2):
                lines.append(f"{named(resource)} as owned")
            else:
                there = room[name, resource] = supply(draw, world.size, resource)
                amount, what = written(there, resource).split(" ")
                lines.append(f"{what} {amount}")
    if draw.chance(4):
        lines.append(f"worth {draw.pick(['2.5', '1/3', '2', '1'])}")
    if world.in_cycles and draw.chance(30):
        lines.append("missing")
    else:
        lines += _labels(draw)
    return [f"flavor {name} {{", *lines, "}"]


def _labels(draw: Draw) -> list[str]:
    lines = []
    if draw.chance(3):
        labels = dict(draw.some(NODE_LABELS, least=1, most=2))
        lines += [f'label {_label_key(draw, key)} = "{value}"' for key, value in labels.items()]
    if draw.chance(7):
        taints = draw.some([f"{key}{value}" for key in ("pool", "spot") for value in ("", ' = "f0"')], least=1, most=2)
        lines += [f"taint {each} {draw.pick(EFFECTS)}" for each in taints]
    if draw.chance(6):
        what = draw.pick(["anything", "pool", "spot", 'pool = "f0"'])
        lines.append(f"tolerates {what}{draw.pick(['', *(f' {each}' for each in EFFECTS)])}")
    return lines


def _label_key(draw: Draw, key: str) -> str:
    return f'"{key}"' if draw.chance(4) else key


def _places(draw: Draw, world: World, flavors: list[list[str]]) -> list[str]:
    """The lines of some topologies. Some flavors are placed there, or on nodes: of those that may be, which get a line more."""
    topologies = _topologies(draw, world) if draw.chance(4) else {}
    pools = [line.split('pool = "')[1].split('"')[0] for lines in flavors for line in lines if " from nodes where " in line]
    apart = len(pools) == len(set(pools))  # a placed flavor has nodes of its own
    for lines in flavors:
        of_nodes = apart and any(" from nodes where " in line for line in lines)
        may_be = "missing" not in lines and (world.in_cycles or of_nodes)
        if may_be and draw.chance(16):
            where = f"in {draw.pick([*topologies])}" if topologies and draw.chance(2) else "on nodes"
            lines.insert(-1, f"placed {where}")
    return [line for lines in topologies.values() for line in lines]


def _topologies(draw: Draw, world: World) -> dict[str, list[str]]:
    """Topologies by their names; where the policy decides at once, each ends at nodes."""
    found = {}
    for name in draw.some(["fabric", "islands"], least=1):
        levels = [f'level {level} from label "{label}"' for level, label in draw.some([("block", "zone"), ("rack", "size")])]
        if not world.in_cycles or not levels or draw.chance(2):
            levels.append("level host from node")
        found[name] = [f"topology {name} {{", *levels, "}"]
    return found


# --- headers --------------------------------------------------------------------------------------------------------


def _keys(draw: Draw, known: list[str], most: int = 4) -> str:
    plain = [key for key in known if named(key) == key]
    return ", ".join(f"{key}{draw.pick([' asc', ' desc', ''])}" for key in draw.some(plain, least=1, most=most))


def _common(draw: Draw, world: World, share: list[str], bare: bool) -> list[str]:
    """Choices of both ways of deciding."""
    lines = [f"share {draw.pick(share)}"] if bare or draw.chance(3) else []
    if draw.chance(4):
        keys = ["priority", "submitted", "pods", "evictions", *world.resources]
        lines.append(f"order workloads by {_keys(draw, list(dict.fromkeys(keys)))}")
    if draw.chance(4):
        lines.append(draw.pick(["queueing strict fifo", "queueing best effort"]))
    lines += flavor_choices(draw, 4)
    if draw.chance(6):
        lines.append(f"default priority {draw.pick(world.priorities)}")
    spare = [each for each in ("cpu", "memory", "license") if each not in world.resources]
    if spare and draw.number(1, 4) < 4:
        lines.append(f"ignore {listed(draw.some(spare, least=1))}")
    return lines


def _header_at_once(draw: Draw, world: World) -> tuple[list[str], list[str]]:
    """The choices of the header, and the rules."""
    profile = draw.pick(["", "gpol.fair", "gpol.reclaim", "test.bare", "test.bare"])
    lines = [f"use {profile}"] if profile else []
    shares = ["borrowed"] if world.crowded else ["borrowed", "used", "borrowed rounded", "none"]
    lines += _common(draw, world, shares, profile == "test.bare")
    if draw.chance(6):
        lines.append("decide at once")
    lines += _placing(Dice(f"places/{lines}"), world)
    if profile == "test.bare" or draw.chance(3):
        keys = ["borrowing", "share", "priority", "submitted", "pods", *world.resources]
        lines.append(f"order queues by {_keys(draw, keys)}")
    rules: list[str] = []
    known = RULES[profile or "gpol.fair"]
    own = [f"r{number}" for number in range(draw.pick([0, 1, 2, 3]))] + (draw.some(known, most=1) if draw.chance(3) else [])
    if draw.chance(12):
        lines.append("preempt by nothing")
    else:
        rules = [line for name in own for line in preempt_rule(draw, world, name)]
        tried = list(dict.fromkeys([*known, *own]))
        if len(tried) > len(known) and (known or len(tried) > 1 or draw.chance(2)):
            lines.append(f"preempt by {', '.join(draw.shuffled(tried))}")
    for number in range(draw.pick([0, 0, 1, 1, 2])):
        rules += protect_rule(draw, world, f"p{number}")
    return lines, rules


def _placing(draw: Draw, world: World) -> list[str]:
    """How pods are placed, what becomes of them when a node is lost, and whether surplus goes first; also where there is nothing of it.

    Of dice of their own, so that all else is drawn as it was before there were these choices.
    """
    lines = []
    if draw.chance(5):
        resources = draw.some(world.resources, least=1, most=2)
        sizes = [" and ".join(f"{draw.number(1, 2) * factor} {named(each)}" for each in resources) for factor in (8, 3, 1)]
        kept = ", ".join(draw.some(sizes, least=1))
        lines.append(f"place pods {draw.pick(['packed', 'spread', f'keeping room for {kept}'])}")
    if draw.chance(5):
        lines.append(f"when a node is lost {draw.pick(['replace pods', 'evict', 'wait'])}")
    if draw.chance(5):
        lines.append("shrink before evicting")
    return lines


def _header_in_cycles(draw: Draw, world: World) -> tuple[list[str], bool]:
    """The choices of the header, and whether queues may admit by usage."""
    profile = draw.pick(["kueue.classical", "kueue.fair", "kueue.fair", "kueue.classical", "test.bare"])
    bare = profile == "test.bare"
    ways = ["classically", "fairly by final share, initial share", "fairly by initial share, final share", "fairly by final share"]
    way = draw.pick([*ways, "fairly by initial share"]) if bare or draw.chance(4) else ""
    fair = way.startswith("fairly") or (not way and profile == "kueue.fair")
    lines = [f"use {profile}"]
    lines += _common(draw, world, ["borrowed", "borrowed rounded", *([] if fair else ["used", "none"])], bare)
    if bare or draw.chance(5):
        period = draw.pick(LONG) if draw.chance(20) else draw.pick(["1s", "500ms", "5s", "1us"])
        lines.append(f"decide in cycles of {period}")
    if way:
        lines.append(f"preempt {way}")
    if bare or draw.chance(3):
        subject = draw.pick(["heads", "queues"])
        keys = ["borrowing", "priority", "submitted", "pods", *world.resources, *(["share"] if subject == "queues" else [])]
        lines.append(f"order {subject} by {_keys(draw, list(dict.fromkeys(keys)))}")
    by_usage = draw.chance(3)
    if by_usage:
        half_life = draw.pick(LONG) if draw.chance(20) else draw.pick(["10s", "0s", "1m", "7d"])
        sampling = draw.pick(LONG) if draw.chance(20) else draw.pick(["1s", "5s", "5m"])
        lines.append(f"usage halves every {half_life}, sampled every {sampling}")
        some = draw.some(world.resources, most=2)
        if some:
            lines.append("usage weighs " + ", ".join(f"{named(each)} {draw.pick(['0', '1/2', '1/3', '2.5', '2'])}" for each in some))
    return lines, by_usage

"""Rules and their guards, as lines of a policy's text."""

from draws import Draw
from worlds import LABELS, PATTERNS, World, drawn_amount, named, written

ORDERED = ("<", "<=", "=", "!=", ">", ">=")
TEXTS = ("queue", "user", "group", "namespace", "kind")
DURATIONS = ("0s", "1s", "5s", "20s", "1m", "500ms", "1h30m", "7us")
LONG = ("26687997d", "26687998d", f"{2**61}us", f"{2**61 + 1}us", "106751991d", f"{2**63 - 1}us")
"""Durations near what tables hold, and what 64 bits do."""

SHARES = ("0", "1/2", "1", "1/3", "2.5")
BOUNDS = ("workload.queue.share <= victim.queue.share_after", "victim.queue.share > workload.queue.share")
"""Guards that keep shares from growing apart, so that who is refused by them may be refused for long."""

BOTH = ("workload", "victim")
BECAUSE = ("because of the rule", 'no \\"room\\"')


def duration(draw: Draw) -> str:
    """A duration of a guard, rarely a very long one."""
    return draw.pick(LONG) if draw.chance(40) else draw.pick(DURATIONS)


class Guards:
    """Guards about a workload and a victim or, where they are `static`, about what a submission says."""

    def __init__(self, draw: Draw, world: World, static: bool = False) -> None:
        self.draw, self.world, self.static = draw, world, static

    def guard(self, depth: int = 2) -> str:
        """A guard, nested at most so deep."""
        draw = self.draw
        way = draw.pick(["plain", "plain", "and", "or", "not"] if depth else ["plain"])
        if way == "plain":
            return self._comparison()
        if way == "not":
            return f"not ({self.guard(depth - 1)})" if draw.chance(2) else f"not {self._comparison()}"
        parts = [self.guard(depth - 1) for _ in range(draw.pick([2, 2, 3]))]
        return "(" + f" {way} ".join(parts) + ")"

    def _subject(self) -> str:
        return "workload" if self.static else self.draw.pick(BOTH)

    def _comparison(self) -> str:
        draw = self.draw
        kinds = ["priority", "priority", "amount", "pods", "text", "label"]
        kind = draw.pick(kinds if self.static else [*kinds, "text", "label", "evictions", "duration", "duration", "share", "share"])
        one, other = self._subject(), self._subject()
        operator = draw.pick(ORDERED)
        if kind == "priority":
            return f"{one}.priority {operator} " + draw.pick([f"{other}.priority", *self.world.priorities, "0", "1", "-1"])
        if kind == "amount":
            resource = draw.pick([each for each in [*self.world.resources, "gpu"] if named(each) == each and each != "pods"])
            some = written(drawn_amount(draw, self.world.size, resource), resource)
            return f"{one}.{resource} {operator} " + draw.pick([some, some.split(" ")[0], f"{other}.{resource}"])
        if kind in ("pods", "evictions"):
            fields = ["pods"] if self.static or self.world.in_cycles else ["pods", "evictions"]
            return f"{one}.{kind} {operator} " + draw.pick([str(draw.number(0, 4)), f"{other}.{draw.pick(fields)}"])
        if kind == "duration":
            fields = ["workload.waiting", "victim.running"]
            return f"{draw.pick(fields)} {operator} " + draw.pick([duration(draw), *fields])
        if kind == "share":
            fields = ["workload.queue.share", "victim.queue.share", "victim.queue.share_after"]
            return f"{draw.pick(fields)} {operator} " + draw.pick([*fields, *SHARES])
        return self._text(kind, one, other)

    def _text(self, kind: str, one: str, other: str) -> str:
        draw = self.draw
        operator = draw.pick(["=", "!="])
        key = draw.pick(LABELS)[0]
        field = f'label "{key}"' if kind == "label" else draw.pick(TEXTS)
        constants = [f'"{draw.pick(PATTERNS)}"', f'"{draw.pick([value for _, value in LABELS])}"']
        if field == "queue":
            constants.append(named(draw.pick(self.world.queues)))
        return f"{one}.{field} {operator} " + draw.pick([*constants, f"{other}.{draw.pick([field, *TEXTS])}"])


def victim_keys(draw: Draw, world: World) -> str:
    """An order of victims."""
    known = ["priority", "admitted", "submitted", "queue.share", "pods", "evictions"]
    keys = draw.some([*known, *(each for each in world.resources if named(each) == each)], least=1, most=3)
    return ", ".join(f"victim.{key}{draw.pick([' asc', ' desc', ''])}" for key in keys)


def preempt_rule(draw: Draw, world: World, name: str) -> list[str]:
    """A preempt rule."""
    trigger = draw.pick(["", "queue", "queue", "cohort"])
    scopes = ["queues that borrow", "any queue", "queues that borrow, in the same cohort", "any queue, in the same cohort"]
    scope = draw.pick(scopes if trigger == "cohort" else ["the same queue", *scopes])
    lines = [f"when workload fits what its {trigger} owns"] if trigger else []
    lines.append(f"evict from {scope}")
    if world.crowded and not trigger and scope != "the same queue" and not draw.chance(8):
        lines.append(f"where {draw.pick(BOUNDS)}{f' and {Guards(draw, world).guard(1)}' if draw.chance(3) else ''}")
    elif draw.number(1, 3) < 3:
        lines.append(f"where {Guards(draw, world).guard()}")
    if draw.chance(2):
        lines.append(f"order by {victim_keys(draw, world)}")
    return [f"preempt {name} {{", *lines, "}"]


def _scope(draw: Draw, world: World) -> str:
    names = draw.some(world.nodes, most=2) if draw.chance(2) else []
    return f" for {', '.join(named(name) for name in names)}" if names else ""


def protect_rule(draw: Draw, world: World, name: str) -> list[str]:
    """A protect rule; mostly of those who have not run for long."""
    if draw.chance(10):  # always, and now and then everybody
        return [f"protect {name}{draw.pick([f' for {named(draw.pick(world.nodes))}'] * 3 + [''])}{draw.pick(['', '', ' { }'])}"]
    guards = [f"victim.running < {duration(draw)}", f"victim.running <= {duration(draw)}", Guards(draw, world).guard()]
    return [f"protect {name}{_scope(draw, world)} {{", f"where {draw.pick(guards)}", "}"]


def admission_rule(draw: Draw, world: World, action: str, name: str) -> list[str]:
    """A deny or hold rule; one that holds always is mostly for one queue."""
    because = f'because "{draw.pick(BECAUSE)}"'
    if draw.chance(8):
        scope = draw.pick([f" for {named(draw.pick(world.queues))}"] * 5 + [""])
        return [f"{action} {name}{scope}{draw.pick(['', '', ' { }'])} {because}"]
    guards = Guards(draw, world, static=True)
    guard = draw.pick([f"({guards.guard(1)} and {guards.guard(1)})", guards.guard()])
    return [f"{action} {name}{_scope(draw, world)} {{ where {guard} }} {because}"]

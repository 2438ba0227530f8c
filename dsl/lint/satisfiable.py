"""Whether a guard can hold at all. `no` is certain; where it would take too long to tell, the answer is that it can."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ...engine import guard as expr
from ...engine import policy_graph as graph
from .text_patterns import TooManyError, Work, shortest_text

_LOWEST, _HIGHEST = -(2**31), 2**31 - 1
"""The bounds of a priority that is asked for, and of a boost."""

_MOST_WORK = 20_000
"""So many comparisons and choices are looked at, over all ways in which a guard may hold."""

_MOST_STEPS = 1_000_000
"""So many steps are taken to compare numbers and texts, over all questions about a policy: some seconds."""

_STEPS_EACH = 8
"""So many of them count for each comparison and choice."""

_MOST_POINTS = 60
"""Of comparisons of more fields and constants than these in one case, nothing is known."""

Case = tuple[expr.Compare, ...]
"""One way in which a guard may hold: comparisons that all have to."""

FieldKey = tuple[str, str, str | None]
"""A field of a workload: the subject, the path, and the key of a label."""

_OPPOSITE = {"<": ">=", "<=": ">", "=": "!=", "!=": "=", ">": "<=", ">=": "<"}


@dataclass(frozen=True, slots=True)
class Possible:
    """What can occur under a policy: the highest ceiling (None: a queue has none), the queues by name, whether shares are ever anything
    but 0; and how much work may still go into questions about it.

    A workload's priority is what it asks for, up to the ceiling, plus its boost. The boost counts in full, above a ceiling too.
    """

    ceiling: int | None
    queues: frozenset[str]
    shares: bool
    work: Work = field(default_factory=lambda: Work(_MOST_STEPS), compare=False)

    def bounds(self, kind: expr.Type) -> tuple[int, int | None]:
        """The least and the greatest value of a field of some type; None: no greatest one."""
        if kind is expr.Type.PRIORITY:
            return 2 * _LOWEST, (_HIGHEST if self.ceiling is None else self.ceiling) + _HIGHEST
        return 0, (0 if kind is expr.Type.SHARE and not self.shares else None)


def possible(policy: graph.PolicyGraph) -> Possible:
    """What can occur: nobody asks for more than the highest ceiling, if all queues have one."""
    ceilings = [queue.ceiling for queue in policy.queues]
    known = [ceiling for ceiling in ceilings if ceiling is not None]
    ceiling = max(known) if known and len(known) == len(ceilings) else None
    names = frozenset(policy.nodes[queue.node].name for queue in policy.queues)
    return Possible(ceiling, names, shares=policy.settings.share != "none")


def can_hold(guards: Sequence[expr.Expr], world: Possible) -> bool:
    """Whether all of some guards may hold together."""
    try:
        return next(possible_cases(guards, world), None) is not None
    except TooManyError:
        return True


def always_holds(guard: expr.Expr, world: Possible) -> bool:
    """Whether a guard holds for every workload and victim there can be."""
    return not can_hold([expr.Not(guard)], world)


def possible_cases(guards: Sequence[expr.Expr], world: Possible) -> Iterator[Case]:
    """The ways in which some guards may hold together. Raises TooManyError where there are too many."""
    looked_at = 0
    ahead: list[tuple[Case, tuple[_Part, ...]]] = [((), tuple((guard, True) for guard in reversed(guards)))]
    while ahead:
        case, parts = ahead.pop()
        case, choice, parts = _without_choice(case, parts)
        more = 1 + len(case) + len(choice) + len(parts)
        looked_at += more
        world.work.spend(_STEPS_EACH * more)
        if looked_at > _MOST_WORK:
            raise TooManyError
        if not is_possible(case, world):
            continue
        if choice:
            ahead += [(case, (*parts, each)) for each in reversed(choice)]
        else:
            yield case


_Part = tuple[expr.Expr, bool]
"""A guard that has to hold or, with False, has not to."""


def _without_choice(case: Case, parts: tuple[_Part, ...]) -> tuple[Case, tuple[_Part, ...], tuple[_Part, ...]]:
    """A case with all that has to hold whatever is chosen, the first choice (none: empty), and the parts that are left."""
    found, rest, choices = list(case), list(parts), []
    while rest:
        guard, wanted = rest.pop()
        match guard:
            case expr.Compare(op, left, right):
                found.append(guard if wanted else expr.Compare(_OPPOSITE[op], left, right))
            case expr.Not(item):
                rest.append((item, not wanted))
            case expr.And(items) | expr.Or(items):
                inner = tuple((item, wanted) for item in items)
                if isinstance(guard, expr.And) == wanted:
                    rest += reversed(inner)
                else:
                    choices.append((guard, wanted, inner))
    if not choices:
        return tuple(found), (), ()
    *later, (_, _, choice) = reversed(choices)
    return tuple(found), choice, tuple((guard, wanted) for guard, wanted, _ in later)


def key_of(field: expr.Field) -> FieldKey:
    """The field as a key."""
    return field.subject, field.path, field.label


def is_possible(case: Case, world: Possible) -> bool:
    """Whether comparisons may all hold: texts by their patterns, all else by its order."""
    texts = [comparison for comparison in case if comparison.left.type is expr.Type.TEXT]
    others = [comparison for comparison in case if comparison.left.type is not expr.Type.TEXT]
    return _in_order(others, world) and _texts_match(texts, world)


# --- numbers --------------------------------------------------------------------------------------------------------

_Point = FieldKey | Fraction
"""A field, or a constant that one is compared with."""


def _in_order(case: Sequence[expr.Compare], world: Possible) -> bool:
    """Whether comparisons of numbers agree: none demands, through others, that something is less than itself."""
    links: list[tuple[_Point, _Point, bool]] = []  # (a, b, strict): a <= b, or a < b
    unequal: list[tuple[_Point, _Point]] = []
    for comparison in case:
        _note(comparison, links, unequal)
    for side in {key_of(one): one for each in case for one in (each.left, each.right) if isinstance(one, expr.Field)}.values():
        lowest, highest = world.bounds(side.type)
        links.append((Fraction(lowest), key_of(side), False))
        if highest is not None:
            links.append((key_of(side), Fraction(highest), False))
    points = list(dict.fromkeys(point for link in links for point in link[:2]))
    if len(points) > _MOST_POINTS:
        return True
    try:
        world.work.spend(len(points) ** 2)
    except TooManyError:
        return True
    numbers = sorted(point for point in points if isinstance(point, Fraction))
    links += [(low, high, True) for low, high in itertools.pairwise(numbers)]
    place = {point: number for number, point in enumerate(points)}
    at_most, less = _closure(len(points), [(place[low], place[high], strict) for low, high, strict in links])
    if any(less[number] >> number & 1 for number in range(len(points))):
        return False
    pairs = [(place[one], place[other]) for one, other in unequal]
    return not any(one == other or (at_most[one] >> other & at_most[other] >> one & 1) for one, other in pairs)


def _note(comparison: expr.Compare, links: list[tuple[_Point, _Point, bool]], unequal: list[tuple[_Point, _Point]]) -> None:
    """Add what a comparison demands; of whole numbers `< 4` is `<= 3`."""
    op, left = comparison.op, key_of(comparison.left)
    right: _Point
    if isinstance(comparison.right, expr.Field):
        right = key_of(comparison.right)
    else:
        assert not isinstance(comparison.right.value, str)
        right = Fraction(comparison.right.value)
        if comparison.left.type is not expr.Type.SHARE and op in ("<", ">"):
            right += -1 if op == "<" else 1
            op += "="
    if op == "!=":
        unequal.append((left, right))
    if op in ("<", "<=", "="):
        links.append((left, right, op == "<"))
    if op in (">", ">=", "="):
        links.append((right, left, op == ">"))
    if op == "!=" and isinstance(right, Fraction):  # so that the constant takes part
        links.append((right, right, False))


def _closure(points: int, links: Sequence[tuple[int, int, bool]]) -> tuple[list[int], list[int]]:
    """For each point the points that it is at most, and those that it is less than, directly or through others, as bits of a number."""
    at_most, less = [0] * points, [0] * points
    for low, high, strict in links:
        at_most[low] |= 1 << high
        less[low] |= strict << high
    for middle in range(points):
        for low in range(points):
            if at_most[low] >> middle & 1:
                less[low] |= at_most[middle] if less[low] >> middle & 1 else less[middle]
                at_most[low] |= at_most[middle]
    return at_most, less


# --- texts ----------------------------------------------------------------------------------------------------------


def _texts_match(case: Sequence[expr.Compare], world: Possible) -> bool:
    """Whether every text may match what it is compared with; texts that have to be equal are taken as one."""
    same = _Alike()
    for comparison in case:
        if isinstance(comparison.right, expr.Field) and comparison.op == "=":
            same.join(key_of(comparison.left), key_of(comparison.right))
    patterns: dict[FieldKey, tuple[list[str], list[str], list[FieldKey]]] = {}
    for comparison in case:
        left = key_of(comparison.left)
        matched, excluded, fields = patterns.setdefault(same.find(left), ([], [], []))
        fields.append(left)
        if isinstance(comparison.right, expr.Field):
            fields.append(key_of(comparison.right))
            if comparison.op == "!=" and same.find(left) == same.find(key_of(comparison.right)):
                return False
        else:
            (matched if comparison.op == "=" else excluded).append(str(comparison.right.value))
    return all(_has_text(*found, world) for found in patterns.values())


def _has_text(matched: list[str], excluded: list[str], fields: list[FieldKey], world: Possible) -> bool:
    if any(path == "queue" and label is None for _, path, label in fields):
        named = next((text for text in matched if "*" not in text and "?" not in text), None)
        queues = world.queues if named is None else world.queues & {named}
        return any(matches_all(queue, matched, excluded) for queue in queues)
    try:
        return shortest_text(matched, excluded, world.work) is not None
    except TooManyError:
        return True


def matches_all(text: str, matched: Sequence[str], excluded: Sequence[str]) -> bool:
    """Whether a text matches all of some patterns and none of others."""
    return all(expr.matches(text, pattern) for pattern in matched) and not any(expr.matches(text, pattern) for pattern in excluded)


class _Alike:
    """Fields that have to be equal, each group by one of them."""

    def __init__(self) -> None:
        self.above: dict[FieldKey, FieldKey] = {}

    def find(self, field: FieldKey) -> FieldKey:
        """The one that stands for a field's group."""
        while field in self.above:
            field = self.above[field]
        return field

    def join(self, one: FieldKey, other: FieldKey) -> None:
        """Make one group of two."""
        first, second = self.find(one), self.find(other)
        if first != second:
            self.above[first] = second

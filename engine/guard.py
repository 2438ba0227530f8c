"""Guards: small, total, typed expressions over a workload and a victim.

The language has comparisons, `and`, `or` and `not`; no arithmetic, no loops, no functions. The checker in `gpol.dsl` gives
every guard its types, so evaluation cannot fail.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import lru_cache


class Type(Enum):
    """What a field or constant measures; only like compares with like."""

    PRIORITY = "priority"
    AMOUNT = "amount"
    NUMBER = "number"
    DURATION = "duration"
    SHARE = "share"
    TIME = "time"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Field:
    """An attribute: subject `workload` or `victim`, a path such as `priority`, `queue.share` or a resource, a label's key."""

    subject: str
    path: str
    type: Type
    label: str | None = None

    def __str__(self) -> str:
        """The field as the language writes it."""
        return f'{self.subject}.label "{self.label}"' if self.label is not None else f"{self.subject}.{self.path}"


@dataclass(frozen=True, slots=True)
class Const:
    """A constant in the smallest unit of its type; `text` is how the policy wrote it."""

    value: int | Fraction | str
    type: Type
    text: str


@dataclass(frozen=True, slots=True)
class Compare:
    """`left op right`, op one of <, <=, =, !=, >, >=. `=` and `!=` on text know the wildcards * and ? in a constant."""

    op: str
    left: Field
    right: "Field | Const"


@dataclass(frozen=True, slots=True)
class And:
    """True where every item is."""

    items: "tuple[Expr, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    """True where some item is."""

    items: "tuple[Expr, ...]"


@dataclass(frozen=True, slots=True)
class Not:
    """True where the item is not."""

    item: "Expr"


Expr = Compare | And | Or | Not

_OF_BOTH: dict[str, Type] = {
    "priority": Type.PRIORITY,
    "pods": Type.NUMBER,
    "evictions": Type.NUMBER,
    "queue": Type.TEXT,
    "user": Type.TEXT,
    "group": Type.TEXT,
    "namespace": Type.TEXT,
    "kind": Type.TEXT,
}

WORKLOAD_FIELDS: dict[str, Type] = {**_OF_BOTH, "waiting": Type.DURATION, "submitted": Type.TIME, "queue.share": Type.SHARE}
"""Fields of the workload that wants to run. Every resource name is a field too, of type AMOUNT: the total it asks for.

`workload.queue.share` is the share its side would have with the workload running.
"""

VICTIM_FIELDS: dict[str, Type] = {
    **_OF_BOTH,
    "running": Type.DURATION,
    "submitted": Type.TIME,
    "admitted": Type.TIME,
    "queue.share": Type.SHARE,
    "queue.share_after": Type.SHARE,
}
"""Fields of a running workload that may have to yield. `queue.share_after` is what its side keeps once it is evicted.

A side is the child of the two queues' lowest common ancestor on the path to the queue: the queue itself among siblings.
"""

STATIC_FIELDS = ("priority", "pods", "queue", "user", "group", "namespace", "kind")
"""Fields of a workload that only a fact about it can change; deny and hold rules may use these, labels and resources."""


def comparisons(guard: Expr | None) -> Iterator[Compare]:
    """All comparisons of a guard, left to right."""
    match guard:
        case Compare():
            yield guard
        case And(items) | Or(items):
            for item in items:
                yield from comparisons(item)
        case Not(item):
            yield from comparisons(item)
        case _:
            return


def fields(guard: Expr | None) -> list[Field]:
    """The distinct fields a guard reads, in order of appearance."""
    found: list[Field] = []
    for comparison in comparisons(guard):
        for side in (comparison.left, comparison.right):
            if isinstance(side, Field) and side not in found:
                found.append(side)
    return found


def is_timeless(guard: Expr | None) -> bool:
    """Whether time alone can never change a guard."""
    return all(comparison.left.type is not Type.DURATION for comparison in comparisons(guard))


def judges_by_kind(guard: Expr | None) -> bool:
    """Whether a guard says the same of all victims of a queue that ask for the same at one priority: it reads nothing of their past."""
    return not any(field.subject == "victim" and field.path in _PAST for field in fields(guard))


def reads_shares(guard: Expr | None) -> bool:
    """Whether a guard may change as others go: it reads a share."""
    return any(field.type is Type.SHARE for field in fields(guard))


def bounds_share(guard: Expr | None, without_victim: bool = False) -> bool:
    """Whether a guard can only be true where the workload's share is at most that of the victim, with the victim or, if asked, without."""
    match guard:
        case And(items):
            return any(bounds_share(item, without_victim) for item in items)
        case Compare(op, left, Field() as right) if left.type is Type.SHARE:
            after = "queue.share_after" in (left.path, right.path)
            return (left.subject, right.subject, op) in _BOUNDS and (after or not without_victim)
        case _:
            return False


def ranks_by_priority(guard: Expr | None) -> bool:
    """Whether a guard can only be true where the victim's priority is below that of the workload."""
    match guard:
        case And(items):
            return any(ranks_by_priority(item) for item in items)
        case Compare(op, Field(left, "priority"), Field(right, "priority")):
            return (left, op, right) in (("victim", "<", "workload"), ("workload", ">", "victim"))
        case _:
            return False


_PAST = ("running", "admitted", "submitted", "evictions")
_BOUNDS = (("workload", "victim", "<"), ("workload", "victim", "<="), ("victim", "workload", ">"), ("victim", "workload", ">="))


@lru_cache(maxsize=4_096)
def matches(text: str, pattern: str) -> bool:
    """Whether a text matches a pattern in which * is any text and ? any one character; nothing else is special."""
    return fnmatchcase(text, pattern.replace("[", "[[]"))

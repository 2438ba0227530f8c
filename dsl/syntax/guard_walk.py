"""Walking guards without recursion, so that one of any depth can be looked at."""

from collections.abc import Iterator

from .tree import AdmissionItem, AllOf, AnyOf, Guard, Item, Negation, PreemptItem, ProtectItem, Where


def guards_of(item: Item) -> list[Guard]:
    """The guards of an item, one for each `where`."""
    match item:
        case ProtectItem(where=Where(guard)) | AdmissionItem(where=Where(guard)):
            return [guard]
        case PreemptItem(body=body):
            return [statement.guard for statement in body if isinstance(statement, Where)]
        case _:
            return []


def levels(guard: Guard) -> Iterator[list[Guard]]:
    """A guard, then all that stand directly inside it, then those inside them, and so on."""
    level = [guard]
    while level:
        yield level
        level = [inner for outer in level for inner in _inside(outer)]


def _inside(guard: Guard) -> tuple[Guard, ...]:
    match guard:
        case AllOf(items) | AnyOf(items):
            return items
        case Negation(item):
            return (item,)
        case _:
            return ()

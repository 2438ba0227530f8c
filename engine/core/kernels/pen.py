"""Writing on the tape, at `PEN`: beyond what the tape holds for good, until `TAPE_END` is moved."""

from .. import columns as c
from ..tables import Tables


def put(t: Tables, value: int) -> int:
    """Write a number; return where it stands."""
    at = t.state[c.PEN]
    t.tape[at] = value
    t.state[c.PEN] = at + 1
    return at


def put_five(t: Tables, first: int, second: int, third: int, fourth: int, fifth: int) -> None:
    """Write five numbers."""
    at = t.state[c.PEN]
    t.tape[at], t.tape[at + 1], t.tape[at + 2], t.tape[at + 3], t.tape[at + 4] = first, second, third, fourth, fifth
    t.state[c.PEN] = at + 5


def put_obstacle(t: Tables, kind: int, flavor: int, resource: int, index: int, assumed: int, asked: int, limit: int) -> None:
    """Write why a flavor does not serve a resource at once."""
    at = t.state[c.PEN]
    t.tape[at + c.O_KIND], t.tape[at + c.O_FLAVOR], t.tape[at + c.O_RESOURCE], t.tape[at + c.O_INDEX] = kind, flavor, resource, index
    t.tape[at + c.O_ASSUMED], t.tape[at + c.O_ASKED], t.tape[at + c.O_LIMIT] = assumed, asked, limit
    t.state[c.PEN] = at + c.OBSTACLE_WIDTH

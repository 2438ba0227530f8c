"""Where the requests of a nomination stand in `ask`."""

from .. import columns as c


def usage_of(nom: int) -> int:
    """The request of a nomination with all slots that it touches, less what it holds already."""
    return c.ASKS + nom * c.REQUESTS


def request_of(nom: int) -> int:
    """What a nomination asks for beyond what it holds."""
    return c.ASKS + nom * c.REQUESTS + 1


def whole_of(nom: int) -> int:
    """All that a nomination would be charged."""
    return c.ASKS + nom * c.REQUESTS + 2


def need_of(nom: int) -> int:
    """The slots on which others have to go for a nomination."""
    return c.ASKS + nom * c.REQUESTS + 3

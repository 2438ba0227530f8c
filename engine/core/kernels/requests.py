"""Where the requests of a nomination stand in `ask`."""

from .. import columns as c
from ..tables import Tables


def usage_of(nom: int) -> int:
    """The request of a nomination with all slots that it touches, less what it holds already."""
    return c.ASKS + nom * c.REQUESTS


def request_of(nom: int) -> int:
    """What a nomination asks for beyond what it holds."""
    return c.ASKS + nom * c.REQUESTS + 1


def asked_by(t: Tables, nom: int) -> int:
    """The same of a nomination whose request may be plain."""
    return plain_of(nom) if t.nom[nom, c.N_IS_PLAIN] else request_of(nom)


def asks_as_noted(t: Tables, nom: int) -> bool:
    """Whether a nomination asks for the same as the plain request that is noted of its workload."""
    if t.nom[nom, c.N_IS_PLAIN]:
        return True
    if t.nom[nom, c.N_NOTED] != t.nom[nom, c.N_ROW] + 1 or t.ask[plain_of(nom), 0, 0] != t.ask[usage_of(nom), 0, 0]:
        return False
    for k in range(1, t.ask[plain_of(nom), 0, 0] + 1):
        if t.ask[plain_of(nom), k, c.SLOT] != t.ask[usage_of(nom), k, c.SLOT]:
            return False
        if t.ask[plain_of(nom), k, c.AMOUNT] != t.ask[usage_of(nom), k, c.AMOUNT]:
            return False
    return True


def whole_of(nom: int) -> int:
    """All that a nomination would be charged."""
    return c.ASKS + nom * c.REQUESTS + 2


def need_of(nom: int) -> int:
    """The slots on which others have to go for a nomination."""
    return c.ASKS + nom * c.REQUESTS + 3


def plain_of(nom: int) -> int:
    """The plain request that is noted of a workload, mostly that of the nomination (`flavor/plain.py`)."""
    return c.ASKS + nom * c.REQUESTS + 4

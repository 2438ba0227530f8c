"""Where a journal was written: for which system, in which way, and beside which cluster. A journal of another place is not gone on with.

All workloads of a journal that are not in the cluster are taken for gone. So each policy that `gpol serve` activates says where, in the
note of its activation, and the last one that does counts. A cluster is known by the uid of its namespace kube-system.
"""

import re
from typing import NamedTuple

from ...engine.facts import PolicyActivated
from ...journal.errors import JournalError
from ...journal.journal import Journal
from ..kubernetes.api import Api, ApiError
from ..kubernetes.resource_kinds import CLUSTER_NAMESPACE, NAMESPACE
from .settings.serve_settings import ServeSettings

BY = "gpol serve"
"""Who activates a policy in a cluster."""

_NOTE = re.compile(r"(kueue|volcano)\.way (decide|watch)(?:, cluster (\S+))?")
_REMEDY = "name another journal, or begin a new one"


class JournalPlace(NamedTuple):
    """A system, the way in which gpol works there, and the cluster; empty where it is not known which."""

    system: str
    way: str
    cluster: str

    @property
    def note(self) -> str:
        """What the activation of a policy says of it."""
        return f"{self.system}.way {self.way}" + (f", cluster {self.cluster}" if self.cluster else "")

    @classmethod
    def read(cls, note: str) -> "JournalPlace | None":
        """The place in a note; None for a text that names none."""
        found = _NOTE.fullmatch(note)
        return cls(found[1], found[2], found[3] or "") if found else None


def place_of(settings: ServeSettings, cluster: str) -> JournalPlace:
    """Where gpol decides in a cluster, as the settings say."""
    kueue, volcano = settings.kueue.way, settings.volcano.way
    return JournalPlace(*(("kueue", kueue) if volcano == "off" else ("volcano", volcano)), cluster)


async def cluster_identity(api: Api) -> str:
    """What tells a cluster from all others; empty where gpol may not know it. Raises ApiError where the cluster does not answer."""
    try:
        found = await api.get(NAMESPACE.path(name=CLUSTER_NAMESPACE))
    except ApiError as error:
        if error.status in (403, 404):
            return ""
        raise
    return str((found.get("metadata") or {}).get("uid", ""))


def refuse_other_place(journal: Journal, here: JournalPlace) -> None:
    """Raise JournalError for a journal of another system or another way, of another cluster, or of a simulation."""
    written = _place_of(journal)
    if written is None:
        if next(journal.of_kinds(("SimulationStarted",)), None) is not None:
            raise JournalError(f"`{journal.name}` is the journal of a simulation", _REMEDY)
        return
    if written[:2] != here[:2]:
        ways = f"`{written.system}.way: {written.way}`, and this one works with `{here.system}.way: {here.way}`"
        raise JournalError(f"`{journal.name}` was written by gpol with {ways}", _REMEDY)
    if written.cluster and here.cluster and written.cluster != here.cluster:
        cause = f"`{journal.name}` belongs to another cluster: the uid of kube-system is {written.cluster} there, and {here.cluster} here"
        raise JournalError(cause, _REMEDY)


def _place_of(journal: Journal) -> JournalPlace | None:
    """The place that a journal names last; None where it names none."""
    for each in journal.backwards(stream="policy"):
        if isinstance(each.event, PolicyActivated) and each.event.by == BY and (place := JournalPlace.read(each.event.note)) is not None:
            return place
    return None

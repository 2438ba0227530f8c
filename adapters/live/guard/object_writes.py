"""How objects are written beside applying them: extra fields are taken away, objects deleted, and writes do not follow too fast."""

from dataclasses import dataclass, field
from time import monotonic

from ...kubernetes.api import Api, Plain
from .managed_fields import Steps

REFUSED_SECONDS = 30.0
"""After how many seconds a write is tried again that the server has refused."""


@dataclass(slots=True)
class RepairPace:
    """How fast an object is written that somebody changes again and again.

    All writes of one look count as one. The first comes at once, each further one after twice the pause before it; after `forget` seconds
    without one all is forgotten.
    """

    first_pause: float = 1.0
    longest_pause: float = 60.0
    forget: float = 600.0
    _writes: dict[str, tuple[int, float]] = field(default_factory=dict)
    _counted: set[str] = field(default_factory=set)

    def written(self, key: str) -> None:
        """Note that the server has taken a write to an object."""
        number, last = self._writes.get(key, (0, 0.0))
        first = number == 0 or monotonic() - last >= self.forget
        self._writes[key] = (1 if first else number + (key not in self._counted), monotonic())
        self._counted.add(key)

    def seconds_to_wait(self, key: str) -> float:
        """How long to wait before an object is written again; with this another look begins."""
        self._counted.discard(key)
        number, last = self._writes.get(key, (0, 0.0))
        since = monotonic() - last
        if not number or since >= self.forget:
            return 0.0
        pause: float = self.first_pause * 2 ** min(number - 1, 20)
        return max(0.0, min(self.longest_pause, pause) - since)


def without_extra(now: Plain, steps: Steps) -> Plain:
    """The merge patch that takes a field away from an object while it is at this version."""
    patch: Plain = {"metadata": {name: now["metadata"][name] for name in ("uid", "resourceVersion")}}
    inner = patch
    for step in steps[:-1]:
        inner = inner.setdefault(step[2:], {})
    inner[steps[-1][2:]] = None
    return patch


def delete_refused(found: Plain, may_go: bool, is_asked: bool) -> str:
    """Why an object that the policy does not have stays; empty where it is to be deleted now."""
    if (found.get("metadata") or {}).get("deletionTimestamp"):
        return "it is being deleted, and its finalizers keep it until nothing uses it any more"
    if not is_asked:
        return "gpol applied it for an earlier policy, and deletes nothing as it is set up"
    return "" if may_go else "it has lost the label of this guard, so it is not deleted"


async def delete_object(api: Api, path: str, now: Plain) -> None:
    """Ask for the deletion of an object as it was read, and of no other; its finalizers may keep it for a while."""
    preconditions = {name: now["metadata"][name] for name in ("uid", "resourceVersion")}
    await api.delete(path, **preconditions)

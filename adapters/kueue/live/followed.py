"""What is followed of a cluster for Kueue: Workloads, beside namespaces and nodes."""

from collections.abc import Sequence

from ...kubernetes.api import Api, Plain
from ...kubernetes.reflector import ObjectChange, Reflector, Seen
from ...live.followed_objects import FollowedObjects
from .observed import Observed, observe
from .protocol import WORKLOAD
from .slices import Slices


class FollowedCluster(FollowedObjects):
    """The objects of a cluster as they were seen last. `check` is the name of gpol's AdmissionCheck.

    `unsure` keeps the names of workloads of which it is not known what the last write has made of them.
    """

    def __init__(self, api: Api, check: str) -> None:
        super().__init__(api)
        self.workloads: Reflector[Observed] = Reflector(api, WORKLOAD, lambda plain: observe(plain, check), self._see)
        self.decided_about = self.workloads
        self.slices = Slices(self.workloads.known)
        self.unsure: set[str] = set()

    def workload(self, key: str) -> Seen[Observed] | None:
        """A Workload by `namespace/name`."""
        return self.workloads.known.get(key)

    def answered(self, key: str, answer: Plain) -> None:
        """Take in a workload as the server has answered with it: it is known now what was made of it."""
        self.unsure.discard(key)
        self.workloads.written(answer)
        self.look_at(key)

    def _see(self, changes: Sequence[ObjectChange[Observed]]) -> None:
        for change in changes:
            self.slices.see(change.key)
            # What comes of a slice depends on those after it.
            for key in (change.key, *self.slices.earlier(change.key), *_replaced_by(change.old)):
                self.look_at(key)


def _replaced_by(seen: Seen[Observed] | None) -> list[str]:
    asked = seen.value.asked if seen is not None else None
    return [asked.replaces] if asked is not None and asked.replaces else []

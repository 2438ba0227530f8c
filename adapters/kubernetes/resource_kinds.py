"""Kinds of objects, and the paths under which an API server has them."""

from typing import NamedTuple
from urllib.parse import quote

FIELD_MANAGER = "gpol.dev/policy"
"""The field manager of all that gpol writes."""

CLUSTER_NAMESPACE = "kube-system"
"""The namespace that every cluster has. Its uid tells one cluster from another."""


class Kind(NamedTuple):
    """A kind of objects at one version of its API; the group of the core kinds is empty."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """The group and the version, as objects have them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", part: str = "") -> str:
        """The path of one object or of a part of it, such as `status`; without a name, of all objects of the kind."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        place = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
        return root + place + f"/{self.plural}" + (f"/{quote(name, safe='')}" if name else "") + (f"/{part}" if part else "")


NAMESPACE = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
POD = Kind("", "v1", "Pod", "pods")
NODE = Kind("", "v1", "Node", "nodes", namespaced=False)
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases")
EVENT = Kind("events.k8s.io", "v1", "Event", "events")
SELF_ACCESS_REVIEW = Kind("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", namespaced=False)
TOKEN_REVIEW = Kind("authentication.k8s.io", "v1", "TokenReview", "tokenreviews", namespaced=False)

"""What a policy says that nodes have and pods ask for: taints, tolerations and conditions on labels."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Taint:
    """What keeps pods off a flavor's nodes unless they tolerate it; effect NoSchedule, NoExecute or PreferNoSchedule."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Toleration:
    """What a taint is forgiven for. `key` "" with Exists: every key; `effect` "": every effect."""

    key: str
    operator: Literal["Equal", "Exists"]
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """A condition on labels, as in Kubernetes: key, operator In, NotIn, Exists, DoesNotExist, Gt or Lt, values."""

    key: str
    operator: str
    values: tuple[str, ...]

"""What a queue plugin has worked out of a queue, to be told."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class QueueEntitlement:
    """Amounts stand in the order of the session's resources.

    `real` is the most that the queue may have (`realCapability`); None: the plugin does not tell it.
    """

    share: Fraction
    deserved: tuple[int | Fraction, ...]
    real: tuple[int, ...] | None
    allocated: tuple[int, ...]
    request: tuple[int, ...]
    inqueue: tuple[int, ...]

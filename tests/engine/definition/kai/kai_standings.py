"""Small quota trees for tests of KAI's quota: queues with GPUs alone."""

from gpol.engine.definition.kai.quota.shares import QueueStanding, QuotaBound


def queue(
    number: int = 0,
    parent: int = -1,
    owned: QuotaBound = 0,
    limit: QuotaBound = None,
    due: QuotaBound = 0,
    held: int = 0,
    for_good: int = 0,
) -> QueueStanding:
    """A queue that holds GPUs; of CPU and memory it owns, may hold and is due any amount, and holds none."""
    return QueueStanding(number, parent, (None, None, owned), (None, None, limit), (None, None, due), (0, 0, held), (0, 0, for_good))


def gpus(amount: int) -> tuple[int, ...]:
    """GPUs alone."""
    return (0, 0, amount)

"""The tree of Queues: who is below whom, and what each one owns, guarantees and may use at most."""

from collections.abc import Iterable, Iterator

from ...kueue.problems import Findings
from ..queue_names import ROOT_QUEUE
from ..read.volcano_objects import AmountsByResource, VolcanoQueue

_AS_GUARANTEED = "is guaranteed and not deserved: as much counts as deserved, as in Volcano's scheduler"


class QueueTree:
    """The Queues of a cluster by name, without the root, which is apart; `children` of each one, "" for the root, in order of name."""

    def __init__(self, queues: Iterable[VolcanoQueue]) -> None:
        given = {queue.name: queue for queue in queues}
        self.root = given.pop(ROOT_QUEUE, None)
        self.queues = {name: given[name] for name in sorted(given)}
        self.children: dict[str, list[VolcanoQueue]] = {}
        for queue in self.queues.values():
            self.children.setdefault(self.parent(queue), []).append(queue)

    def parent(self, queue: VolcanoQueue) -> str:
        """The Queue above another one; empty where that is the root."""
        return "" if queue.parent == ROOT_QUEUE else queue.parent

    def above(self, queue: VolcanoQueue) -> Iterator[VolcanoQueue]:
        """The Queues above another one, the nearest first, as far as they are there. The tree has no circle."""
        while (parent := self.queues.get(self.parent(queue))) is not None:
            yield parent
            queue = parent

    def is_leaf(self, queue: VolcanoQueue) -> bool:
        """Whether no Queue is below another one, so that workloads may name it."""
        return queue.name not in self.children

    def owned(self, queue: VolcanoQueue) -> AmountsByResource:
        """What a Queue and those below it own together: what it deserves, and what it guarantees without deserving it."""
        return _sorted({**queue.guarantee, **queue.deserved})

    def owned_below(self, name: str) -> AmountsByResource:
        """What the Queues directly below one own together; below "" all that is owned."""
        return _total(self.owned(queue) for queue in self.children.get(name, ()))

    def guaranteed_below(self, name: str) -> AmountsByResource:
        """What the Queues directly below one guarantee together."""
        return _total(queue.guarantee for queue in self.children.get(name, ()))

    def note_owned(self, found: Findings) -> None:
        """Say what counts as deserved because it is guaranteed."""
        for queue in self.queues.values():
            found.begin("Queue", queue.name, queue.file)
            for resource in sorted(queue.guarantee.keys() - queue.deserved.keys()):
                found.note(f"spec.guarantee.resource.{resource}", _AS_GUARANTEED)


def _total(lists: Iterable[AmountsByResource]) -> AmountsByResource:
    total: AmountsByResource = {}
    for amounts in lists:
        for resource in amounts:
            total[resource] = total.get(resource, 0) + amounts[resource]
    return _sorted(total)


def _sorted(amounts: AmountsByResource) -> AmountsByResource:
    return {resource: amounts[resource] for resource in sorted(amounts)}

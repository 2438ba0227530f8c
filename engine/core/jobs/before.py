"""Who was live before facts were played in a row, whatever became of them since."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...intake.sayings import KeptSaying, workload_of
from ...workload import Workload
from .. import columns as c
from ..store import TableStore
from ..tables import Ints, Narrow


class Before(NamedTuple):
    """The queues of those who were live, and what was kept of them, by row."""

    name_ids: Mapping[str, int]
    row_of_name: Ints
    queues: Narrow
    kept: Sequence[KeptSaying | None]

    @classmethod
    def of(cls, store: TableStore) -> "Before":
        """Those who are live now."""
        return cls(store.name_ids, store.row_of_name, store.tables.work[:, c.QUEUE].copy(), store.kept.copy())

    def workload(self, name: str) -> Workload:
        """A workload that was live: what it said, and its queue. Moments, numbers and priorities are not to be read of it."""
        row = self.row_of_name[self.name_ids[name]]
        known = self.kept[row]
        assert known is not None
        return workload_of(known, name, submitted=0, number=0, queue=int(self.queues[row]), priority=0, pinned=False)

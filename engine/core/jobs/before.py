"""Who was live before facts were played in a row, whatever became of them since."""

from collections.abc import Sequence
from typing import NamedTuple

from ...intake.sayings import KeptSaying, workload_of
from ...workload import Workload
from .. import columns as c
from ..names import Names
from ..store import TableStore
from ..tables import Narrow


class Before(NamedTuple):
    """The queues of those who were live, and what was kept of them, by row; `rows` are by the numbers of names."""

    names: Names
    rows: Narrow
    queues: Narrow
    kept: Sequence[KeptSaying | None]

    @classmethod
    def of(cls, store: TableStore) -> "Before":
        """Those who are live now."""
        t = store.tables
        return cls(store.names, t.name[:, c.ROW].copy(), t.work[:, c.QUEUE].copy(), store.kept.copy())

    def workload(self, name: str) -> Workload:
        """A workload that was live: what it said, and its queue. Moments, numbers and priorities are not to be read of it."""
        row = self.rows[self.names.find(name)]
        known = self.kept[row]
        assert known is not None
        return workload_of(known, name, submitted=0, number=0, queue=int(self.queues[row]), priority=0, pinned=False)

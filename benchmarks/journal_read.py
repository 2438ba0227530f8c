"""How much reading a journal costs, in processor time: as it is done now, and one by one with every payload read by pydantic.

Run `python benchmarks/journal_read.py JOURNAL`, on a journal of some 60,000 events or more, such as `gpol simulate --journal` makes of the
Philly trace. Every round measures both sides anew; a ratio compares two sides of one round, and the median of the rounds is what counts.
The last line is about several processes, and in time on the clock: it says nothing where others use the machine.

It ends with 1 where verifying takes more than 8 us of processor time an event.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from unittest import mock

from gpol.engine.events import EVENT
from gpol.journal import records
from gpol.journal.audit import parts
from gpol.journal.audit.row_checks import RowWalk, structure_faults
from gpol.journal.audit.verify import verify
from gpol.journal.decode import decode
from gpol.journal.journal import Journal

ROUNDS = 5

MOST_US = 8.0
"""What verifying may take of processor time for an event."""


def us(work: Callable[[], object], events: int) -> float:
    """Microseconds of processor time an event that some work takes."""
    begin = time.process_time()
    work()
    return (time.process_time() - begin) / events * 1e6


def row_by_row(journal: Journal) -> None:
    """Verify as is done where something is wrong, every payload read by pydantic."""
    walk, after = RowWalk(journal), None
    with mock.patch.object(records, "decode", EVENT.validate_json):
        while page := journal.stored_page(after):
            assert not any(walk.take(row) for row in page)
            after = page[-1].seq
    assert not structure_faults(journal)


def side_by_side(what: str, rounds: list[tuple[float, float]]) -> float:
    """Print two sides and their ratio, and return what the second takes."""
    plain, quick = (median(side) for side in zip(*rounds, strict=True))
    ratio = median(one / other for one, other in rounds)
    print(f"{what:45} | {plain:7.2f} | {quick:7.2f} | {ratio:5.2f}")
    return quick


def in_processes(journal: Journal, events: int) -> None:
    """Verify in parts, whatever the journal's length, with all processors."""
    with mock.patch.object(parts, "LONG", 1):
        verify(journal)  # the processes are started
        begin = time.perf_counter()
        assert verify(journal).good
        took = time.perf_counter() - begin
    print(f"verify in parts on {os.cpu_count()} processors: {events / took:,.0f} events/s")


def main() -> int:
    """Measure and print; 1 where verifying takes too long."""
    with Journal.open(Path(sys.argv[1])) as journal, mock.patch.object(parts, "LONG", sys.maxsize):
        events = journal.head.seq
        print(f"{events} events                      us/event: | plain   | now     | ratio")
        decoding, verifying = [], []
        for _ in range(ROUNDS):
            some = [recorded.payload for recorded in journal.events(upto=100_000)]
            plain = us(lambda some=some: [EVENT.validate_json(payload) and None for payload in some], len(some))
            decoding.append((plain, us(lambda some=some: [decode(payload) and None for payload in some], len(some))))
            verifying.append((us(lambda: row_by_row(journal), events), us(lambda: verify(journal), events)))
        side_by_side("an event from its bytes", decoding)
        took = side_by_side("verify", verifying)
        in_processes(journal, events)
    print("the mark is met" if took <= MOST_US else "the mark is missed")
    return 0 if took <= MOST_US else 1


if __name__ == "__main__":
    sys.exit(main())

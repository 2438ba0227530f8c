"""Checks that a journal conserves: nobody runs who did not wait, nothing is freed that was not charged, nothing is told that cannot be.

    python tests/independent/check_conservation.py JOURNAL

It reads the SQLite file itself, follows the chain, and plays the events on a ledger. It is written from docs/events.md alone, and
imports nothing but Python's own library: what it accepts does not depend on gpol being right.

| it says | exit code |
|---|---|
| `conserves: ...`, and the sums | 0 |
| `does not conserve: event N: ...`: the first event that cannot be | 1 |
| `cannot be read: ...`: no journal, or one of a later format | 2 |

What it checks is the list in docs/testing.md. It does not parse policies. So it does not know what a queue owns, what exists of a flavor
unless an event says so, who may be evicted for whom, who comes next, or what a condition says: `gpol replay` decides that again. Nor does
it know which machine belongs to which flavor, and when a job would have ended by itself.
"""

import sys
from pathlib import Path

from form import DECISIONS
from ledger import Ledger, WrongError
from stored_journal import FaultError, UnreadableError, read_events

HOUR = 3_600_000_000
"""Microseconds of an hour."""

UNITS = {"gpu": 1000, "cpu": 1000, "memory": 2**30}
"""How many smallest units are counted as one; of any other resource, 1. Memory is counted in GiB."""


def checked(path: Path) -> Ledger:
    """The ledger after all events of a journal. Raises UnreadableError, and FaultError at the first event that cannot be."""
    ledger, seq = Ledger(), 0
    try:
        for seq, event in read_events(path):
            ledger.take(seq, event)
        ledger.finish()
    except WrongError as error:
        raise FaultError(seq, str(error)) from error
    return ledger


def summary(ledger: Ledger) -> str:
    """How many events there are, and what ran for how long."""
    decisions = sum(count for kind, count in ledger.counts.items() if kind in DECISIONS)
    running = sum(workload.running for workload in ledger.live.values())
    lines = [
        f"conserves: {ledger.seq:,} events: {ledger.seq - decisions:,} facts, {decisions:,} decisions",
        f"workloads: {ledger.counts['WorkloadSubmitted']:,} submitted, {len(ledger.live) - running:,} wait, {running:,} run",
    ]
    for resource, amount in sorted(ledger.amount_time.items()):
        unit = UNITS.get(resource, 1) * HOUR
        tenths = (amount * 20 + unit) // (2 * unit)
        lines.append(f"{resource}: {tenths // 10:,}.{tenths % 10} hours")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Check one journal. Returns the exit code."""
    if len(arguments) != 1:
        print("usage: check_conservation.py JOURNAL", file=sys.stderr)
        return 2
    try:
        print(summary(checked(Path(arguments[0]))))
    except UnreadableError as error:
        print(f"cannot be read: {error}", file=sys.stderr)
        return 2
    except FaultError as error:
        print(f"does not conserve: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

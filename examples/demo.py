"""What `make demo` shows: a campus simulated, a wait and an eviction explained, the journal replayed and verified.

Run it in the repository's root, in an environment where `gpol` is installed. Every step is a command that is printed before it is run.
"""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OUT = Path("out")
POLICY, WORKLOADS = "examples/campus/campus.gpol", "examples/campus/workloads.csv"
JOURNAL, REPORT = OUT / "campus.db", OUT / "campus.html"


def gpol(*arguments: str) -> None:
    """Print a command and run it; a failure ends the demo with the command's exit code."""
    print(f"\n$ {shlex.join(['gpol', *arguments])}", flush=True)
    done = subprocess.run(["gpol", *arguments], check=False)
    if done.returncode:
        sys.exit(done.returncode)


def events() -> Iterator[tuple[int, dict[str, Any]]]:
    """The journal's events with their numbers."""
    output = subprocess.run(["gpol", "log", str(JOURNAL), "--format", "json"], check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        record = json.loads(line)
        yield record["seq"], record["event"]


def waits(history: list[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, int, str, str]]:
    """Every wait that ended: how long, the number and kind of the event that began it, and the workload."""
    began: dict[str, tuple[int, dict[str, Any]]] = {}
    for seq, event in history:
        if event["kind"] in ("WorkloadSubmitted", "WorkloadEvicted"):
            began[event["workload"]] = seq, event
        elif event["kind"] == "WorkloadAdmitted":
            number, first = began[event["workload"]]
            yield event["time"] - first["time"], number, first["kind"], event["workload"]


def main() -> None:
    """Show it."""
    OUT.mkdir(exist_ok=True)
    for old in (REPORT, *OUT.glob(f"{JOURNAL.name}*")):
        old.unlink(missing_ok=True)
    gpol("check", POLICY)
    gpol("test", POLICY)
    gpol("simulate", POLICY, WORKLOADS, "--journal", str(JOURNAL), "--report", str(REPORT))
    ended = sorted(waits(list(events())), reverse=True)
    _, seq, _, name = next(wait for wait in ended if wait[2] == "WorkloadSubmitted")
    print(f"\nWhy did {name} wait? It waited longest of all; this is how it stood when it was submitted.")
    gpol("explain", str(JOURNAL), name, "--at", str(seq))
    _, seq, _, name = next(wait for wait in ended if wait[2] == "WorkloadEvicted")
    print(f"\nWhy was {name} evicted? Of all that were, it waited longest to run again.")
    gpol("explain", str(JOURNAL), name, "--at", str(seq))
    print("\nAre the recorded decisions those that the policy demands, and is the journal as it was written?")
    gpol("replay", str(JOURNAL))
    gpol("verify", str(JOURNAL))
    print(f"\nGPUs used, borrowed and lent over time, with the evictions and their reasons: open {REPORT} in a browser.")


if __name__ == "__main__":
    main()

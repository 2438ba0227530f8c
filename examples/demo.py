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


def longest_wait(history: list[tuple[int, dict[str, Any]]]) -> tuple[str, int]:
    """The workload that waited longest for its first admission, and the number of its submission."""
    submitted: dict[str, tuple[int, int]] = {}
    waits: dict[str, int] = {}
    for seq, event in history:
        if event["kind"] == "WorkloadSubmitted":
            submitted[event["workload"]] = seq, event["time"]
        elif event["kind"] == "WorkloadAdmitted" and event["workload"] not in waits:
            waits[event["workload"]] = event["time"] - submitted[event["workload"]][1]
    name = max(waits, key=lambda workload: (waits[workload], workload))
    return name, submitted[name][0]


def main() -> None:
    """Show it."""
    OUT.mkdir(exist_ok=True)
    for old in (REPORT, *OUT.glob(f"{JOURNAL.name}*")):
        old.unlink(missing_ok=True)
    gpol("check", POLICY)
    gpol("test", POLICY)
    gpol("simulate", POLICY, WORKLOADS, "--journal", str(JOURNAL), "--report", str(REPORT))
    history = list(events())
    name, seq = longest_wait(history)
    print(f"\nWhy did {name} wait? It waited longest of all; this is how it stood when it was submitted.")
    gpol("explain", str(JOURNAL), name, "--at", str(seq))
    seq, evicted = next((seq, event) for seq, event in history if event["kind"] == "WorkloadEvicted")
    print(f"\nWhy was {evicted['workload']} evicted? It was the first.")
    gpol("explain", str(JOURNAL), evicted["workload"], "--at", str(seq))
    print("\nAre the recorded decisions those that the policy demands, and is the journal as it was written?")
    gpol("replay", str(JOURNAL))
    gpol("verify", str(JOURNAL))
    print(f"\nGPUs used, borrowed and lent over time, with the evictions and their reasons: open {REPORT} in a browser.")


if __name__ == "__main__":
    main()

"""What `make demo` shows: a campus simulated, a wait and an eviction explained, the journal replayed and verified, another policy tried.

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
KEY, CHECKPOINTS = OUT / "campus.key", OUT / "campus.checkpoints"
OTHER, IMPACT = OUT / "less-for-vision.gpol", OUT / "impact.html"

OWNED, LESS = "    owns 16 gpu on a100\n    prefer a100, h100\n", "    owns 8 gpu on a100\n    prefer a100, h100\n"
"""What vision owns, and half of it."""

DIFFERENT = 2
"""The exit code of `diff` and `impact` where there is a difference."""


def gpol(*arguments: str, expected: int = 0) -> None:
    """Print a command and run it; a failure ends the demo with the command's exit code."""
    print(f"\n$ {shlex.join(['gpol', *arguments])}", flush=True)
    done = subprocess.run(["gpol", *arguments], check=False)
    if done.returncode != expected:
        sys.exit(done.returncode or 1)


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
    for old in (REPORT, IMPACT, KEY, *OUT.glob(f"{JOURNAL.name}*"), *CHECKPOINTS.glob("*")):
        old.unlink(missing_ok=True)
    gpol("check", POLICY)
    gpol("test", POLICY)
    gpol("key", "new", "campus.example/journal", "-o", str(KEY))
    signing = ("--key", str(KEY), "--checkpoints", str(CHECKPOINTS))
    gpol("simulate", POLICY, WORKLOADS, "--journal", str(JOURNAL), "--report", str(REPORT), *signing)
    ended = sorted(waits(list(events())), reverse=True)
    _, seq, _, name = next(wait for wait in ended if wait[2] == "WorkloadSubmitted")
    print(f"\nWhy did {name} wait? It waited longest of all; this is how it stood when it was submitted.")
    gpol("explain", str(JOURNAL), name, "--at", str(seq))
    _, seq, _, name = next(wait for wait in ended if wait[2] == "WorkloadEvicted")
    print(f"\nWhy was {name} evicted? Of all that were, it waited longest to run again.")
    gpol("explain", str(JOURNAL), name, "--at", str(seq))
    print("\nAre the recorded decisions those that the policy demands, and is the journal as it was written?")
    gpol("replay", str(JOURNAL))
    public = subprocess.run(["gpol", "key", "show", str(KEY)], check=True, capture_output=True, text=True).stdout.strip()
    gpol("verify", str(JOURNAL), "--checkpoint", str(CHECKPOINTS), "--key", public)
    print("\nWhat would these two weeks have been if the vision group owned half as much?", flush=True)
    text = Path(POLICY).read_text(encoding="utf-8")
    OTHER.write_text(text.replace(OWNED, LESS, 1), encoding="utf-8")
    gpol("diff", POLICY, str(OTHER), expected=DIFFERENT)
    gpol("impact", str(JOURNAL), str(OTHER), "--report", str(IMPACT), expected=DIFFERENT)
    print(f"\nGPUs used, borrowed and lent over time, with the evictions and their reasons: open {REPORT} in a browser.")
    print(f"Both histories side by side, and whom the other policy would have touched most: open {IMPACT}.")


if __name__ == "__main__":
    main()

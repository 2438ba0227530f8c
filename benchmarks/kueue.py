"""How long Kueue's commands take: scenarios decided, a dump imported, played and explained; as ratios to the start of the command.

    python benchmarks/kueue.py [SCENARIOS.jsonl]

Prints seconds of fresh processes and ratios of one run on one machine; nothing is asserted. Without a file of scenarios, such as the
`single` corpus of the reference data unpacked, deciding is left out. The dump is that of examples/kueue: 20 ClusterQueues, 300 workloads.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DUMP = sorted(str(file) for file in (ROOT / "examples" / "kueue" / "dump").glob("*.yaml"))
RUNS = 3


def best(command: list[str], out: Path, makes: tuple[Path, ...] = ()) -> float:
    """The least of the seconds that a command takes; its output goes to a file, and what it makes is removed before."""
    seconds = []
    for _ in range(RUNS):
        for path in makes:
            path.unlink(missing_ok=True)
        start = time.perf_counter()
        with out.open("wb") as file:
            subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, check=True)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Measure and print."""
    gpol = str(Path(sys.executable).with_name("gpol"))
    with tempfile.TemporaryDirectory() as folder:
        out, policy, facts, journal = (Path(folder) / name for name in ("out", "kueue.gpol", "kueue.jsonl", "kueue.db"))
        start = best([gpol, "--version"], out)
        print(f"{'gpol --version':<40} {start:.2f} s")

        def tell(what: str, command: list[str], items: int, makes: tuple[Path, ...] = ()) -> None:
            seconds = best(command, out, makes)
            each = (seconds - start) / items * 1000
            print(f"{what:<40} {seconds:.2f} s, {seconds / start:.1f} x, {each:.2f} ms for each of {items:,}")

        tell("gpol import kueue", [gpol, "import", "kueue", *DUMP, "-o", str(policy), "--facts", str(facts)], 300, (policy, facts))
        tell("gpol run", [gpol, "run", str(policy), str(facts)], len(facts.read_text(encoding="utf-8").splitlines()))
        subprocess.run([gpol, "run", str(policy), str(facts), "--journal", str(journal)], stdout=subprocess.DEVNULL, check=True)
        tell("gpol explain", [gpol, "explain", str(journal), waiting(gpol, journal)], 1)
        if len(sys.argv) > 1:
            scenarios = sys.argv[1]
            with open(scenarios, encoding="utf-8") as file:
                count = sum(1 for line in file if line.strip())
            tell("gpol kueue decide", [gpol, "kueue", "decide", scenarios], count)


def waiting(gpol: str, journal: Path) -> str:
    """A workload that waits: the last one that was deferred."""
    said = subprocess.run([gpol, "log", str(journal), "--kind", "WorkloadDeferred", "--format", "json"], capture_output=True, check=True)
    return str(json.loads(said.stdout.splitlines()[-1])["event"]["workload"])


if __name__ == "__main__":
    main()

"""How long `gpol diff` takes for policies of many queues: the seconds of CPU of one fresh process, start included.

    python benchmarks/policy_diff.py [QUEUES]

Two policies of 2,000 queues in one cohort, every one of which owns another amount in the second. For comparison: `gpol check` of both.
Prints seconds of one run on one machine; nothing is asserted.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

QUEUES = 2_000


def policy(queues: int, more: int) -> str:
    """A policy of many queues; with `more`, each owns up to so many GPUs more."""
    header = f'policy "many" {{ }}\nflavor a100 {{ gpu {20 * queues} }}\ncohort all {{\n'
    each = (
        f'  queue q{number} {{\n    for namespace "team{number}-*"\n    owns {8 + number % (more + 1)} gpu\n  }}\n'
        for number in range(queues)
    )
    return header + "".join(each) + "}\n"


def cpu_seconds(command: list[str]) -> float:
    """The seconds of CPU that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    queues = int(sys.argv[1]) if len(sys.argv) > 1 else QUEUES
    gpol = str(Path(sys.executable).with_name("gpol"))
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder) / "old.gpol", Path(folder) / "new.gpol"
        old.write_text(policy(queues, 0), encoding="utf-8")
        new.write_text(policy(queues, 4), encoding="utf-8")
        for verb in ("check", "diff"):
            print(f"gpol {verb} of two policies of {queues:,} queues: {cpu_seconds([gpol, verb, str(old), str(new)]):.1f} s of CPU")


if __name__ == "__main__":
    main()

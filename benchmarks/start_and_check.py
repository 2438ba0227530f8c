"""How long the command takes to start and to check: medians over fresh processes, as ratios to the start of Python itself.

    python benchmarks/start_and_check.py

Prints seconds and ratios of one run on one machine; nothing is asserted. Policies: one of 30 lines, and one of 1,000
queues in 3,000 lines.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 9


def small() -> str:
    """A policy of 30 lines."""
    queues = "".join(f"queue q{number} {{\n  owns 8 gpu\n  weight 2\n}}\n" for number in range(6))
    return f'policy "small" {{\n  share used\n}}\n\nflavor h100 {{ gpu 64 }}\n{queues}'


def big() -> str:
    """A policy of 1,000 queues, three lines each."""
    queues = "".join(f"queue q{number} {{\n  owns 8 gpu\n}}\n" for number in range(1000))
    return f'policy "big" {{ }}\nflavor h100 {{ gpu 8000 }}\n{queues}'


def median(command: list[str]) -> float:
    """The median of the seconds that a command takes."""
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main() -> None:
    """Measure and print."""
    gpol = str(Path(sys.executable).with_name("gpol"))
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, text in (("small", small()), ("big", big())):
            files[name] = Path(folder) / f"{name}.gpol"
            files[name].write_text(text, encoding="utf-8")
        subprocess.run([gpol, "fmt", str(files["small"])], stdout=subprocess.DEVNULL, check=True)
        python = median([sys.executable, "-c", "pass"])
        print(f"{'python -c pass':<32} {python:.3f} s")
        for name in ("small", "big"):
            for verb in (["check"], ["fmt", "--diff"] if name == "small" else ["check"]):
                seconds = median([gpol, *verb, str(files[name])])
                lines = len(files[name].read_text(encoding="utf-8").splitlines())
                print(f"gpol {' '.join(verb)} of {lines} lines".ljust(32), f"{seconds:.3f} s, {seconds / python:.1f} x")


if __name__ == "__main__":
    main()

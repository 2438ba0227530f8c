"""Which branches of the kernels a comparison takes: counted by coverage.py, so the kernels have to run uncompiled."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import coverage

KERNELS = Path(__file__).resolve().parents[2] / "engine" / "core" / "kernels"


class Branches:
    """Of each module of the kernels: how many branches it has, and those that were never taken, as pairs of lines."""

    def __init__(self) -> None:
        self.total: dict[str, int] = {}
        self.missing: dict[str, list[tuple[int, int]]] = {}

    def report(self) -> None:
        """Print how many were taken, and the others."""
        total, missing = sum(self.total.values()), sum(map(len, self.missing.values()))
        print(f"\nbranches of the kernels: {total - missing:,} taken of {total:,}")
        for module, pairs in sorted(self.missing.items()):
            if pairs:
                print(f"  never taken in {module}:", ", ".join(f"{line} to {after if after > 0 else 'the end'}" for line, after in pairs))


@contextmanager
def counted() -> Iterator[Branches]:
    """Count branches as long as this lasts; the result is there afterwards."""
    measured, found = coverage.Coverage(branch=True, include=[f"{KERNELS}/*"], data_file=None, config_file=False), Branches()
    measured.start()
    try:
        yield found
    finally:
        measured.stop()
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            measured.json_report(outfile=file.name)
            files = json.loads(Path(file.name).read_text(encoding="utf-8"))["files"]
        for name, each in files.items():
            module = str(Path(name).resolve().relative_to(KERNELS))
            found.total[module] = each["summary"]["num_branches"]
            found.missing[module] = [(line, after) for line, after in each["missing_branches"]]

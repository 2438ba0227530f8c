"""Seeds mistakes into the core, one at a time, and shows which tests catch each: `python tests/seed_mistakes.py [NUMBER]`.

Works on a copy of the engine and the tests in a temporary folder; the project itself is not touched. Ends with 0 where
every mistake is caught. The table in docs/testing.md is written from its output.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("engine", "dsl", "journal", "policies", "sim", "adapters", "cli")


@dataclass(frozen=True)
class Mistake:
    """A piece of a module of the core, and what stands there by mistake."""

    what: str
    module: str
    right: str
    wrong: str


MISTAKES = (
    Mistake(
        "use within the local quota is carried by the parent as well",
        "quota.py",
        "carried = max(0, carried - kept)",
        "carried = carried",
    ),
    Mistake(
        "a charge taken back leaves ancestors carrying it",
        "quota.py",
        "carried = min(carried, max(0, beyond_local))",
        "carried = 0",
    ),
    Mistake(
        "the borrowing limit is not looked at",
        "quota.py",
        "return lent_to_parent - used_in_parent + limit",
        "return lent_to_parent - used_in_parent + limit + 1000",
    ),
    Mistake(
        "a workload that fits by quota is admitted though less exists",
        "quota.py",
        "amount <= self.available(queue, slot) and amount <= self.free(slot)",
        "amount <= self.available(queue, slot)",
    ),
    Mistake(
        "victims that are not needed are not spared",
        "victims.py",
        "            if self._fits():\n                self.out.remove(victim)",
        "            if False:\n                self.out.remove(victim)",
    ),
    Mistake(
        "queues that no longer borrow are still reclaimed from",
        "victims.py",
        'if rule.scope == "borrowing-queues" and not self._borrows_from_us(node):',
        'if rule.scope == "borrowing-queues" and False:',
    ),
    Mistake(
        "what a fact admitted may be evicted for its sake",
        "victims.py",
        "if victim.started_by == self.cause:",
        "if False:",
    ),
    Mistake(
        "protections are not looked at",
        "victims.py",
        "return next((protect for protect in self.policy.graph.protect if self._protects(protect, victim)), None)",
        "return None",
    ),
    Mistake(
        "nothing is reserved for a workload that waits for protections to end",
        "settle.py",
        "        self.policy.tree.add(proposal.workload.queue, proposal.plan.request)\n        self.reserved.append(proposal)",
        "        self.policy.tree.add(proposal.workload.queue, ())\n        self.reserved.append(proposal)",
    ),
    Mistake(
        "ties between workloads of a queue go to the later submission",
        "order.py",
        "for key in graph.settings.workload_order), workload.number)",
        "for key in graph.settings.workload_order), -workload.number)",
    ),
    Mistake(
        "shares forget the weight",
        "shares.py",
        "(0, unweighted / weight)",
        "(0, unweighted)",
    ),
    Mistake(
        "a strict queue lets others pass its head",
        "settle.py",
        "            if strict:\n                break",
        "            if False:\n                break",
    ),
)


def seed(mistake: Mistake) -> list[str]:
    """Run the core's tests on a copy with the mistake; return the names of the tests that fail."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "gpol"
        for room in ROOMS:
            shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "tests", Path(folder) / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        path = copy / "engine" / "reference" / mistake.module
        text = path.read_text(encoding="utf-8")
        if text.count(mistake.right) != 1:
            raise SystemExit(
                f"{mistake.module} has `{mistake.right}` {text.count(mistake.right)} times, not once; bring the script up to date"
            )
        path.write_text(text.replace(mistake.right, mistake.wrong), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--tb=no",
            "-rf",
            "-p",
            "no:cacheprovider",
            "tests/engine",
            "tests/property/test_laws.py",
        ]
        environment = {**os.environ, "PYTHONPATH": folder, "HYPOTHESIS_PROFILE": "ci", "PYTHONDONTWRITEBYTECODE": "1"}
        check = "import gpol.engine.reference.core as core; print(core.__file__)"
        where = subprocess.run(
            [sys.executable, "-c", check], cwd=folder, env=environment, capture_output=True, text=True, check=True
        ).stdout
        if not where.startswith(folder):
            raise SystemExit(f"the copy is not what is tested, but {where.strip()}")
        output = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout
    return re.findall(r"^FAILED tests/(\S+)", output, re.MULTILINE)


def main() -> int:
    """Seed all mistakes, or the one with the given number; print a line of the table for each."""
    wanted = [int(sys.argv[1])] if len(sys.argv) > 1 else range(1, len(MISTAKES) + 1)
    missed = 0
    for number in wanted:
        mistake = MISTAKES[number - 1]
        caught = seed(mistake)
        missed += not caught
        tests = ", ".join(f"`{test}`" for test in caught[:3]) or "**none**"
        print(f"| {number} | {mistake.what} (`{mistake.module}`) | {tests} | {len(caught)} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

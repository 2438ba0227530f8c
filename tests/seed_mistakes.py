"""Seeds mistakes into the core, one at a time, and shows which tests catch each: `python tests/seed_mistakes.py [NUMBER ...]`.

Works on a copy of the rooms and the tests in a temporary folder; the project itself is not touched. Ends with 0 where
every mistake is caught by the test that is there for it; the laws alone may need luck. The table in docs/testing.md is
its output. A test that fails without any mistake ends the program at once.
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
TESTS = ("tests/engine", "tests/property/test_laws.py")

FOR_THE_COPY = """
import signal
from collections.abc import Iterator

from hypothesis import Phase

settings.register_profile("seeded", settings.get_profile("ci"), max_examples=40, phases=[Phase.explicit, Phase.generate])
settings.load_profile("seeded")


def _stop(*_: object) -> None:
    raise TimeoutError("the core does not come to rest")


@pytest.fixture(autouse=True)
def ending(request: pytest.FixtureRequest) -> Iterator[None]:
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, 3 if "engine" in request.path.parts else 20, 3)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
"""
"""Added to the copy of `tests/conftest.py`: a test that does not end fails, and a law that breaks is not shrunk to its smallest example.

The examples are fixed, so the table is the same in every run.
"""


@dataclass(frozen=True)
class Mistake:
    """A piece of a module of the core, what stands there by mistake, and the test of `tests/engine` that is there to catch it."""

    what: str
    module: str
    right: str
    wrong: str
    test: str


MISTAKES = (
    Mistake(
        "use within the local quota is carried by the parent as well",
        "quota.py",
        "carried = max(0, carried - kept)",
        "carried = carried",
        "test_quota.py::test_carried_use",
    ),
    Mistake(
        "a charge taken back leaves ancestors carrying it",
        "quota.py",
        "                    carried = min(carried, max(0, beyond_local))",
        "                    carried = 0",
        "test_quota.py::test_taking_back_undoes_in_any_order",
    ),
    Mistake(
        "the borrowing limit is one GPU too high",
        "quota.py",
        "return lent_to_parent - used_in_parent + limit",
        "return lent_to_parent - used_in_parent + limit + 1000",
        "test_admission.py::test_how_far_a_queue_reaches",
    ),
    Mistake(
        "a guarantee is lent all the same",
        "quota.py",
        "local = 0 if quota.lending_limit is None else max(0, owned - quota.lending_limit)",
        "local = 0",
        "test_quota.py::test_owned_kept_and_within_reach",
    ),
    Mistake(
        "shares forget the weight",
        "shares.py",
        "return (level, unweighted / weight)",
        "return (level, unweighted)",
        "test_order.py::test_a_weight_divides_the_share",
    ),
    Mistake(
        "ties between workloads of a queue go to the later submission",
        "order.py",
        "for key in graph.settings.workload_order), workload.number)",
        "for key in graph.settings.workload_order), -workload.number)",
        "test_order.py::test_ties_within_a_queue",
    ),
    Mistake(
        "a pod set does not see what the ones before it took",
        "flavors.py",
        "(slot, amount + chosen.get(slot, 0))",
        "(slot, amount)",
        "test_flavors.py::test_pod_sets_add_up",
    ),
    Mistake(
        "a strict queue lets others pass its head",
        "settle.py",
        "            if strict:\n                break",
        "            if False:\n                break",
        "test_admission.py::test_whether_a_waiting_head_lets_others_pass",
    ),
    Mistake(
        "nothing is reserved for a workload that waits for protections to end",
        "settle.py",
        "        self.policy.tree.add(proposal.workload.queue, proposal.plan.request)\n        self.reserved.append(proposal)",
        "        self.policy.tree.add(proposal.workload.queue, ())\n        self.reserved.append(proposal)",
        "test_protection.py::test_room_is_reserved_while_protections_run",
    ),
    Mistake(
        "queues that no longer borrow are still reclaimed from",
        "scope.py",
        'return rule.scope != "borrowing-queues" or self.borrows(node)',
        "return True",
        "test_victims.py::test_a_queue_is_spared_once_it_borrows_no_more",
    ),
    Mistake(
        "among equal victims the earlier submission goes",
        "victims.py",
        "return (*keys, -victim.number)",
        "return (*keys, victim.number)",
        "test_victims.py::test_equal_victims_go_by_later_submission",
    ),
    Mistake(
        "victims that are not needed are not spared",
        "victims.py",
        "            if self._fits():\n                self.out.remove(victim)",
        "            if False:\n                self.out.remove(victim)",
        "test_victims.py::test_victims_that_turn_out_not_to_be_needed_are_spared",
    ),
    Mistake(
        "what a fact admitted may be evicted for its sake",
        "victims.py",
        "if victim.started_by == self.cause:",
        "if False:",
        "test_settle.py::test_what_a_fact_admits_is_not_evicted_for_its_sake",
    ),
    Mistake(
        "protections are not looked at",
        "victims.py",
        "return covered and self.bench.holds(protect.guard)",
        "return False",
        "test_protection.py::test_whom_a_protection_covers",
    ),
    Mistake(
        "the core wakes when a duration equals its limit, though the guard includes that moment",
        "guards.py",
        "moments |= {since + length, since + length + 1}",
        "moments |= {since + length}",
        "test_protection.py::test_a_protection_ends_to_the_microsecond",
    ),
    Mistake(
        "pods that are done stay charged",
        "apply.py",
        "pod_set.requests[resource] * (left - rest)",
        "0",
        "test_changes.py::test_done_pods_make_room",
    ),
    Mistake(
        "of several limits in the way the mildest is named",
        "why.py",
        "return max(limits, key=lambda limit: limit.deficit, default=None)",
        "return min(limits, key=lambda limit: limit.deficit, default=None)",
        "test_why.py::test_the_binding_limit_is_the_one_with_the_greatest_deficit",
    ),
)


def seed(mistake: Mistake | None) -> list[str]:
    """Run the core's tests on a copy with the mistake, or with none; return the names of the tests that fail, each once."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "gpol"
        for room in ROOMS:
            shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "tests", Path(folder) / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        with (Path(folder) / "tests" / "conftest.py").open("a", encoding="utf-8") as conftest:
            conftest.write(FOR_THE_COPY)
        if mistake is not None:
            put_wrong(copy / "engine" / "reference" / mistake.module, mistake)
        output = run_tests(folder)
    failed = re.findall(r"^(?:FAILED|ERROR) tests/([^\s\[]+)", output, re.MULTILINE)
    return list(dict.fromkeys(failed))


def put_wrong(path: Path, mistake: Mistake) -> None:
    """Write the mistake into a copied module; end the program where the right text is not there exactly once."""
    text = path.read_text(encoding="utf-8")
    count = text.count(mistake.right)
    if count != 1:
        raise SystemExit(f"{mistake.module} has `{mistake.right}` {count} times, not once; bring the script up to date")
    path.write_text(text.replace(mistake.right, mistake.wrong), encoding="utf-8")


def run_tests(folder: str) -> str:
    """Run the tests in the folder against the copy there; return what pytest prints."""
    environment = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    check = "import gpol.engine.reference.core as core; print(core.__file__)"
    where = subprocess.run([sys.executable, "-c", check], cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout
    if not where.startswith(folder):
        raise SystemExit(f"the copy is not what is tested, but {where.strip()}")
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", *TESTS]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


def row(number: int, mistake: Mistake, caught: list[str]) -> str:
    """The line of the table for a mistake: the test that is there to catch it, how many others of the core do, the laws that do."""
    made_for_it = f"`{mistake.test}`" if is_caught(mistake, caught) else f"**not** `{mistake.test}`"
    others = sum(test.startswith("engine/") for test in caught) - is_caught(mistake, caught)
    laws = ", ".join(f"`{test.rpartition('::')[2]}`" for test in caught if not test.startswith("engine/")) or "none"
    return f"| {number} | {mistake.what} | `{mistake.module}` | {made_for_it} | {others} | {laws} |"


def is_caught(mistake: Mistake, caught: list[str]) -> bool:
    """Whether the test that is there for a mistake is among those that failed."""
    return f"engine/{mistake.test}" in caught


def main() -> int:
    """Seed all mistakes, or those with the given numbers; print a line of the table for each."""
    numbers = [int(argument) for argument in sys.argv[1:]] or range(1, len(MISTAKES) + 1)
    broken = seed(None)
    if broken:
        raise SystemExit(f"without any mistake these tests fail already: {', '.join(broken)}")
    missed = 0
    for number in numbers:
        mistake = MISTAKES[number - 1]
        caught = seed(mistake)
        missed += not is_caught(mistake, caught)
        print(row(number, mistake, caught), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

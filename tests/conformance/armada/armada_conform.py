"""Compares gpol with Armada: `python tests/conformance/armada/armada_conform.py`.

Prints for each suite how many cases match, and each that does not. Ends with 0 where all match, with 2 where one does not, and with 3 where
there is no reference data. The cases are those of `shared/conformance/formulas/armada.json`.
"""

import json
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from armada_cluster import GIB, TEST_SETTINGS, ArmadaCluster, ArmadaJob, ArmadaNode
from gpol.engine.definition.armada.armada_settings import ArmadaCap
from gpol.engine.definition.armada.armada_shares import ArmadaCost, divided, newcomer_share

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2].parent / "shared" / "conformance" / "formulas" / "armada.json"

NEVER_EVICTED = (3,)
"""The priorities of Armada's tests whose class may not be evicted, said or not (`TestPriorityClasses`)."""

Case = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ArmadaSuite:
    """A table of Armada's: how many cases it has, and what does not match in one."""

    name: str
    cases: Callable[[Case], list[Case]]
    total: int
    differences: Callable[[Case], list[str]]


def exact(number: float | str) -> Fraction:
    """A number of the data as it is written."""
    return Fraction(str(number))


def same(found: Fraction, said: str) -> bool:
    """Whether a share is what Armada's table says; where that is a decimal fraction, it was rounded to a float there."""
    return found == Fraction(said) if "." not in said else abs(found - Fraction(said)) < Fraction(1, 10**12)


def fair_shares(case: Case) -> list[str]:
    """Shares of queues that want amounts of one resource."""
    names = sorted(case["queues"])
    cost = ArmadaCost((case["cpu_capacity"],), (Fraction(1),))
    demands = [cost.demand((case["queues"][name]["demand"],)) for name in names]
    found = divided([exact(case["queues"][name]["weight"]) for name in names], demands)
    said = (("fair_share", "fair"), ("demand_capped_adjusted", "capped"), ("uncapped_adjusted", "uncapped"))
    return [
        f"{attribute} share of {name} is {getattr(share, attribute)}, not {case[column][name]}"
        for name, share in zip(names, found, strict=True)
        for column, attribute in said
        if not same(getattr(share, attribute), case[column][name])
    ]


def theoretical_share(case: Case) -> list[str]:
    """What a new queue would get; the capacity is 100."""
    queues = list(case["queues"].values())
    demands = [Fraction(queue["demand"], 100) for queue in queues]
    found = newcomer_share([exact(queue["weight"]) for queue in queues], demands, 1 / exact(case["new_queue_priority_factor"]))
    return [] if same(found, case["theoretical_share"]) else [f"it is {found}, not {case['theoretical_share']}"]


def queue_cost(case: Case) -> list[str]:
    """What an amount of foo, bar and baz costs a queue, in tenths, as amounts are whole here."""
    multipliers = {**dict.fromkeys(case.get("considered", ()), 1), **case.get("multipliers", {})}
    cost = ArmadaCost(
        tuple(total * 10 for total in case["total"]), tuple(exact(multipliers.get(resource, 0)) for resource in ("foo", "bar", "baz"))
    )
    found = cost.of([int(exact(amount) * 10) for amount in case["alloc"]]) / exact(case["weight"])
    return [] if found == exact(case["cost"]) else [f"it is {found}, not {case['cost']}"]


# --- rounds ---------------------------------------------------------------------------------------------------------


def rounds(case: Case) -> list[str]:
    """Rounds one after the other: which jobs start, and which are preempted."""
    factors = {queue: exact(factor) for queue, factor in case["pf"].items()}
    settings = replace(TEST_SETTINGS, protected=exact(case.get("protected", 0)), caps=_caps(case), round_cap=_fractions(case, "round_cap"))
    cluster = ArmadaCluster([ArmadaNode()] * case["nodes"], {queue: 1 / factor for queue, factor in factors.items()}, settings)
    for queue, text in case.get("running", {}).items():
        cluster.running += [replace(job, nodes=(0,) * job.pods, started=0) for job in _jobs(queue, text, -1)]
    found = []
    for number, each in enumerate(case["rounds"]):
        texts = {**each.get("submit", {}), **each.get("submit_shape", {})}
        jobs = [job for queue in sorted(texts) for job in _jobs(queue, texts[queue], number)]
        cluster.cordoned |= set(each.get("cordon", ()))
        before = list(cluster.running)
        outcome = cluster.play(jobs)
        for what, names, said in (
            ("starts", _pods(outcome.started, jobs), _names(each.get("sched", {}), number)),
            ("preempts", _pods(outcome.preempted, before), _preempted(each.get("preempt", {}))),
        ):
            if sorted(names) != sorted(said):
                wrong = f"and not {sorted(set(said) - set(names))}, but {sorted(set(names) - set(said))}"
                found.append(f"round {number} {what} {len(names)} jobs, {wrong}")
    return found


def _jobs(queue: str, text: str | int, number: int) -> Iterator[ArmadaJob]:
    """Jobs as the data writes them: `22 @np prio3`, `32 x 1cpu16Gi`, `32cpu256Gi x1`, `10@p0,10@p1`, and, here, `gang of 32 @p0`.

    The name of a job is its queue, its round and its index; that of a gang has the index of its first job.
    """
    index = 0
    for part in str(text).split(","):
        read = re.fullmatch(r"(gang of )?(?:(\d+)cpu(\d+)Gi x)?(\d+)(?: x (\d+)cpu(\d+)Gi)?(?: ?@(.*))?", part.strip())
        if read is None:
            raise ValueError(f"no jobs: {part}")
        gang, cpu, memory, count, later_cpu, later_memory, named = read.groups()
        priority = int(re.sub(r"\D", "", named or "0"))
        preemptible = priority not in NEVER_EVICTED and not re.match(r"np|non-preemptible", named or "")
        requests = (int(cpu or later_cpu or 1), int(memory or later_memory or 4) * GIB)
        pods = int(count) if gang else 1
        for first in range(index, index + int(count), pods):
            yield ArmadaJob(f"{queue}/{number}/{first}", queue, requests, pods, priority, preemptible)
        index += int(count)


def _pods(names: Collection[str], jobs: Sequence[ArmadaJob]) -> list[str]:
    """The pods of some jobs as Armada's test names them: each of a gang is a job there."""
    found = []
    for job in jobs:
        queue, of_round, first = job.name.split("/")
        found += [f"{queue}/{of_round}/{int(first) + at}" for at in range(job.pods) if job.name in names]
    return found


def _indices(said: list[int] | str) -> list[int]:
    """Indices of jobs: two are the first and the last of a range, more are all of them; or ranges as text."""
    if isinstance(said, str):
        pairs = [part.split("-") for part in said.split(",")]
        return [index for pair in pairs for index in range(int(pair[0]), int(pair[-1]) + 1)]
    return list(range(said[0], said[1] + 1)) if len(said) == 2 else said


def _names(said: Mapping[str, list[int]], number: int) -> list[str]:
    return [f"{queue}/{number}/{index}" for queue, indices in said.items() for index in _indices(indices)]


def _preempted(said: Mapping[str, Mapping[str, list[int]]]) -> list[str]:
    by_round = [(queue, of_round, said[queue][of_round]) for queue in said for of_round in said[queue]]
    return [name for queue, of_round, each in by_round for name in _names({queue: each}, int(of_round.removeprefix("round")))]


def _caps(case: Case) -> tuple[ArmadaCap, ...]:
    """The caps of priority classes, of cores: in the shared data they stand in the name of the case, `p0:1/32`."""
    texts = case.get("caps") or re.findall(r"p\d:\d+/\d+", case["name"])
    pairs = [(int(text[1]), Fraction(text[3:])) for text in texts]
    return tuple(ArmadaCap(priority, priority not in NEVER_EVICTED, (("cpu", fraction),)) for priority, fraction in pairs)


def _fractions(case: Case, name: str) -> tuple[tuple[str, Fraction], ...]:
    return (("cpu", Fraction(case[name])),) if name in case else ()


SUITES = (
    ArmadaSuite("fair shares", lambda data: data["fair_shares"], 11, fair_shares),
    ArmadaSuite("theoretical share", lambda data: data["theoretical"], 6, theoretical_share),
    ArmadaSuite("queue cost", lambda data: data["drf_cost"], 7, queue_cost),
    ArmadaSuite("rounds", lambda data: data["preempting_rounds"], 15, rounds),
)


def main() -> int:
    """Run the suites and print what came of them."""
    if not DATA.is_file():
        print(f"there is no reference data: it belongs into {DATA}")
        return 3
    data = json.loads(DATA.read_text(encoding="utf-8"))
    wrong = 0
    for suite in SUITES:
        cases = suite.cases(data)
        differing = [(case, found) for case in cases if (found := suite.differences(case))]
        wrong += len(differing)
        print(f"{suite.name:20} {len(cases) - len(differing)} / {len(cases)}")
        for case, found in differing:
            for difference in found:
                print(f"  {case.get('name', cases.index(case))}: {difference}")
    return 2 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

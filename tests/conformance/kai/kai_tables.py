"""KAI's unit tables, played against the functions of `engine/definition/kai/quota`: each case gives what differs, or nothing.

The form of the tables is told in the README beside them. Amounts stand there as float64; here they are read as the decimal numbers that are
written, and multiplied until all are whole.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

from gpol.engine.definition.kai.quota.division import ShareClaim, divide, divide_rest
from gpol.engine.definition.kai.quota.limits import exceeded, over_capacity, over_limit, over_quota
from gpol.engine.definition.kai.quota.reclaim_tests import Taker, can_reclaim, keeps_victim, may_owe, may_reclaim
from gpol.engine.definition.kai.quota.shares import QueueStanding
from gpol.engine.definition.kai.quota.strategies import over_its_share, over_owned, owed_what_is_owned, within_owned

RESOURCES = ("CPU", "Memory", "GPU")
"""The resources of the tables, in the order in which KAI tries them."""

UNLIMITED = -1
"""How the tables write that there is no limit."""

Row = Mapping[str, Any]
"""A case of a table, or a part of one, as it is written."""


@dataclass(frozen=True)
class UnitTable:
    """A table by its file: how one of its cases is played, and how many it has."""

    file: str
    play: Callable[[Row], str]
    count: int


def cases(folder: Path, file: str) -> Iterator[tuple[str, Row]]:
    """The cases of a table with their names."""
    for row in json.loads((folder / file).read_text(encoding="utf-8")):
        yield f"{row['index']} {row['fn']}: {row['spec']}", row


def mismatches(folder: Path, table: UnitTable) -> tuple[int, dict[str, str]]:
    """How many cases a table has, and what differs in those that do not match, by name."""
    found = {name: table.play(row) for name, row in cases(folder, table.file)}
    return len(found), {name: text for name, text in found.items() if text}


def exact(number: float) -> Fraction:
    """A number as it is written."""
    return Fraction(repr(number))


# --- division -------------------------------------------------------------------------------------------------------


def play_division(row: Row) -> str:
    """The fair shares of a case, and what is left over."""
    given, wanted = row["in"], row["out"]
    resources = [given["resource"]] if "resource" in given else list(RESOURCES)
    shares: dict[str, dict[str, Fraction]] = {key: {} for key in given["queues"]}
    left = Fraction(0)
    for resource in resources:
        total = given["total"] if "resource" in given else given["total"].get(resource, 0)
        left = _divide(row["fn"], resource, exact(total), given, shares)
    problems = [
        f"{key} {resource}: {amount} instead of {wanted['fairShare'][key][resource]}"
        for key, by_resource in shares.items()
        for resource, amount in by_resource.items()
        if amount != exact(wanted["fairShare"][key][resource])
    ]
    if "remaining" in wanted and left != exact(wanted["remaining"]):
        problems.append(f"left over: {left} instead of {wanted['remaining']}")
    return "; ".join(problems)


def _divide(function: str, resource: str, total: Fraction, given: Row, shares: dict[str, dict[str, Fraction]]) -> Fraction:
    """Divide one resource; gives what is left over."""
    queues = {key: queue.get(resource, {}) for key, queue in given["queues"].items()}
    fields = ("Deserved", "MaxAllowed", "Request", "FairShare")
    numbers = [total, *(exact(queue.get(field, 0)) for queue in queues.values() for field in fields)]
    scale = lcm(*(number.denominator for number in numbers))
    claims = []
    for key, queue in queues.items():
        owned, limit, asked = (exact(queue.get(field, 0)) for field in ("Deserved", "MaxAllowed", "Request"))
        claims.append(
            ShareClaim(
                given["queues"][key]["UID"],
                None if owned == UNLIMITED else int(owned * scale),
                None if limit == UNLIMITED else int(limit * scale),
                exact(queue.get("OverQuotaWeight", 0)),
                int(asked * scale),
                given["queues"][key].get("Priority", 0),
                given["queues"][key].get("CreationRank", 0),
                exact(queue.get("Usage", 0)),
            )
        )
    weight = exact(given["kValue"])
    before = [int(exact(queue.get("FairShare", 0)) * scale) for queue in queues.values()]
    if function == "divideOverQuotaResource":
        found, left = divide_rest(int(total * scale), claims, before, weight, scale)
    else:
        found, left = divide(int(total * scale), claims, weight, scale)
    for key, amount in zip(queues, found, strict=True):
        shares[key][resource] = Fraction(amount, scale)
    return Fraction(left, scale)


# --- where a queue stands ---------------------------------------------------------------------------------------------


def standing(queue: Row, number: int = 0, parent: int = -1) -> QueueStanding:
    """A queue of a table. Amounts are multiplied by `SCALE`, so that all are whole."""
    by_resource = [queue.get(resource, {}) for resource in RESOURCES]
    owned, limit, due = (tuple(_bound(each.get(field, 0)) for each in by_resource) for field in ("Deserved", "MaxAllowed", "FairShare"))
    held, for_good = (tuple(_scaled(each.get(field, 0)) for each in by_resource) for field in ("Allocated", "AllocatedNotPreemptible"))
    return QueueStanding(number, parent, owned, limit, due, held, for_good)


def standings(queues: Row) -> tuple[list[QueueStanding], dict[str, int]]:
    """The queues of a table, and their numbers by name."""
    numbers = {name: number for number, name in enumerate(queues)}
    made = [standing(queue, numbers[name], numbers.get(queue.get("ParentQueue", ""), -1)) for name, queue in queues.items()]
    return made, numbers


SCALE = 10**6
"""By what amounts are multiplied."""


def _scaled(number: float) -> int:
    amount = exact(number) * SCALE
    assert amount.denominator == 1, f"{number} is finer than a millionth"
    return int(amount)


def _bound(number: float) -> int | None:
    return None if number == UNLIMITED else _scaled(number)


def amounts(given: Row) -> tuple[int, ...]:
    """An amount of each resource."""
    return tuple(_scaled(given.get(resource, 0)) for resource in RESOURCES)


def _differs(found: object, wanted: object) -> str:
    return "" if found == wanted else f"{found} instead of {wanted}"


# --- limits ---------------------------------------------------------------------------------------------------------


def play_limits(row: Row) -> str:
    """Whether a request goes too far, and where."""
    given, wanted = row["in"], row["out"]
    if "queue" in given:
        queue, asked = standing(given["queue"]), amounts(given["requested"])
        over = (queue.limit, queue.held) if row["fn"] == "isOverLimit" else (queue.owned, queue.held_for_good)
        resource = exceeded(*over, asked)
        found: dict[str, object] = {"over": resource is not None}
        return _differs(found if resource is None else {**found, "resource": RESOURCES[resource]}, wanted)
    made, numbers = standings(given["queues"])
    job, asked = given["job"], _asked(row["fn"], given)
    queue = numbers[job["queue"]]
    match row["fn"]:
        case "resultsOverLimit":
            excess = over_limit(made, queue, asked)
        case "resultsWithNonPreemptibleOverQuota" | "IsNonPreemptibleJobOverQuota":
            excess = over_quota(made, queue, asked, job["preemptible"])
        case _:
            excess = over_capacity(made, queue, asked, job["preemptible"])
    if excess is None:
        return _differs({"schedulable": True}, wanted)
    names = list(given["queues"])
    return _differs({"schedulable": False, "reason": excess.reason.value, "queue": names[excess.number]}, wanted)


def _asked(function: str, given: Row) -> tuple[int, ...]:
    """What a job asks for: what is said, or the sum of its tasks; a request of GPU memory is the share of the GPU that has most."""
    if "requiredOnNode" in given:
        return amounts(given["requiredOnNode"])
    if "requested" in given:
        return amounts(given["requested"])
    total = [0, 0, 0]
    for task in given["tasks"]:
        cpu, memory, gpu = amounts(task["required"])
        if task.get("gpuMemoryMiB"):
            gpu = int(Fraction(SCALE * task.get("gpuCount", 1) * task["gpuMemoryMiB"], given["maxNodeGPUMemoryMiB"]))
        total = [total[0] + cpu, total[1] + memory, total[2] + gpu]
    return tuple(total)


# --- strategies and reclaim ---------------------------------------------------------------------------------------------


def play_strategies(row: Row) -> str:
    """Whether a strategy lets a victim go."""
    given = row["in"]
    asked = amounts(given.get("required") or {})
    taker, victim = standing(given.get("reclaimerQueue", {})), standing(given.get("reclaimeeQueue", {}))
    left = amounts(given.get("reclaimeeRemaining", {}))
    found = {
        "FitsMaintainFairShare": lambda: over_its_share(victim, left),
        "MaintainFairShareStrategy": lambda: over_its_share(victim, left),
        "GuaranteeDeservedQuotaStrategy": lambda: owed_what_is_owned(asked, taker, victim, left),
        "ReclaimerFitsDeservedQuota": lambda: within_owned(taker, asked),
        "ReclaimeeExceedsDeservedQuota": lambda: over_owned(victim, left),
    }[row["fn"]]()
    return _differs(found, row["out"]["result"])


def play_reclaim(row: Row) -> str:
    """Whether a workload may reclaim, from whom, and whether these victims may go."""
    given, wanted = row["in"], row["out"]["result"]
    reclaimer = given["reclaimer"]
    asked = amounts(reclaimer["required"])
    if row["fn"] == "canBeDeservedQuotaReclaimCandidate":
        return _differs(may_owe(standing(given["reclaimeeQueue"]), asked), wanted)
    made, numbers = standings(given["queues"])
    taker = Taker(numbers[reclaimer["queue"]], asked, reclaimer["preemptible"])
    match row["fn"]:
        case "CanReclaimResources":
            return _differs(can_reclaim(made, taker), wanted)
        case "FilterVictim":
            return _differs(keeps_victim(made, taker, numbers[given["victimQueue"]]), wanted)
        case _:
            victims = {numbers[queue]: [amounts(each) for each in given["reclaimees"][queue]] for queue in given["reclaimees"]}
            return _differs(may_reclaim(made, taker, victims, exact(given["saturationMultiplier"])), wanted)


TABLES = (
    UnitTable("resource_division.json", play_division, 70),
    UnitTable("capacity_policy.json", play_limits, 42),
    UnitTable("reclaimable.json", play_reclaim, 43),
    UnitTable("strategies.json", play_strategies, 30),
)
"""The tables; 185 cases in all."""

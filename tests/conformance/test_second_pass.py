"""Cases of Kueue's tables in which a workload that runs gets places: all are decided as Kueue decides them, but those with an excuse."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from suites.second_pass import EXCUSED_FROM_SCHEDULE, EXCUSED_FROM_SEARCH, in_second_pass, replace_node, schedule
from suites.suite import Case, Excuse

PROVISIONING_ELSEWHERE = "workload in CQ with two TAS flavors, only the second is using Provisioning Admission Check"


def _is_scheduled(case: Case) -> bool:
    return in_second_pass(case) or case["name"] == PROVISIONING_ELSEWHERE


def _is_replaced(case: Case) -> bool:
    return bool(case["tc"].get("workload"))


@pytest.mark.parametrize(
    ("table", "is_one", "compare", "excused", "counts"),
    [
        ("TestScheduleForTAS", _is_scheduled, schedule, EXCUSED_FROM_SCHEDULE, (28, 24)),
        ("TestFindTopologyAssignments", _is_replaced, replace_node, EXCUSED_FROM_SEARCH, (5, 4)),
    ],
)
def test_places_of_running_workloads_are_those_of_kueue(
    table: str,
    is_one: Callable[[Case], bool],
    compare: Callable[[Case], list[str]],
    excused: Mapping[str, Excuse],
    counts: tuple[int, int],
    shared: Path,
) -> None:
    """Every case is counted, every excuse is shown by its data, and nothing else differs."""
    file = shared / "conformance" / "kueue_tables" / f"{table}.jsonl"
    if not file.is_file():
        pytest.skip("needs the reference data in `shared/conformance`, beside the repository")
    cases = [json.loads(line) for line in file.read_text().splitlines()]
    concerned = [case for case in cases if is_one(case)]
    compared = [case for case in concerned if case["name"] not in excused]
    assert (len(concerned), len(compared)) == counts
    assert all(excused[case["name"]].shown(case) for case in concerned if case["name"] in excused)
    assert {case["name"]: differing for case in compared if (differing := compare(case))} == {}

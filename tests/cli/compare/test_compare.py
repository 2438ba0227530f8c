"""compare: the same jobs under several policies, as the command tells it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpol.compiled.fast_core import NO_FOLDER
from policy_texts import IN_CYCLES

Gpol = Callable[..., Any]

TURNS = """policy "turns" {
  preempt by turn, reclaim-owned, fair-share, make-room
}

flavor a100 { gpu 8 }

queue owner { owns 8 gpu }
queue guest { owns nothing }

preempt turn {
  evict from any queue
  where victim.running >= 1m
}
"""
"""Workloads of two queues that evict each other in turns for ever."""

NODES = """policy "on nodes" { use gpol.fair }
flavor a100 {
  gpu from nodes where model = "a100"
  placed on nodes
}
queue owner { owns 8 gpu }
queue guest { owns nothing }
"""


@pytest.fixture
def three(lab: Path) -> tuple[str, ...]:
    """The lab's policy, one without its protection and its rule that denies, and one that decides in cycles; and the jobs."""
    text = (lab / "lab.gpol").read_text()
    (lab / "eager.gpol").write_text(text[: text.index("protect warm-up")])
    (lab / "cycles.gpol").write_text(IN_CYCLES)
    return ("lab.gpol", "eager.gpol", "cycles.gpol", "jobs.csv")


def test_policies_side_by_side(gpol: Gpol, three: tuple[str, ...]) -> None:
    """Exit code 0; a row for each policy, one for each of each queue, who is evicted for whom, and who ends differently, with reasons."""
    done = gpol("compare", *three, "--format", "plain")
    lines = done.out.splitlines()

    assert (done.code, done.err) == (0, "")
    assert lines[0] == "3 workloads of jobs.csv under 3 policies"
    # The guest of 8 GPUs starts at 8:00; the owner comes at 8:05 and runs an hour, after the ten minutes of the protection, at once, or in
    # the cycle after the one that evicts. Then the guest runs its two hours. The one that asks for 9 waits unless a rule denies it.
    shown = [line.split("\t") for line in lines[1:5]]
    assert shown == [
        ["policy", "profile", "ran", "waiting", "never", "rejected", "evictions", "in turns", "evicted", "most"],
        ["lab.gpol", "gpol.fair", "2", "0", "0", "1", "1", "0", "1", "1"],
        ["eager.gpol", "gpol.fair", "2", "1", "1", "0", "1", "0", "1", "1"],
        ["cycles.gpol", "kueue.classical", "2", "1", "1", "0", "1", "0", "1", "1"],
    ]
    shown = [line.split("\t") for line in lines[7:11]]
    assert [[row[0], *row[-5:]] for row in shown] == [
        ["policy", "GPU-hours", "lost", "in use", "makespan", "loop"],
        ["lab.gpol", "25.3", "1.3", "100.0%", "3h10m", "none"],
        ["eager.gpol", "24.7", "0.7", "100.0%", "3h5m", "none"],
        ["cycles.gpol", "24.7", "0.7", "99.9%", "3h5m", "none"],
    ]
    assert "owner\teager.gpol\t1\t0\t0\t0\t0\t0\t0\t0" in lines
    assert "owner\teager.gpol\t0s\t0s\t0s\t0s\t8.0\t0.0\t32.4%" in lines
    assert "lab.gpol\tguest\towner\treclaim-owned\treclaim\t1" in lines
    assert "cycles.gpol\tguest\towner\towner\treclaim\t1" in lines
    assert "1 workload of 3 ends in different states under the 3 policies that were played to the end" in lines
    assert "1. big of guest ends in different states" in lines
    assert "   lab.gpol: rejected: Denied by too-big (lab.gpol:14)" in lines
    assert "2. o of owner is in line for up to 5m longer" in lines


def test_people_see_tables(gpol: Gpol, three: tuple[str, ...]) -> None:
    """Tables with titles, and a line between two queues."""
    done = gpol("compare", *three)

    assert done.code == 0
    for title in ("Policies", "Waits and work", "Per queue", "Waits and work per queue", "Who is evicted for whom"):
        assert f"\n{title} " in done.out
    assert done.out.count("├──") == 1 + 1 + 2


def test_json_has_everything(gpol: Gpol, three: tuple[str, ...]) -> None:
    """One object a line, with the figures of every policy, also by queue."""
    records = gpol("compare", *three, "--format", "json").records
    kinds = [record["kind"] for record in records]

    assert {record["v"] for record in records} == {1}
    assert kinds == [
        "compare",
        *["compare-policy"] * 3,
        *["compare-queue"] * 6,
        *["compare-evictions"] * 3,
        *["compare-workload"] * (len(kinds) - 13),
    ]
    assert records[0]["compared"] == ["lab.gpol", "eager.gpol", "cycles.gpol"]
    lab, eager, cycles = records[1:4]
    assert (lab["profile"], lab["loops"], lab["early"], lab["utilisation"]) == ("gpol.fair", 0, None, 1.0)
    assert (lab["figures"]["rejected"], eager["figures"]["never"], eager["figures"]["lost_gpu_hours"]) == (1, 1, 0.666667)
    assert (lab["figures"]["mean_in_line_us"], cycles["exists_gpu_milli"]) == ((5 * 60 + 65 * 60) * 10**6 // 2 - 150 * 10**6, 8000)
    assert records[13]["under"][0]["state"] == "rejected"


def test_figures_are_those_of_simulate(gpol: Gpol, three: tuple[str, ...]) -> None:
    """Each policy makes the history that `gpol simulate` makes of the same jobs, queue by queue, and figure by figure."""
    *policies, jobs = three
    found = [record for record in gpol("compare", *three, "--format", "json").records if record["kind"] == "compare-queue"]
    same = ("submitted", "admitted", "evicted", "ended", "waiting", "gpu_hours", "borrowed_gpu_hours", "lent_gpu_hours", "mean_wait_us")
    for policy in policies:
        alone = [record for record in gpol("simulate", policy, jobs, "--format", "json").records if record["kind"] == "queue"]
        compared = {record["queue"]: record["figures"] for record in found if record["policy"] == policy}
        assert {each["queue"] for each in alone} == set(compared)
        for each in alone:
            for figure in (*same, "p95_wait_s", "longest_wait_us"):
                assert compared[each["queue"]][figure] == each[figure], (policy, each["queue"], figure)


def test_what_is_missing_is_said_once(gpol: Gpol, three: tuple[str, ...], lab: Path) -> None:
    """That there are no compiled kernels is said once for all policies; tests give commands no folder for them."""
    rows = "".join(f"j{number},{number}s,1s,owner,1\n" for number in range(300))
    (lab / "many.csv").write_text(f"workload,submitted,duration,queue,gpu\n{rows}")
    done = gpol("compare", *three[:3], "many.csv", "--format", "json")

    assert done.code == 0
    assert done.err == f"{NO_FOLDER}\n"


def test_one_without_rest_does_not_end_the_others(gpol: Gpol, lab: Path, few_turns: None) -> None:
    """Exit code 2; who takes turns is told with queues and lines, and when; its figures go up to there, and the other policy has all."""
    (lab / "turns.gpol").write_text(TURNS)
    (lab / "two.csv").write_text("workload,submitted,duration,queue,gpu\na,0s,5h,owner,8\nb,10s,5h,guest,8\nc,9h,1h,owner,1\n")
    done = gpol("compare", "turns.gpol", "lab.gpol", "two.csv", "--format", "plain")
    lines = done.out.splitlines()

    assert (done.code, done.err) == (2, "")
    line = next(number for number, text in enumerate(TURNS.splitlines(), start=1) if text.startswith("preempt turn"))
    assert "turns.gpol never comes to rest: from 1970-01-01T00:00:10Z on nothing happens but that workloads take turns" in lines
    turns = [each for each in lines if " is evicted " in each and each.startswith("   ")]
    assert {each.split(" is ")[0].strip() for each in turns} == {"a of owner", "b of guest"}
    assert all(f"by turn (turns.gpol:{line})" in each for each in turns)
    assert "workloads are compared between policies that were played to the end, and there are no two of them" in lines
    rows = {row[0]: row for row in (each.split("\t") for each in lines[2:4])}
    assert (rows["lab.gpol"][2], rows["turns.gpol"][2]) == ("3", "2")
    loops = {row[0]: row[-1] for row in (each.split("\t") for each in lines[7:9])}
    assert (loops["lab.gpol"], loops["turns.gpol"][:6]) == ("none", "after ")
    early = gpol("compare", "turns.gpol", "lab.gpol", "two.csv", "--format", "json").records[1]["early"]
    assert (early["reason"], early["since"], {each["queue"] for each in early["turns"]}) == ("loop", 10_000_000, {"owner", "guest"})


def test_jobs_beyond_the_calendar_are_invalid(gpol: Gpol, lab: Path) -> None:
    """A policy under which a job would run too late is told in its row; that is invalid input, and no loop."""
    rows = "a,0s,2000000d,owner,8\nb,0s,2000000d,owner,8\n"
    (lab / "late.csv").write_text(f"workload,submitted,duration,queue,gpu\n{rows}")
    (lab / "wide.gpol").write_text((lab / "lab.gpol").read_text().replace("gpu 8 }", "gpu 16 }", 1))
    done = gpol("compare", "lab.gpol", "wide.gpol", "late.csv", "--format", "plain")

    assert done.code == 3
    assert "lab.gpol runs beyond the calendar: `b` would not end before the year 10000; shorten the jobs" in done.out
    assert done.out.splitlines()[7].endswith("\tnone up to 2000000d")


def test_a_report_is_written(gpol: Gpol, lab: Path, three: tuple[str, ...]) -> None:
    """A page with all policies, named at the end."""
    done = gpol("compare", *three, "--report", "page.html")

    assert done.code == 0
    assert done.out.endswith("report page.html\n")
    assert "jobs.csv under 3 policies" in (lab / "page.html").read_text()


def test_evicted_jobs_may_go_on(gpol: Gpol, three: tuple[str, ...]) -> None:
    """With `resume` nothing is lost."""
    records = gpol("compare", *three, "--on-evict", "resume", "--format", "json").records

    assert (records[0]["on_evict"], [each["figures"]["lost_gpu_hours"] for each in records[1:4]]) == ("resume", [0.0, 0.0, 0.0])


def test_nodes_are_for_those_that_take_them(gpol: Gpol, lab: Path) -> None:
    """A policy that goes by what is owned alone is played without nodes, which is said; with such policies alone nodes are refused."""
    (lab / "nodes.gpol").write_text(NODES)
    (lab / "cycles.gpol").write_text(IN_CYCLES)
    (lab / "nodes.csv").write_text("node,gpu,label:model\nn1,4,a100\nn2,4,a100\nn3,4,b200\n")
    done = gpol("compare", "nodes.gpol", "cycles.gpol", "jobs.csv", "--nodes", "nodes.csv", "--format", "json")
    alone = gpol("compare", "cycles.gpol", "jobs.csv", "--nodes", "nodes.csv")

    assert done.code == 0
    assert "note: cycles.gpol decides by what is owned alone and places no pods, so it is played without nodes" in done.err
    assert "1 of 3 nodes is of no flavor and will serve nobody: n3" in done.err
    assert [each["figures"]["never"] for each in done.records[1:3]] == [3, 1]  # a pod of 8 GPUs fits on no node of 4
    assert alone.code == 3
    assert "nodes.csv:2: the policy decides in cycles" in alone.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("lab.gpol",), "Missing argument 'POLICY...'"),
        (("lab.gpol", "eager.gpol"), "the last file has the workloads, and `eager.gpol` is a policy"),
        (("lab.gpol", "broken.gpol", "jobs.csv"), "`broken.gpol` has 1 error"),
        (("lab.gpol", "none.gpol", "jobs.csv"), "`none.gpol` cannot be read"),
        (("lab.gpol", "eager.gpol", "none.csv"), "`none.csv` cannot be read"),
        (("lab.gpol", "lab.gpol", "jobs.csv"), "`lab.gpol` is given twice"),
        (("lab.gpol", "same.gpol", "jobs.csv"), "`lab.gpol` and `same.gpol` are the same policy"),
        (("-", "-", "jobs.csv"), "only one policy can be read from standard input"),
        (("lab.gpol", "jobs.csv", "--on-evict", "never"), "--on-evict is restart or resume, not `never`"),
        (("lab.gpol", "jobs.csv", "--trace", "yaml"), "--trace is one of csv, jsonl, philly, not `yaml`"),
        (("lab.gpol", "jobs.csv", "--report", "jobs.csv"), "which the same command needs"),
        (("lab.gpol", "jobs.csv", "--report", "lab.gpol"), "which the same command needs"),
        (("lab.gpol", "jobs.csv", "--report", "none/x.html"), "the folder of `none/x.html` does not exist"),
    ],
)
def test_what_cannot_be_is_refused(gpol: Gpol, lab: Path, three: tuple[str, ...], arguments: tuple[str, ...], said: str) -> None:
    """Each mistake has its message and the exit code of invalid input, and nothing is played."""
    (lab / "broken.gpol").write_text('policy "x" { use gpol.fair }\nqueue q { owns 1 gpu on nowhere }\n')
    (lab / "same.gpol").write_text((lab / "lab.gpol").read_text() + "# the same\n")
    done = gpol("compare", *arguments)

    assert (done.code, done.out) == (3, "")
    assert said in done.err


def test_files_of_one_name_are_told_apart(gpol: Gpol, lab: Path, three: tuple[str, ...]) -> None:
    """Two policies in files of the same name are called by their paths."""
    (lab / "other").mkdir()
    (lab / "other" / "lab.gpol").write_text((lab / "eager.gpol").read_text())
    records = gpol("compare", "lab.gpol", "other/lab.gpol", "jobs.csv", "--format", "json").records

    assert records[0]["policies"] == ["lab.gpol", "other/lab.gpol"]

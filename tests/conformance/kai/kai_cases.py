"""KAI's whole cycles (`kai_cases.json`), played through the import: each case gives what differs from what KAI's tests demand, or nothing.

Which actions run and how often follows the file a case comes from, as the README beside the data says. Compared are the state of every task
always, its node where one is given, and what is asked for: GPUs always, CPU and memory where they are not 0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from gpol.adapters.kai.case_jobs import TaskState
from gpol.adapters.kai.case_session import KaiCase, read_case
from gpol.adapters.kai.rounds import ACTIONS, between_rounds, play_round
from gpol.adapters.kueue.problems import ImportRefused
from gpol.adapters.kueue.read.documents.json_documents import read_line
from gpol.engine.definition.kai.settings import KaiSettings, NodePick

Row = Mapping[str, Any]
"""A case as it is written, or a part of one."""

WHOLE, BROKEN, GROUPS, SPREAD = "whole GPUs", "broken gangs", "sub-groups and topology", "nodes spread"
"""The suites of whole cycles; the last one has a configuration of its own."""

COUNTS = {WHOLE: 216, BROKEN: 12, GROUPS: 71, SPREAD: 1}
"""How many cases each suite has."""

LEFT_OUT = {
    "affinity between pods": 3,
    "DRA": 18,
    "GPU memory": 25,
    "MIG": 28,
    "NUMA": 11,
    "shares of GPUs": 57,
}
"""What is left out, by what gpol does not decide about, and in how many cases."""

ROUNDS_UNTIL, ROUNDS_AFTER = 2, 5
"""How many rounds the cases of integration tests have before and after the first comparison, unless they say otherwise."""

_ACTIONS = {
    "allocate": ("allocate",),
    "consolidation": ("consolidation",),
    "preempt": ("preempt",),
    "reclaim": ("reclaim",),
    "stalegangeviction": ("stalegangeviction",),
}
"""The actions of a case by the folder of its file; all five where it is not in here."""

_GRACE_S = 60
"""The grace of broken gangs in the test of that action alone, in seconds; elsewhere it is 0."""


@dataclass(frozen=True)
class CyclesCase:
    """A case: its name, its suite, its cluster, and what is demanded."""

    name: str
    suite: str
    cluster: Row
    file: PurePosixPath
    until: int
    after: int
    settings: KaiSettings

    @property
    def integrated(self) -> bool:
        """Whether all actions run, in several rounds."""
        return "integration_tests" in self.file.parts

    def read(self) -> KaiCase:
        """The cluster, through the import. Raises ImportRefused."""
        return read_case(self.cluster, _GRACE_S if self.file.stem == "stalegangeviction_test" and not self.integrated else 0)


def cases(folder: Path) -> Iterator[CyclesCase]:
    """All cases of the file."""
    for row in read_line((folder / "kai_cases.json").read_bytes()):
        case = row["case"]
        cluster = case.get("TestTopologyBasic") or case.get("topology") or case
        file = PurePosixPath(row["file"])
        name = f"{file.parent.name}/{file.stem} {row['func']} {row['index']}: {case.get('name') or cluster.get('Name', '')}"
        cluster, settings = _without_configuration(cluster)
        until, after = case.get("RoundsUntilMatch") or ROUNDS_UNTIL, case.get("RoundsAfterMatch") or ROUNDS_AFTER
        yield CyclesCase(name, SPREAD if settings.pick is NodePick.SPREAD else _suite(file, cluster), cluster, file, until, after, settings)


def _without_configuration(cluster: Row) -> tuple[Row, KaiSettings]:
    """A cluster without the configuration that a test gives, and what that says.

    One case without shares of GPUs has one: allocate, and nodes spread for CPU and GPU.
    """
    given = (cluster.get("Mocks") or {}).get("SchedulerConf")
    if given is None:
        return cluster, KaiSettings()
    plugins = {plugin["Name"]: plugin.get("Arguments", {}) for tier in given["Tiers"] for plugin in tier["Plugins"]}
    spread = plugins.get("nodeplacement", {}).get("gpu") == "spread"
    return {**cluster, "Mocks": {}}, KaiSettings(pick=NodePick.SPREAD if spread else NodePick.PACK)


def _suite(file: PurePosixPath, cluster: Row) -> str:
    tasks = [task for job in cluster["Jobs"] for task in job["Tasks"]]
    grouped = any(task.get("SubGroupName") for task in tasks)
    if cluster.get("Topologies") or grouped:
        return GROUPS
    return BROKEN if file.stem == "stalegangeviction_test" else WHOLE


def left_out(case: CyclesCase) -> str:
    """Why a case is left out, as the import says it; "" where it is read."""
    try:
        case.read()
    except ImportRefused as refused:
        return str(refused).splitlines()[0].partition("gpol does not decide about ")[2].split(";")[0] or str(refused)
    return ""


# --- playing --------------------------------------------------------------------------------------------------------


def play(case: CyclesCase) -> str:
    """What differs, the first time that it does."""
    read = case.read()
    states = read.first_states()
    if not case.integrated:
        actions = _ACTIONS[case.file.parent.name]
        _, states = play_round(read, states, {name: ACTIONS[name] for name in actions}, case.settings)
        return _differs(case, read, states)
    for number in range(1, case.until + case.after + 1):
        _, after = play_round(read, states)
        states = between_rounds(read, after)
        told = states if number == case.until else after
        problem = _differs(case, read, told) if number >= case.until else ""
        if problem:
            return f"round {number}: {problem}"
    return ""


def _differs(case: CyclesCase, read: KaiCase, states: list[TaskState]) -> str:
    problems = []
    wanted_of_tasks = case.cluster.get("TaskExpectedResults") or {}
    wanted_of_jobs = case.cluster.get("JobExpectedResults") or {}
    names, asked = read.task_names(), [task.requests for job in read.jobs for task in job.tasks]
    first = 0
    for job in read.jobs:
        mine = range(first, first + len(job.tasks))
        first += len(job.tasks)
        wanted = wanted_of_jobs.get(job.name)
        if wanted is not None:
            problems += [_task(names[number], states[number], wanted) for number in mine]
            problems.append(_amounts(job.name, [asked[number] for number in mine], wanted))
        for number in mine:
            wanted = wanted_of_tasks.get(names[number])
            if wanted is not None:
                problems += [_task(names[number], states[number], wanted), _amounts(names[number], [asked[number]], wanted)]
    return "; ".join(problem for problem in problems if problem)


def _task(name: str, state: TaskState, wanted: Row) -> str:
    node = wanted.get("NodeName")
    if state[0] != wanted["Status"] or (node and node != state[1]):
        return f"{name} is {state[0]} on {state[1] or 'no node'} instead of {wanted['Status']} on {node or 'any'}"
    return ""


def _amounts(name: str, asked: list[tuple[int, ...]], wanted: Row) -> str:
    cpu, memory, gpus = (sum(each[resource] for each in asked) for resource in range(3))
    if gpus != wanted.get("GPUsRequired", 0):
        return f"{name} asks for {gpus} GPUs instead of {wanted.get('GPUsRequired', 0)}"
    for amount, field in ((cpu, "MilliCpuRequired"), (memory, "MemoryRequired")):
        if wanted.get(field) and wanted[field] != amount:
            return f"{name}: {amount} instead of {field} {wanted[field]}"
    return ""

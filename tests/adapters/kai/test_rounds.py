"""Rounds follow one another as in KAI's harness, until the state repeats."""

from gpol.adapters.kai.case_session import read_case
from gpol.adapters.kai.rounds import play_rounds
from gpol.engine.definition.kai.kai_cycle import KaiCycle, KaiEviction
from gpol.engine.definition.kai.settings import KaiPass
from gpol.engine.definition.session.pods import NO_NODE, PodStatus

CASE = {
    "Name": "c",
    "Jobs": [
        {"Name": "a", "QueueName": "q", "RequiredGPUsPerTask": 1, "Tasks": [{"State": "Pending"}]},
        {"Name": "b", "QueueName": "q", "RequiredGPUsPerTask": 1, "Tasks": [{"State": "Releasing", "NodeName": "n"}]},
        {"Name": "d", "QueueName": "q", "DeleteJobInTest": True, "Tasks": [{"State": "Releasing", "NodeName": "n"}]},
    ],
    "Nodes": {"n": {"GPUs": 1}},
    "Queues": [{"Name": "q", "DeservedGPUs": 1}],
}


def place_first(cycle: KaiCycle) -> None:
    """Places the first pod that waits, where there is a free GPU."""
    pod = cycle.session.pods[0]
    if pod.status is PodStatus.WAITING and cycle.session.free(0)[2]:
        cycle.session.move(pod, PodStatus.PLACED, 0)


def take_turns(cycle: KaiCycle) -> None:
    """Places the pod that waits, and stops the one that runs, for it."""
    first, second, _ = cycle.session.pods
    waits, runs = (first, second) if first.status is PodStatus.WAITING else (second, first)
    cycle.session.move(runs, PodStatus.STOPPING, 0)
    cycle.session.move(waits, PodStatus.PLACED, 0)
    cycle.evictions[runs.number] = KaiEviction(KaiPass.PREEMPT, waits.workload)


def there_and_back(cycle: KaiCycle) -> None:
    """Moves a pod and takes it back, so that nothing has changed."""
    cycle.session.move(cycle.session.pods[0], PodStatus.PROMISED, 0)
    cycle.session.move(cycle.session.pods[0], PodStatus.WAITING, NO_NODE)


def test_rounds_end_at_rest() -> None:
    """What stops is gone in the next round, what is bound runs, a deleted job goes on stopping; the last round changes nothing."""
    answer = play_rounds(read_case(CASE), {"allocate": place_first})
    assert [each["actions"] for each in answer["rounds"]] == [[], [{"action": "allocate", "tasks": {"a-0": ["Binding", "n"]}}], []]
    assert answer["end"] == "rest"


def test_fair_shares_are_told_first_and_where_they_change() -> None:
    """What stops is not asked for; once it waits again it is."""
    answer = play_rounds(read_case(CASE), {})
    assert answer["rounds"][0]["fairShare"] == {"default": [1, 1000, 10**9], "q": [1, 1000, 10**9]}
    assert answer["rounds"][1]["fairShare"] == {"default": [1, 2000, 2 * 10**9], "q": [1, 2000, 2 * 10**9]}
    assert len(answer["rounds"]) == 2
    assert play_rounds(read_case({"DisableDefaultDepartment": True}))["rounds"] == [{"actions": [], "evicted": {}, "fairShare": {}}]


def test_a_cycle_is_found() -> None:
    """Two that evict each other for ever are found when the state comes again, with the round in which it began and its length."""
    answer = play_rounds(read_case(CASE), {"preempt": take_turns})
    assert (answer["end"], answer["cycle"]) == ("cycle", [1, 2])
    assert len(answer["rounds"]) == 3
    assert answer["rounds"][0]["evicted"] == {"b-0": ["preempt", "a"]}


def test_rounds_without_end_are_cut_off() -> None:
    """Where the bound comes first, the answer says that it is unfinished."""
    answer = play_rounds(read_case(CASE), {"preempt": take_turns}, most=2)
    assert (answer["end"], len(answer["rounds"])) == ("unfinished", 2)


def test_what_is_taken_back_is_not_told() -> None:
    """A pass that moved a pod and took it back has changed nothing, also where a task that waits names a node."""
    named = {"Name": "a", "QueueName": "q", "RequiredGPUsPerTask": 1, "Tasks": [{"State": "Pending", "NodeName": "n"}]}
    for case in (CASE, {**CASE, "Jobs": [named]}):
        answer = play_rounds(read_case(case), {"allocate": there_and_back})
        assert answer["rounds"][0]["actions"] == []

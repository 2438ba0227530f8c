"""A KAI cluster becomes a session: with what KAI's harness fills in, and with what gpol does not decide refused by name."""

import json
from typing import Any

import pytest
from gpol.adapters.kai.case_session import read_case
from gpol.adapters.kueue.problems import ImportRefused
from gpol.adapters.kueue.read.documents.json_documents import read_line
from gpol.engine.definition.session.pods import PodStatus

Case = dict[str, Any]


def small(**changes: Any) -> Case:
    """One node, one queue, and one job of a task that waits."""
    job = {"Name": "j", "QueueName": "q", "Priority": 50, "RequiredGPUsPerTask": 1, "Tasks": [{"State": "Pending"}]}
    return {"Name": "small", "Jobs": [job], "Nodes": {"n": {"GPUs": 2}}, "Queues": [{"Name": "q", "DeservedGPUs": 1}], **changes}


def job(name: str = "j", tasks: int = 1, **changes: Any) -> Case:
    """A job of tasks that wait."""
    return {"Name": name, "QueueName": "q", "Priority": 50, "Tasks": [{"State": "Pending"}] * tasks, **changes}


def read(case: Case) -> Any:
    """A cluster, read as the command reads it: numbers with a point are exact."""
    return read_case(read_line(json.dumps(case).encode()))


def test_what_is_absent_is_filled_in() -> None:
    """A node has 20,000 CPUs, 20 GB and room for 110 pods, a task asks for 1 CPU and 1 GB, and a queue has the parent `default`, priority
    100, and CPU and memory without limit."""
    case = read(small())
    session = case.session(case.first_states())
    assert session.nodes[0].capacity == (20_000_000, 20 * 10**9, 2, 110)
    assert session.pods[0].requests == (1_000, 10**9, 1, 1)
    root, queue, department = session.quota_nodes
    assert (queue.name, queue.parent, queue.priority) == ("q", department.number, 100)
    assert (queue.owned, queue.limit) == ((None, None, 1, None), (None, None, None, None))
    assert (department.name, department.parent, root.children) == ("default", root.number, (department.number,))


def test_quantities_are_whole_cpus_and_bytes_and_queues_count_in_thousandths_and_millions() -> None:
    """Half a CPU of a task is 500 milli-CPUs, half a byte is one; a queue's 5 is 5 milli-CPUs, and 5 million bytes."""
    queues = [{"Name": "q", "MaxAllowedCPUs": 5, "MaxAllowedMemory": 5, "DeservedCPUs": 0}]
    case = read(small(Queues=queues, Jobs=[job(RequiredCPUsPerTask=0.5, RequiredMemoryPerTask=0.5)]))
    assert case.session(case.first_states()).pods[0].requests == (500, 1, 0, 1)
    assert case.quota_nodes[1].limit == (5, 5_000_000, None, None)
    assert case.quota_nodes[1].owned == (0, None, 0, None)


def test_jobs_stand_by_priority_and_the_earlier_one_is_older() -> None:
    """The higher priority comes first; within one the job that is given first is older, unless an age is given."""
    jobs = [job("a"), job("b", Priority=100), job("c"), job("d", JobAgeInMinutes=60)]
    case = read(small(Jobs=jobs))
    session = case.session(case.first_states())
    assert [each.name for each in session.workloads] == ["b", "a", "c", "d"]
    assert [each.preemptible for each in session.workloads] == [False, True, True, True]
    assert sorted(session.workloads, key=lambda each: each.created)[0].name == "d"
    assert session.workloads[1].created < session.workloads[2].created


def test_tasks_without_a_sub_group_belong_to_an_added_leaf() -> None:
    """Where no leaf is called `default` one is added that needs all of the job's tasks; a set without minimum needs all its children."""
    tree = {"name": "", "sets": [{"name": "s", "sets": [], "podSets": [{"name": "p", "minAvailable": 1}]}], "podSets": [], "minSubGroup": 1}
    tasks = [{"State": "Pending", "SubGroupName": "p"}, {"State": "Pending"}]
    case = read(small(Jobs=[job(RootSubGroupSet={"$subgroups": tree}, Tasks=tasks)]))
    groups = case.jobs[0].groups
    assert [(group.name, group.parent, group.children, group.minimum) for group in groups] == [
        ("", -1, (1, 3), 1),
        ("s", 0, (2,), 1),
        ("p", 1, (), 1),
        ("default", 0, (), 2),
    ]
    assert [task.group for task in case.jobs[0].tasks] == [2, 3]


def test_topologies_end_at_nodes_and_wishes_are_levels() -> None:
    """Nodes that lack a label are in no domain; required and preferred levels are found by their labels."""
    topologies = [{"ObjectMeta": {"Name": "t"}, "Spec": {"Levels": [{"NodeLabel": "zone"}, {"NodeLabel": "rack"}]}}]
    nodes = {"a": {"Labels": {"zone": "z", "rack": "r1"}}, "b": {"Labels": {"zone": "z", "rack": "r2"}}, "c": {"Labels": {"zone": "z"}}}
    wish = {"Topology": "t", "RequiredLevel": "zone", "PreferredLevel": "rack"}
    tree = {"name": "", "topology": wish, "sets": [], "podSets": [{"name": "default", "minAvailable": 1}]}
    case = read(small(Topologies=topologies, Nodes=nodes, Jobs=[job(RootSubGroupSet={"$subgroups": tree})]))
    assert (case.jobs[0].groups[0].within, case.jobs[0].groups[0].near) == ((0, 0), (0, 1))
    assert [case.trees[0].domains[leaf].machines for leaf in case.trees[0].lowest] == [("a",), ("b",)]


def test_tasks_stand_where_they_are_said_to_stand() -> None:
    """States become those of a session: what runs, stops or is stuck takes room, what failed does not."""
    states = ("Running", "Releasing", "StuckInReleasing", "Failed")
    tasks = [{"State": state, "NodeName": "n"} for state in states]
    case = read(small(Jobs=[job(Tasks=tasks, RequiredGPUsPerTask=1)], Nodes={"n": {"GPUs": 8}}))
    session = case.session(case.first_states())
    assert [pod.status for pod in session.pods] == [PodStatus.RUNNING, PodStatus.STOPPING, PodStatus.STUCK, PodStatus.DONE]
    assert (session.free(0)[2], session.free_later(0)[2]) == (5, 6)
    assert session.held[0][2] == 1
    assert session.workloads[0].started is not None


@pytest.mark.parametrize(
    ("changes", "place", "cause"),
    [
        ({"Jobs": [job(RequiredGPUsPerTask=0.5)]}, "Jobs[0].RequiredGPUsPerTask", "shares of GPUs"),
        ({"Jobs": [job(RequiredGpuMemory=10)]}, "Jobs[0].RequiredGpuMemory", "GPU memory"),
        ({"Jobs": [job(Tasks=[{"State": "Pending", "RequiredMigInstances": {"x": 1}}])]}, "Jobs[0].Tasks[0].RequiredMigInstances", "MIG"),
        ({"Jobs": [job(Tasks=[{"State": "Pending", "ResourceClaimNames": ["c"]}])]}, "Jobs[0].Tasks[0].ResourceClaimNames", "DRA"),
        ({"Jobs": [job(Tasks=[{"State": "Pending", "PodAffinityLabels": {"a": "b"}}])]}, "PodAffinityLabels", "affinity between pods"),
        ({"Nodes": {"n": {"NumaTopology": {"Policy": "x"}}}}, "Nodes.n.NumaTopology", "NUMA"),
        ({"Queues": [{"Name": "q", "ReclaimMinRuntime": 5}]}, "Queues[0].ReclaimMinRuntime", "minimal runtimes"),
        ({"Queues": [{"Name": "q", "DeservedGPUs": 1.5}]}, "Queues[0].DeservedGPUs", "1.5 is no amount"),
        ({"TestDRAObjects": {"ResourceClaims": [{}]}}, "TestDRAObjects", "DRA"),
        ({"Mocks": {"SchedulerConf": {"Actions": "allocate"}}}, "Mocks.SchedulerConf", "other configurations"),
        ({"Jobs": 5}, "Jobs", "is no list"),
        ({"Nodes": {"n": 5}}, "Nodes.n", "is no object"),
        ({"Nodes": {"n": {"GPUs": -1}}}, "Nodes.n.GPUs", "is below 0"),
        ({"Jobs": [job("j" * 254)]}, "Jobs[0].Name", "has more than 253 characters"),
        ({"Jobs": [job(Priority=1.5)]}, "Jobs[0].Priority", "is no whole number"),
        ({"Jobs": [job(DeleteJobInTest=1)]}, "Jobs[0].DeleteJobInTest", "is neither true nor false"),
        ({"Jbos": []}, "Jbos", "is no field of KAI's form"),
        ({"Jobs": [{"QueueName": "q"}]}, "Jobs[0].Name", "is missing"),
        ({"Jobs": [job(QueueName="x")]}, "Jobs[0].QueueName", "`x` is no queue"),
        ({"Jobs": [job(QueueName="default")]}, "Jobs[0].QueueName", "has queues below it"),
        ({"Jobs": [job(), job()]}, "Jobs[1].Name", "names a second job"),
        ({"Jobs": [job(Preemptibility="semi")]}, "Jobs[0].Preemptibility", "`semi`"),
        ({"Jobs": [job(Tasks=[{"State": "Gone"}])]}, "Jobs[0].Tasks[0].State", "`Gone` is no state"),
        ({"Jobs": [job(Tasks=[{"State": "Running", "NodeName": "x"}])]}, "Jobs[0].Tasks[0].NodeName", "`x` is no node"),
        ({"Jobs": [job(Tasks=[{"State": "Pending", "SubGroupName": "x"}])]}, "Jobs[0].Tasks[0].SubGroupName", "`x` is no sub-group"),
        ({"Jobs": [job(RequiredGPUsPerTask="1")]}, "Jobs[0].RequiredGPUsPerTask", "is no number"),
        ({"Jobs": [job(RequiredGPUsPerTask=-1)]}, "Jobs[0].RequiredGPUsPerTask", "is not between"),
        ({"Jobs": [job(RequiredGPUsPerTask=True)]}, "Jobs[0].RequiredGPUsPerTask", "is no number"),
        ({"Queues": [{"Name": "q"}, {"Name": "q"}]}, "Queues[1].Name", "names a second queue"),
        ({"Queues": [{"Name": "q", "ParentQueue": "x"}], "DisableDefaultDepartment": True}, "Queues[0].ParentQueue", "`x` is no queue"),
        ({"Queues": [{"Name": "q", "ParentQueue": "q"}], "DisableDefaultDepartment": True}, "Queues", "its own ancestor"),
    ],
)
def test_what_is_not_decided_is_refused_by_name(changes: Case, place: str, cause: str) -> None:
    """A refusal names the place in the cluster and what is wrong there."""
    with pytest.raises(ImportRefused) as caught:
        read(small(**changes))
    text = str(caught.value).splitlines()[0]
    assert place in text
    assert cause in text


def test_what_says_nothing_is_no_reason_to_refuse() -> None:
    """A field that gpol does not honour may be there with Go's zero value, and what a test expects is let be."""
    case = small(
        Jobs=[job(RequiredGpuMemory=0, Tasks=[{"State": "Pending", "GPUGroups": []}])], TestDRAObjects={}, JobExpectedResults={"j": {}}
    )
    assert read(case).name == "small"

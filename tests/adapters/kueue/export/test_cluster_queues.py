"""ClusterQueues, Cohorts and LocalQueues on the way out."""

import pytest

from ..exports import AT_ONCE, IN_CYCLES, Json, notes, problems, specs

SERVES = 'serves "nvidia.com/gpu" from a100, h100'
GROUPS = [
    {
        "coveredResources": ["nvidia.com/gpu"],
        "flavors": [{"name": name, "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "0"}]} for name in ("a100", "h100")],
    }
]


def queue(*statements: str) -> Json:
    """The spec of a ClusterQueue without its groups, of a queue that says this."""
    spec = specs(with_queue(*statements), "ClusterQueue")["q"]
    assert spec.pop("resourceGroups") == GROUPS
    return spec


def with_queue(*statements: str, head: str = IN_CYCLES) -> str:
    """A policy of one queue."""
    return head + "\nqueue q {\n" + "".join(f"  {statement}\n" for statement in (SERVES, *statements)) + "}\n"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("queueing strict fifo", {"queueingStrategy": "StrictFIFO"}),
        ("queueing best effort", {}),
        ("when borrowing try next flavor", {"flavorFungibility": {"whenCanBorrow": "TryNextFlavor"}}),
        ("when evicting take flavor", {"flavorFungibility": {"whenCanPreempt": "MayStopSearch"}}),
        ("when evicting try next flavor", {}),
        ("rather evict than borrow", {"flavorFungibility": {"preference": "PreemptionOverBorrowing"}}),
        ("evicts its own of lower priority", {"preemption": {"withinClusterQueue": "LowerPriority"}}),
        ("evicts its own of lower priority or newer", {"preemption": {"withinClusterQueue": "LowerOrNewerEqualPriority"}}),
        ("reclaims from lower priority", {"preemption": {"reclaimWithinCohort": "LowerPriority"}}),
        ("reclaims from anyone", {"preemption": {"reclaimWithinCohort": "Any"}}),
        ("borrows by evicting lower priority", {"preemption": {"borrowWithinCohort": {"policy": "LowerPriority"}}}),
        (
            "borrows by evicting lower priority up to -5",
            {"preemption": {"borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": -5}}},
        ),
        ("weight 2.5", {"fairSharing": {"weight": "2500m"}}),
        ("weight 0", {"fairSharing": {"weight": "0"}}),
        ("stopped", {"stopPolicy": "Hold"}),
        ("stopped and drained", {"stopPolicy": "HoldAndDrain"}),
        ("needs check prov", {"admissionChecksStrategy": {"admissionChecks": [{"name": "prov"}]}}),
        ("needs check prov on h100", {"admissionChecksStrategy": {"admissionChecks": [{"name": "prov", "onFlavors": ["h100"]}]}}),
    ],
)
def test_statements(statement: str, said: Json) -> None:
    """Each statement of a queue is a field of its ClusterQueue; what is Kueue's default is left out."""
    assert queue(statement) == {"namespaceSelector": {}, **said}


def test_the_header_counts_for_every_queue() -> None:
    """Choices of the header that a queue does not make itself are written into its ClusterQueue."""
    head = IN_CYCLES.replace("use kueue.classical", "use kueue.classical\n  queueing strict fifo\n  when borrowing try next flavor")
    spec = specs(with_queue("when borrowing take flavor", head=head) + with_queue(head="").replace("queue q", "queue r"), "ClusterQueue")
    assert (spec["q"]["queueingStrategy"], "flavorFungibility" in spec["q"]) == ("StrictFIFO", False)
    assert spec["r"]["flavorFungibility"] == {"whenCanBorrow": "TryNextFlavor"}


def test_namespaces() -> None:
    """All namespaces, those by their labels, and none, which is Kueue's default."""
    said = 'for namespaces where label "a" in "y", "x" and label "b" not in "z" and label "c" exists and label "d" absent'
    assert queue(said)["namespaceSelector"] == {
        "matchExpressions": [
            {"key": "a", "operator": "In", "values": ["x", "y"]},
            {"key": "b", "operator": "NotIn", "values": ["z"]},
            {"key": "c", "operator": "Exists"},
            {"key": "d", "operator": "DoesNotExist"},
        ]
    }
    assert queue("for no namespaces") == {}


def test_usage_is_admitted_by() -> None:
    """A queue that admits by usage says so in its admission scope."""
    head = IN_CYCLES.replace("use kueue.classical", "use kueue.classical\n  usage halves every 1h, sampled every 5m")
    spec = specs(with_queue("admits by usage", head=head), "ClusterQueue")["q"]
    assert spec["admissionScope"] == {"admissionMode": "UsageBasedAdmissionFairSharing"}


def test_whose_check_it_is_is_noted_where_it_gives_nodes() -> None:
    """The ClusterQueue names the check either way; of one for nodes the controller is known."""
    check = {"admissionChecks": [{"name": "prov", "onFlavors": ["h100"]}]}
    assert queue("needs check prov on h100 for nodes")["admissionChecksStrategy"] == check
    told = "queue q: needs check: prov has to be there as an AdmissionCheck: "
    assert f"{told}a policy does not say who controls it" in notes(with_queue("needs check prov"))
    for_nodes = notes(with_queue("needs check prov for nodes"))
    assert f"{told}its controllerName is kueue.x-k8s.io/provisioning-request" in for_nodes


def test_what_kueue_refuses_is_noted() -> None:
    """Two combinations decide in Kueue's scheduler, but its webhook refuses them."""
    assert (
        "queue q: rather: is refused by Kueue's webhook unless the queue tries the next flavor when borrowing and when evicting"
        in notes(with_queue("rather evict than borrow"))
    )
    assert "queue q: borrows by evicting: is refused by Kueue's webhook unless the queue reclaims as well" in notes(
        with_queue("borrows by evicting lower priority")
    )
    fine = notes(
        with_queue(
            "rather evict than borrow", "when borrowing try next flavor", "reclaims from anyone", "borrows by evicting lower priority"
        )
    )
    assert [note for note in fine if "webhook" in note] == []


def test_who_controls_a_check_is_noted() -> None:
    """A policy says that of a check that makes nodes alone."""
    there = "queue q: needs check: prov has to be there as an AdmissionCheck"
    assert f"{there}: a policy does not say who controls it" in notes(with_queue("needs check prov"))
    told = f"{there}: its controllerName is kueue.x-k8s.io/provisioning-request"
    assert told in notes(with_queue("needs check prov for nodes"))


def test_weights_that_kubernetes_cannot_write_are_refused() -> None:
    """A third is no decimal; the remedy keeps the ratio of neighbours."""
    assert problems(with_queue("weight 1/3")) == [
        "p.gpol:11: queue q: weight: is 1/3, and Kueue takes numbers of at most nine decimals, 0 or above 1n; "
        "multiply the weights of all its neighbours by 3: only their ratio counts"
    ]


def test_cohorts_have_weights() -> None:
    """A cohort's weight is that of its Cohort."""
    text = IN_CYCLES + f"cohort c {{\n  weight 1/4\n  queue q {{ {SERVES} }}\n}}\n"
    assert specs(text, "Cohort") == {"c": {"fairSharing": {"weight": "250m"}}}


def test_local_queues() -> None:
    """Local queues are LocalQueues of their namespaces, in order of namespace and name."""
    text = with_queue('local queue "ns/b" { weight 2 }', 'local queue "ns/a" { stopped }', 'local queue "a/z"')
    assert list(specs(text, "LocalQueue").items()) == [
        ("a/z", {"clusterQueue": "q"}),
        ("ns/a", {"clusterQueue": "q", "stopPolicy": "Hold"}),
        ("ns/b", {"clusterQueue": "q", "fairSharing": {"weight": "2"}}),
    ]


def test_a_ceiling_is_refused_and_a_default_priority_noted() -> None:
    """Kueue has no greatest priority in a queue; what counts by default, others can arrange."""
    head = AT_ONCE + "priority low 5\n"
    assert problems(head + "queue q {\n  owns 8 gpu\n  priority at most low\n}\n") == [
        "p.gpol:5: queue q: priority at most: counts no priority above 5, and Kueue takes every workload at its own; "
        "remove it, and let an admission policy of Kubernetes turn higher classes away"
    ]
    told = notes(head + "queue q {\n  owns 8 gpu\n  default priority low\n}\n")
    wanted = "is 5 here; Kueue counts 0: make a PriorityClass of 5 the globalDefault, or let each job name its class"
    assert f"queue q: default priority: {wanted}" in told

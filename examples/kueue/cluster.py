"""The cluster of the example: who owns what, and the jobs that its teams submit. Synthetic; no company's cluster.

Whole numbers only, from one seeded source of bits, so every run on every Python makes the same cluster.
"""

from dataclasses import dataclass
from random import Random
from typing import Any

SEED = 20

Object = dict[str, Any]
"""A plain object of Kubernetes."""

GPU = "nvidia.com/gpu"
CPU_PER_GPU, GI_PER_GPU = 12, 120
"""What is owned beside each GPU: CPUs, and GiB of memory."""

LABELS = {
    "h100": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "node.example/lifecycle": "reserved"},
    "a100": {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "node.example/lifecycle": "reserved"},
    "a100-spot": {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "node.example/lifecycle": "spot"},
}
"""The labels of each flavor's nodes."""

SPOT = {"key": "node.example/spot", "value": "true", "effect": "NoSchedule"}
"""The taint of nodes that may go away at any time."""

PRIORITIES = {"production": 1000, "urgent": 500, "batch": 100, "scavenger": 0}


@dataclass(frozen=True, slots=True)
class Cohort:
    """A cohort, its parent, and the spot GPUs that it holds for everybody below it."""

    name: str
    parent: str = ""
    spot: int = 0
    weight: str = ""


@dataclass(frozen=True, slots=True)
class Tenant:
    """A ClusterQueue and what its users submit.

    `owned` is GPUs by flavor, in the order to try them; `borrows` and `lends` are limits on some flavors. `part` is how many of a
    thousand jobs are theirs, `sizes` are GPUs of a job by how many in a hundred ask for them, `hours` the range of what a job takes.
    """

    name: str
    cohort: str
    owned: tuple[tuple[str, int], ...]
    part: int
    sizes: tuple[tuple[int, int], ...]
    hours: tuple[int, int]
    namespaces: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("Job",)
    priorities: tuple[str, ...] = ("batch", "batch", "batch", "urgent")
    borrows: tuple[tuple[str, int], ...] = ()
    lends: tuple[tuple[str, int], ...] = ()
    weight: str = ""
    within: str = "LowerPriority"
    reclaim: str = "Any"
    spec: tuple[tuple[str, Any], ...] = ()
    tolerant: bool = False
    pinned: tuple[str, ...] = ()

    @property
    def homes(self) -> tuple[str, ...]:
        """The namespaces of its users."""
        return self.namespaces or (self.name,)


COHORTS = (Cohort("foundation", parent="research", weight="2"), Cohort("product", spot=16), Cohort("research", spot=48))

SMALL = ((45, 1), (25, 2), (18, 4), (12, 8))
WIDE = ((20, 1), (15, 2), (25, 4), (28, 8), (12, 16))
BIG = ((30, 8), (40, 16), (20, 32), (10, 64))
EAGER = (("flavorFungibility", {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor"}),)
"""Tries the next flavor before it borrows."""

TENANTS = (
    Tenant(
        "nlp",
        "research",
        (("h100", 16), ("a100", 32)),
        90,
        WIDE,
        (4, 120),
        kinds=("Job", "PyTorchJob"),
        spec=EAGER,
        pinned=("h100", "a100"),
    ),
    Tenant(
        "vision",
        "research",
        (("h100", 16), ("a100", 32)),
        85,
        WIDE,
        (4, 96),
        kinds=("PyTorchJob",),
        borrows=(("h100", 16),),
        pinned=("h100", "h100", "a100"),
    ),
    Tenant("speech", "research", (("a100", 16), ("h100", 8)), 60, SMALL, (4, 80), pinned=("a100", "a100", "h100")),
    Tenant("robotics", "research", (("a100", 16),), 60, SMALL, (4, 48), kinds=("Job", "RayCluster")),
    Tenant(
        "recommenders",
        "research",
        (("a100", 24), ("h100", 8)),
        55,
        WIDE,
        (4, 64),
        kinds=("Job", "RayCluster"),
        pinned=("a100", "a100", "h100"),
    ),
    Tenant("theory", "research", (("a100", 8),), 25, SMALL, (4, 40), within="LowerOrNewerEqualPriority"),
    Tenant(
        "students",
        "research",
        (("a100", 0), ("a100-spot", 0)),
        110,
        SMALL,
        (4, 32),
        within="Never",
        reclaim="Never",
        tolerant=True,
        namespaces=("course-deep-learning", "course-robotics", "theses"),
        priorities=("batch", "scavenger"),
        borrows=(("a100", 32),),
    ),
    Tenant(
        "sweeps",
        "research",
        (("a100-spot", 0), ("a100", 0)),
        120,
        ((60, 1), (40, 2)),
        (4, 36),
        kinds=("Sweep",),
        within="Never",
        reclaim="Never",
        priorities=("scavenger",),
        tolerant=True,
        weight="500m",
    ),
    Tenant(
        "pretraining",
        "foundation",
        (("h100", 96),),
        14,
        BIG,
        (80, 280),
        kinds=("PyTorchJob",),
        lends=(("h100", 48),),
        priorities=("urgent", "batch"),
    ),
    Tenant("post-training", "foundation", (("h100", 32), ("a100", 32)), 50, WIDE, (8, 96), kinds=("PyTorchJob",), pinned=("h100", "a100")),
    Tenant("multimodal", "foundation", (("h100", 32),), 40, WIDE, (8, 120), kinds=("PyTorchJob",)),
    Tenant(
        "evaluations",
        "foundation",
        (("a100", 24), ("h100", 8)),
        75,
        SMALL,
        (4, 20),
        priorities=("batch", "urgent"),
        spec=EAGER,
        pinned=("a100", "a100", "h100"),
    ),
    Tenant("data-curation", "foundation", (("a100", 16),), 35, SMALL, (8, 64), kinds=("RayCluster",), priorities=("batch",)),
    Tenant(
        "assistant",
        "product",
        (("h100", 24),),
        20,
        ((40, 2), (40, 4), (20, 8)),
        (160, 280),
        kinds=("LeaderWorkerSet",),
        lends=(("h100", 0),),
        priorities=("production",),
        spec=(("queueingStrategy", "StrictFIFO"),),
    ),
    Tenant(
        "search",
        "product",
        (("a100", 32), ("h100", 8)),
        40,
        SMALL,
        (16, 160),
        kinds=("LeaderWorkerSet", "Job"),
        priorities=("production", "batch"),
        pinned=("a100", "a100", "h100"),
    ),
    Tenant("translation", "product", (("a100", 16),), 30, SMALL, (12, 120), priorities=("production", "batch")),
    Tenant("fraud-detection", "product", (("a100", 16),), 30, SMALL, (12, 120), priorities=("production", "batch")),
    Tenant(
        "batch-inference", "product", (("a100-spot", 0), ("a100", 24)), 45, WIDE, (4, 48), tolerant=True, priorities=("batch", "scavenger")
    ),
    Tenant(
        "continuous-integration",
        "product",
        (("a100", 8),),
        70,
        ((70, 1), (30, 2)),
        (4, 8),
        priorities=("urgent",),
        spec=(
            (
                "preemption",
                {
                    "withinClusterQueue": "Never",
                    "reclaimWithinCohort": "LowerPriority",
                    "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 0},
                },
            ),
        ),
    ),
    Tenant("platform-tests", "", (("a100", 8),), 8, ((100, 1),), (4, 12), priorities=("batch",), spec=(("stopPolicy", "Hold"),)),
)


@dataclass(frozen=True, slots=True)
class Job:
    """A job: when it came (seconds from the start), whose it is, its GPUs, pods and what it may run on, and how long it takes."""

    second: int
    tenant: Tenant
    namespace: str
    name: str
    uid: str
    kind: str
    gpus: int
    priority: str
    pinned: str
    seconds: int

    @property
    def queue(self) -> str:
        """The LocalQueue that it names."""
        return "gpu"


class Dice:
    """Whole numbers from the bits of Python's generator, whose bits for a seed are the same in every version."""

    def __init__(self, seed: int) -> None:
        self._bits = Random(seed)

    def below(self, bound: int) -> int:
        """One of 0 ... bound - 1."""
        return self._bits.getrandbits(64) % bound

    def of(self, weights: tuple[int, ...]) -> int:
        """The index of one weight, each as likely as it is heavy."""
        left = self.below(sum(weights))
        for index, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return index
        raise AssertionError("the weights sum up to more than they are")

    def uid(self) -> str:
        """An identity as Kubernetes gives them."""
        digits = f"{self._bits.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


EXPERIMENTS = ("train", "finetune", "ablation", "distill", "eval", "rerun", "baseline", "sft", "export", "probe")


def jobs(count: int, within: int) -> list[Job]:
    """So many jobs within so many seconds, in order of time; fewer at night."""
    dice = Dice(SEED)
    seconds = sorted(_moment(dice, within) for _ in range(count))
    return [_job(dice, second, number) for number, second in enumerate(seconds, start=1)]


def _moment(dice: Dice, within: int) -> int:
    """A second; one of the hours from 20 to 8 is taken half of the time only."""
    while True:
        second = dice.below(within)
        if 8 <= second // 3_600 % 24 < 20 or dice.below(2):
            return second


def _job(dice: Dice, second: int, number: int) -> Job:
    tenant = TENANTS[dice.of(tuple(each.part for each in TENANTS))]
    namespace = tenant.homes[dice.below(len(tenant.homes))]
    kind = tenant.kinds[dice.below(len(tenant.kinds))]
    gpus = tenant.sizes[dice.of(tuple(weight for weight, _ in tenant.sizes))][1]
    what = "serve" if kind == "LeaderWorkerSet" else "sweep" if kind == "Sweep" else EXPERIMENTS[dice.below(len(EXPERIMENTS))]
    least, most = tenant.hours
    return Job(
        second=second,
        tenant=tenant,
        namespace=namespace,
        name=f"{what}-{number:03}",
        uid=dice.uid(),
        kind=kind,
        gpus=gpus,
        priority=tenant.priorities[dice.below(len(tenant.priorities))],
        pinned=tenant.pinned[dice.below(len(tenant.pinned))] if tenant.pinned and dice.below(64) else "",
        seconds=least * 3_600 + dice.below((most - least) * 3_600),
    )

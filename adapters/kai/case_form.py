"""The form of a KAI cluster: Go's TestTopologyBasic of its test harness as JSON, field by field.

KAI: pkg/scheduler/test_utils (test_utils.go, jobs_fake, nodes_fake, tasks_fake). A field that is absent has Go's zero value.
What gpol does not decide as KAI does is refused by name, unless it says nothing.
"""

from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

MOST_JOBS, MOST_TASKS, MOST_NODES, MOST_QUEUES = 20_000, 50_000, 5_000, 5_000
"""How many of each a cluster may have; a job may have all of the tasks."""

REFUSED = "refused"
"""The type of the error of a field that is not honoured; its context has the `field`."""

_MOST_NUMBER, _MOST_SECONDS, _MOST_PLACES = 10**15, 10**9, 18

GoName = Annotated[str, Field(min_length=1, max_length=253, strict=True)]
GoText = Annotated[str, Field(max_length=253, strict=True)]
GoCount = Annotated[int, Field(ge=0, le=1_000_000, strict=True)]
GoWhole = Annotated[int, Field(ge=-(2**31), lt=2**31, strict=True)]
GoFlag = Annotated[bool, Field(strict=True)]


def _exact(least: int, most: int) -> PlainValidator:
    """A number between bounds, as an exact fraction."""

    def read(given: object) -> Fraction:
        if isinstance(given, bool) or not isinstance(given, int | Decimal):
            raise ValueError("is no number")
        if not least <= given <= most:
            raise ValueError(f"is not between {least} and {most}")
        if isinstance(given, Decimal) and given.as_tuple().exponent < -_MOST_PLACES:  # type: ignore[operator]  # it is finite here
            raise ValueError(f"has more than {_MOST_PLACES} places behind the point")
        return Fraction(given)

    return PlainValidator(read)


GoNumber = Annotated[Fraction, _exact(-1, _MOST_NUMBER)]
"""A number that may be -1: no limit."""
GoAmount = Annotated[Fraction, _exact(0, _MOST_NUMBER)]
GoSeconds = Annotated[Fraction, _exact(-_MOST_SECONDS, _MOST_SECONDS)]

_SHORT = {"gpu": "GPU", "gpus": "GPUs", "cpu": "CPU", "cpus": "CPUs"}


def _as_go(name: str) -> str:
    """How Go calls an exported field."""
    return "".join(_SHORT.get(word, word.capitalize()) for word in name.split("_"))


class _Part(BaseModel):
    """A part of the form. `refused` are Go's fields that gpol does not honour, with what they are about."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=_as_go)
    refused: ClassVar[dict[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _nothing_refused(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        said = next((name for name in cls.refused if given.get(name)), None)
        if said is not None:
            raise PydanticCustomError(REFUSED, "gpol does not decide about {about}", {"field": said, "about": cls.refused[said]})
        return {name: value for name, value in given.items() if name not in cls.refused and value is not None}


class KaiTask(_Part):
    """A task, which is one pod."""

    refused: ClassVar[dict[str, str]] = {
        "GPUGroups": "shares of GPUs",
        "RequiredMigInstances": "MIG",
        "IsLegacyMigTask": "MIG",
        "ResourceClaimTemplates": "DRA",
        "ResourceClaimNames": "DRA",
        "PersistentVolumeClaimNames": "volumes",
        "PodAffinityLabels": "affinity between pods",
        "PodAffinityTopologyKey": "affinity between pods",
        "PodAntiAffinityTopologyKey": "affinity between pods",
        "Annotations": "annotations of pods (NUMA placements)",
    }

    name: GoText = ""
    sub_group_name: GoText = ""
    required_gpus: GoCount | None = None
    state: GoText = ""
    node_name: GoText = ""
    node_affinity_names: Annotated[tuple[GoName, ...], Field(max_length=256)] = ()
    priority: GoWhole | None = None


class KaiTopologyWish(_Part):
    """That the pods of a sub-group stand in one domain of a level (a node label), or should."""

    topology: GoText = ""
    required_level: GoText = ""
    preferred_level: GoText = ""


class KaiPodSet(_Part):
    """A leaf of the sub-groups: it needs `minAvailable` of its pods."""

    model_config = ConfigDict(alias_generator=to_camel)

    name: GoName
    min_available: GoCount = 0
    topology: KaiTopologyWish | None = None


class KaiSubGroups(_Part):
    """An inner node of the sub-groups: it needs `minSubGroup` of its children, without it all."""

    model_config = ConfigDict(alias_generator=to_camel)

    name: GoText = ""
    topology: KaiTopologyWish | None = None
    min_sub_group: GoCount | None = None
    sets: Annotated[tuple["KaiSubGroups", ...], Field(max_length=1_000)] = ()
    pod_sets: Annotated[tuple[KaiPodSet, ...], Field(max_length=1_000)] = ()


class _SubGroupsOf(_Part):
    subgroups: KaiSubGroups = Field(alias="$subgroups")


class KaiJob(_Part):
    """A job: equal tasks, in sub-groups. Durations are in seconds."""

    refused: ClassVar[dict[str, str]] = {
        "RequiredGpuMemory": "GPU memory",
        "RequiredMultiFractionDevicesPerTask": "shares of GPUs",
        "JobNotReadyForSsn": "jobs that are not ready",
        "QOSClass": "NUMA",
    }

    name: GoName
    namespace: GoText = ""
    queue_name: GoText = ""
    priority: GoWhole = 0
    preemptibility: GoText = ""
    preemption_delay: GoSeconds | None = None
    required_gpus_per_task: GoAmount = Fraction(0)
    required_cpus_per_task: GoAmount = Fraction(0)
    required_memory_per_task: GoAmount = Fraction(0)
    is_best_effort_job: GoFlag = False
    job_age_in_minutes: Annotated[int, Field(ge=0, le=10**8, strict=True)] = 0
    delete_job_in_test: GoFlag = False
    tasks: Annotated[tuple[KaiTask, ...], Field(max_length=MOST_TASKS)] = ()
    root_sub_group_set: _SubGroupsOf | None = None
    stale_duration: GoSeconds | None = None
    per_job_staleness_grace_period: GoSeconds | None = None


class KaiNode(_Part):
    """A node: GPUs, whole CPUs (whatever the field is called), bytes of memory, labels, and how many pods it takes."""

    refused: ClassVar[dict[str, str]] = {
        "MigStrategy": "MIG",
        "MigInstances": "MIG",
        "NumaTopology": "NUMA",
        "GPUMemory": "GPU memory",
        "GpuMemorySynced": "GPU memory",
    }

    gpus: GoCount = 0
    gpu_name: GoText = ""
    cpu_memory: GoAmount = Fraction(0)
    cpu_millis: GoAmount = Fraction(0)
    max_task_num: GoCount | None = None
    labels: Annotated[dict[GoName, GoText], Field(max_length=256)] = {}


class KaiQueue(_Part):
    """A queue: GPUs, milli-CPUs, and millions of bytes of memory."""

    refused: ClassVar[dict[str, str]] = {
        "ReclaimMinRuntime": "minimal runtimes",
        "InteractiveTimeoutInMinutes": "time limits of interactive jobs",
        "UseOnlyFreeCPUResources": "queues of free CPUs alone",
        "V1": "queues of KAI's first version",
    }

    name: GoName
    parent_queue: GoText = ""
    priority: GoWhole | None = None
    deserved_gpus: GoNumber = Fraction(0)
    deserved_cpus: GoNumber | None = None
    deserved_memory: GoNumber | None = None
    max_allowed_gpus: GoNumber = Fraction(0)
    max_allowed_cpus: GoNumber | None = None
    max_allowed_memory: GoNumber | None = None
    gpu_over_quota_weight: GoAmount = Fraction(0)


class KaiDepartment(_Part):
    """A queue of the highest level, in the short form."""

    name: GoName
    deserved_gpus: GoNumber = Fraction(0)
    max_allowed_gpus: GoNumber = Fraction(0)
    max_allowed_cpus: GoNumber | None = None
    max_allowed_memory: GoNumber | None = None


class KaiLevel(_Part):
    """A level of a topology: the label by which nodes differ."""

    node_label: GoName


class _Levels(_Part):
    levels: Annotated[tuple[KaiLevel, ...], Field(min_length=1, max_length=16)]


class _Named(_Part):
    name: GoName


class KaiTopology(_Part):
    """A topology: its levels from the widest down."""

    object_meta: _Named
    spec: _Levels


class KaiMocks(_Part):
    """What a test of KAI's replaces; only how often it expects calls, which says nothing of the cluster, will do."""

    refused: ClassVar[dict[str, str]] = {"SchedulerConf": "other configurations than KAI's default", "GPUMetric": "measured GPU use"}

    cache_requirements: Any = None
    cache: Any = None


class KaiCaseForm(_Part):
    """A cluster. What a test expects of it is let be."""

    refused: ClassVar[dict[str, str]] = {"TestDRAObjects": "DRA"}

    name: Annotated[str, Field(max_length=4096, strict=True)] = ""
    jobs: Annotated[tuple[KaiJob, ...], Field(max_length=MOST_JOBS)] = ()
    nodes: Annotated[dict[GoName, KaiNode], Field(max_length=MOST_NODES)] = {}
    queues: Annotated[tuple[KaiQueue, ...], Field(max_length=MOST_QUEUES)] = ()
    departments: Annotated[tuple[KaiDepartment, ...], Field(max_length=MOST_QUEUES)] = ()
    disable_default_department: GoFlag = False
    topologies: Annotated[tuple[KaiTopology, ...], Field(max_length=16)] = ()
    job_expected_results: Any = None
    task_expected_results: Any = None
    expected_nodes_resources: Any = None
    mocks: KaiMocks | None = None

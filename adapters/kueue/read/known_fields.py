"""The fields of Kueue's objects that an import knows, of v1beta1 and v1beta2: honoured, refused, noted by name, or without effect.

What becomes of each stands in `docs/kueue.md`. Any other field is told as not imported. Below `metadata` and in the pods of a template
fields are Kubernetes', and those that no decision depends on are passed over; so is what a status repeats of other objects.
"""


def _fields(names: str) -> frozenset[str]:
    return frozenset(names.split())


OBJECT = _fields("apiVersion kind metadata spec status")

# --- ClusterQueue, Cohort, LocalQueue

CLUSTER_QUEUE = _fields(
    """
    resourceGroups cohort cohortName queueingStrategy namespaceSelector flavorFungibility preemption admissionChecks
    admissionChecksStrategy stopPolicy fairSharing admissionScope concurrentAdmissionPolicy
    """
)
COHORT = _fields("parentName resourceGroups fairSharing")
LOCAL_QUEUE = _fields("clusterQueue stopPolicy fairSharing wallTimePolicy")

FAIR_SHARING = _fields("weight")
RESOURCE_GROUP = _fields("coveredResources flavors")
FLAVOR_QUOTAS = _fields("name resources")
RESOURCE_QUOTA = _fields("name nominalQuota borrowingLimit lendingLimit")
FLAVOR_FUNGIBILITY = _fields("whenCanBorrow whenCanPreempt preference")
PREEMPTION = _fields("withinClusterQueue reclaimWithinCohort borrowWithinCohort")
BORROW_WITHIN_COHORT = _fields("policy maxPriorityThreshold")
CHECKS_STRATEGY = _fields("admissionChecks")
CHECK_RULE = _fields("name onFlavors")
ADMISSION_SCOPE = _fields("admissionMode")

# --- ResourceFlavor, Topology, WorkloadPriorityClass, AdmissionCheck

RESOURCE_FLAVOR = _fields("nodeLabels nodeTaints tolerations topologyName")
TOPOLOGY = _fields("levels")
TOPOLOGY_LEVEL = _fields("nodeLabel")
PRIORITY_CLASS = _fields("value description")
ADMISSION_CHECK = _fields("controllerName parameters retryDelayMinutes")

SELECTOR = _fields("matchLabels matchExpressions")
REQUIREMENT = _fields("key operator values")
TAINT = _fields("key value effect timeAdded")
TOLERATION = _fields("key operator value effect tolerationSeconds")

# --- Workload

WORKLOAD = _fields(
    """
    podSets queueName priority priorityClassRef priorityClassName priorityClassSource active maximumExecutionTimeSeconds preemptionGates
    """
)
WORKLOAD_STATUS = _fields(
    """
    conditions admission requeueState reclaimablePods admissionChecks resourceRequests accumulatedPastExecutionTimeSeconds
    accumulatedPastExexcutionTimeSeconds schedulingStats nominatedClusterNames clusterName unhealthyNodes preemptionGates
    """
)
"""One of them is misspelt in v1beta1."""

POD_SET = _fields("name template count minCount topologyRequest")
TOPOLOGY_REQUEST = _fields(
    """
    required preferred unconstrained podSetSliceRequiredTopology podSetSliceSize podsetSliceRequiredTopologyConstraints podSetGroupName
    podIndexLabel subGroupIndexLabel subGroupCount
    """
)
TOPOLOGY_SLICE = _fields("topology size")
CHECK_STATE = _fields("name state lastTransitionTime message podSetUpdates retryCount requeueAfterSeconds")
POD_SET_UPDATE = _fields("name labels annotations nodeSelector tolerations")
UNHEALTHY_NODE = _fields("name")
REQUEUE_STATE = _fields("count requeueAt")
ADMISSION = _fields("clusterQueue podSetAssignments")
ASSIGNMENT = _fields("name flavors resourceUsage count topologyAssignment delayedTopologyRequest")
TOPOLOGY_ASSIGNMENT = _fields("levels domains slices")
PLACED_DOMAIN = _fields("values count")
PLACED_SLICE = _fields("domainCount valuesPerLevel podCounts")
PLACED_VALUES = _fields("universal individual")
PLACED_ROOTS = _fields("prefix suffix roots")

# --- Configuration

CONFIGURATION_BESIDE = _fields(
    """
    apiVersion kind metadata namespace webhook leaderElection metrics health pprofBindAddress controller tls manageJobsWithoutQueueName
    managedJobsNamespaceSelector internalCertManagement clientConnection integrations multiKueue objectRetentionPolicies
    queueVisibility
    """
)
"""Fields that no decision depends on."""

CONFIGURATION = _fields("fairSharing admissionFairSharing waitForPodsReady resources featureGates")
CONFIGURED_SHARING = _fields("enable preemptionStrategies")
CONFIGURED_USAGE = _fields("usageHalfLifeTime usageSamplingInterval resourceWeights")
CONFIGURED_RESOURCES = _fields("excludeResourcePrefixes transformations deviceClassMappings quotaCheckStrategy")
CONFIGURED_READINESS = _fields("enable timeout blockAdmission requeuingStrategy recoveryTimeout")
CONFIGURED_REQUEUING = _fields("timestamp backoffLimitCount backoffBaseSeconds backoffMaxSeconds")

"""What the pod sets of a workload ask for, and which of them get their flavors together."""

import numpy as np

from ... import columns as c
from ...tables import Ints, Tables


def slot_of(t: Tables, flavor: int, resource: int) -> int:
    """The slot of a resource of a flavor; NONE where the flavor does not have it."""
    return t.pool[t.state[c.SLOT_OF] + flavor * t.state[c.RESOURCES] + resource]


def pod_set_at(t: Tables, spec: int, pod_set: int) -> int:
    """Where a pod set of a demand begins."""
    return t.spec[spec + c.S_SETS] + pod_set * t.spec[spec + c.S_SET_WIDTH]


def resource_at(t: Tables, spec: int, j: int) -> int:
    """Where the j-th resource of a demand stands."""
    return t.spec[spec + c.S_LIST] + j * c.RESOURCE_WIDTH


def asked_of(t: Tables, spec: int, pod_set: int, j: int) -> int:
    """What a pod set asks of the j-th resource with as many pods as are tried (`pods`); NONE where it does not ask for it."""
    one = t.spec[pod_set_at(t, spec, pod_set) + c.P_REQUESTS + j]
    if one == c.NONE or (t.state[c.TOGETHER] and one * t.pods[pod_set] == 0):
        return c.NONE
    return one * t.pods[pod_set]


def takes_part(t: Tables, pod_set: int) -> bool:
    """Whether a pod set gets flavors: where resources are judged together only one that has pods left."""
    return not t.state[c.TOGETHER] or t.pods[pod_set] > 0


def is_leader(t: Tables, spec: int, pod_set: int) -> bool:
    """Whether a pod set is the first of those that get their flavors together."""
    if not takes_part(t, pod_set):
        return False
    group = t.spec[pod_set_at(t, spec, pod_set) + c.P_GROUP]
    for other in range(pod_set):
        if t.spec[pod_set_at(t, spec, other) + c.P_GROUP] == group and takes_part(t, other):
            return False
    return True


def is_with(t: Tables, spec: int, leader: int, pod_set: int) -> bool:
    """Whether a pod set gets its flavors with a leader."""
    return takes_part(t, pod_set) and t.spec[pod_set_at(t, spec, pod_set) + c.P_GROUP] == t.spec[pod_set_at(t, spec, leader) + c.P_GROUP]


def serving_order(t: Tables, spec: int) -> Ints:
    """The pod sets that take part, in the order in which they are served."""
    sets, order, count = t.spec[spec + c.S_PODSETS], np.empty(t.spec[spec + c.S_PODSETS], np.int64), 0
    for leader in range(sets):
        if is_leader(t, spec, leader):
            for pod_set in range(leader, sets):
                if is_with(t, spec, leader, pod_set):
                    order[count] = pod_set
                    count += 1
    return order[:count]

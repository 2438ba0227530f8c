"""Why a pod set gets no flavors, from the record of its searches on the tape (`definition/flavor/assigner.py`)."""

from ... import columns as c
from ...tables import Tables
from .pod_sets import asked_of, resource_at


def worst_reason(t: Tables, spec: int, pod_set: int, searches: int) -> int:
    """Of each resource group that a pod set asks the mildest reason of its flavors that are of no use, and of the groups the most severe.

    A flavor that is in two groups counts in both, whichever of them it was tried for.
    """
    worst = 0
    for j in range(t.spec[spec + c.S_RESOURCES]):
        group = t.spec[resource_at(t, spec, j) + c.R_GROUP]
        if group != c.NONE and asked_of(t, spec, pod_set, j) != c.NONE:
            worst = worse_reason(worst, mildest_reason(t, group, searches))
    return worst


def worse_reason(left: int, right: int) -> int:
    """The more severe of two reasons. That there are no places is the mildest, whatever its number."""
    if left == c.TOPOLOGY_PLACEMENT_FAILED or right == c.TOPOLOGY_PLACEMENT_FAILED:
        other = right if left == c.TOPOLOGY_PLACEMENT_FAILED else left
        return other if other > 0 else c.TOPOLOGY_PLACEMENT_FAILED
    return max(left, right)


def mildest_reason(t: Tables, group: int, searches: int) -> int:
    """The mildest reason of the flavors of a group that were tried and are of no use; 0 where there are none."""
    mildest, at = c.NONE, searches + 1
    for _ in range(t.tape[searches]):
        attempts = t.tape[at + c.Q_ATTEMPTS]
        at += c.SEARCH_WIDTH
        for _ in range(attempts):
            grade, reason = t.tape[at + c.T_GRADE], t.tape[at + c.T_REASON]
            if c.NO_MATCH <= grade < c.NO_VICTIMS and is_listed(t, group, t.tape[at + c.T_FLAVOR]):
                worse = worse_reason(mildest, reason)
                mildest = reason if mildest == c.NONE or worse == mildest else mildest
            at += c.ATTEMPT_WIDTH + t.tape[at + c.T_OBSTACLES] * c.OBSTACLE_WIDTH
    return max(0, mildest)


def is_listed(t: Tables, begin: int, number: int) -> bool:
    """Whether a list of the pool has a number."""
    for k in range(t.pool[begin]):
        if t.pool[begin + 1 + k] == number:
            return True
    return False


def serves(t: Tables, group: int, resource: int) -> bool:
    """Whether a group names a resource, as the first one or a later one; its resources stand behind its flavors."""
    return is_listed(t, group + 1 + t.pool[group], resource)

"""Both cores where pods ask for places, which tables do not decide."""

from typing import Any

import pytest
from cores_by_name import CORES
from player import Case, difference

FLAVOR = "flavor a { gpu as owned }\nqueue q {\n  serves gpu from a\n  owns 4 gpu\n}\n"


def facts(**asked: object) -> list[dict[str, Any]]:
    """A workload that asks for places, one that does not, and two cycles."""
    plain = {"requests": {"gpu": "1"}}
    return [
        {"kind": "PolicyActivated", "time": 0, "policy": 0},
        {"kind": "WorkloadSubmitted", "time": 0, "workload": "w", "queue": "q", "pod_sets": [{**plain, **asked}]},
        {"kind": "WorkloadSubmitted", "time": 0, "workload": "v", "queue": "q", "pod_sets": [plain]},
        {"kind": "TimeAdvanced", "time": 0},
        {"kind": "TimeAdvanced", "time": 1_000_000},
    ]


@pytest.mark.parametrize("profile", ["kueue.classical", "kueue.fair"])
@pytest.mark.parametrize("asked", [{"within": "rack"}, {"near": "rack"}, {"anywhere": True}, {"slices": [{"level": "rack", "size": 1}]}])
def test_places_that_no_flavor_gives(profile: str, asked: dict[str, object]) -> None:
    """No flavor has a topology: who asks for places in one is admitted by neither core, and who does not is by both."""
    policy = f'policy "p" {{ use {profile} }}\n{FLAVOR}'
    found = difference(Case((policy,), tuple(facts(**asked))), CORES["definition"], CORES["careful"])
    assert found is None, str(found[0])

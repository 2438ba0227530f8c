"""Real traces are played alike by both cores: their first jobs; `compare.py` plays all of them."""

from pathlib import Path

import pytest
from compare import PROFILES, compare, policy_for
from gpol.engine.core.kernel_set import PLAIN
from read_traces import LEFT_OUT, TRACES, jobs_of

JOBS = 40


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    """The folder of the traces."""
    return shared / "traces"


@pytest.mark.slow
@pytest.mark.parametrize("trace", TRACES)
def test_both_cores_play_a_trace_alike(folder: Path, trace: str) -> None:
    """The first jobs of a trace, in a cluster where some wait and some are evicted, bring the same events from both cores."""
    jobs = jobs_of(trace, folder)[:JOBS]
    found = {profile: compare(policy_for(jobs, profile, 60), jobs, PLAIN)[0] for profile in PROFILES}
    assert found == dict.fromkeys(PROFILES, "")


def test_every_trace_is_played_or_left_out(folder: Path) -> None:
    """Each folder of traces is one of those that are played, or is left out with a reason."""
    played = {place.split("/")[0] for place, _ in TRACES.values()}
    assert {each.name for each in folder.iterdir() if each.is_dir()} == played | {name for name in LEFT_OUT if "/" not in name}

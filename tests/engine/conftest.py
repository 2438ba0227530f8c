"""What the core's tests share: small clusters to play facts on. Their policies decide at once (`cluster`) or in cycles (`cycles`)."""

from collections.abc import Callable

import pytest
from at_once import Cluster
from in_cycles import Cycles


@pytest.fixture
def cluster() -> Callable[[str], Cluster]:
    """Makes clusters that decide at once: `cluster(text)` starts at time 0 under the policy `text`, called `t.gpol`."""
    return Cluster


@pytest.fixture
def cycles() -> Callable[[str], Cycles]:
    """Makes clusters that decide in cycles: `cycles(text)` starts at time 0 under the policy `text`, called `t.gpol`."""
    return Cycles

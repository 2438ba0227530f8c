"""What the tests of comparisons share: policies played one after the other, each into a journal of its own."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import pytest
from gpol.engine.default_core import new_core
from gpol.journal.temporary import temporary_journal
from gpol.sim.compare.played_policy import FailedPolicy, PlayedPolicy, play_policy
from gpol.sim.drive.driver import OnEvict
from gpol.sim.drive.job import Job, JobSource
from gpol.sim.drive.policy import Policy

SOURCE = JobSource("jobs.csv", "sha256:" + "ab" * 32)

Play = Callable[..., PlayedPolicy | FailedPolicy]


@pytest.fixture
def play(policy: Callable[..., Policy]) -> Iterator[Play]:
    """Plays jobs under a policy: `play(name, text, jobs, on_evict="restart")`. The journals are there until the test ends."""
    with ExitStack() as stack:

        def played(name: str, text: str, jobs: Sequence[Job], on_evict: OnEvict = "restart") -> PlayedPolicy | FailedPolicy:
            journal = stack.enter_context(temporary_journal())
            return play_policy(name, policy(text), jobs, SOURCE, on_evict, new_core(), journal)

        yield played

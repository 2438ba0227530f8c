"""How long the definition takes to decide: only that, without checking facts and telling decisions, as kernels are measured."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from gpol.engine.definition import core
from gpol.engine.definition.admission.cycle import run_cycle
from gpol.engine.definition.admission.settle import settle
from gpol.engine.definition.state.state import State
from gpol.engine.outcome.decision import Outcome


@contextmanager
def deciding_timed() -> Iterator[list[int]]:
    """Nanoseconds of each time that the definition decides in the body."""
    spent = list[int]()

    def timed(decide: Callable[[State], list[Outcome]]) -> Callable[[State], list[Outcome]]:
        def run(state: State) -> list[Outcome]:
            begin = time.thread_time_ns()
            found = decide(state)
            spent.append(time.thread_time_ns() - begin)
            return found

        return run

    with patch.multiple(core, settle=timed(settle), run_cycle=timed(run_cycle)):
        yield spent

"""How long the definition takes to decide: only that, without checking facts and telling decisions, as kernels are measured."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gpol.engine.definition import core
from gpol.engine.definition.state.state import State
from gpol.engine.outcome.decision import Outcome


@contextmanager
def deciding_timed() -> Iterator[list[int]]:
    """Nanoseconds of each time that the definition decides in the body."""
    spent, plain = list[int](), (core.settle, core.run_cycle)

    def timed(decide: Callable[[State], list[Outcome]]) -> Callable[[State], list[Outcome]]:
        def run(state: State) -> list[Outcome]:
            begin = time.thread_time_ns()
            found = decide(state)
            spent.append(time.thread_time_ns() - begin)
            return found

        return run

    core.settle, core.run_cycle = map(timed, plain)
    try:
        yield spent
    finally:
        core.settle, core.run_cycle = plain

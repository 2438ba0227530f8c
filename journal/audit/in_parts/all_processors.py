"""Work that comes in parts, done by all processors: by this process and, for each further processor, by one more."""

import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.resource_tracker import ensure_running
from threading import Lock
from typing import Generic, TypeVar

_Answer = TypeVar("_Answer")

Given = tuple[object, ...]
"""The arguments for a part."""


def by_all_processors(work: Callable[..., _Answer], given: Sequence[Given]) -> Generator[_Answer]:
    """What work gives for each of these arguments, in order, or what it raises; nothing at all where there is one processor or one part.

    Who is done with a part takes the next one; this process does so while it is asked for an answer that is not there yet. Closing the
    generator ends the other processes, whatever they are at.
    """
    from joblib import cpu_count

    others = min(cpu_count(), len(given)) - 1
    if others < 1:
        return
    parts = _Parts[_Answer](given)
    with ThreadPoolExecutor(others, initializer=_without_interrupts) as threads, processes(others) as executor:

        def elsewhere(*each: object) -> _Answer:
            return executor.submit(work, *each).result()

        def take_all() -> None:
            while parts.take_one(elsewhere):
                pass

        try:
            for _ in range(others):
                threads.submit(take_all)
            while parts.is_next_there() or parts.take_one(work) or parts.answers:
                if parts.is_next_there() or parts.is_all_taken:
                    yield parts.answers.popleft().result()
        finally:
            parts.forget()


def _without_interrupts() -> None:
    """Let Ctrl-C be for the main thread: neither for this one nor for processes that it starts, which would say something about it."""
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        ensure_running()  # so that starting a process does not start it, which lets interrupts through again
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """Other processes to work in, which end with the context."""
    from joblib.externals.loky import ProcessPoolExecutor

    executor: Executor = ProcessPoolExecutor(count)
    try:
        yield executor
    finally:
        executor.shutdown(kill_workers=True)  # type: ignore[call-arg]


class _Parts(Generic[_Answer]):
    """Parts of some work that anybody takes, and the answers of those that are taken, in order."""

    def __init__(self, given: Iterable[Given]) -> None:
        self.answers = deque[Future[_Answer]]()
        self.is_all_taken = False
        self._given = iter(given)
        self._lock = Lock()

    def is_next_there(self) -> bool:
        """Whether the next answer is there."""
        return bool(self.answers) and self.answers[0].done()

    def take_one(self, work: Callable[..., _Answer]) -> bool:
        """Take a part and do it; False: there is none left."""
        with self._lock:
            each = next(self._given, None)
            if each is None:
                self.is_all_taken = True
                return False
            answer = Future[_Answer]()
            self.answers.append(answer)
        try:
            answer.set_result(work(*each))
        except BaseException as error:
            answer.set_exception(error)
            if not isinstance(error, Exception):  # such as Ctrl-C
                raise
        return True

    def forget(self) -> None:
        """Leave the parts that nobody has taken."""
        with self._lock:
            self._given = iter(())

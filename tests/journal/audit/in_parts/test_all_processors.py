"""Work in parts, by this process and others; here threads stand for these."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, current_thread, main_thread

import joblib
import pytest
from gpol.journal.audit.in_parts import all_processors
from gpol.journal.audit.in_parts.all_processors import by_all_processors


@pytest.fixture(autouse=True)
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processors, of which a thread is the other one."""
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    monkeypatch.setattr(all_processors, "processes", ThreadPoolExecutor)


def test_both_work_and_answers_come_in_order() -> None:
    """As long as each waits for the other one, neither does everything."""
    both, workers = Barrier(2), set[bool]()

    def double(number: int) -> int:
        both.wait(10)
        workers.add(current_thread() is main_thread())
        return 2 * number

    assert list(by_all_processors(double, [(number,) for number in range(20)])) == list(range(0, 40, 2))
    assert workers == {True, False}


def test_what_work_raises_comes_in_its_place() -> None:
    """The answers before it are given."""

    def divide(number: int) -> int:
        return 12 // (3 - number)

    answers = by_all_processors(divide, [(number,) for number in range(9)])
    assert [next(answers), next(answers), next(answers)] == [4, 6, 12]
    with pytest.raises(ZeroDivisionError):
        next(answers)


def test_what_nobody_asks_for_is_left() -> None:
    """Whoever closes the generator ends the work."""
    begun: list[int] = []
    answers = by_all_processors(begun.append, [(number,) for number in range(100_000)])
    next(answers)
    answers.close()
    assert len(begun) < 100_000


def test_an_interrupt_is_not_kept_for_later() -> None:
    """It ends the work at once, and not when its part is asked for."""
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        if current_thread() is main_thread():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(by_all_processors(work, [(number,) for number in range(100_000)]))
    assert len(begun) < 100_000


def test_one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then there is nothing to share, nor is there with one part."""
    assert list(by_all_processors(int, [(1,)])) == []
    monkeypatch.setattr(joblib, "cpu_count", lambda: 1)
    assert list(by_all_processors(int, [(1,), (2,)])) == []

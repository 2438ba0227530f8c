"""Why workloads wait is asked little by little, and written where it is news; nothing depends on an answer."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from gpol.adapters.kueue.live import telling
from gpol.adapters.kueue.live.telling import MOST_ASKED, Telling
from gpol.adapters.live.work_queue import WorkQueue


class Scene:
    """Workloads by name, with the message of their check; those in `admitted` do not wait."""

    def __init__(self, names: Sequence[str], ask: Any) -> None:
        self.messages = dict.fromkeys(names, "")
        self.admitted: set[str] = set()
        self.carrying_out: Any = SimpleNamespace(reasons={}, writes=WorkQueue())
        view = SimpleNamespace(names=lambda: list(self.messages), workload=self._known)
        cluster: Any = SimpleNamespace(workload=self._seen)
        decider: Any = SimpleNamespace(core=SimpleNamespace(view=view))
        no_events: Any = None
        self.telling = Telling(cluster, decider, no_events, self.carrying_out, ask)

    def _seen(self, key: str) -> Any:
        return SimpleNamespace(value=SimpleNamespace(asks=True, message=self.messages[key])) if key in self.messages else None

    def _known(self, key: str) -> Any:
        return SimpleNamespace(admitted=1 if key in self.admitted else None) if key in self.messages else None


def rounds(scene: Scene, monkeypatch: pytest.MonkeyPatch, number: int) -> list[float]:
    """So many rounds on a clock of their own; the pauses before them."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        if len(pauses) == number:
            raise asyncio.CancelledError
        pauses.append(seconds)

    monkeypatch.setattr(telling.asyncio, "sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(scene.telling.ask_why())
    return pauses


def test_everybody_has_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is asked about in turn, and what is news is written; who is admitted is asked about no more, and no reason is left of it."""
    asked: list[str] = []

    async def ask(names: Sequence[str]) -> dict[str, str]:
        asked.extend(names)
        return dict.fromkeys(names, "waits 100%")

    scene = Scene([f"ns/w{number}" for number in range(60)], ask)
    rounds(scene, monkeypatch, 3)
    assert sorted(asked) == sorted(scene.messages)
    assert set(scene.carrying_out.reasons.values()) == {"waits 100 percent"}
    assert len(scene.carrying_out.writes) == 60
    scene.admitted.add("ns/w7")
    rounds(scene, monkeypatch, 1)
    assert "ns/w7" not in scene.carrying_out.reasons


@pytest.mark.parametrize("seconds", [0.06, 1.0])
def test_slow_answers_are_asked_for_seldom(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """However long an answer takes for each workload, questions do not grow without end; where there is no answer, it goes on."""
    now, sizes = [0.0], list[int]()

    async def ask(names: Sequence[str]) -> dict[str, str]:
        sizes.append(len(names))
        now[0] += seconds * len(names)
        return {}

    scene = Scene([f"ns/w{number}" for number in range(5_000)], ask)
    monkeypatch.setattr(telling, "monotonic", lambda: now[0])
    pauses = rounds(scene, monkeypatch, 30)
    assert max(sizes) <= MOST_ASKED
    assert max(pauses) <= telling.REST * MOST_ASKED * seconds
    assert scene.carrying_out.reasons == {}

"""A shadow that runs over HTTP: whatever becomes of its watches, its server and itself, nothing is told that Kueue did not do wrong."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from commands import Gpol
from following import until
from gpol.adapters.kueue.live.shadow.kueue_shadow import KueueShadow
from modelled_kueue import ModelledKueue
from planted_faults import FaultKind, Planted, PlantedFault, faults_of
from recorded_kueue import Json, RecordedKueue, own_history, recorded_histories, recorded_steps
from served_shadow import ServedShadow
from shadow_bench import HistoryWriter

NAMES = ("7", "15", "21", "65", "139", "229", "251")
"""Recorded histories that are played over HTTP."""

Gap = Callable[[ServedShadow], Awaitable[Callable[[], Awaitable[None]]]]
"""Makes a gap in what the shadow sees; what it returns ends the gap."""


async def _nothing() -> None:
    """The gap ends by itself."""


async def watches_break(served: ServedShadow) -> Callable[[], Awaitable[None]]:
    """The connections of all watches are reset."""
    served.server.faults.reset_watches()
    return _nothing


async def watches_end(served: ServedShadow) -> Callable[[], Awaitable[None]]:
    """The server ends all watches, as it does from time to time."""
    served.server.faults.end_watches()
    return _nothing


async def watches_expire(served: ServedShadow) -> Callable[[], Awaitable[None]]:
    """The server has forgotten the version that is watched from: 410."""
    served.server.faults.hold_watches()
    served.server.faults.expire_watches()

    async def released() -> None:
        served.store.compact()
        served.server.faults.release_watches()

    return released


async def the_server_restarts(served: ServedShadow) -> Callable[[], Awaitable[None]]:
    """It is away while Kueue still decides, as another one serves Kueue, and remembers no older version when it is back."""
    await served.server.go_down()

    async def back() -> None:
        served.store.compact()
        await served.server.come_up()

    return back


GAPS: list[Gap] = [watches_break, watches_end, watches_expire, the_server_restarts]


def play(folder: Path, case: Json, act: Callable[[ServedShadow, HistoryWriter, list[Json]], Awaitable[None]]) -> None:
    """Set up what a history is about, and let it be played over HTTP."""

    async def played() -> None:
        served = ServedShadow(folder, case["in"])
        history = HistoryWriter(served.kueue, RecordedKueue(case))
        async with served.server:
            await act(served, history, recorded_steps(case))

    asyncio.run(played())


def assert_right(shadow: KueueShadow) -> None:
    """Nothing differs, nothing is left out, and nothing was taken unchecked."""
    assert [difference.text for difference in shadow.differences] == []
    assert (shadow.problem, shadow.problems, shadow.notes, shadow.unchecked) == ("", {}, [], 0)


async def explained_over_http(served: ServedShadow, history: HistoryWriter, steps: list[Json]) -> None:
    """Every decision of Kueue is one of gpol's."""
    async with served.running() as shadow:
        for step in steps:
            await served.in_step(shadow)
            history.write(step)
        await served.in_step(shadow)
        assert_right(shadow)
        assert shadow.explained == history.decisions > 0
    assert not served.file.exists()


def test_a_history_over_http(tmp_path: Path) -> None:
    """All of it is explained, as it is without HTTP."""
    play(tmp_path, own_history(), explained_over_http)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_recorded_histories_over_http(name: str, tmp_path: Path, shared: Path) -> None:
    """What Kueue was recorded to do is explained."""
    play(tmp_path, recorded_histories(shared)[name], explained_over_http)


async def with_gaps(gap: Gap, served: ServedShadow, history: HistoryWriter, steps: list[Json]) -> None:
    """In every second step there is a gap, in which Kueue goes on."""
    async with served.running() as shadow:
        for number, step in enumerate(steps):
            await served.in_step(shadow)
            end = await gap(served) if number % 2 else _nothing
            history.write(step)
            await end()
        await served.in_step(shadow)
        assert_right(shadow)
        lists = [reflector.lists for reflector in shadow.cluster.reflectors.values()]
        assert min(lists) > 1 or gap not in (watches_expire, the_server_restarts)
    assert not served.file.exists()


@pytest.mark.parametrize("gap", GAPS, ids=lambda gap: gap.__name__)
def test_a_gap_makes_no_difference(gap: Gap, tmp_path: Path) -> None:
    """What was missed is learned from a list, and Kueue's decisions are explained from that."""
    play(tmp_path, own_history(), lambda *scene: with_gaps(gap, *scene))


@pytest.mark.slow
@pytest.mark.parametrize("gap", GAPS, ids=lambda gap: gap.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_gaps_in_recorded_histories(name: str, gap: Gap, tmp_path: Path, shared: Path) -> None:
    """The same where much more happens in each step."""
    play(tmp_path, recorded_histories(shared)[name], lambda *scene: with_gaps(gap, *scene))


async def with_restarts(served: ServedShadow, history: HistoryWriter, steps: list[Json]) -> None:
    """gpol is started again and again; each time one step is played while it runs, and one while it does not."""
    explained = 0
    for number, step in enumerate(steps):
        if number % 2:
            history.write(step)
            continue
        async with served.running() as shadow:
            await served.in_step(shadow)
            history.write(step)
            await served.in_step(shadow)
            assert_right(shadow)
            explained += shadow.explained
    assert explained > 0
    assert not served.file.exists()


def test_a_restart_makes_no_difference(tmp_path: Path) -> None:
    """What Kueue decided while gpol was away is taken as it is, and what it decides from then on is explained."""
    play(tmp_path, own_history(), with_restarts)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_restarts_in_recorded_histories(name: str, tmp_path: Path, shared: Path) -> None:
    """The same where much more happens."""
    play(tmp_path, recorded_histories(shared)[name], with_restarts)


def faults() -> dict[FaultKind, PlantedFault]:
    """One fault of each kind that is possible in the history of our own."""
    return {fault.kind: fault for fault in faults_of(own_history()["in"], "restarted")}


@pytest.mark.parametrize("kind", faults())
def test_a_difference_is_told_once_whatever_restarts(kind: FaultKind, tmp_path: Path, gpol: Gpol) -> None:
    """gpol is restarted right after it was told, and goes on: the file has the one line, the second gpol tells nothing, and the journal
    of both is in order."""
    scenario, planted = own_history()["in"], Planted(faults()[kind])

    async def played() -> ServedShadow:
        served = ServedShadow(tmp_path, scenario)
        history = HistoryWriter(served.kueue, ModelledKueue(scenario, planted))
        left = list(scenario["steps"])
        async with served.server:
            async with served.running() as shadow:
                await served.in_step(shadow)
                while not shadow.differences:
                    history.write(left.pop(0))
                    await served.in_step(shadow)
                assert planted.happened
                assert len(shadow.differences) == 1
            async with served.running() as shadow:
                await served.in_step(shadow)
                for step in left:
                    history.write(step)
                    await served.in_step(shadow)
                assert_right(shadow)
        [line] = served.file.read_text(encoding="utf-8").splitlines()
        assert json.loads(line)["workload"] == planted.fault.workload
        return served

    served = asyncio.run(played())
    assert [gpol(command, str(served.journal)).code for command in ("verify", "replay", "fsck")] == [0, 0, 0]


def test_a_difference_between_gaps_is_told_once(tmp_path: Path) -> None:
    """Objects that are listed anew after it, with nothing changed, are no new difference."""
    scenario, planted = own_history()["in"], Planted(faults()["flavor"])

    async def played() -> None:
        served = ServedShadow(tmp_path, scenario)
        history = HistoryWriter(served.kueue, ModelledKueue(scenario, planted))
        async with served.server, served.running() as shadow:
            await served.in_step(shadow)
            for step in scenario["steps"]:
                history.write(step)
                await served.in_step(shadow)
                lists = shadow.cluster.reflectors
                before = sum(each.lists for each in lists.values())
                served.server.faults.expire_watches()
                await until(lambda before=before, lists=lists: sum(each.lists for each in lists.values()) >= before + len(lists))
            await served.in_step(shadow)
            assert [difference.kind for difference in shadow.differences] == ["other flavors"]

    asyncio.run(played())

"""A shadow looks when something has changed that matters to it, be it the Configuration alone, and rests otherwise."""

import asyncio
from pathlib import Path

import pytest
from fake_kinds import CONFIG_MAP
from following import until
from gpol.adapters.kueue.live.shadow.watch.script import Script
from gpol.adapters.kueue.live.shadow.watch.script_writer import ScriptWriter
from gpol.adapters.kueue.read.objects import Configuration
from gpol.engine.units import SECOND
from kueue_writer import kind_called
from modelled_kueue import ModelledKueue
from recorded_kueue import Json, own_history
from served_shadow import ServedShadow, config_map
from shadow_bench import HistoryWriter

CLUSTER_QUEUES = kind_called("clusterqueues")


def quota_of_vision(served: ServedShadow, amount: str) -> None:
    """Set what one queue owns of its first flavor."""
    spec: Json = served.store.get(CLUSTER_QUEUES, "vision")["spec"]
    spec["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = amount
    served.store.merge_patch(CLUSTER_QUEUES, "vision", {"spec": spec})


def test_objects_that_make_no_policy_are_not_looked_at_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shadow says what is wrong, waits until they change, and goes on then: before the first comparison, and later."""
    scenario = own_history()["in"]

    async def played() -> None:
        served, looks = ServedShadow(tmp_path, scenario), 0
        history = HistoryWriter(served.kueue, ModelledKueue(scenario))
        quota_of_vision(served, "many")
        async with served.server, served.running() as shadow:
            look = shadow._next_script

            def counted(is_quiet: bool | None) -> Script | None:
                nonlocal looks
                looks += 1
                return look(is_quiet)

            monkeypatch.setattr(shadow, "_next_script", counted)
            for step in scenario["steps"][:2]:
                quota_of_vision(served, "many")
                await until(lambda: "the objects of the cluster make no policy" in shadow.problem)
                before = looks
                await asyncio.sleep(0.5)
                assert looks <= before + 1  # the change itself may be looked at later than it was learned of
                quota_of_vision(served, "4")
                await served.in_step(shadow)
                history.write(step)
                await served.in_step(shadow)
            assert (shadow.explained, list(shadow.differences)) == (history.decisions, [])

    asyncio.run(played())


def test_a_change_of_the_configuration_alone_is_looked_at(tmp_path: Path) -> None:
    """Kueue's manager shares fairly from now on: the policy follows at a whole second, though nothing else changes."""
    scenario = own_history()["in"]

    async def played() -> None:
        served = ServedShadow(tmp_path, scenario, config_map=True)
        HistoryWriter(served.kueue, ModelledKueue(scenario))
        served.store.create(CONFIG_MAP, config_map(scenario), namespace="kueue-system")
        async with served.server, served.running() as shadow:
            await served.in_step(shadow)
            core = shadow.decider.core
            assert core.graph is not None
            before = core.graph.digest
            name, changed = config_map(scenario)["metadata"]["name"], config_map({**scenario, "fair": True})
            served.store.merge_patch(CONFIG_MAP, name, {"data": changed["data"]}, namespace="kueue-system")
            await until(lambda: core.graph is not None and core.graph.digest != before)
            assert core.time % SECOND == 0
            assert (shadow.problem, shadow.notes) == ("", [])

    asyncio.run(played())


def test_the_step_of_a_configuration_has_a_number_of_its_own() -> None:
    """Its number is none that another step has, as a course names steps by their numbers."""
    writer = ScriptWriter(Configuration())
    numbers = [step.serial for step in writer.from_scratch(0, 0.0)]
    numbers += [step.serial for step in writer.configure(Configuration(fair=True), 0, 0.0)]
    assert len(numbers) == len(set(numbers)) == 2

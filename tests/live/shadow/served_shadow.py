"""A shadow that runs over HTTP beside the tests' API server, and the hands of Kueue and its users in the store behind it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fake_apiserver import FakeApiServer
from fake_store import FakeStore
from following import connected, until
from gpol.adapters.kueue.live.shadow.kueue_shadow import KueueShadow
from gpol.adapters.kueue.live.shadow.shadow_settings import ShadowSettings
from gpol.adapters.live.decider import LiveDecider
from gpol.adapters.live.stamps import Stamps
from gpol.engine.default_core import thaw
from kueue_writer import KueueWriter, SetClock, kind_called
from shadow_bench import manager_configuration

Json = dict[str, Any]

SETTLES = 0.25
"""After so many seconds without a change the shadow compares. The tests write all of a step at once."""

FRACTION = 400_000_000
"""gpol's clock is so many nanoseconds behind a whole second, where Kueue writes whole seconds."""

CONFIG_MAP = "kueue-system/kueue-manager-config"


class ServedShadow:
    """A cluster with a server, and what a shadow needs. `scenario` says how Kueue's manager is configured, in a file or a ConfigMap."""

    def __init__(self, folder: Path, scenario: Json, *, config_map: bool = False) -> None:
        self.folder = folder
        self.clock = SetClock()
        self.store = FakeStore(now=self.clock, namespaces=["default", "kueue-system"])
        self.kueue = KueueWriter(self.store, self.clock)
        self.server = FakeApiServer(self.store)
        self.journal, self.file, configuration = folder / "shadow.db", folder / "differences.jsonl", folder / "manager.json"
        configuration.write_text(json.dumps(manager_configuration(scenario)), encoding="utf-8")
        self.settings = ShadowSettings(
            differences=self.file,
            settle_seconds=SETTLES,
            requeue_seconds=0,
            **({"config_map": CONFIG_MAP, "config_map_seconds": 1} if config_map else {"config_map": ""}),
            configuration=configuration,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[KueueShadow]:
        """A shadow that runs, with the journal that may be there already."""
        now = lambda: self.clock.micros * 1000 + FRACTION  # noqa: E731
        async with connected(self.server, self.folder) as api:
            with LiveDecider.open(str(self.journal), lambda frozen: thaw(*frozen), lambda last: Stamps(last, now)) as decider:
                shadow = KueueShadow(api, decider, self.settings)
                for reflector in shadow.cluster.reflectors.values():
                    reflector.longest_pause = 0.2
                task = asyncio.ensure_future(shadow.run())
                try:
                    yield shadow
                    assert not task.done(), task
                finally:
                    task.cancel()
                    await asyncio.wait((task,))

    async def in_step(self, shadow: KueueShadow) -> None:
        """Wait until a shadow knows all that is there, and has compared it."""
        await until(lambda: self.knows_all(shadow) and _rests(shadow) and not shadow.problem, 30)

    def knows_all(self, shadow: KueueShadow) -> bool:
        """Whether a shadow has learned of all that is there."""
        for kind, reflector in shadow.cluster.reflectors.items():
            items = [item["metadata"] for item in self.store.list(kind_called(kind.plural))["items"]]
            there = {metadata["uid"]: metadata["resourceVersion"] for metadata in items}
            if reflector.problem or {seen.uid: seen.version for seen in reflector.known.values()} != there:
                return False
        return True


def _rests(shadow: KueueShadow) -> bool:
    """Whether a shadow compares nothing, and has nothing to compare."""
    return shadow._due_in() is None and not shadow._comparing.locked()


def config_map(scenario: Json) -> Json:
    """The ConfigMap of Kueue's manager."""
    namespace, _, name = CONFIG_MAP.partition("/")
    data = {"controller_manager_config.yaml": json.dumps(manager_configuration(scenario))}
    return {"metadata": {"name": name, "namespace": namespace}, "data": data}

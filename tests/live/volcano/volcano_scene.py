"""gpol at work for the player of Volcano, over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fake_access import Access
from fake_apiserver import FakeApiServer
from fake_kinds import EVENT
from fake_store import FakeStore
from gpol.adapters.kubernetes.api import Api
from gpol.adapters.live.decider import LiveDecider
from gpol.adapters.volcano.extender.verbs import VERBS
from gpol.adapters.volcano.live.volcano_decides import VolcanoDecisions
from gpol.dsl.analysis.checker import check
from gpol.engine.default_core import thaw
from gpol.sim.drive.policy import Policy
from kubernetes.aio.client import ApiClient, Configuration
from volcano_player import SPACE, VolcanoPlayer

Json = dict[str, Any]
SECONDS = 30  # how long anything may take before a test fails
POLICY = """policy "live" { use gpol.fair }
flavor h100 { gpu 8 }
queue wide { owns 4 gpu }
queue other { owns 4 gpu }
deny too-big { where workload.gpu > 8 } because "it never fits"
"""


class VolcanoScene:
    """A cluster, a journal, and Volcano's scheduler, which asks whatever gpol is at work."""

    def __init__(self, folder: Path, text: str = POLICY) -> None:
        self.store = FakeStore(namespaces=["default", SPACE])
        self.journal, self.text = str(folder / "journal.db"), text
        self.volcano = VolcanoPlayer(self.store, 8, self._ask)
        self.gpol: VolcanoDecisions | None = None

    def _ask(self, verb: str, body: Json) -> Json:
        assert self.gpol is not None
        answer: Json = json.loads(VERBS[verb](self.gpol.answers, json.dumps(body).encode()).body)
        return answer

    @asynccontextmanager
    async def at_work(self, token: str = "", access: Access | None = None) -> AsyncIterator[VolcanoDecisions]:
        """gpol at work, with the journal as it was left."""
        checked = check(self.text, "live.gpol")
        assert checked.graph is not None, checked.errors
        configuration = Configuration()
        async with FakeApiServer(self.store, access=access) as server:
            configuration.host = server.url
            if token:
                configuration.api_key, configuration.api_key_prefix = {"BearerToken": token}, {"BearerToken": "Bearer"}
            async with Api(ApiClient(configuration)) as api:
                with LiveDecider.open(self.journal, lambda frozen: thaw(*frozen)) as decider:
                    decider.activate(Policy.of(checked))
                    self.gpol = VolcanoDecisions(api, decider)
                    working = asyncio.ensure_future(self.gpol.run())
                    try:
                        yield self.gpol
                        self.refused = [(seen.path, seen.status) for seen in server.seen if seen.status in (401, 403)]
                    finally:
                        working.cancel()
                        with suppress(asyncio.CancelledError):
                            await working

    async def until(self, *names: str, phase: str = "Running") -> None:
        """Let the scheduler go on until all these are in a phase."""
        async with asyncio.timeout(SECONDS):
            while any(self.volcano.phase(name) != phase for name in names):
                for name in self.volcano.groups():
                    self.volcano.schedule(name)
                await asyncio.sleep(0.01)

    def events(self) -> set[tuple[str, str]]:
        """Which Events were written: about whom, and why."""
        return {(item["regarding"]["name"], item["reason"]) for item in self.store.list(EVENT)["items"]}


async def holds(condition: Callable[[], object]) -> None:
    """Wait until something is the case."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test in an event loop."""
    asyncio.run(test())  # type: ignore[arg-type]

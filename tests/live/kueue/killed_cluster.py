"""gpol, killed again and again, beside an API server that is killed as well, while a player of Kueue and its users goes on."""

import asyncio
import random
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from environment import without_variables_of_tests
from go_apiserver import GoApiServer
from gpol.adapters.kubernetes.api import Api
from gpol.adapters.kueue.live.protocol import ADMISSION_CHECK, CONTROLLER, Mark
from gpol.engine.events import WorkloadAdmitted
from gpol.journal.journal import Journal
from kueue_player import KueuePlayer

GPUS_OF_A_QUEUE = 4

WORKS_SECONDS = 30
"""How long gpol may take to its first commit before it is killed all the same: there may be nothing left to commit."""


@dataclass(frozen=True)
class Plan:
    """How much happens: workloads, queues, kills of gpol and of the API server; the same seed gives the same workloads."""

    workloads: int
    queues: int
    kills: int
    server_kills: int
    seed: int = 1
    run_seconds: float = 2.0
    most_seconds: float = 3_600


@dataclass
class Outcome:
    """What came of it: admissions that were carried out (name, uid, mark), and how many workloads have finished."""

    admitted: Sequence[tuple[str, str, str]]
    finished: int
    kills: int
    server_kills: int
    left: list[str] = field(default_factory=list)


def policy(queues: Sequence[str]) -> str:
    """A policy in which queues own four GPUs each, and borrow."""
    flavor = f'flavor h100 {{\n  gpu {GPUS_OF_A_QUEUE * len(queues)}\n  label model = "h100"\n}}\n'
    owners = "".join(f"queue {name} {{ owns {GPUS_OF_A_QUEUE} gpu on h100 }}\n" for name in queues)
    return f'policy "live" {{ use gpol.fair }}\n\n{flavor}{owners}'


class Gpol:
    """`gpol serve` as a process of its own."""

    def __init__(self, folder: Path, kubeconfig: Path, queues: Sequence[str]) -> None:
        (folder / "policy.gpol").write_text(policy(queues))
        settings = f"policy: {folder / 'policy.gpol'}\njournal: {folder / 'journal.db'}\nlease: {{enabled: false}}\n"
        settings += f"kubernetes: {{kubeconfig: {kubeconfig}}}\nkueue: {{way: decide}}\n"
        (folder / "settings.yaml").write_text(settings)
        self.journal = str(folder / "journal.db")
        self._settings, self._log = folder / "settings.yaml", folder / "gpol.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._said = 0

    def start(self) -> None:
        """Start it."""
        self._said = self._log.stat().st_size if self._log.exists() else 0
        command = [str(Path(sys.executable).with_name("gpol")), "serve", "--settings", str(self._settings)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stderr=log, stdout=log, env=without_variables_of_tests())

    def has_committed(self) -> bool:
        """Whether it has committed anything since it was started."""
        with self._log.open("rb") as log:
            log.seek(self._said)
            return b": event " in log.read()

    def kill(self) -> None:
        """End it at once, wherever it is."""
        assert self._process is not None
        assert self._process.poll() is None, self.tail()
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """Let it end in order; its exit code."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(30)

    def tail(self) -> str:
        """The end of what it said."""
        return "\n".join(self._log.read_text().splitlines()[-20:])


async def play(plan: Plan, server: GoApiServer, gpol: Gpol, queues: Sequence[str]) -> Outcome:
    """Let everything happen, and wait until all workloads have finished."""
    rng = random.Random(plan.seed)
    async with await Api.connect(server.kubeconfig) as api, asyncio.timeout(plan.most_seconds):
        metadata, spec = {"name": "gpol"}, {"controllerName": CONTROLLER}
        kind = {"apiVersion": ADMISSION_CHECK.api_version, "kind": ADMISSION_CHECK.kind}
        await api.create(ADMISSION_CHECK.path(), {**kind, "metadata": metadata, "spec": spec})
        player = KueuePlayer(api, rng, plan.run_seconds)
        playing = asyncio.ensure_future(player.run())
        kills = Kills()
        submitting = asyncio.ensure_future(_submit(plan, player, queues, kills))
        gpol.start()
        await _kill(plan, server, gpol, player, kills)
        await submitting
        while player.finished < plan.workloads:
            await asyncio.sleep(0.5)
        await asyncio.sleep(2)
        playing.cancel()
        await asyncio.wait((playing,))
        return Outcome(player.admitted, player.finished, kills.gpol, kills.server)


@dataclass
class Kills:
    """How often what was killed."""

    gpol: int = 0
    server: int = 0


async def _submit(plan: Plan, player: KueuePlayer, queues: Sequence[str], kills: Kills) -> None:
    """Create the workloads, a part of them before each kill, so that there is work at every one."""
    rng = random.Random(plan.seed + 1)
    for number in range(plan.workloads):
        while number * plan.kills > plan.workloads * (kills.gpol + 1):
            await asyncio.sleep(0.05)
        await player.submit(f"w{number}", rng.choice(queues), rng.choice([1, 1, 2, 2, 4, 4, 8]), rng.randint(0, 3))
        await asyncio.sleep(rng.expovariate(100))


async def _kill(plan: Plan, server: GoApiServer, gpol: Gpol, player: KueuePlayer, kills: Kills) -> None:
    """Kill gpol at random instants, as it starts and as it works, and now and then the API server."""
    rng = random.Random(plan.seed + 2)
    while kills.gpol < plan.kills or kills.server < plan.server_kills:
        if rng.random() < 0.5:
            await asyncio.sleep(rng.uniform(0, 2))
        else:
            with suppress(TimeoutError):
                async with asyncio.timeout(WORKS_SECONDS):
                    while not gpol.has_committed():
                        await asyncio.sleep(0.02)
            await asyncio.sleep(rng.uniform(0, 3))
        if kills.server < plan.server_kills and rng.random() < plan.server_kills / plan.kills * 1.5:
            kills.server += 1
            await asyncio.to_thread(server.kill)
            await asyncio.sleep(rng.uniform(0, 1))
            await asyncio.to_thread(server.restart)
        if kills.gpol < plan.kills:
            kills.gpol += 1
            await asyncio.to_thread(gpol.kill)
            gpol.start()
        print(f"kills {kills.gpol} and {kills.server}; admitted {len(player.admitted)}, finished {player.finished}", flush=True)


def check_admissions(outcome: Outcome, journal_path: str) -> None:
    """Each admission that was carried out is a committed decision about that very workload, and no decision was carried out twice."""
    with Journal.open(journal_path) as journal:
        identity = journal.at(1).chain.hex()[:32]
        marks = [Mark.read(reason) for _, _, reason in outcome.admitted]
        assert all(mark is not None and mark.journal == identity for mark in marks)
        seqs = [mark.seq for mark in marks if mark is not None]
        assert len(set(seqs)) == len(seqs), "a decision was carried out twice"
        for (key, _, _), seq in zip(outcome.admitted, seqs, strict=True):
            event = journal.at(seq).event
            assert isinstance(event, WorkloadAdmitted)
            assert event.workload == key

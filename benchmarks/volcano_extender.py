"""How many requests of Volcano's scheduler the extender answers a second, by verb and length of the body, in one process.

    python benchmarks/volcano_extender.py [--seconds 3] [--connections 4] [--workloads 10000]

A client sends as fast as it is answered. Beside each verb, in the same run and in turns with it, it sends the same body to an aiohttp
handler that only reads it: the ratio is what gpol's part costs, and depends less on how busy the machine is. What is told of each pair
is the median of its rounds. Processor time is that of the serving process, for each request.
"""

import argparse
import asyncio
import json
import multiprocessing
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import aiohttp
from aiohttp import web
from gpol.adapters.volcano.extender.committed_answers import CommittedAnswers
from gpol.adapters.volcano.extender.extender_handler import extender_handler
from gpol.adapters.volcano.extender.verbs import VERBS
from gpol.dsl import check
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import OperatorAction, WorkloadSubmitted
from gpol.sim.drive.policy import Policy

LENGTHS = (12_000, 100_000)
"""Bytes of a body, about."""

ROUNDS = 3
"""How often each pair is measured."""

QUEUES = 100

BARE = "bare"
"""The path of the handler that only reads."""


class Rate(NamedTuple):
    """Requests a second, and processor time of the server for each (microseconds)."""

    per_second: float
    cpu_us: float


def decided(workloads: int) -> CommittedAnswers:
    """The answers about so many workloads, of which half run. `ns/w0` runs in `q0`, and `ns/w100` was evicted from it."""
    lines = ['policy "load" { use gpol.fair }', "flavor h100 { gpu 1000000 }", "cohort all {"]
    lines += [f"  queue q{queue} {{ owns 1000 gpu }}" for queue in range(QUEUES)]
    policy, core = Policy.of(check("\n".join([*lines, "}"]), "load.gpol")), new_core()
    core.step(policy.activation(1), policy.graph)
    for place in range(workloads):
        one = PodSet(name="main", count=1, requests={"gpu": 1000})
        name, queue = f"ns/w{place}", f"q{place % QUEUES}"
        core.step(WorkloadSubmitted(time=2 + place, workload=name, queue=queue, uid=f"uid-{name}", pod_sets=(one,), hold=place % 2 == 1))
    core.step(OperatorAction(time=2 + workloads, by="bench", action="evict", workload="ns/w100"))
    return CommittedAnswers(core, {"ns/w100": "q0"})


def task(group: str, place: int) -> dict[str, Any]:
    """A TaskInfo of about 4 KB."""
    amounts = {"MilliCPU": 4000, "Memory": 68719476736, "ScalarResources": {"nvidia.com/gpu": 1000, "pods": 1}, "MaxTaskNum": 0}
    variables = [{"name": f"VARIABLE_{each}", "value": "x" * 40} for each in range(20)]
    requests = {"cpu": "4", "memory": "64Gi", "nvidia.com/gpu": "1"}
    container = {"name": "worker", "image": "registry.example/train:1", "env": variables, "resources": {"requests": requests}}
    fields: dict[str, Any] = {f"f:field-{each}": {".": {}, "f:type": {}} for each in range(20)}
    metadata = {"name": f"{group}-{place}", "uid": f"{group}-{place}", "managedFields": [{"fieldsV1": fields}]}
    pod = {"metadata": metadata, "spec": {"containers": [container], "priority": 100}, "status": {"phase": "Running"}}
    return {
        "UID": f"{group}-{place}",
        "Job": group,
        "Resreq": amounts,
        "InitResreq": amounts,
        "Status": 32,
        "Preemptable": True,
        "Pod": pod,
    }


def body(verb: str, length: int) -> bytes:
    """A body of about so many bytes."""
    each = len(json.dumps(task("ns/w0", 0), separators=(",", ":")))
    said: dict[str, Any]
    if verb == "jobEnqueueable":
        tasks = {str(place): task("ns/w0", place) for place in range(max(1, length // (3 * each)))}
        job = {"UID": "ns/w0", "PgUID": "uid-ns/w0", "Name": "w0", "Namespace": "ns", "Queue": "q0"}
        said = {"job": {**job, "SubJobs": {"ns/w0": {"Tasks": tasks}}, "TaskStatusIndex": {"1": tasks}, "Tasks": tasks}}
    elif verb == "queueOverused":
        annotations = {f"note-{place}": "x" * 100 for place in range(length // 112)}
        said = {"queue": {"UID": "q0", "Name": "q0", "Queue": {"metadata": {"name": "q0", "annotations": annotations}}}}
    else:
        groups = ("ns/w2", "ns/w100")  # half of all evictees are victims, so that echoing them is measured, too
        said = {"evictor": task("ns/w0", 0), "evictees": [task(groups[place % 2], place) for place in range(length // each - 1)]}
    return json.dumps(said, separators=(",", ":")).encode()


async def _bare(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(body=b'{"status":%d}' % (len(await request.read()) > 0), content_type="application/json")


async def _serve(pipe: Connection, workloads: int) -> None:
    answers = decided(workloads)
    extender = extender_handler(lambda: answers, "/volcano")

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return await (_bare if request.path == f"/{BARE}" else extender)(request)

    runner = web.ServerRunner(web.Server(handle, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    pipe.send(runner.addresses[0][1])
    while await asyncio.to_thread(pipe.recv):
        pipe.send(time.process_time())
    await runner.cleanup()


def _server(pipe: Connection, workloads: int) -> None:
    asyncio.run(_serve(pipe, workloads))


@contextmanager
def serving(workloads: int) -> Iterator[tuple[Connection, int]]:
    """A process that serves: what asks for its processor time, and its port."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_server, args=(theirs, workloads))
    process.start()
    theirs.close()
    try:
        yield ours, ours.recv()
    finally:
        ours.send(False)
        process.join()


def cpu_of(pipe: Connection) -> float:
    """The processor time of the server, in seconds."""
    pipe.send(True)
    return float(pipe.recv())


async def rate(pipe: Connection, url: str, sent: bytes, connections: int, seconds: float) -> Rate:
    """How fast a body is answered over a few connections."""
    answered = 0

    async def keep_sending(client: aiohttp.ClientSession, until: float) -> None:
        nonlocal answered
        while time.perf_counter() < until:
            async with client.post(url, data=sent, headers={"Content-Type": "application/json"}) as response:
                await response.read()
                assert response.status == 200
            answered += 1

    async with aiohttp.ClientSession() as client:
        cpu, begun = cpu_of(pipe), time.perf_counter()
        await asyncio.gather(*(keep_sending(client, begun + seconds) for _ in range(connections)))
        spent = time.perf_counter() - begun
        return Rate(answered / spent, (cpu_of(pipe) - cpu) / answered * 1e6)


async def pair(pipe: Connection, base: str, verb: str, sent: bytes, connections: int, seconds: float) -> tuple[Rate, Rate]:
    """The extender and the bare handler, in turns."""
    rounds = [
        [await rate(pipe, f"{base}/{path}", sent, connections, seconds / ROUNDS) for path in (f"volcano/{verb}", BARE)]
        for _ in range(ROUNDS)
    ]
    verb_rates, bare_rates = zip(*rounds, strict=True)
    return median(verb_rates), median(bare_rates)


def median(rates: Any) -> Rate:
    """The medians of both figures."""
    return Rate(statistics.median(each.per_second for each in rates), statistics.median(each.cpu_us for each in rates))


async def measure(seconds: float, connections: int, workloads: int) -> None:
    """Print the rates of all verbs."""
    with serving(workloads) as (pipe, port):
        print(f"{workloads} live workloads, {connections} connections")
        print(f"{'verb':16}{'bytes':>9}{'requests/s':>12}{'cpu us':>9}{'bare/s':>9}{'cpu us':>9}{'cpu ratio':>11}")
        for verb in VERBS:
            for length in LENGTHS:
                sent = body(verb, length)
                ours, bare = await pair(pipe, f"http://127.0.0.1:{port}", verb, sent, connections, seconds)
                figures = f"{ours.per_second:12.0f}{ours.cpu_us:9.0f}{bare.per_second:9.0f}{bare.cpu_us:9.0f}"
                print(f"{verb:16}{len(sent):9}{figures}{ours.cpu_us / bare.cpu_us:11.2f}", flush=True)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3, help="how long each verb and length is measured")
    parser.add_argument("--connections", type=int, default=4, help="how many requests are under way at once")
    parser.add_argument("--workloads", type=int, default=10_000, help="how many workloads are live")
    given = parser.parse_args()
    asyncio.run(measure(given.seconds, given.connections, given.workloads))


if __name__ == "__main__":
    main()

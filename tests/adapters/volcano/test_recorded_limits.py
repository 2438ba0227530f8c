"""What Volcano's own scheduler computed for recorded clusters, compared with what imported policies allow."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from gpol.adapters.kueue.read.quantity import amount, parse
from gpol.adapters.volcano.import_.load_volcano import ImportRefused, load_volcano, read_files
from gpol.dsl import compile_policy, print_tree
from gpol.engine.default_core import new_core
from gpol.engine.facts import PolicyActivated

from .volcano_objects import GPU, NOW, VERSION, Json

EVERY = 3
"""Of so many scenarios one is looked at."""


def scenarios(shared: Path) -> Iterator[Json]:
    """Scenarios of the plugin capacity without a tree of queues, in which a queue's real capability rests on what exists."""
    with gzip.open(shared / "conformance" / "volcano" / "recorded.jsonl.gz") as lines:
        flat = [scenario for scenario in map(json.loads, lines) if scenario["in"]["scope"] == "capacity"]
    yield from flat[::EVERY]


def exists(case: Json) -> dict[str, int]:
    """What all machines have together."""
    total: Counter[str] = Counter()
    for node in case["Nodes"]:
        for resource, text in node["status"]["allocatable"].items():
            if resource != "pods":
                total[resource] += amount(parse(text), resource)
    return dict(total)


def test_real_capabilities_are_those_of_volcano(shared: Path) -> None:
    """What a queue can get at most is what the plugin computed for it: its capability, less what others guarantee.

    Some of the clusters break the rules of Volcano's webhook, or deserve more than exists: these are refused.
    """
    compared = 0
    for scenario in scenarios(shared):
        case, total = scenario["in"]["case"], exists(scenario["in"]["case"])
        objects = [{"apiVersion": VERSION, "kind": "Queue", **item} for item in case["Queues"]]
        dump = json.dumps({"kind": "List", "items": objects}).encode()
        try:
            made = print_tree(load_volcano(read_files([("x", dump)]), NOW, capacity=total).tree)
        except ImportRefused:
            continue
        graph = compile_policy(made, "volcano.gpol")
        core = new_core()
        core.step(PolicyActivated(time=NOW, file="p.gpol", text=made, digest=graph.digest), graph)
        nodes = {graph.nodes[queue.node].name: queue.node for queue in graph.queues}
        answers = scenario["volcano"].get("sessions") or scenario["volcano"]["answers"][0]["sessions"]
        for name, figures in answers[0]["queues"].items():
            for number, slot in enumerate(graph.slots):
                recorded = figures["realCapability"].get(slot.resource, 0) / (1000 if slot.resource == GPU else 1)
                assert core.probe.most(nodes[name], number) == min(recorded, total[slot.resource]), (scenario["in"]["name"], name)
                compared += 1
    assert compared > 100

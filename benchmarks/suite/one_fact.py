"""What one fact takes from its text to decisions that are kept, and where that goes. The cluster is that of `one_decision.py`."""

import random
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from gpol.compiled.compile import compiled_kernels
from gpol.compiled.kernel_folder import kernel_folder
from gpol.engine.facts import FACT
from gpol.journal.journal import Journal
from one_decision import EACH, Cluster

from .clusters import ADMITTED, FACTS, QUEUES
from .figure import Figure

GROUP = "one fact"


def one_fact(runs: int) -> Iterator[Figure]:
    """A workload comes that fits, and another one ends: as text, as facts, decided, and in a journal on a disk."""
    cluster = Cluster(compiled_kernels(kernel_folder()), "gpol.fair", QUEUES, ADMITTED, 10 * EACH)
    parts = [_play(cluster, random.Random(seed)) for seed in range(runs)]
    told = {
        "read": "read its text, and check it by pydantic",
        "kernels": "decide in the kernels",
        "around": "the rest of deciding: possible or not, rows, decisions and their reasons as pydantic objects",
        "kept": "keep it with its decisions in a journal on SQLite: bytes, chain, insert, commit",
        "disk": "the same on the clock, with waiting for the disk",
    }
    for part, name in told.items():
        yield Figure(GROUP, name, "us", tuple(each[part] for each in parts))
    whole = tuple(sum(each[part] for part in ("read", "kernels", "around", "kept")) for each in parts)
    yield Figure(GROUP, "all of it, without waiting", "us", whole)


def _play(cluster: Cluster, draw: random.Random) -> dict[str, float]:
    """The medians of what each part of a fact took, in microseconds of processor time, and on the clock."""
    taken: dict[str, list[int]] = {"read": [], "kernels": [], "around": [], "kept": [], "disk": []}
    with TemporaryDirectory() as folder, Journal.create(Path(folder) / "journal.db") as journal:
        for turn in range(2 * FACTS):
            if turn % 2:
                text = cluster.next_end(draw).payload()
            else:
                fact = cluster.submission(EACH, draw.randrange(cluster.queues), cluster.core.time + 1)
                cluster.running.append(fact.workload)
                text = fact.payload()
            begin = time.thread_time_ns()
            read = FACT.validate_json(text)
            known, cluster.spent = time.thread_time_ns(), 0
            decisions = cluster.core.step(read)
            decided = time.thread_time_ns()
            caused = [decision.model_copy(update={"cause": journal.head.seq + 1}) for decision in decisions]  # this journal begins later
            writing, clock = time.thread_time_ns(), time.perf_counter_ns()
            journal.append([[read, *caused]])
            kept, after = time.thread_time_ns(), time.perf_counter_ns()
            for part, nanoseconds in (
                ("read", known - begin),
                ("kernels", cluster.spent),
                ("around", decided - known - cluster.spent),
                ("kept", kept - writing),
                ("disk", after - clock),
            ):
                taken[part].append(nanoseconds)
    return {part: median(values) / 1000 for part, values in taken.items()}

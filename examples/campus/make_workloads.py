"""Make workloads.csv: two weeks of a campus, synthetic, with the shape of the Philly trace (see README.md).

Whole numbers only, from one seeded source of bits: every run on every Python writes the same bytes.

    python examples/campus/make_workloads.py > examples/campus/workloads.csv
"""

import csv
import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import TextIO

SEED = 244
START = datetime(2026, 3, 2, tzinfo=UTC)
"""A Monday."""
DAYS = 14
BURSTS = 1_300

SHORT = ((0, 1), (10, 17), (50, 47), (100, 60), (250, 102), (400, 570), (500, 1_067), (600, 1_671), (750, 2_705), (850, 5_355),
         (900, 8_682), (950, 20_481), (970, 49_029), (990, 153_422), (1_000, 259_200))  # fmt: skip
"""Durations of jobs of one or two GPUs: (thousandths of all jobs, at most so many seconds); the tail is cut at three days."""
LONG = ((0, 1), (10, 30), (50, 80), (100, 157), (250, 985), (400, 9_484), (500, 20_999), (600, 48_786), (750, 118_797),
        (850, 188_130), (900, 242_280), (1_000, 259_200))  # fmt: skip
"""Durations of bigger jobs."""

GPUS = ((932, 1), (22, 2), (23, 4), (20, 8), (2, 16), (1, 32))
"""How many jobs in a thousand ask for so many GPUs."""
BURST = ((821, 1, 1), (98, 2, 2), (36, 3, 4), (18, 5, 10), (15, 11, 50), (12, 51, 120))
"""How many bursts in a thousand have between so many and so many jobs."""

WEEKDAY = (9, 8, 8, 8, 7, 8, 12, 18, 24, 28, 30, 30, 26, 28, 30, 30, 28, 24, 18, 15, 14, 14, 12, 10)
"""How many of a day's bursts start in each hour; on a weekend day it is half of that."""

QUEUES = (
    (20, "nlp", ("ada", "ben", "cho", "dan"), ("", "", "a100", "h100")),
    (22, "vision", ("eli", "fay", "gia"), ("", "", "", "a100")),
    (14, "robotics", ("hal", "ida"), ("", "a100")),
    (10, "search", ("jon", "kim"), ("", "h100")),
    (8, "speech", ("lea", "max"), ("", "", "h100")),
    (4, "serving", ("ops",), ("h100",)),
    (14, "students", ("ned", "oda", "pia", "quo", "rex"), ("",)),
    (8, "guests", ("sam", "tea"), ("", "a100")),
)
"""Parts in a hundred of all bursts, the namespace, its users, and the flavors that a job may ask for."""

Job = tuple[int, str, str, str, int, int, str]
"""Second of submission, namespace, user, priority, GPUs, seconds it runs, flavor."""


class Dice:
    """Whole numbers from the bits of Python's generator, whose bits for a seed are the same in every version."""

    def __init__(self, seed: int) -> None:
        self._bits = Random(seed)

    def below(self, bound: int) -> int:
        """One of 0 ... bound - 1."""
        return self._bits.getrandbits(64) % bound

    def of(self, weights: tuple[int, ...]) -> int:
        """The index of one weight, each as likely as it is heavy."""
        left = self.below(sum(weights))
        for index, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return index
        raise AssertionError("the weights sum up to more than they are")

    def seconds(self, table: tuple[tuple[int, int], ...]) -> int:
        """A duration: between two rows of a table the thousandths are spread evenly."""
        place = self.below(1_000_000)
        for (low, least), (high, most) in pairwise(table):
            if place < high * 1_000:
                return least + (most - least) * (place - low * 1_000) // ((high - low) * 1_000)
        raise AssertionError("a table ends at a thousand thousandths")


def jobs() -> list[Job]:
    """All jobs in order of time."""
    dice = Dice(SEED)
    hours = tuple(weight * (2 if day % 7 < 5 else 1) for day in range(DAYS) for weight in WEEKDAY)
    made: list[Job] = []
    for _ in range(BURSTS):
        made += _burst(dice, dice.of(hours) * 3_600 + dice.below(3_600))
    return sorted(made, key=lambda job: job[0])  # stable: ties keep the order in which they were made


def _burst(dice: Dice, second: int) -> list[Job]:
    """Jobs of one user, seconds apart and alike in size: the runs of one experiment."""
    _, namespace, users, flavors = QUEUES[dice.of(tuple(queue[0] for queue in QUEUES))]
    user, flavor = users[dice.below(len(users))], flavors[dice.below(len(flavors))]
    _, least, most = BURST[dice.of(tuple(row[0] for row in BURST))]
    gpus = GPUS[dice.of(tuple(row[0] for row in GPUS))][1]
    priority = _priority(dice, namespace)
    made = []
    for _ in range(least + dice.below(most - least + 1)):
        made.append((second, namespace, user, priority, gpus, dice.seconds(SHORT if gpus <= 2 else LONG), flavor))
        second += 1 + dice.below(60)
    return made


def _priority(dice: Dice, namespace: str) -> str:
    """Serving is production, one burst in ten elsewhere is urgent, and the rest says nothing."""
    if namespace == "serving":
        return "production"
    return "urgent" if dice.below(10) == 0 else ""


def write(file: TextIO) -> None:
    """Write the table."""
    table = csv.writer(file, lineterminator="\n")
    table.writerow(("workload", "submitted", "duration", "namespace", "user", "priority", "pods", "gpu", "flavors"))
    numbers: dict[str, int] = {}
    for second, namespace, user, priority, gpus, duration, flavor in jobs():
        numbers[namespace] = numbers.get(namespace, 0) + 1
        time = (START + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")
        pods = max(1, gpus // 8)  # bigger jobs are gangs of whole machines
        table.writerow(
            (f"{namespace}-{numbers[namespace]:04}", time, f"{duration}s", namespace, user, priority, pods, gpus // pods, flavor)
        )


if __name__ == "__main__":
    write(sys.stdout)

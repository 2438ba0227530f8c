"""What a service does in a cluster, as the service knows it: something that goes on, and that is asked how it stands."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client.core import Metric

from ...adapters.kubernetes.reflector import Reflector

LOG = logging.getLogger("gpol.service")

TELL_SECONDS = 2.0
"""How often it is looked whether there are new problems."""

MOST_TOLD = 20
"""So many problems are told at once; of the others only how many there are."""


@dataclass(frozen=True, slots=True)
class ServiceWork:
    """Something that goes on until it is cancelled. `name` tells it from the other works of the service.

    `problems` asks by part what keeps it from its work (empty: nothing), for the health of the service; `of_objects` says by name of which
    workloads or other objects it cannot do its work, and why. `reflectors` are what follows the
    kinds of objects, `metrics` gives what is read besides whenever somebody asks for the metrics. Where metrics of two works have the
    same name, their labels differ.
    """

    name: str
    run: Callable[[], Coroutine[Any, Any, None]]
    problems: Mapping[str, Callable[[], str]]
    of_objects: Callable[[], Mapping[str, str]]
    reflectors: Callable[[], Iterable[Reflector[Any]]]
    metrics: Callable[[], Iterator[Metric]]


async def tell_new_problems(work: ServiceWork) -> None:
    """Tell in the log which objects a work has a new problem with, until cancelled."""
    told: Mapping[str, str] = {}
    while True:
        await asyncio.sleep(TELL_SECONDS)
        found = dict(work.of_objects())
        new = [found[name] for name in sorted(found) if told.get(name) != found[name]]
        for problem in new[:MOST_TOLD]:
            LOG.warning("%s: %s", work.name, problem)
        if len(new) > MOST_TOLD:
            LOG.warning("%s: %d more problems", work.name, len(new) - MOST_TOLD)
        told = found

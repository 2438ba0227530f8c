"""What a service does in a cluster, as the service knows it: something that goes on, and that is asked how it stands."""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client.core import Metric

from ...adapters.kubernetes.reflector import Reflector


@dataclass(frozen=True, slots=True)
class ServiceWork:
    """Something that goes on until it is cancelled. `name` tells it from the other works of the service.

    `problems` asks by part what keeps it from its work (empty: nothing), for the health of the service. `reflectors` are what follows the
    kinds of objects, `metrics` gives what is read besides whenever somebody asks for the metrics. Where metrics of two works have the
    same name, their labels differ.
    """

    name: str
    run: Callable[[], Coroutine[Any, Any, None]]
    problems: Mapping[str, Callable[[], str]]
    reflectors: Callable[[], Iterable[Reflector[Any]]]
    metrics: Callable[[], Iterator[Metric]]

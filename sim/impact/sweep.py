"""Sweeps: one recorded history is played under many policies, in parallel by several workers."""

import os
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, Literal

from ...dsl.settable import SettingError, with_values
from ...journal.errors import DamagedError, JournalError
from ...journal.journal import Journal
from ...journal.store.location import files_of
from ..drive.driver import OnEvict
from ..drive.player import EndlessError
from ..drive.policy import Policy
from ..measure.figures import History
from .closed_impact import closed_impact
from .columns.played_columns import Tools, fast_tools
from .columns.record import Record, compare, read_record
from .recorded_settings import SettingsError, recorded_settings
from .watched_worker import end_with

MOST_VARIANTS = 200
"""How many policies a sweep plays at most."""

Backend = Literal["local", "dask", "ray"]

_RANGE = re.compile(r"(-?[0-9]+)([A-Za-z]*)\.\.(-?[0-9]+)([A-Za-z]*):([0-9]+)([A-Za-z]*)")
_MOST_SHOWN = 60
"""How many characters of a wrong range are shown."""

_MOST_DIGITS = 18
"""The most digits of a number in a range: more do not fit into 64 bits."""


class MissingExtraError(RuntimeError):
    """A backend whose libraries are not installed; the message names what to install."""


@dataclass(frozen=True, slots=True)
class PolicyVariant:
    """A policy to try, as plain data: its file and text, the numbers that were set in it, and its path if another's file is so called."""

    file: str
    text: str
    values: tuple[tuple[str, str], ...] = ()
    path: str = ""

    @property
    def policy(self) -> str:
        """What to call the policy without what was set in it."""
        return self.path or self.file

    @property
    def name(self) -> str:
        """What to call it: its policy, and what was set."""
        return " ".join([self.policy, *(f"{path}={value}" for path, value in self.values)])


@dataclass(frozen=True, slots=True)
class VariantOutcome:
    """The result of a variant: both histories measured, what differs, and the queue whose mean wait grew most (None: no mean wait grew)."""

    before: History
    after: History
    changed: int
    worse: int
    better: int
    impossible: int
    worst_queue: str | None
    worst_wait: Fraction


@dataclass(frozen=True, slots=True)
class VariantFailure:
    """Why a variant could not be played: the policy lets workloads take turns, the journal cannot be read or trusted, a worker was lost, or
    a defect."""

    kind: Literal["endless", "journal", "damaged", "lost", "defect"]
    message: str


# --- variants -------------------------------------------------------------------------------------------------------


def values_of(text: str) -> tuple[str, ...]:
    """The values of `32..96:16` or `32,48,64`. Raises SettingError."""
    if ".." not in text:
        return tuple(text.split(","))
    found = _RANGE.fullmatch(text)
    if found is None:
        raise SettingError(f"`{text[:_MOST_SHOWN]}` is no range; write it as FIRST..LAST:STEP, such as 32..96:16 or 5m..30m:5m")
    if any(len(number.lstrip("-0")) > _MOST_DIGITS for number in found.group(1, 3, 5)):
        raise SettingError(f"`{text[:_MOST_SHOWN]}` has a number of more than {_MOST_DIGITS} digits; write a smaller one")
    first, last, step = (int(number) for number in found.group(1, 3, 5))
    units = set(found.group(2, 4, 6)) - {""}
    if len(units) > 1 or step == 0 or first > last:
        raise SettingError(f"`{text[:_MOST_SHOWN]}` is no range: it has to go up from FIRST to LAST by a STEP above zero, all in one unit")
    if (last - first) // step >= MOST_VARIANTS:
        raise SettingError(f"`{text}` has {(last - first) // step + 1:,} values; a sweep plays at most {MOST_VARIANTS} policies")
    unit = units.pop() if units else ""
    return tuple(f"{value}{unit}" for value in range(first, last + 1, step))


def variants(policies: Sequence[PolicyVariant], settings: Mapping[str, Sequence[str]]) -> list[PolicyVariant]:
    """Every policy with every combination of values, the last path's changing fastest. Raises SettingError."""
    count = len(policies)
    for values in settings.values():
        count *= len(values)
    if count > MOST_VARIANTS:
        raise SettingError(f"that makes {count:,} policies; a sweep plays at most {MOST_VARIANTS}")
    made = []
    for policy in policies:
        for values in product(*settings.values()):
            chosen = dict(zip(settings, values, strict=True))
            made.append(replace(policy, text=with_values(policy.text, policy.policy, chosen), values=tuple(chosen.items())))
    return made


# --- playing --------------------------------------------------------------------------------------------------------


def sweep(
    place: str,
    tried: Sequence[PolicyVariant],
    on_evict: OnEvict | None,
    backend: Backend = "local",
    jobs: int = -1,
    scheduler: str | None = None,
    upto: int | None = None,
    tools: Tools | None = None,
) -> Generator[VariantOutcome | VariantFailure]:
    """What each variant makes of a journal, in their order whatever the backend. Close it to stop all workers.

    All play the journal up to event `upto`; without it each as far as it goes by then. `jobs` workers play at once (-1: one for each core),
    and each opens the journal by its place. With `tools` a history of jobs alone is read once, and shared: each worker then plays it with
    tools of its own, in a fraction of the time, and with the same outcome. `scheduler` is the address of a Dask cluster that is there
    already; without it one is started on this machine. Where workers are lost, so are the variants that have no outcome yet. Raises
    MissingExtraError, and ConnectionError.
    """
    from joblib import Parallel, delayed

    record = None if tools is None else _shared_record(place, on_evict, upto, tools)
    files = files_of(place)
    everywhere = str(files[0].absolute()) if files else place  # workers may have been started in another folder
    with ExitStack() as stack:
        stack.enter_context(_backend(backend, jobs, scheduler, record))
        work = (delayed(play_variant)(everywhere, variant, on_evict, upto, record) for variant in tried)
        played = 0
        try:
            if backend == "ray":  # it returns all results at once
                outcomes = iter(Parallel(n_jobs=jobs)(work))
            else:
                outcomes = stack.enter_context(closing(Parallel(n_jobs=jobs, return_as="generator")(work)))
            for outcome in outcomes:
                played += 1
                yield outcome
        except Exception as error:  # an error of the backend; errors of a variant are returned as data
            message = f"lost with its worker, which may have had too little memory; try again with fewer --jobs ({type(error).__name__})"
            yield from [VariantFailure("lost", message)] * (len(tried) - played)


def _shared_record(place: str, on_evict: OnEvict | None, upto: int | None, tools: Tools) -> Record | None:
    """The history, if it is one of jobs alone. What is wrong with a journal each variant tells for itself."""
    try:
        with Journal.open(place) as journal:
            last = journal.head.seq if upto is None else upto
            return read_record(journal, recorded_settings(journal, on_evict, last).on_evict, last, tools)
    except (JournalError, SettingsError):
        return None


@contextmanager
def _backend(name: Backend, jobs: int, scheduler: str | None, record: Record | None) -> Iterator[None]:
    """Let joblib use this backend inside the context. Workers of this machine map the columns of the record; to others it is sent once."""
    from joblib import parallel_config

    with ExitStack() as stack:
        if name == "dask":
            stack.enter_context(_dask(jobs, scheduler))
        elif name == "ray":
            stack.enter_context(_ray(jobs))
        if name == "local":
            options: dict[str, Any] = {"initializer": end_with, "initargs": (os.getpid(),)}
        else:
            options = {"scatter": [record]} if name == "dask" and record is not None else {}
        stack.enter_context(parallel_config(backend="loky" if name == "local" else name, **options))
        yield


@contextmanager
def _dask(jobs: int, scheduler: str | None) -> Iterator[None]:
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("the backend dask needs the library distributed; install gpol[dask]") from None
    options: dict[str, Any] = {"n_workers": jobs if jobs > 0 else None, "threads_per_worker": 1, "dashboard_address": None}
    try:
        client = Client(scheduler, timeout="30s") if scheduler is not None else Client(**options)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no Dask scheduler answers at `{scheduler}`: {error}") from None
    with client:
        yield


@contextmanager
def _ray(jobs: int) -> Iterator[None]:
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError:
        raise MissingExtraError("the backend ray needs the library ray; install gpol[ray]") from None
    register_ray()
    ray.init(num_cpus=jobs if jobs > 0 else None, include_dashboard=False, log_to_driver=False)
    try:
        yield
    finally:
        ray.shutdown()


def play_variant(
    place: str, variant: PolicyVariant, on_evict: OnEvict | None, upto: int | None = None, record: Record | None = None
) -> VariantOutcome | VariantFailure:
    """Play one variant, in any process, by the columns of the record where there are some. An error is returned as data."""
    from ...dsl.analysis.checker import check

    try:
        policy = Policy.of(check(variant.text, variant.file))
        if record is not None and (tools := fast_tools(len(record.played.events))[0]) is not None:
            compared = compare(record, policy, tools)
            if compared is not None:
                worse, better, _ = compared.effect
                return _outcome(record.played.history, compared.played.history, compared.changes.changed, worse, better, 0)
        with Journal.open(place) as journal:
            tools = fast_tools(journal.head.seq)[0]
            core = tools.core() if tools is not None else None
            found = closed_impact(journal, policy, on_evict, explain=False, upto=upto, core=core)
    except EndlessError as error:
        return VariantFailure("endless", str(error))
    except DamagedError as error:
        return VariantFailure("damaged", str(error))
    except JournalError as error:
        return VariantFailure("journal", str(error))
    except Exception as error:  # a defect in one worker must not stop the others
        return VariantFailure("defect", f"{type(error).__name__}: {error}")
    return _outcome(found.before, found.after, found.changed, found.worse, found.better, len(found.impossible))


def _outcome(before: History, after: History, changed: int, worse: int, better: int, impossible: int) -> VariantOutcome:
    return VariantOutcome(before, after, changed, worse, better, impossible, *_worst(before, after))


def _worst(before: History, after: History) -> tuple[str | None, Fraction]:
    """The queue whose mean wait grew most, the first by name of several, and by how much."""
    grown = [(after.of_queue(each.queue).mean_wait - before.of_queue(each.queue).mean_wait, each.queue) for each in after.queues]
    more, queue = max(sorted(grown, key=lambda each: each[1]), key=lambda each: each[0], default=(Fraction(0), ""))
    return (queue, more) if more > 0 else (None, Fraction(0))

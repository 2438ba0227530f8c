"""Workloads of a simulation from files: gpol's own CSV and JSON lines (docs/workloads.md), and the Philly trace.

Files are read row by row, then the jobs are put in order of time; equal times keep the order of the input. All numbers are exact.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from ..engine.errors import FactError, describe_error
from ..engine.event_parts import PodSet, Slice
from ..engine.facts import FACT, WorkloadSubmitted
from ..engine.intake.check import refuse_wishes_without_effect
from ..engine.units import (
    INT64_MAX,
    LAST_MOMENT,
    MILLI_RESOURCES,
    SECOND,
    UnitError,
    parse_amount,
    parse_duration,
    parse_time,
    split_quantity,
)
from ..sim.drive.job import InputError, Job, JobSource
from .rows import DigestedStream, Input, Row, cell_told, lines, plain_json, rows, unpacked, written_as

RESOURCES = (*MILLI_RESOURCES, "memory")
"""Resources that are columns under their own names."""

NEEDED = ("workload", "submitted", "duration")
TEXTS = ("queue", "namespace", "user", "group", "kind", "priority")
PLACES = ("within", "near", "anywhere", "slices")
"""Columns that say where pods are to stand."""

OPTIONAL = (*TEXTS, "pods", "minimum", *RESOURCES, "flavors", *PLACES)
PREFIXES = ("resource:", "label:")

_FIELDS = {"kind": "workload_kind"}
_COLUMNS = {"workload_kind": "kind", "time": "submitted"}
_PHILLY_COLUMNS = {"queue": "cluster", "time": "timestamp"}
_MOST_PODS = 1_000_000

_MOST_SHOWN = 60
"""How many characters of a wrong value are shown."""

_WHOLE_SECONDS = re.compile(r"([0-9]{1,12})(?:\.0*)?")

Located = tuple[int, Job]
"""A job and its line."""


def read_jobs(path: Path, form: str | None = None) -> list[Job]:
    """The jobs of a file in the order in which they are submitted; see `read_source`."""
    return read_source(path, form)[0]


def form_of(path: Path) -> str:
    """The form of a file, by its name, packed or not: a key of READERS."""
    name = path.name.removesuffix(".gz")
    return "jsonl" if name.endswith(".jsonl") else "csv"


def read_source(path: Path, form: str | None = None) -> tuple[list[Job], JobSource]:
    """The jobs of a file in the order in which they are submitted, and what the file was.

    `form` is a key of READERS; without it the file's name decides: `*.jsonl`, else CSV. A name that ends in `.gz` is unpacked.
    Raises InputError, and OSError where the file cannot be read.
    """
    chosen = form_of(path) if form is None else form
    seen: dict[str, int] = {}
    jobs = []
    with path.open("rb") as file:
        stream = DigestedStream(file)
        for line, job in unpacked(path.name, READERS[chosen](Input.of(path, stream))):
            name = job.fact.workload
            if name in seen:
                raise InputError(path.name, line, f"workload `{name}` is in line {seen[name]} already", "give each job its own name")
            if job.fact.time + job.duration > LAST_MOMENT:
                problem = f"`{name}` would not end before the year 10000, even if it ran at once"
                raise InputError(path.name, line, problem, "correct its time of submission or its duration")
            seen[name] = line
            jobs.append(job)
    return sorted(jobs, key=lambda job: job.fact.time), JobSource(path.name, stream.digest)


# --- the Philly trace -----------------------------------------------------------------------------------------------


def read_philly(file: Input) -> Iterator[Located]:
    """The flattened Philly trace: columns timestamp, duration, num_gpus, gpu_time, cluster.

    A row is a gang of `num_gpus` pods of one GPU each, in the queue called like its virtual cluster, named after its row:
    `philly-000001` is the first. Times have no zone and are read as UTC; durations are seconds.
    """
    for number, row in enumerate(rows(file, ("timestamp", "duration", "num_gpus", "gpu_time", "cluster"), ()), start=1):
        gpus = _count(row, "num_gpus")
        duration = _seconds(row, "duration")
        if _seconds(row, "gpu_time") != gpus * duration:
            raise row.wrong("gpu_time", f"{row.cells['gpu_time']} is not num_gpus x duration", "correct one of the three")
        if duration == 0:
            raise row.wrong("duration", "a job has to last", "write more than 0 seconds")
        fields: dict[str, object] = {"time": _naive_time(row), "workload": f"philly-{number:06}", "queue": row.cells["cluster"]}
        fields["pod_sets"] = (_pod_set(row, gpus, (("gpu", 1000),), ()),)
        yield row.line, Job(_submission(row, fields, _PHILLY_COLUMNS), duration)


def _naive_time(row: Row) -> int:
    """Microseconds since the epoch."""
    text = row.cells["timestamp"]
    try:
        return parse_time(text + "Z")
    except UnitError:
        remedy = "write it as 2017-10-09 07:01:55, without a zone: it is read as UTC"
        raise row.wrong("timestamp", f"`{text}` is no time of this form", remedy) from None


def _seconds(row: Row, column: str) -> int:
    """A number of seconds such as `2951.0` as microseconds."""
    text = row.cells[column]
    if (whole := _WHOLE_SECONDS.fullmatch(text)) is not None:
        return int(whole[1]) * SECOND
    try:
        number, rest = split_quantity(text)
    except UnitError:
        rest = text
    if rest:
        raise row.wrong(column, f"`{text}` is no number of seconds", "write it as 2951 or 2951.5")
    exact = number * SECOND
    if exact.denominator != 1 or exact > INT64_MAX:
        raise row.wrong(column, f"`{text}` is no 64-bit number of microseconds", "round it to whole microseconds, or correct it")
    return int(exact)


# --- gpol's own CSV -------------------------------------------------------------------------------------------------


def read_csv(file: Input) -> Iterator[Located]:
    """A header and one job a row; the columns are those of docs/workloads.md."""
    clock: str | None = None
    for row in rows(file, NEEDED, OPTIONAL, PREFIXES):
        time, kind = _time(row)
        clock = clock or kind
        if kind != clock:
            problem = f"`{row.cells['submitted']}` is a {kind}, those before it are each a {clock}"
            raise row.wrong("submitted", problem, "use one of the two")
        duration = _duration(row)
        pods = _count(row, "pods") if row.cells.get("pods") else 1
        least = _count(row, "minimum") if row.cells.get("minimum") else None
        pod_set = _pod_set(row, pods, _requests(row), tuple(row.cells.get("flavors", "").split()), _wish(row), least)
        texts = {_FIELDS.get(column, column): row.cells[column] for column in TEXTS if row.cells.get(column)}
        labels = {column.removeprefix("label:"): cell for column, cell in row.cells.items() if column.startswith("label:") and cell}
        fields: dict[str, object] = {
            **texts,
            "time": time,
            "workload": row.cells["workload"],
            "priority": _priority(row),
            "labels": labels,
            "pod_sets": (pod_set,),
        }
        yield row.line, Job(_submission(row, fields, _COLUMNS), duration)


def _time(row: Row) -> tuple[int | str, str]:
    """The time of submission, and which of the two ways of writing it was used."""
    text = row.cells["submitted"]
    try:
        return parse_duration(text), "duration since the start"
    except UnitError as error:
        if "-" in text and ":" in text:
            return text, "time of day"
        raise row.wrong("submitted", str(error), "write 2026-01-02T03:04:05Z, or the time since the start as 0s, 90m or 1h30m") from None


def _negative(text: str) -> str | None:
    """What is wrong with a number that has a sign, if it has one."""
    return f"`{text}` is below 0" if re.fullmatch("-[0-9].*", text) else None


def _duration(row: Row) -> int:
    try:
        duration = parse_duration(row.cells["duration"])
    except UnitError as error:
        raise row.wrong("duration", _negative(row.cells["duration"]) or str(error), "write it as 90s, 10m or 1h30m") from None
    if duration == 0:
        raise row.wrong("duration", "a job has to last", "write more than 0s")
    return duration


def _count(row: Row, column: str) -> int:
    text = row.cells[column]
    if re.fullmatch("[0-9]{1,7}", text) is None or not 1 <= int(text) <= _MOST_PODS:
        raise row.wrong(column, f"`{text}` is no number of pods", f"write a whole number from 1 to {_MOST_PODS:,}")
    return int(text)


def _priority(row: Row) -> int | str | None:
    text = row.cells.get("priority", "")
    return int(text) if re.fullmatch("-?[0-9]{1,4000}", text) else text or None


def _requests(row: Row) -> tuple[tuple[str, int], ...]:
    """What each pod asks for, in smallest units."""
    found: dict[str, tuple[str, int]] = {}
    for column, cell in row.cells.items():
        resource = column.removeprefix("resource:")
        if not cell or (resource == column and column not in RESOURCES):
            continue
        if resource in found:
            raise row.wrong(column, f"{resource} has a column of its own", f"keep `{found[resource][0]}`")
        try:
            found[resource] = column, parse_amount(cell, resource)
        except UnitError as error:
            remedy = f"write an amount for one pod {written_as(resource)}"
            raise row.wrong(column, _negative(cell) or str(error), remedy) from None
    return tuple((resource, found[resource][1]) for resource in sorted(found))


PlaceCells = tuple[str, str, bool, tuple[tuple[str, int], ...]]
"""Within and near which level pods are to stand, whether any places will do, and in which slices: each a level and a size."""

NOWHERE: PlaceCells = ("", "", False, ())
_SLICES = re.compile(r"([1-9][0-9]{0,6}) within (\S+)")


def _wish(row: Row) -> PlaceCells:
    """Where the pods are to stand."""
    anywhere = row.cells.get("anywhere", "")
    if anywhere not in ("", "yes", "no"):
        raise row.wrong("anywhere", f"`{anywhere[:_MOST_SHOWN]}` is neither yes nor no", "write `yes`, or leave the cell empty")
    slices = []
    for text in filter(None, (part.strip() for part in row.cells.get("slices", "").split(";"))):
        found = _SLICES.fullmatch(text)
        if found is None:
            remedy = "write `8 within rack`, several from wide to narrow as `8 within rack; 4 within host`"
            raise row.wrong("slices", f"`{text[:_MOST_SHOWN]}` is no size with a level", remedy)
        slices.append((found[2], int(found[1])))
    within, near = _level(row, "within"), _level(row, "near")
    given = [column for column, is_given in (("within", within), ("near", near), ("anywhere", anywhere == "yes")) if is_given]
    if len(given) > 1:
        problem = f"it is given beside `{given[1]}`, and pods stand within a level, near one another, or anywhere"
        cells = " and ".join(f"`{column}`" for column in given)
        raise row.wrong(given[0], problem, f"leave all of the cells {cells} empty but one")
    return within, near, anywhere == "yes", tuple(slices)


def _level(row: Row, column: str) -> str:
    """The name of a level. No policy can declare one with blanks around it."""
    level = row.cells.get(column, "")
    if level != level.strip():
        problem = f"`{level[:_MOST_SHOWN]}` has a blank at an end, and no level is called so"
        raise row.wrong(column, problem, "write its name without blanks at its ends, or leave the cell empty")
    return level


# --- JSON lines -----------------------------------------------------------------------------------------------------


def read_jsonl(file: Input) -> Iterator[Located]:
    """One object a line: the fields of WorkloadSubmitted, and `duration`, a text such as `90m` or whole microseconds."""
    for number, text in enumerate(lines(file), start=1):
        if not text.strip():
            continue
        fields = _object(file.name, number, text)
        kind = fields.pop("kind", WorkloadSubmitted.__name__)
        if kind != WorkloadSubmitted.__name__:
            told = f"the line is a {kind[:_MOST_SHOWN]}" if isinstance(kind, str) else "has to be WorkloadSubmitted, or left out"
            raise InputError(file.name, number, f"kind: {told}", "only WorkloadSubmitted has a duration; play facts with `gpol run`")
        duration = _json_duration(file.name, number, fields.pop("duration", None))
        try:
            fact = FACT.validate_python({**fields, "kind": WorkloadSubmitted.__name__})
        except ValidationError as error:
            raise InputError(file.name, number, describe_error(error), "fields are those of WorkloadSubmitted, and `duration`") from None
        assert isinstance(fact, WorkloadSubmitted)
        try:
            refuse_wishes_without_effect(fact)
        except FactError as error:
            cause, _, remedy = str(error).partition("; ")
            raise InputError(file.name, number, f"pod_sets: {cause}", remedy) from None
        yield number, Job(fact, duration)


def _object(file: str, line: int, text: str) -> dict[str, object]:
    try:
        made = plain_json(text)
    except ValueError as error:
        raise InputError(file, line, str(error), "write one plain object a line") from None
    if not isinstance(made, dict):
        raise InputError(file, line, "the line is no JSON object", 'write {"workload": ..., "time": ..., ...}')
    return made


def _json_duration(file: str, line: int, value: object) -> int:
    remedy = "write a text such as `90m`, or whole microseconds above 0"
    if value is None:
        raise InputError(file, line, "duration: missing", remedy)
    if isinstance(value, str):
        try:
            value = parse_duration(value)
        except UnitError as error:
            raise InputError(file, line, f"duration: {error}", remedy) from None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= INT64_MAX:
        raise InputError(file, line, f"duration: {json.dumps(value)[:_MOST_SHOWN]} is none", remedy)
    return value


# --- shared ---------------------------------------------------------------------------------------------------------


def _pod_set(
    row: Row,
    count: int,
    requests: tuple[tuple[str, int], ...],
    flavors: tuple[str, ...],
    wish: PlaceCells = NOWHERE,
    least: int | None = None,
) -> PodSet:
    if least is not None and least > count:
        raise row.wrong("minimum", f"at least {least} of {count} pods", f"write at most {count}")
    if least is not None and wish[3]:
        raise row.wrong("minimum", "pods in slices come and go in whole slices", "leave out the minimum, or the slices")
    try:
        return _shared_pod_set(count, requests, flavors, wish, least)
    except ValidationError as error:
        place, problem, remedy = cell_told(error)
        column = next((column for column in ("flavors", "within", "near", "slices") if column in place), "")
        raise row.wrong(column or ("slices" if wish[3] else "pods"), problem, remedy) from None


@lru_cache(maxsize=4096)
def _shared_pod_set(
    count: int, requests: tuple[tuple[str, int], ...], flavors: tuple[str, ...], wish: PlaceCells, least: int | None
) -> PodSet:
    """Equal pod sets are one object: a trace has few kinds of them."""
    within, near, anywhere, slices = wish
    parts = tuple(Slice(level=level, size=size) for level, size in slices)
    return PodSet(
        count=count, requests=dict(requests), flavors=flavors, within=within, near=near, anywhere=anywhere, slices=parts, minimum=least
    )


def _submission(row: Row, fields: dict[str, object], columns: dict[str, str]) -> WorkloadSubmitted:
    """The fact of a row; what pydantic refuses is said with the column's name."""
    try:
        return WorkloadSubmitted.model_validate(fields)
    except ValidationError as error:
        place, problem, remedy = cell_told(error)
        field = str(place[0])
        if field == "time" and error.errors()[0]["type"] == "greater_than_equal":
            raise row.wrong(
                columns.get(field, field), "the moment is before 1970-01-01T00:00:00Z, where time begins", "correct it"
            ) from None
        raise row.wrong(columns.get(field, field), problem, remedy) from None


READERS: dict[str, Callable[[Input], Iterator[Located]]] = {"csv": read_csv, "jsonl": read_jsonl, "philly": read_philly}
"""The readers by the name of their form."""

"""Workloads of a simulation from files: gpol's own CSV and JSONL (docs/workloads.md), and the Philly trace.

Readers go through a file line by line and sort by time, then by the order of the input. Durations and times are exact.
"""

import csv
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from fractions import Fraction
from pathlib import Path

from pydantic import ValidationError

from ..engine.events import FACT, WorkloadSubmitted, describe_error
from ..engine.units import UnitError, parse_duration
from ..sim.workload import InputError, Job

MAX_LINE = 1_000_000
"""The longest line that is read, in characters."""

_TEXT_COLUMNS = ("queue", "namespace", "user", "group", "kind", "priority", "flavors", "pods")


def read_jobs(path: Path, form: str | None = None) -> list[Job]:
    """The jobs of a file. `form` is `csv`, `jsonl` or `philly`; without it the file's name decides. Raises InputError."""
    chosen = form or ("jsonl" if path.suffix == ".jsonl" else "csv")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            jobs = list(READERS[chosen](_lines(file, path.name), path.name))
    except UnicodeDecodeError as error:
        raise InputError(path.name, 1, f"the file is not UTF-8: {error.reason}", "save it as UTF-8") from None
    names: dict[str, int] = {}
    for number, job in enumerate(jobs, start=1):
        if job.fact.workload in names:
            problem = f"workload `{job.fact.workload}` is there twice, as jobs {names[job.fact.workload]} and {number}"
            raise InputError(path.name, number + 1, problem, "give each job its own name")
        names[job.fact.workload] = number
    return sorted(jobs, key=lambda job: job.fact.time)  # stable: ties keep the order of the input


def _lines(file: Iterator[str], name: str) -> Iterator[str]:
    for number, line in enumerate(file, start=1):
        if len(line) > MAX_LINE:
            raise InputError(name, number, f"the line has {len(line):,} characters; at most {MAX_LINE:,} are read")
        yield line


def _rows(lines: Iterator[str], name: str, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file with their line numbers; the header must have the needed columns."""
    reader = csv.reader(lines, strict=True)
    try:
        header = next(reader, None)
        if header is None:
            raise InputError(name, 1, "the file is empty", f"start it with a header that has {', '.join(needed)}")
        missing = [column for column in needed if column not in header]
        if missing:
            raise InputError(name, 1, f"the header has no column {', '.join(missing)}", f"needed: {', '.join(needed)}")
        if len(set(header)) != len(header):
            raise InputError(name, 1, "the header has a column twice", "name each column once")
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                raise InputError(name, reader.line_num, f"the row has {len(row)} values, the header {len(header)}", "fill or remove values")
            yield reader.line_num, dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise InputError(name, reader.line_num, f"the row is no CSV: {error}", "check its quotes") from None


def _seconds(text: str, name: str, line: int, column: str) -> int:
    """A number of seconds as microseconds, exactly."""
    try:
        exact = Fraction(text) * 1_000_000
    except (ValueError, ZeroDivisionError):
        raise InputError(name, line, f"column {column}: `{text}` is no number of seconds", "write it as `90` or `90.5`") from None
    if exact.denominator != 1 or not 0 < exact < 2**62:
        raise InputError(name, line, f"column {column}: {text} s cannot be", "write a time above 0, in whole microseconds")
    return int(exact)


def read_philly(lines: Iterator[str], name: str) -> Iterator[Job]:
    """The Philly trace as columns timestamp, duration, num_gpus, gpu_time, cluster.

    Each row is a gang of `num_gpus` pods of one GPU, in the queue named after its virtual cluster; it is called after
    its row, `philly-1` for the first. Times have no zone in the trace and are read as UTC. `gpu_time` says nothing that
    the others do not.
    """
    needed = ("timestamp", "duration", "num_gpus", "cluster")
    for number, (line, row) in enumerate(_rows(lines, name, needed), start=1):
        try:
            moment = datetime.fromisoformat(row["timestamp"])
            gpus = int(row["num_gpus"])
        except ValueError as error:
            raise InputError(name, line, str(error), "expected a time such as 2017-10-09 07:01:55 and a whole number of GPUs") from None
        fact: dict[str, object] = {
            "kind": "WorkloadSubmitted",
            "time": moment.isoformat() + "Z",
            "workload": f"philly-{number}",
            "queue": row["cluster"],
            "pod_sets": [{"count": gpus, "requests": {"gpu": 1000}}],
        }
        yield Job(_submission(fact, name, line), _seconds(row["duration"], name, line, "duration"))


def read_csv(lines: Iterator[str], name: str) -> Iterator[Job]:
    """gpol's own CSV: see docs/workloads.md."""
    for line, row in _rows(lines, name, ("workload", "submitted", "duration")):
        fact: dict[str, object] = {"kind": "WorkloadSubmitted", "workload": row.pop("workload"), "time": _time(row.pop("submitted"))}
        duration = _duration(row.pop("duration"), name, line)
        said = {column: row[column] for column in _TEXT_COLUMNS if row.get(column, "")}
        pods = said.pop("pods", "1")
        if not pods.isascii() or not pods.isdigit():
            raise InputError(name, line, f"column pods: `{pods}` is no number of pods", "write a whole number")
        flavors = said.pop("flavors", "").split()
        requests = {column: value for column, value in row.items() if value and column not in _TEXT_COLUMNS}
        fact["pod_sets"] = [{"count": int(pods), "requests": requests, "flavors": flavors}]
        priority = said.pop("priority", "")
        if priority:
            fact["priority"] = int(priority) if priority.lstrip("-").isdigit() else priority
        if "kind" in said:
            fact["workload_kind"] = said.pop("kind")
        yield Job(_submission({**fact, **said}, name, line), duration)


def _time(text: str) -> object:
    """RFC 3339, or a duration since the start of the epoch such as `90m`."""
    try:
        return parse_duration(text)
    except UnitError:
        return text


def _duration(text: str, name: str, line: int) -> int:
    try:
        duration = parse_duration(text)
    except UnitError:
        return _seconds(text, name, line, "duration")
    if duration == 0:
        raise InputError(name, line, "column duration: a job cannot last 0s", "write a duration above 0")
    return duration


def read_jsonl(lines: Iterator[str], name: str) -> Iterator[Job]:
    """One object a line: the fields of WorkloadSubmitted, and `duration`, a text such as `90m` or whole microseconds."""
    for line, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError(name, line, "the line is no JSON", "write one object a line") from None
        if not isinstance(row, dict):
            raise InputError(name, line, "the line is no JSON object", "write one object a line")
        duration = row.pop("duration", None)
        if isinstance(duration, str):
            length = _duration(duration, name, line)
        elif isinstance(duration, int) and not isinstance(duration, bool) and 0 < duration < 2**62:
            length = duration
        else:
            raise InputError(name, line, "`duration` is missing or no duration", "write it as `90m`, or in whole microseconds above 0")
        yield Job(_submission({"kind": "WorkloadSubmitted", **row}, name, line), length)


def _submission(fact: dict[str, object], name: str, line: int) -> WorkloadSubmitted:
    try:
        made = FACT.validate_python(fact)
    except ValidationError as error:
        raise InputError(name, line, describe_error(error), "see docs/workloads.md") from None
    if not isinstance(made, WorkloadSubmitted):
        raise InputError(name, line, f"the line is a {made.kind}, not a submission", "only submissions have a duration")
    return made


READERS: dict[str, Callable[[Iterator[str], str], Iterator[Job]]] = {"csv": read_csv, "jsonl": read_jsonl, "philly": read_philly}
"""The forms by name."""

"""What a suite is: cases in a file of the reference data, and a function that compares each with what gpol decides."""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Case = Mapping[str, Any]
"""A line of a suite's file."""


@dataclass(frozen=True, slots=True)
class Excuse:
    """Why a case is not compared, and what in its data shows that it is so."""

    reason: str
    shown: Callable[[Case], bool]


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases of one kind.

    `compare` returns the differences of a case, none where gpol decides as Kueue does. `file` is its place below the reference
    data, which has `total` cases. `compared` says what of a case is compared. `excused` are cases that are not compared at all,
    `remarks` say something of cases that are; both are by name.
    """

    name: str
    file: str
    total: int
    compared: str
    compare: Callable[[Case], list[str]]
    excused: Mapping[str, Excuse] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)

    def cases(self, data: Path) -> Iterator[tuple[str, Case]]:
        """The cases by name, in the order of the file; `data` is the folder of the reference data."""
        content = (data / self.file).read_bytes()
        if self.file.endswith(".gz"):
            content = gzip.decompress(content)
        for line in content.splitlines():
            case = json.loads(line)
            yield str(case["name"] if "name" in case else case["in"]["name"]), case


def table(name: str, total: int, compared: str, compare: Callable[[Case], list[str]], **more: Any) -> Suite:
    """A table of Kueue's own tests, by the name of the test."""
    return Suite(name, f"kueue_tables/{name}.jsonl", total, compared, compare, **more)


def differences(expected: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """What differs between two answers with the same fields: each field that does, with both values."""
    return [f"{key}: Kueue {expected[key]}, gpol {found[key]}" for key in expected if expected[key] != found[key]]


# --- what shows that an excuse is true


def gate(name: str) -> Callable[[Case], bool]:
    """Whether a case switches on a feature gate."""
    return lambda case: bool((case["tc"].get("featureGates") or {}).get(name))

"""What KAI did with random clusters (`recorded.jsonl.gz`), compared with what gpol answers: every state, node, eviction and fair share."""

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gpol.adapters.kai.case_session import read_case
from gpol.adapters.kai.rounds import play_rounds
from gpol.adapters.kueue.read.documents.json_documents import read_line

SCOPES = {"whole": 346, "elastic": 110, "topology": 87}
"""The scopes that are played, and how many clusters each has."""

LEFT_OUT_SCOPES = {"fractions": 57}
"""The scope that needs shares of GPUs, which gpol does not decide about."""

Recorded = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A cluster, and what KAI did with it."""


def recorded(folder: Path) -> Iterator[Recorded]:
    """All recorded clusters."""
    with gzip.open(folder / "recorded.jsonl.gz") as lines:
        for line in lines:
            row = read_line(line)
            yield row["in"], row["kai"]


def scope_of(cluster: Mapping[str, Any]) -> str:
    """The scope of a cluster, as its name says."""
    return str(cluster["Name"]).partition("-")[0]


def play(cluster: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """What differs first, or nothing."""
    found = play_rounds(read_case(cluster))
    for number, (ours, theirs) in enumerate(zip(found["rounds"], wanted["rounds"], strict=False)):
        for part in ("fairShare", "actions", "evicted"):
            if ours.get(part) != theirs.get(part):
                return f"round {number}, {part}: {_first(ours.get(part), theirs.get(part))}"
    ours, theirs = ([each["end"], each.get("cycle"), len(each["rounds"])] for each in (found, wanted))
    return "" if ours == theirs else f"end: {ours} instead of {theirs}"


def _first(ours: Any, theirs: Any) -> str:
    """The first entry in which two parts of a round differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        name = next(name for name in sorted({*ours, *theirs}) if ours.get(name) != theirs.get(name))
        return f"{name}: {ours.get(name)} instead of {theirs.get(name)}"
    if isinstance(ours, list) and isinstance(theirs, list):
        for mine, other in zip(ours, theirs, strict=False):
            if mine != other:
                return (
                    f"{mine['action']}, {_first(mine['tasks'], other['tasks'])}"
                    if mine["action"] == other["action"]
                    else f"{mine} instead of {other}"
                )
        return f"{[each['action'] for each in ours]} instead of {[each['action'] for each in theirs]}"
    return f"{ours} instead of {theirs}"

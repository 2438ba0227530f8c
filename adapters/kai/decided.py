"""The answer to a line of scenarios: a KAI cluster, decided round by round."""

from typing import Any

from ..kueue.problems import ImportRefused, Problem
from .case_session import read_case
from .rounds import play_rounds


def decide(line: object) -> dict[str, Any]:
    """The answer to one cluster: `name`, `rounds`, `end`, and of a cycle the round in which it begins and its length.

    A line is the cluster, or an object with the cluster as `in`, such as a recorded one: what was recorded is not looked at. Raises
    ImportRefused for what cannot be read, with nothing decided.
    """
    if isinstance(line, dict) and "in" in line:
        more = sorted(set(line) - {"in", "kai"})
        if more:
            raise ImportRefused((Problem("", "", more[0][:80], "is no field of a line", 'write a cluster, or {"in": CLUSTER}'),))
        line = line["in"]
    case = read_case(line)
    return {"name": case.name, **play_rounds(case)}

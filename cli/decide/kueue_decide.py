"""kueue decide: what Kueue itself would decide, scenario by scenario."""

import click

from ..shared.options import PLACE
from .scenario_lines import answer_lines


@click.group()
def kueue() -> None:
    """What Kueue itself would decide."""


@kueue.command("decide")
@click.argument("scenarios", metavar="SCENARIOS.jsonl", type=PLACE)
def decide(scenarios: str) -> int:
    """Answer scenarios, one a line: a workload on a cluster's objects, or steps of a history; - is standard input, .gz is fine."""
    from ...adapters.kueue.decide.scenarios import decide

    return answer_lines(scenarios, decide, "name")

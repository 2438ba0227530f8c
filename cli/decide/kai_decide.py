"""kai decide: what KAI (Run:ai) itself would decide, cluster by cluster."""

import click

from ..shared.options import PLACE
from .scenario_lines import answer_lines


@click.group()
def kai() -> None:
    """What KAI (Run:ai) itself would decide."""


@kai.command("decide")
@click.argument("scenarios", metavar="SCENARIOS.jsonl", type=PLACE)
def decide(scenarios: str) -> int:
    """Answer clusters, one a line, round by round until nothing changes (docs/kai.md); - is standard input, .gz is fine."""
    from ...adapters.kai.decided import decide

    return answer_lines(scenarios, decide, "Name")

"""volcano decide: what Volcano's scheduler itself would decide, session by session."""

import click

from ..shared.options import PLACE
from .scenario_lines import answer_lines


@click.group()
def volcano() -> None:
    """What Volcano's scheduler itself would decide."""


@volcano.command("decide")
@click.argument("scenarios", metavar="SCENARIOS.jsonl", type=PLACE)
def decide(scenarios: str) -> int:
    """Answer scenarios, one a line: a cluster, and the sessions that follow (docs/volcano.md); - is standard input, .gz is fine."""
    from ...adapters.volcano.decide.volcano_scenarios import decide

    return answer_lines(scenarios, decide, "name")

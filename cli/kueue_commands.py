"""The commands about Kueue: import, export, decide."""

import sys
from typing import Any

import click

from .app import PLACE, app, policy_file, with_format
from .export_commands import export
from .output import Format, use_streams


@app.group("import")
def import_() -> None:
    """Make a policy and facts of another system's state."""


@import_.command("kueue")
@click.argument("dumps", metavar="DUMP...", type=PLACE, nargs=-1, required=True)
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write the policy into this new file; else it is printed")
@click.option("--facts", metavar="PATH", type=PLACE, help="write the facts that rebuild the present state into this new file, one a line")
@click.option("--profile", metavar="NAME", help="kueue.classical, kueue.fair or gpol.fair; else as the dumps' Configuration says")
@click.option("--at", metavar="TIME", help="the moment of the dumps; else the latest one that they name")
@click.option("--priority-boost", "boost", is_flag=True, help="count priority boosts, as with Kueue's feature gate PriorityBoost")
@with_format
def import_kueue(dumps: tuple[str, ...], form: Format, **options: Any) -> None:
    """Import Kueue's objects as `kubectl get -o yaml|json` writes them; - is standard input."""
    from .kueue import import_dumps

    sys.exit(import_dumps(dumps, form=form, **options))


@export.command("kueue")
@policy_file
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write the objects into this new file; else they are printed")
@click.option("--json", "as_json", is_flag=True, help="as one List in JSON; else as YAML documents")
@click.option("--gpu", metavar="NAME", help="what the resource gpu is called in the cluster; else nvidia.com/gpu")
@with_format
def export_kueue(policy: str, form: Format, **options: Any) -> None:
    """Export a policy to Kueue's objects, for `kubectl apply`; what they can't say is refused, or told on stderr."""
    from .kueue import export_policy

    sys.exit(export_policy(policy, form=form, **options))


@app.group()
def kueue() -> None:
    """What Kueue itself would decide."""


@kueue.command("decide")
@click.argument("scenarios", metavar="SCENARIOS.jsonl", type=PLACE)
def decide(scenarios: str) -> None:
    """Answer scenarios, one a line: a workload on a cluster's objects, or steps of a history; - is standard input, .gz is fine."""
    from .kueue import decide_scenarios

    use_streams(utf8=True)
    sys.exit(decide_scenarios(scenarios))

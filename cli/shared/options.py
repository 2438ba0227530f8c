"""Arguments and options that several commands take."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from .output import Format, refuse, use_streams

if TYPE_CHECKING:
    from ...engine.event_parts import PodSet

Command = Callable[..., int]
"""The function of a command: it returns the exit code."""


class _Place(click.ParamType[str]):
    """The name of a file, a folder or a journal. An empty one, such as an unset variable of a script, would be the current folder."""

    name = "place"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse the empty name."""
        return value or self.fail("the name is empty", param, ctx)


PLACE = _Place()
"""The type of every argument and option that names a place."""


def with_format(command: Command) -> Command:
    """Give a command its `--format`."""
    help_text = "for people, for logs and screen readers, or one JSON object a line"
    choice = click.Choice([each.value for each in Format])
    option = click.option("--format", "form", type=choice, default="human", callback=_chosen, help=help_text)
    return option(command)


def _chosen(_context: click.Context, _option: click.Parameter, value: str) -> Format:
    use_streams(utf8=value == Format.json)
    return Format(value)


policy_file = click.argument("policy", metavar="POLICY", type=PLACE)
policy_files = click.argument("files", metavar="FILE...", type=PLACE, nargs=-1, required=True)
force = click.option(
    "--force", is_flag=True, help="write over a file that gpol did not write; never over a journal, a key, a checkpoint or a policy"
)
"""The option of commands that write files; `Target` in `files.py` takes it."""
journal_place = click.argument("journal", metavar="JOURNAL", type=PLACE)
no_snapshot = click.option(
    "--no-snapshot", is_flag=True, help="read all events and use no snapshot; whoever can write the journal can forge one"
)


def pod_asking(option: str, text: str) -> "PodSet":
    """A pod that asks for amounts such as `8 gpu, 64 cpu`. Ends the command for a text that says none."""
    from ...engine.event_parts import PodSet
    from ...engine.units import UnitError, parse_amount

    requests: dict[str, int] = {}
    for part in (part.strip() for part in text.split(",")):
        amount, _, resource = (word.strip() for word in part.partition(" "))
        if not part:
            refuse(f"{option}: an amount is missing; write it as '8 gpu, 64 cpu'")
        if not resource:
            what = "says no resource" if _is_amount(part) else "has no blank between an amount and a resource"
            refuse(f"{option}: `{part}` {what}; write it as '8 gpu, 64 cpu'")
        if resource in requests:
            refuse(f"{option}: {resource} is there twice; write each resource once, as in '8 gpu, 64 cpu'")
        try:
            requests[resource] = parse_amount(amount, resource)
        except UnitError as error:
            refuse(f"{option}: {error}; write it as '8 gpu, 64 cpu'")
        if requests[resource] == 0:
            refuse(f"{option}: a pod that asks for 0 {resource} fits everywhere; leave {resource} out")
    return PodSet(requests=requests)


def _is_amount(text: str) -> bool:
    """Whether a text is an amount without a resource, such as `8` or `80Gi`."""
    from ...engine.units import UnitError, parse_amount

    try:
        return parse_amount(text, "gpu") >= 0
    except UnitError:
        return False

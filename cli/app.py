"""The root of the command, and what its commands share: arguments and `--format`."""

from collections.abc import Callable

import click

from .output import Format, use_streams

Command = Callable[..., None]


def with_format(command: Command) -> Command:
    """Give a command its `--format`."""
    help_text = "for people, for logs and screen readers, or one JSON object a line"
    choice = click.Choice([each.value for each in Format])
    option = click.option("--format", "form", type=choice, default="human", callback=_chosen, help=help_text)
    return option(command)


def _chosen(_context: click.Context, _option: click.Parameter, value: str) -> Format:
    use_streams(utf8=value == Format.json)
    return Format(value)


policy_file = click.argument("policy", metavar="POLICY")
journal_place = click.argument("journal", metavar="JOURNAL")
policy_files = click.argument("files", metavar="FILE...", nargs=-1, required=True)
keep = click.option("--journal", metavar="PATH", help="keep all events in this new journal")


@click.group(context_settings={"max_content_width": 110})
@click.version_option(package_name="gpol", prog_name="gpol")
def app() -> None:
    """A policy engine for GPU clusters: decisions that replay, explain themselves and can be tried out first."""

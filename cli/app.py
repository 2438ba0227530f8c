"""The root of the command, and what its commands share: arguments and `--format`."""

from collections.abc import Callable

import click

from .output import Format, use_streams

Command = Callable[..., None]


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


def with_selection(command: Command) -> Command:
    """Give a command the options that select events; `selecting.make_selection` takes them."""
    for option in reversed(_SELECTION):
        command = option(command)
    return command


_SELECTION = (
    click.option("--workload", metavar="W", help="events of this workload"),
    click.option("--queue", metavar="Q", help="events of this queue"),
    click.option("--kind", metavar="K", multiple=True, help="events of this kind, such as WorkloadEvicted; may be given again"),
    click.option("--user", metavar="U", help="events of workloads that this user submitted"),
    click.option("--namespace", metavar="N", help="events of workloads of this namespace"),
    click.option("--reason", metavar="R", help="decisions with this reason, such as FitsBorrowing"),
    click.option("--rule", metavar="R", help="decisions that this rule or line of the policy caused, by its name"),
    click.option("--cause", metavar="SEQ", help="the decisions that this fact caused"),
    click.option("--since", metavar="T", help="from this time on (RFC 3339, or microseconds)"),
    click.option("--until", metavar="T", help="up to this time"),
    click.option("--after", metavar="SEQ", help="events behind this one"),
)

moment = click.option("--at", metavar="SEQ|TIME", help="as of this event or time; else the end of the journal")
no_snapshot = click.option("--no-snapshot", is_flag=True, help="go through all events; whoever can write the journal can forge a snapshot")
policy_file = click.argument("policy", metavar="POLICY", type=PLACE)
journal_place = click.argument("journal", metavar="JOURNAL", type=PLACE)
policy_files = click.argument("files", metavar="FILE...", type=PLACE, nargs=-1, required=True)


signing_key = click.option(
    "--key", metavar="FILE", type=PLACE, help="the signing key, made by `gpol key new`; else the text in GPOL_SIGNING_KEY"
)


def with_checkpoints(command: Command) -> Command:
    """Give a command that makes a journal the options to sign it."""
    for option in (
        signing_key,
        click.option("--checkpoint-every", metavar="N", type=click.IntRange(min=1), help="after N events, and at the end; else 10,000"),
        click.option("--checkpoints", metavar="FOLDER", type=PLACE, help="sign the journal as it grows, and keep the checkpoints here"),
    ):
        command = option(command)
    return command


def with_evidence(command: Command) -> Command:
    """Give a command that checks a journal the options for what was signed earlier."""
    for option in (
        click.option(
            "--key", "keys", metavar="PUBLIC", type=PLACE, multiple=True, help="the public key that signed them, as its line or its file"
        ),
        click.option(
            "--checkpoint", "checkpoints", metavar="FILE|FOLDER", type=PLACE, multiple=True, help="checkpoints that must still be right"
        ),
    ):
        command = option(command)
    return command


keep = click.option("--journal", metavar="PATH|URL", type=PLACE, help="keep all events in this new journal: a file, or postgresql://...")


@click.group(context_settings={"max_content_width": 110})
@click.version_option(package_name="gpol", prog_name="gpol")
def app() -> None:
    """A policy engine for GPU clusters: decisions that replay, explain themselves and can be tried out first."""

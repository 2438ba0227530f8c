"""A group of commands that imports the module of a command only when the command is called, so that every command starts fast."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group that knows its commands by name and place: `package` and, in it, `module:command`."""

    def __init__(self, *args: Any, package: str, places: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._package = package
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return sorted(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, from its module; None where there is none."""
        if cmd_name in self._places:
            return self._load(cmd_name)
        self.commands.update((name, self._load(name)) for name in self._places)  # click suggests one of these names
        return None

    def _load(self, name: str) -> click.Command:
        module, _, attribute = self._places[name].partition(":")
        command = getattr(import_module(f".{module}", self._package), attribute)
        assert isinstance(command, click.Command)
        return command

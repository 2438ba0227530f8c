"""The table of commands: each is found, and none is imported before it is called."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from gpol.cli.app import COMMANDS, app
from gpol.cli.transfer.export import FORMS, export

UNTIDY = 'policy "x" {\n    use gpol.fair   # fair\n}\nflavor   a100 { gpu 8 }\nqueue q { owns 8 gpu }\n'
TIDY = 'policy "x" {\n  use gpol.fair  # fair\n}\n\nflavor a100 { gpu 8 }\n\nqueue q { owns 8 gpu }\n'


@pytest.mark.parametrize(("group", "name"), [*((app, name) for name in COMMANDS), *((export, name) for name in FORMS)])
def test_each_command_is_where_the_table_says(group: click.Group, name: str) -> None:
    """Every entry leads to a command of that name, which has a help text."""
    command = group.get_command(click.Context(group), name)

    assert command is not None
    assert command.name == name
    assert command.help


def test_every_command_is_in_the_table(root: Path) -> None:
    """Every module that declares a command is named in a table."""
    rooms = root / "cli"
    declaring = {path for path in rooms.glob("*/*.py") if "\n@click.command(" in path.read_text() or "\n@click.group(" in path.read_text()}
    named = {rooms / f"{place.partition(':')[0].replace('.', '/')}.py" for place in COMMANDS.values()}
    named |= {rooms / "transfer" / f"{place.partition(':')[0]}.py" for place in FORMS.values()}

    assert declaring == named


@pytest.mark.parametrize(
    ("arguments", "module"), [(["check", "--help"], "policy.check"), (["export", "facts", "--help"], "transfer.export_facts")]
)
def test_only_the_command_that_is_called_is_imported(arguments: list[str], module: str) -> None:
    """A call imports the module of its command, and of the group that holds it, and of no other command."""
    script = (
        "import sys; from gpol.cli.app import COMMANDS; from gpol.cli.main import run_command; from gpol.cli.transfer.export import FORMS\n"
        f"code = run_command({arguments!r})\n"
        "places = [*COMMANDS.values(), *('transfer.' + place for place in FORMS.values())]\n"
        "modules = {place.partition(':')[0] for place in places} - {'transfer.export'}\n"
        "print(code, sorted(name for name in modules if 'gpol.cli.' + name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.endswith(f"\n0 [{module!r}]\n")


def test_help_starts_without_what_is_slow_to_load() -> None:
    """To list the commands, or to help with one, imports neither the core nor the journal."""
    script = (
        "import sys; from gpol.cli.main import run_command; from gpol.cli.app import COMMANDS\n"
        "names = [[], *([name] for name in COMMANDS), ['export', 'jsonl'], ['kueue', 'decide']]\n"
        "codes = {run_command([*name, '--help']) for name in names}\n"
        "slow = ('pydantic', 'numpy', 'sqlalchemy', 'lark', 'rich', 'gpol.engine.events', 'gpol.journal.journal')\n"
        "print(codes, [name for name in slow if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.endswith("\n{0} []\n")


def test_check_and_fmt_start_without_what_is_slow_to_load(lab: Path) -> None:
    """Neither loads a database, the journal's module or a library for tables, also where a file is replaced."""
    (lab / "x.gpol").write_text(UNTIDY)
    script = (
        "import sys; from gpol.cli.main import run_command\n"
        "codes = run_command(['fmt', 'x.gpol']), run_command(['check', 'x.gpol'])\n"
        "slow = ('sqlalchemy', 'sqlite3', 'eventsourcing', 'gpol.journal.journal', 'numpy', 'pyarrow', 'rich.table')\n"
        "print(codes, [name for name in slow if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=lab, capture_output=True, text=True, check=True)

    assert done.stdout.endswith("\n(0, 0) []\n")
    assert (lab / "x.gpol").read_text() == TIDY


def test_what_needs_no_cluster_loads_nothing_for_one(lab: Path) -> None:
    """Commands that need no cluster, and the help of `serve`, load no library for HTTP, metrics, settings or Kubernetes."""
    (lab / "x.gpol").write_text(TIDY)
    facts = '{"kind":"WorkloadSubmitted","time":1,"workload":"w","queue":"q","pod_sets":[{"requests":{"gpu":"1"}}]}\n'
    (lab / "facts.jsonl").write_text(facts)
    script = (
        "import sys; from gpol.cli.main import run_command\n"
        "commands = [['check', 'x.gpol'], ['run', 'x.gpol', 'facts.jsonl', '--journal', 'x.db'], ['state', 'x.db'],\n"
        "            ['explain', 'x.db', 'w'],\n"
        "            ['verify', 'x.db'], ['export', 'kueue', 'x.gpol'], ['serve', '--help']]\n"
        "codes = {run_command(command) for command in commands}\n"
        "libraries = ('aiohttp', 'prometheus_client', 'kubernetes', 'gpol.adapters.live', 'gpol.console')\n"
        "print(codes, [name for name in libraries if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=lab, capture_output=True, text=True, check=True)

    assert done.stdout.endswith("\n{0} []\n")

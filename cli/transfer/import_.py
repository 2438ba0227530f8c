"""import: the group of commands that make a policy and facts of another system's state. Each command adds itself when it is loaded."""

import click

from ..shared.lazy_group import LazyGroup

SYSTEMS = {
    "kueue": "import_kueue:import_kueue",
    "volcano": "import_volcano:import_volcano",
}
"""Each system whose objects are imported: its module, and what its command is called there."""


@click.group("import", cls=LazyGroup, package=__package__, places=SYSTEMS)
def import_() -> None:
    """Make a policy and facts of another system's state."""

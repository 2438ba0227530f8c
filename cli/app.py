"""The root of the command, and where each command is declared."""

import click

from .shared.lazy_group import LazyGroup

COMMANDS = {
    "check": "policy.check:check",
    "fmt": "policy.fmt:fmt",
    "test": "policy.test:test",
    "diff": "policy.diff:diff",
    "compile": "policy.compile:compile_",
    "run": "run.run:run",
    "simulate": "run.simulate:simulate",
    "log": "journal.log:log",
    "state": "journal.state:state",
    "explain": "journal.explain:explain",
    "replay": "journal.replay:replay",
    "verify": "journal.verify:verify",
    "fsck": "journal.fsck:fsck",
    "snapshot": "journal.snapshot:snapshot",
    "backup": "journal.backup:backup",
    "key": "proof.key:key",
    "checkpoint": "proof.checkpoint:checkpoint",
    "prove": "proof.prove:prove",
    "verify-proof": "proof.verify_proof:verify_proof",
    "impact": "impact.impact:impact",
    "compare": "compare.compare:compare",
    "export": "transfer.export:export",
    "import": "transfer.import_:import_",
    "serve": "serve.serve:serve",
    "schema": "transfer.published_schemas:schema",
    "kai": "decide.kai_decide:kai",
    "kueue": "decide.kueue_decide:kueue",
    "volcano": "decide.volcano_decide:volcano",
}
"""Each command or group of commands: its module, and what it is called there."""


@click.group(cls=LazyGroup, package=__package__, places=COMMANDS, context_settings={"max_content_width": 110})
@click.version_option(package_name="gpol", prog_name="gpol")
def app() -> None:
    """A policy engine for GPU clusters: decisions that replay, explain themselves and can be tried out first."""

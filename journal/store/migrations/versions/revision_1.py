"""The first tables: events, what the database is, which programs wrote it, and snapshots.

A revision is written out and imports nothing of gpol: the tables that it makes stay the same, whatever `tables.py` says later.
"""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None

_REFUSAL = "a journal is only appended to"


def upgrade() -> None:
    """Make the tables."""
    on_sqlite = op.get_bind().dialect.name == "sqlite"
    number = sa.Integer() if on_sqlite else sa.BigInteger()
    op.create_table(
        "events",
        sa.Column("seq", number, primary_key=True, autoincrement=False),
        sa.Column("stream", sa.Text() if on_sqlite else sa.Text(collation="C"), nullable=False),
        sa.Column("version", number, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("chain", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("stream", "version"),
    )
    meta = op.create_table("meta", sa.Column("key", sa.Text(), primary_key=True), sa.Column("value", sa.Text(), nullable=False))
    op.create_table(
        "writers",
        sa.Column("first_seq", number, primary_key=True, autoincrement=False),
        sa.Column("program", sa.Text(), nullable=False),
        sa.Column("semantics", number, nullable=False),
    )
    op.create_table(
        "snapshots",
        sa.Column("seq", number, primary_key=True, autoincrement=False),
        sa.Column("chain", sa.LargeBinary(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
    )
    op.bulk_insert(meta, [{"key": "format", "value": "gpol journal"}, {"key": "version", "value": "1"}])
    for statement in _sqlite_triggers() if on_sqlite else _postgres_triggers():
        op.execute(statement)


def _sqlite_triggers() -> list[str]:
    return [
        f"CREATE TRIGGER events_no_{change.lower()} BEFORE {change} ON events BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
        for change in ("UPDATE", "DELETE")
    ]


def _postgres_triggers() -> list[str]:
    refuse = f"CREATE FUNCTION events_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
    return [
        refuse,
        *(
            f"CREATE TRIGGER events_no_{change.lower()} BEFORE {change} ON events EXECUTE FUNCTION events_refuse()"
            for change in ("UPDATE", "DELETE", "TRUNCATE")
        ),
    ]

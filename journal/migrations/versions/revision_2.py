"""Snapshots: states of the core, a cache that may be emptied at any time."""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "snapshots",
        sa.Column(
            "seq", sa.Integer() if op.get_bind().dialect.name == "sqlite" else sa.BigInteger(), primary_key=True, autoincrement=False
        ),
        sa.Column("chain", sa.LargeBinary(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
    )

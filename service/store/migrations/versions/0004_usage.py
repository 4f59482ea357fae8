"""How often entries are used."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "usage",
        sa.Column("book_id", sa.String(16), nullable=False),
        sa.Column("entry_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("uses", sa.BigInteger, nullable=False),
        sa.Column("fetches", sa.BigInteger, nullable=False),
        sa.Column("last_used_at", sa.String(32)),
        sa.PrimaryKeyConstraint("book_id", "entry_id", name="pk_usage"),
        sa.ForeignKeyConstraint(
            ["book_id", "entry_id"], ["entries.book_id", "entries.id"], name="fk_usage_entries", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "counted_turns",
        sa.Column("owner_id", sa.String(200), nullable=False),
        sa.Column("conversation", sa.String(200), nullable=False),
        sa.Column("turn", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("entries", sa.JSON, nullable=False, comment="Entry ids by book: what this turn has counted already."),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("owner_id", "conversation", "turn", name="pk_counted_turns"),
    )
    op.create_index("ix_counted_turns_at", "counted_turns", ["at"])

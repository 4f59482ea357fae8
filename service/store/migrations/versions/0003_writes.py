"""Writes of models into living books."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "responses",
        sa.Column("owner_id", sa.String(200), nullable=False),
        sa.Column("conversation", sa.String(200), nullable=False),
        sa.Column("response_id", sa.String(200), nullable=False),
        sa.Column("discarded_at", sa.String(32)),
        sa.PrimaryKeyConstraint("owner_id", "conversation", "response_id", name="pk_responses"),
        comment="Replies that wrote into a book or were discarded. "
        "Whoever writes for one, or discards it, locks its row.",
    )
    op.create_table(
        "writes",
        sa.Column("book_id", sa.String(16), nullable=False),
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("owner_id", sa.String(200), nullable=False),
        sa.Column("entry_id", sa.Integer, nullable=False, comment="Of an entry that may be deleted; its writes stay."),
        sa.Column(
            "version",
            sa.Integer,
            nullable=False,
            comment="Of the book, made by this write: the order of its writes.",
        ),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("before", sa.JSON),
        sa.Column("after", sa.JSON, nullable=False),
        sa.Column("conversation", sa.String(200), nullable=False),
        sa.Column("turn", sa.BigInteger, nullable=False),
        sa.Column("response_id", sa.String(200), nullable=False),
        sa.Column("call_id", sa.String(200)),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("book_id", "id", name="pk_writes"),
        sa.ForeignKeyConstraint(["book_id"], ["books.id"], name="fk_writes_books", ondelete="CASCADE"),
        sa.UniqueConstraint(
            "owner_id",
            "conversation",
            "response_id",
            "call_id",
            name="uq_writes_owner_id_conversation_response_id_call_id",
        ),
    )
    op.create_index("ix_writes_book_id_entry_id_version", "writes", ["book_id", "entry_id", "version"])

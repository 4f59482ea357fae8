"""First tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "issued_ids",
        sa.Column("book_id", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("book_id", name="pk_issued_ids"),
        comment="Every book id ever given out: the id of a deleted book never comes back as another book.",
    )
    op.create_table(
        "books",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("owner_id", sa.String(200), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("vector_counter", sa.Integer, nullable=False),
        sa.Column("next_entry_id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("dialect", sa.String(32), nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("settings", sa.JSON, nullable=False),
        sa.Column("extensions", sa.JSON, nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("updated_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_books"),
        sa.UniqueConstraint("owner_id", "name", name="uq_books_owner_id_name"),
    )
    op.create_table(
        "entries",
        sa.Column("book_id", sa.String(16), nullable=False),
        sa.Column("id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("aliases", sa.JSON, nullable=False),
        sa.Column("gist", sa.Text),
        sa.Column("tier", sa.String(32), nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("extensions", sa.JSON, nullable=False),
        sa.Column("text_hash", sa.String(64), nullable=False),
        sa.Column("updated_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("book_id", "id", name="pk_entries"),
        sa.ForeignKeyConstraint(["book_id"], ["books.id"], name="fk_entries_books", ondelete="CASCADE"),
    )
    op.create_index("ix_entries_text_hash", "entries", ["text_hash"])
    op.create_table(
        "hosts",
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("kind", "key", name="pk_hosts"),
    )
    op.create_table(
        "cast_members",
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("position", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("member_kind", sa.String(32), nullable=False),
        sa.Column("member_key", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("kind", "key", "position", name="pk_cast_members"),
        sa.ForeignKeyConstraint(
            ["kind", "key"], ["hosts.kind", "hosts.key"], name="fk_cast_members_hosts", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "attachments",
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("book_id", sa.String(16), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("label", sa.Text),
        sa.PrimaryKeyConstraint("kind", "key", "book_id", name="pk_attachments"),
        sa.ForeignKeyConstraint(["book_id"], ["books.id"], name="fk_attachments_books", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["kind", "key"], ["hosts.kind", "hosts.key"], name="fk_attachments_hosts", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_attachments_book_id", "attachments", ["book_id"])
    op.create_table(
        "spaces",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("stamp", sa.JSON, nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_spaces"),
    )
    op.create_table(
        "vectors",
        sa.Column("space_id", sa.String(64), nullable=False),
        sa.Column("text_hash", sa.String(64), nullable=False),
        sa.Column("pieces", sa.Integer, nullable=False),
        sa.Column("windows", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary),
        sa.PrimaryKeyConstraint("space_id", "text_hash", name="pk_vectors"),
        comment="One row per embedded text: float16 rows of its pieces, then of its windows; no data when it failed.",
    )
    op.create_table(
        "idempotency",
        sa.Column("owner_id", sa.String(200), nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("route", sa.Text, nullable=False),
        sa.Column("body_hash", sa.String(64), nullable=False),
        sa.Column("status", sa.Integer, comment="Null while the first call is still running."),
        sa.Column("headers", sa.JSON),
        sa.Column("body", sa.LargeBinary),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("owner_id", "key", name="pk_idempotency"),
    )

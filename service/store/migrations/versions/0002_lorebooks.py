"""Lorebooks: trigger entries, channels, lineages, conversation states and the request log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("books", sa.Column("channels", sa.JSON))
    op.add_column("entries", sa.Column("trigger", sa.JSON))
    op.add_column(
        "hosts",
        sa.Column("lineage", sa.String(200), comment="Of a persona: the key that its books hang on; null is its own."),
    )
    op.create_table(
        "conversation_states",
        sa.Column("owner_id", sa.String(200), nullable=False),
        sa.Column("conversation", sa.String(200), nullable=False),
        sa.Column("turn", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("state", sa.JSON, nullable=False),
        sa.Column("updated_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("owner_id", "conversation", "turn", name="pk_conversation_states"),
        comment="What lorebooks remember after a turn; the turn begins with the state of the greatest turn below.",
    )
    op.create_index("ix_conversation_states_updated_at", "conversation_states", ["updated_at"])
    op.create_table(
        "requests",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False),
        sa.Column("owner_id", sa.String(200), nullable=False),
        sa.Column("id", sa.String(200), nullable=False),
        sa.Column(
            "once", sa.String(64), comment="Hash of conversation, turn and response id: such a request counts once."
        ),
        sa.Column("conversation", sa.String(200)),
        sa.Column("turn", sa.BigInteger, nullable=False),
        sa.Column("response_id", sa.String(200)),
        sa.Column("entered", sa.Integer, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_requests"),
        sa.UniqueConstraint("owner_id", "once", name="uq_requests_owner_id_once"),
    )
    op.create_index("ix_requests_id", "requests", ["owner_id", "id"])
    op.create_index("ix_requests_conversation", "requests", ["owner_id", "conversation", "turn"])
    op.create_index("ix_requests_created_at", "requests", ["created_at"])
    op.create_table(
        "request_entries",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False),
        sa.Column("handle", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("number", "handle", name="pk_request_entries"),
        sa.ForeignKeyConstraint(
            ["number"], ["requests.number"], name="fk_request_entries_requests", ondelete="CASCADE"
        ),
        comment="The entries that a logged request gave to the model.",
    )
    op.create_index("ix_request_entries_handle", "request_entries", ["handle"])

"""The key that scopes are signed with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "scope_keys",
        sa.Column("place", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("key_id", sa.LargeBinary, nullable=False),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("place", name="pk_scope_keys"),
        comment="The one key that scopes are signed with, at place 1; changing it revokes every scope.",
    )

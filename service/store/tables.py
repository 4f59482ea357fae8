"""The tables, the same on SQLite and PostgreSQL; migrations/versions brings a database to them.

The database is the truth: whatever else is in memory is derived from it and can be dropped at any time. Timestamps are
text, RFC 3339 in UTC with milliseconds, so that they sort, compare and answer alike everywhere.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

issued_ids = Table(
    "issued_ids",
    metadata,
    Column("book_id", String(16), primary_key=True),
    comment="Every book id ever given out: the id of a deleted book never comes back as another book.",
)

books = Table(
    "books",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("owner_id", String(200), nullable=False),
    Column("version", Integer, nullable=False),
    Column("vector_counter", Integer, nullable=False),
    Column("next_entry_id", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("dialect", String(32), nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("channels", JSON(none_as_null=True)),
    Column("extensions", JSON, nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("updated_at", String(32), nullable=False),
    UniqueConstraint("owner_id", "name"),
)

entries = Table(
    "entries",
    metadata,
    Column("book_id", String(16), ForeignKey("books.id", ondelete="CASCADE"), primary_key=True),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("title", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("aliases", JSON, nullable=False),
    Column("gist", Text),
    Column("tier", String(32), nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("trigger", JSON(none_as_null=True)),
    Column("extensions", JSON, nullable=False),
    Column("text_hash", String(64), nullable=False),
    Column("updated_at", String(32), nullable=False),
    Index(None, "text_hash"),
)

hosts = Table(
    "hosts",
    metadata,
    Column("kind", String(32), primary_key=True),
    Column("key", String(200), primary_key=True),
    Column("name", Text, nullable=False),
    Column("lineage", String(200), comment="Of a persona: the key that its books hang on; null is its own."),
    Column("created_at", String(32), nullable=False),
)

cast_members = Table(
    "cast_members",
    metadata,
    Column("kind", String(32), primary_key=True),
    Column("key", String(200), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("member_kind", String(32), nullable=False),
    Column("member_key", String(200), nullable=False),
    ForeignKeyConstraint(["kind", "key"], ["hosts.kind", "hosts.key"], ondelete="CASCADE"),
)

attachments = Table(
    "attachments",
    metadata,
    Column("kind", String(32), primary_key=True),
    Column("key", String(200), primary_key=True),
    Column("book_id", String(16), ForeignKey("books.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("label", Text),
    ForeignKeyConstraint(["kind", "key"], ["hosts.kind", "hosts.key"], ondelete="CASCADE"),
    Index(None, "book_id"),
)

spaces = Table(
    "spaces",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("stamp", JSON, nullable=False),
    Column("created_at", String(32), nullable=False),
)

vectors = Table(
    "vectors",
    metadata,
    Column("space_id", String(64), primary_key=True),
    Column("text_hash", String(64), primary_key=True),
    Column("pieces", Integer, nullable=False),
    Column("windows", Integer, nullable=False),
    Column("data", LargeBinary),
    comment="One row per embedded text: float16 rows of its pieces, then of its windows; no data when it failed.",
)

responses = Table(
    "responses",
    metadata,
    Column("owner_id", String(200), primary_key=True),
    Column("conversation", String(200), primary_key=True),
    Column("response_id", String(200), primary_key=True),
    Column("discarded_at", String(32)),
    comment="Replies that wrote into a book or were discarded. Whoever writes for one, or discards it, locks its row.",
)

writes = Table(
    "writes",
    metadata,
    Column("book_id", String(16), ForeignKey("books.id", ondelete="CASCADE"), primary_key=True),
    Column("id", String(32), primary_key=True),
    Column("owner_id", String(200), nullable=False),
    Column("entry_id", Integer, nullable=False, comment="Of an entry that may be deleted; its writes stay."),
    Column("version", Integer, nullable=False, comment="Of the book, made by this write: the order of its writes."),
    Column("action", String(16), nullable=False),
    Column("before", JSON(none_as_null=True)),
    Column("after", JSON, nullable=False),
    Column("conversation", String(200), nullable=False),
    Column("turn", BigInteger, nullable=False),
    Column("response_id", String(200), nullable=False),
    Column("call_id", String(200)),
    Column("at", String(32), nullable=False),
    Column("state", String(16), nullable=False),
    UniqueConstraint("owner_id", "conversation", "response_id", "call_id"),
    Index(None, "book_id", "entry_id", "version"),
)

usage = Table(
    "usage",
    metadata,
    Column("book_id", String(16), primary_key=True),
    Column("entry_id", Integer, primary_key=True, autoincrement=False),
    Column("uses", BigInteger, nullable=False),
    Column("fetches", BigInteger, nullable=False),
    Column("last_used_at", String(32)),
    ForeignKeyConstraint(["book_id", "entry_id"], ["entries.book_id", "entries.id"], ondelete="CASCADE"),
)

counted_turns = Table(
    "counted_turns",
    metadata,
    Column("owner_id", String(200), primary_key=True),
    Column("conversation", String(200), primary_key=True),
    Column("turn", BigInteger, primary_key=True, autoincrement=False),
    Column("entries", JSON, nullable=False, comment="Entry ids by book: what this turn has counted already."),
    Column("at", String(32), nullable=False),
    Index(None, "at"),
)

conversation_states = Table(
    "conversation_states",
    metadata,
    Column("owner_id", String(200), primary_key=True),
    Column("conversation", String(200), primary_key=True),
    Column("turn", BigInteger, primary_key=True, autoincrement=False),
    Column("state", JSON, nullable=False),
    Column("updated_at", String(32), nullable=False),
    Index(None, "updated_at"),
    comment="What lorebooks remember after a turn; the turn begins with the state of the greatest turn below.",
)

requests = Table(
    "requests",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("owner_id", String(200), nullable=False),
    Column("id", String(200), nullable=False),
    Column("once", String(64), comment="Hash of conversation, turn and response id: such a request counts once."),
    Column("conversation", String(200)),
    Column("turn", BigInteger, nullable=False),
    Column("response_id", String(200)),
    Column("entered", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("created_at", String(32), nullable=False),
    UniqueConstraint("owner_id", "once"),
    Index("ix_requests_id", "owner_id", "id"),
    Index("ix_requests_conversation", "owner_id", "conversation", "turn"),
    Index("ix_requests_created_at", "created_at"),
)

request_entries = Table(
    "request_entries",
    metadata,
    Column("number", ForeignKey("requests.number", ondelete="CASCADE"), primary_key=True),
    Column("handle", String(40), primary_key=True),
    Index(None, "handle"),
    comment="The entries that a logged request gave to the model.",
)

idempotency = Table(
    "idempotency",
    metadata,
    Column("owner_id", String(200), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("route", Text, nullable=False),
    Column("body_hash", String(64), nullable=False),
    Column("status", Integer, comment="Null while the first call is still running."),
    Column("headers", JSON),
    Column("body", LargeBinary),
    Column("created_at", String(32), nullable=False),
)

scope_keys = Table(
    "scope_keys",
    metadata,
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("key_id", LargeBinary, nullable=False),
    Column("secret", LargeBinary, nullable=False),
    Column("created_at", String(32), nullable=False),
    comment="The one key that scopes are signed with, at place 1; changing it revokes every scope.",
)

"""Every setting of the service, read from the environment (`WORLDBOOK_…`) or a `.env` file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import Field, SecretStr, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict

MOST_DAYS = 36_500
"""A hundred years, which no date that is computed from it falls out of the calendar."""


class Settings(BaseSettings):
    """One instance is made at start and handed down; nothing reads the environment later."""

    model_config = SettingsConfigDict(
        env_prefix="WORLDBOOK_", env_file=".env", extra="ignore", use_attribute_docstrings=True, frozen=True
    )

    data_dir: Path = Field(default_factory=lambda: Path(platformdirs.user_data_dir("worldbook", False)))
    """Folder of the embedded database, and of what `worldbook calibrate` measured."""
    database_url: str = ""
    """SQLAlchemy URL; empty: SQLite in `data_dir`."""
    cache_dir: Path = Field(default_factory=lambda: Path(platformdirs.user_cache_dir("worldbook", False)))
    """Folder of the unpacked default model; may be deleted at any time."""

    host: str = "127.0.0.1"
    """Address to listen on. Others than loopback need `--insecure`, since the service has no keys yet."""
    port: int = Field(default=8420, ge=0, le=65535)
    """Port to listen on; 0: any free one."""
    allowed_hosts: list[str] = ["127.0.0.1", "localhost", "[::1]"]
    """Values of the Host header that are answered; against DNS rebinding."""
    cors_origins: list[str] = []
    """Origins that browsers may call from; empty: none."""

    model: str = "bundled"
    """`bundled`, `hashing`, `remote`, or a sentence-transformers hub name or folder."""
    backend: Literal["torch", "openvino"] = "torch"
    """What runs a local model: `torch`, or `openvino` (extra `worldbook[openvino]`): the same vectors without torch."""
    device: str = "auto"
    """Where torch runs a local model: `auto`, `cpu`, `cuda`, `mps`."""
    remote_url: str = ""
    """With `model=remote`: base URL of an OpenAI-compatible embeddings endpoint, up to and including `/v1`."""
    remote_model: str = ""
    """With `model=remote`: the model name to send."""
    remote_key: SecretStr = SecretStr("")
    """With `model=remote`: the bearer token, if it needs one."""
    embed_timeout: float = Field(default=2.0, gt=0, le=3600, allow_inf_nan=False)
    """Seconds that a retrieval waits for the vectors of its messages before it answers without them; at most 3600."""

    budget_tokens: int = Field(default=2000, ge=0, le=200_000)
    """Tokens of world books in one prompt, when the request does not say."""
    tokenizer: str = ""
    """Tokenizer when neither the request nor its model names one; empty: o200k_base if at hand, else cl100k_base. One
    that cannot count on this machine is refused at start."""
    unknown_model_margin: float = Field(default=1.15, ge=1.0, le=4.0)
    """Factor on the cl100k count for models whose tokenizer is not known."""
    heavy_canon_tokens: int = Field(default=1000, ge=0)
    """Canon of a book above this is warned about."""
    places: int = Field(default=8, ge=0, le=100)
    """How many entries may come by meaning, when neither request nor book says."""

    budget_characters: int = Field(default=8_000, ge=0, le=1_000_000)
    """Characters of all attached lorebooks of the dialect `server` in one prompt."""
    state_turns: int = Field(default=200, ge=1)
    """Turns of a conversation whose lorebook state is kept, so that they can be regenerated."""
    state_days: float = Field(default=90.0, gt=0, le=MOST_DAYS, allow_inf_nan=False)
    """Days after which the lorebook state of a turn is forgotten; at most 36500."""
    log_days: float = Field(default=30.0, ge=0, le=MOST_DAYS, allow_inf_nan=False)
    """Days that the request log keeps a request, at most 36500; 0: nothing is logged."""
    log_bytes: int = Field(default=100_000_000, ge=0)
    """Bytes of the request log; the oldest requests leave first."""
    scope_seconds: int = Field(default=3600, ge=1, le=31 * 86_400)
    """How long the scope of a retrieval lets tools reach what was attached to it."""

    cache_bytes: int = Field(default=512_000_000, ge=0)
    """Memory for opened books: texts, automata, vectors."""
    threads: int = Field(default=40, ge=1)
    """Requests worked on at once; the database pool has as many connections."""

    max_waiting: int = Field(default=200, ge=0)
    """Requests that may wait for a thread; while so many do, others are refused at once with 503."""
    max_wait: float = Field(default=10.0, gt=0)
    """Seconds that a request may wait for a thread; after that it is refused with 503. Work that has begun goes on."""
    max_body_bytes: int = 2_000_000
    """Bytes of a request body; imports have their own limit."""
    max_import_bytes: int = 16_000_000
    """Bytes of an imported file of JSON, and of the JSON in a card."""
    max_card_bytes: int = 20_000_000
    """Bytes of an imported card: PNG, CHARX or BYAF, pictures included."""
    max_unpacked_bytes: int = 64_000_000
    """Bytes that anything compressed in a card may unpack to."""
    max_backup_bytes: int = 4_000_000_000
    """Bytes of a full backup that is restored."""
    max_books: int = 10_000
    """Books of the owner."""
    max_entries: int = 10_000
    """Entries of a book."""
    max_server_entries: int = 250
    """Entries of a lorebook of the dialect `server`, and of all such books of one server together."""
    max_server_import_bytes: int = 2_000_000
    """Bytes of a file of JSON imported in the dialect `server`."""
    max_entries_a_call: int = 500
    """Entries added to a book in one call; a new book may bring as many as a book may have."""
    max_fetch_tokens: int = 4_000
    """Tokens of all bodies of one fetch."""
    max_writes_a_turn: int = Field(default=5, ge=0)
    """Writes of models into living books in one turn of a conversation; those of discarded replies do not count."""
    max_import_wait: float = 60.0
    """Seconds that an import with `wait=true` waits for its vectors."""

    @field_validator("tokenizer")
    @classmethod
    def _tokenizer_counts_here(cls, name: str) -> str:
        if not name:
            return name
        # Only here, since loading it takes a command longer than all else of the settings.
        from service.tokenizers import known

        if name not in known():
            raise PydanticCustomError(
                "unknown_tokenizer",
                "'{name}' is no tokenizer that can count on this machine; one of {known}, or leave it empty",
                {"name": name, "known": ", ".join(known())},
            )
        return name

    @property
    def url(self) -> str:
        """The database that is used."""
        return self.database_url or f"sqlite:///{self.data_dir / 'worldbook.db'}"

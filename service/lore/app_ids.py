"""What an app calls a conversation or a reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from annotated_types import MaxLen, MinLen


class _WithoutControls:
    """Annotates a string that holds no control character, as the key of a host (`is_host_key`).

    Pydantic asks annotations for this method by name, so the domain needs not import it.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> dict[str, Any]:
        return {**handler(source), "pattern": r"^[^\x00-\x1f\x7f-\x9f]*$"}


AppId = Annotated[str, MinLen(1), MaxLen(200), _WithoutControls()]
"""By what it is kept and found again, also as a host and in paths."""

"""What only HTTP can get wrong; the domain knows none of these.

WorldbookError
├── MalformedBody          the body is no JSON, or no multipart
├── UnsupportedMediaType   the body is of another type
├── HostNotAllowed         the Host header is not one of this service
├── OriginNotAllowed       a web page of another origin wants to change something
├── Overloaded             too many requests wait for a thread, or this one has waited too long
├── NoSuchRoute            nothing has this path
└── MethodNotAllowed       the path has no such method
"""

from __future__ import annotations

from collections.abc import Iterable

from service.lore.errors import WorldbookError


class MalformedBody(WorldbookError):
    """The body is not what its type says."""


class UnsupportedMediaType(WorldbookError):
    """The body is of a type that this route does not read."""

    def __init__(self, given: str, accepted: Iterable[str]) -> None:
        named = f"'{given}' is not accepted here" if given else "the request names no Content-Type"
        super().__init__(named, remedy=f"Send it with Content-Type: {' or '.join(accepted)}.")


class HostNotAllowed(WorldbookError):
    """Against DNS rebinding: a web page may point its own name at this address."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"this service does not answer to the host '{host}'",
            remedy="Call it by one of its own names, or add this one to the setting WORLDBOOK_ALLOWED_HOSTS.",
        )


class OriginNotAllowed(WorldbookError):
    """Against pages that post to a local service behind their visitor's back."""

    def __init__(self, origin: str) -> None:
        super().__init__(
            f"pages of '{origin}' may not change anything here",
            remedy="If the page is yours, add its origin to the setting WORLDBOOK_CORS_ORIGINS.",
        )


class Overloaded(WorldbookError):
    """Nothing of the request was done."""


class NoSuchRoute(WorldbookError):
    """Nothing has this path."""

    def __init__(self, path: str) -> None:
        super().__init__(f"there is no route {path}", remedy="/docs lists all routes.")


class MethodNotAllowed(WorldbookError):
    """The path exists, with other methods."""

    def __init__(self, method: str, allowed: Iterable[str]) -> None:
        self.allowed = tuple(allowed)
        super().__init__(f"{method} is not possible here", remedy=f"Use one of {', '.join(self.allowed)}.")

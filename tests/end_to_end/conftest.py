"""One service with the sample world for all that only reads, or writes books of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.end_to_end.server import Server, environment, serving


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`worldbook demo` with the instant embedder."""
    folder = tmp_path_factory.mktemp("demo")
    with serving(folder, "demo", env=environment(folder / "data", model="hashing")) as server:
        yield server

"""What HTTP costs with this framework: JSON in and parsed, JSON out and written, nothing in between.

python -m benchmarks.speed.echo reads the answer that it gives to everything from standard input, as JSON; then it
prints its address and serves until it is stopped.
"""

from __future__ import annotations

import socket
import sys
from typing import Annotated, Any

import orjson
import uvicorn
from fastapi import Body, FastAPI
from starlette.responses import Response


def echo_app(answer: Any) -> FastAPI:
    """One sync route that always gives this answer, on the thread pool like those of the service."""
    app = FastAPI()

    @app.post("/echo")
    def echo(asked: Annotated[dict[str, Any], Body()]) -> Response:
        return Response(orjson.dumps(answer), media_type="application/json")

    return app


def main() -> None:
    """Serve on a free port of loopback."""
    answer = orjson.loads(sys.stdin.buffer.read())
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(echo_app(answer), log_level="warning", access_log=False)).run([listener])


if __name__ == "__main__":
    main()

"""What HTTP costs with this framework: 4 kB of JSON in and parsed, 12 kB of JSON out, nothing in between.

python -m benchmarks.speed.echo prints its port and serves until it is stopped.
"""

from __future__ import annotations

import socket
from typing import Annotated, Any

import orjson
import uvicorn
from fastapi import Body, FastAPI
from starlette.responses import Response

ANSWER_BYTES = 12_000


def echo_app() -> FastAPI:
    """One sync route, on the thread pool like those of the service."""
    app = FastAPI()
    answer = {"text": "x" * (ANSWER_BYTES // 2), "rows": [{"number": n, "title": "a row"} for n in range(200)]}

    @app.post("/echo")
    def echo(asked: Annotated[dict[str, Any], Body()]) -> Response:
        return Response(orjson.dumps(answer), media_type="application/json")

    return app


def main() -> None:
    """Serve on a free port of loopback."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(echo_app(), log_level="warning", access_log=False)).run([listener])


if __name__ == "__main__":
    main()

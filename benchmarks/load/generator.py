"""Sends planned requests, in a process of its own: what it costs is not taken from the service's time slices of Python.

    python -m benchmarks.load.generator ADDRESS < PLAN > RESULTS

PLAN is one line of JSON `{"callers": null}` (open loop) or `{"callers": 16}` (closed loop), then a line a request:
`{"at": SECONDS, "body": {…}}`. RESULTS is a line a request: `[at, seconds, status, degraded]`.

Open loop: each request is sent when it is due, whatever became of those before, and its latency counts from when it was
due, not from when it could be sent. A generator that waits for an answer before it sends the next request leaves out
the requests that would have met the stall: "coordinated omission" (Gil Tene, "How NOT to measure latency"; his wrk2
does as is done here). Closed loop: so many callers, each sends its next request when it has its answer; this measures
throughput, and of several callers the latencies mean nothing.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import aiohttp

Result = tuple[float, float, int, bool]
LEAD = 0.5
"""Seconds before the first request is due."""
NO_ANSWER = 0
"""In place of a status: the connection failed."""


async def _send(session: aiohttp.ClientSession, address: str, request: dict[str, Any], due: float) -> Result:
    try:
        async with session.post(f"{address}/v1/retrieve", data=request["data"]) as answer:
            told = await answer.read()
            status = answer.status
    except (aiohttp.ClientError, TimeoutError):
        told, status = b"", NO_ANSWER
    seconds = time.perf_counter() - due
    # The list of what is missing is empty in a healthy answer; parsing all of it would cost more than sending it.
    return request["at"], seconds, status, status == 200 and b'"degraded":[]' not in told


async def open_loop(address: str, plan: Sequence[dict[str, Any]]) -> list[Result]:
    """Send each request when it is due."""
    async with _session() as session:
        start = time.perf_counter() + LEAD
        tasks = []
        for request in plan:
            due = start + request["at"]
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            tasks.append(asyncio.create_task(_send(session, address, request, due)))
        return await asyncio.gather(*tasks)


async def closed_loop(address: str, plan: Sequence[dict[str, Any]], callers: int) -> list[Result]:
    """Let each caller send its share, one after the other; `at` is when the request was sent."""
    async with _session() as session:
        start = time.perf_counter()
        left = iter(plan)
        results: list[Result] = []

        async def call() -> None:
            for request in left:
                now = time.perf_counter()
                results.append(await _send(session, address, {**request, "at": now - start}, now))

        await asyncio.gather(*(call() for _ in range(callers)))
        return results


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=120),
        headers={"Content-Type": "application/json"},
    )


def main() -> None:
    """Read the plan, carry it out, write what came back."""
    how, *plan = (json.loads(line) for line in sys.stdin)
    for request in plan:
        request["data"] = json.dumps(request.pop("body")).encode()
    address = sys.argv[1]
    callers = how["callers"]
    results = asyncio.run(open_loop(address, plan) if callers is None else closed_loop(address, plan, callers))
    print("\n".join(json.dumps(result) for result in results))


if __name__ == "__main__":
    main()

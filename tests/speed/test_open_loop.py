"""The load benchmark: what it plans, what it measures, and that it runs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest
from aiohttp import web

from benchmarks.load import __main__ as command
from benchmarks.load.generator import NO_ANSWER, open_loop
from benchmarks.load.plan import Work, arrivals, bodies, opening
from benchmarks.load.runs import Run

WORK = Work(books=("a", "b", "c", "d"), books_a_request=2, conversations=3)


def test_arrivals_have_the_rate() -> None:
    """As many requests a second arrive as were asked for, at times that do not depend on each other."""
    due = arrivals(50.0, 20_000, seed=1)
    gaps = np.diff(due)
    assert due[-1] == pytest.approx(400, rel=0.03)
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.05)
    assert np.array_equal(due, arrivals(50.0, 20_000, seed=1))


def test_messages_have_the_lengths_asked_for() -> None:
    """What the user and the model say has so many words, and they take turns."""
    work = Work(books=WORK.books, user_words=(3, 9), reply_words=(20, 30))
    for body in bodies(work, 50, seed=2):
        assert [message["role"] for message in body["messages"]] == ["assistant", "user"] * 3
        for message in body["messages"]:
            fewest, most = work.user_words if message["role"] == "user" else work.reply_words
            assert fewest <= len(message["content"].split()) <= most


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_share_of_new_turns(share: float) -> None:
    """As many requests as asked for bring a message that no earlier request of the conversation had."""
    work = Work(books=WORK.books, conversations=3, share_new=share)
    planned = bodies(work, 600, seed=2)
    seen = {
        message["content"]
        for body in bodies(Work(books=WORK.books, conversations=3, share_new=0), 600, seed=2)
        for message in body["messages"]
    }
    new = 0
    for body in planned:
        last = body["messages"][-1]
        assert (last["role"], len(body["messages"]), len(body["books"])) == ("user", 6, 3)
        new += last["content"] not in seen
        seen.add(last["content"])
    assert new / 600 == pytest.approx(share, abs=0.06)


def test_latency_counts_from_when_a_request_was_due() -> None:
    """A stall of the service shows in every request that was due meanwhile, not only in the one that met it."""

    async def run() -> list[tuple[float, float, int, bool]]:
        stalled = asyncio.Lock()

        async def answer(request: web.Request) -> web.Response:
            async with stalled:
                if (await request.json())["stall"]:
                    await asyncio.sleep(0.4)
            return web.Response(body=b'{"degraded":[]}')

        app = web.Application()
        app.router.add_post("/v1/retrieve", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        plan = [
            {"at": number / 50, "data": json.dumps({"stall": number == 0}).encode(), "number": number}
            for number in range(10)
        ]
        try:
            return await open_loop(f"http://127.0.0.1:{port}", plan)
        finally:
            await runner.cleanup()

    results = asyncio.run(run())
    assert [status for _, _, status, _ in results] == [200] * 10
    assert all(at + seconds >= 0.4 for at, seconds, _, _ in results), "none was answered before the stall was over"
    assert all(seconds >= 0.4 - at for at, seconds, _, _ in results)


def test_what_is_no_answer_is_an_error() -> None:
    """Nobody there, a refusal and an answer without a model are errors; percentiles are those of the answers."""
    assert [status for *_, status, _ in asyncio.run(open_loop("http://127.0.0.1:9", [{"at": 0.0, "data": b"{}"}]))] == [
        NO_ANSWER
    ]
    run = Run([(0.0, 0.5, 200, False), (0.1, 9.0, 503, False), (0.2, 9.0, NO_ANSWER, False), (0.3, 0.7, 200, True)], [])
    assert (run.errors, run.refused) == (3, 1)
    assert run.percentile(100) == pytest.approx(700)


@pytest.mark.parametrize(
    ("seconds", "status", "holds"),
    [
        (lambda n: 0.1, 200, True),
        (lambda n: 1.5, 200, True),
        (lambda n: 0.1 + n / 100, 200, False),
        (lambda n: 0.1, 503, False),
    ],
    ids=["even", "slow and even", "slower and slower", "refused"],
)
def test_a_service_that_keeps_up(seconds, status, holds) -> None:
    """A rate holds when nobody is refused and few requests are in the service at the end."""
    run = Run([(n / 10, seconds(n), status, False) for n in range(400)], [])
    assert run.holds() is holds


def test_half_of_saturation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`steady` reads the rate that `saturate` wrote, and tells percentiles, errors and memory."""
    monkeypatch.setattr(Run, "holds", lambda _: True)  # one stall would decide so short a run
    for name in ("saturate", "steady"):
        assert command.main([name, "--tiny", "--into", str(tmp_path)]) == 0
    rate = json.loads((tmp_path / "saturate.json").read_text())["figures"]["saturation_per_second"]
    told = json.loads((tmp_path / "steady.json").read_text())["figures"]
    assert told["rate_per_second"] == pytest.approx(rate / 2)
    assert told["errors"] == 0
    assert 0 < told["p50_ms"] <= told["p95_ms"] <= told["p99.9_ms"]
    assert 0.5 < told["memory_growth"] < 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["batching", "overload"])
def test_the_other_commands_run(name: str, tmp_path: Path) -> None:
    """`batching` and `overload` run to their end, with other books and messages too."""
    chosen = ["--books", "2", "--user-words", "3", "5", "--reply-words", "6", "9", "--share-new", "0.5"]
    assert command.main([name, "--tiny", "--rate", "20", "--into", str(tmp_path), *chosen]) == 0
    assert json.loads((tmp_path / f"{name}.json").read_text())["figures"]


def test_as_many_requests_as_asked_for(tmp_path: Path) -> None:
    """`steady` sends as many requests as the option says."""
    assert command.main(["steady", "--tiny", "--rate", "40", "--requests", "12", "--into", str(tmp_path)]) == 0
    assert json.loads((tmp_path / "steady.json").read_text())["figures"]["requests"] == 12


def test_a_rate_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a rate `steady` says how to get one."""
    with pytest.raises(SystemExit, match="2"):
        command.main(["steady", "--tiny", "--into", str(tmp_path)])
    assert "run `saturate --into FOLDER` first" in capsys.readouterr().err


def test_the_opening_is_where_the_plan_begins() -> None:
    """Before the plan each conversation was as the opening has it: a turn at most is unknown to a service."""
    seen = {message["content"] for body in opening(WORK, seed=2) for message in body["messages"]}
    for body in bodies(WORK, 200, seed=2):
        contents = [message["content"] for message in body["messages"]]
        assert len(set(contents) - seen) <= 2
        seen.update(contents)

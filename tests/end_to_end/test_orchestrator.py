"""The example of docs/ runs a chat: it retrieves, passes the tools on, runs the calls and takes writes back."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

from tests.end_to_end.server import ROOT, Server
from tests.spec.asking import Json, ok
from tests.spec.vendor_rules import VENDORS, faults


def calling(*calls: tuple[str, str, Json]) -> Json:
    """A message of a model that calls tools: id, name, arguments."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for id_, name, arguments in calls
        ],
    }


def saying(text: str) -> Json:
    return {"role": "assistant", "content": text}


@contextmanager
def endpoint(script: list[Json]) -> Iterator[tuple[str, list[Json]]]:
    """An OpenAI-compatible endpoint that answers what the script says; its address, and what it was asked."""
    asked: list[Json] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/chat/completions"
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            body = json.dumps({"choices": [{"index": 0, "message": script[len(asked) - 1]}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
        finally:
            server.shutdown()
            thread.join()


def chat(demo: Server, llm: str, conversation: str, *lines: str) -> list[str]:
    """What the example prints for these lines."""
    command = [sys.executable, "-W", "error", str(ROOT / "docs" / "orchestrator.py"), "--worldbook", demo.url]
    command += ["--llm", llm, "--model", "gpt-5", "--conversation", conversation]
    ran = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_a_chat_with_tools(demo: Server) -> None:
    """M1: the example gives the model the lore and the tools, runs its calls, and gives it what they answer."""
    title = ok(httpx.post(f"{demo.url}/v1/search", json={"query": "gate", "hosts": ["character:ilse"]}))["items"][0]
    script = [
        calling(("call_0", "lore_search", {"query": "the gate", "cursor": None})),
        calling(("call_0", "lore_fetch", {"names": [title["handle"]]}), ("call_1", "lore_fetch", {"names": ["Xyzzy"]})),
        saying("It opens at low tide."),
        saying("You are welcome."),
    ]
    with endpoint(script) as (url, asked):
        assert chat(demo, url, "o-1", "When does the gate open?", "Thank you.") == [
            "It opens at low tide.",
            "You are welcome.",
        ]
    first, second, third, fourth = asked
    assert faults(VENDORS["openai"], first["tools"]) == []
    assert first["messages"][0]["role"] == "system"
    assert "<lore-" in "".join(message["content"] for message in first["messages"])
    assert first["messages"][-1] == {"role": "user", "content": "When does the gate open?"}
    assert second["messages"][-1]["role"] == "tool"
    assert title["handle"] in second["messages"][-1]["content"]
    body, miss = (message["content"] for message in third["messages"][-2:])
    assert f"## {title['title']} [{title['handle']}]" in body
    assert 'Nothing is called "Xyzzy"' in miss
    assert [message["role"] for message in fourth["messages"] if message["role"] != "system"] == [
        "user", "assistant", "user",
    ]  # fmt: skip


def test_another_reply_takes_writes_back(demo: Server) -> None:
    """M1: a reply writes into the living book of the conversation, and another in its place finds that undone."""
    book = ok(
        httpx.post(f"{demo.url}/v1/books", json={"name": "Orchestrated diary", "settings": {"living": True}}), 201
    )["id"]
    ok(httpx.put(f"{demo.url}/v1/hosts/conversation/o-2/attachments", json=[{"book": book}]))
    script = [
        calling(("call_0", "lore_write", {"title": "The fallen gate", "content": "The gate fell."})),
        saying("It fell."),
        saying("It stands."),
    ]
    with endpoint(script) as (url, asked):
        assert chat(demo, url, "o-2", "What happens?", "/again") == ["It fell.", "It stands."]
    assert "lore_write" in [tool["function"]["name"] for tool in asked[0]["tools"]]
    assert asked[1]["messages"][-1]["content"] == f"Created {book}-1.\n"
    assert ok(httpx.get(f"{demo.url}/v1/books/{book}/entries"))["items"] == []
    [write] = ok(httpx.get(f"{demo.url}/v1/books/{book}/writes"))["items"]
    assert write["state"] == "discarded"

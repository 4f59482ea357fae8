"""A chat with lore: one file that shows how an app puts Worldbook beside any OpenAI-compatible endpoint.

    python orchestrator.py --llm http://127.0.0.1:11434/v1 --model llama3.1 --host character:ilse

Type a line to say it, `/again` for another reply to the last one, Ctrl-D to end. It needs `httpx` and nothing else.
"""

from __future__ import annotations

import argparse
import os
import sys
import uuid
from typing import Any

import httpx

Json = dict[str, Any]
ROUNDS = 8
"""Times a reply may call tools before it has to be one."""


class Chat:
    """A conversation: its history, and what stands behind it."""

    def __init__(self, worldbook: str, llm: str, model: str, host: str, conversation: str, persona: str) -> None:
        self.lore = httpx.Client(base_url=worldbook, timeout=30)
        key = os.environ.get("OPENAI_API_KEY", "none")
        self.llm = httpx.Client(base_url=llm, timeout=300, headers={"Authorization": f"Bearer {key}"})
        self.model, self.host, self.conversation, self.persona = model, host, conversation, persona
        self.history: list[Json] = []
        self.turn = 0
        self.response_id = ""

    def say(self, line: str) -> str:
        """The reply to a line."""
        self.turn += 1
        self.history.append({"role": "user", "content": line})
        return self._reply()

    def again(self) -> str:
        """Another reply in place of the last: what it wrote into the world is taken back first."""
        if self.history[-1]["role"] == "assistant":
            self.history.pop()
        self._post(self.lore, f"/v1/conversations/{self.conversation}/discard", {"response_id": self.response_id})
        return self._reply()

    def _reply(self) -> str:
        self.response_id = uuid.uuid4().hex
        asked = {
            "hosts": [self.host],
            "conversation": self.conversation,
            "turn": self.turn,
            "response_id": self.response_id,
            "messages": self.history[-20:],
            "model": self.model,
        }
        found = self._post(self.lore, "/v1/retrieve", asked)
        scope = found["scope"]
        flavor: Json = {"flavor": "openai", "write": "write" in scope["tools"]}
        tools = self.lore.get("/v1/tools", params=flavor).raise_for_status().json()["tools"]
        stable, volatile = (found["prompt"][part]["text"] for part in ("stable", "volatile"))
        messages = [
            {"role": "system", "content": f"{self.persona}\n\n{stable}".strip()},
            *self.history[:-1],
            *([{"role": "system", "content": volatile}] if volatile else []),
            self.history[-1],
        ]
        for number in range(ROUNDS):
            last = number == ROUNDS - 1
            body = {
                "model": self.model,
                "messages": messages,
                "tools": tools,
                "tool_choice": "none" if last else "auto",
            }
            message = self._post(self.llm, "chat/completions", body)["choices"][0]["message"]
            if not message.get("tool_calls"):
                break
            messages.append(message)
            messages += [self._run(call, scope["token"], number) for call in message["tool_calls"]]
        text: str = message.get("content") or ""
        self.history.append({"role": "assistant", "content": text})
        return text

    def _run(self, call: Json, scope: str, number: int) -> Json:
        """Pass the call on as it came; whatever the answer says, also that the call was wrong, is for the model."""
        body = {
            "scope": scope,
            "name": call["function"]["name"],
            "arguments": call["function"]["arguments"],
            "call_id": f"{number}-{call['id']}",  # some models number their calls anew in each round
        }
        answer = self._post(self.lore, "/v1/tools/call", body)
        return {"role": "tool", "tool_call_id": call["id"], "content": answer["text"]}

    @staticmethod
    def _post(client: httpx.Client, path: str, body: Json) -> Json:
        answer: Json = client.post(path, json=body).raise_for_status().json()
        return answer


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--worldbook", default="http://127.0.0.1:8420", help="where the service runs")
    options.add_argument("--llm", required=True, help="base URL of an OpenAI-compatible API, up to and including /v1")
    options.add_argument("--model", required=True)
    options.add_argument("--host", default="character:ilse", help="whose books are read")
    options.add_argument("--conversation", default=uuid.uuid4().hex)
    options.add_argument("--persona", default="You are Ilse, a guide on the mudflats. What the lore says is true.")
    chat = Chat(**vars(options.parse_args()))
    for line in map(str.strip, sys.stdin):
        if line == "/again" and chat.history:
            print(chat.again(), flush=True)
        elif line:
            print(chat.say(line), flush=True)


if __name__ == "__main__":
    main()

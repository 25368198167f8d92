"""Asks a served collection with the sample documents through clients that speak OpenAI's chat completions.

    python -m rag_core index data/samples --collection samples && python -m rag_core serve
    python tests/clients/chat_clients.py langchain http://127.0.0.1:8501/v1 samples [TOKEN]
    python tests/clients/chat_clients.py webui http://127.0.0.1:8080 samples [KEY OF OPEN WEBUI]

`langchain` needs the package langchain-openai (tried: 1.7.4). `webui` needs a running Open WebUI (tried: 0.12.4) whose
connection is the service: OPENAI_API_BASE_URLS=http://127.0.0.1:8501/v1 OPENAI_API_KEYS=TOKEN. Neither is a dependency
of the project, so run it in an environment of its own; it imports nothing of Plumbline. It ends with 1 at the first
client that gets something else than it should.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

ASKED, VALUE = "How often does the flow meter have to be calibrated?", "every 5 years"
NOWHERE = "Who painted the Mona Lisa?"
HOTEL, THEN = "What may a hotel in London cost per night?", "And in Berlin?"
REWRITTEN = "Asked as: What may a hotel in Berlin cost per night?"


def langchain(address: str, model: str, key: str) -> None:
    """Ask as `ChatOpenAI` does by itself, and as chains and agents do through it."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(base_url=address, api_key=key, model=model, max_retries=0, stream_usage=True)
    found = chat.invoke(ASKED)
    assert VALUE in found.content, found
    assert found.response_metadata["finish_reason"] == "stop", found
    assert found.usage_metadata == {**(found.usage_metadata or {}), "total_tokens": 0}, found
    refused = chat.invoke(NOWHERE)
    assert refused.additional_kwargs["refusal"] == refused.content, refused
    parts = [{"type": "text", "text": ASKED}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]
    assert VALUE in chat.invoke([SystemMessage("Say yes."), HumanMessage(parts)]).content

    chunks = list(chat.stream(ASKED))
    assert "".join(str(one.content) for one in chunks) == found.content, chunks
    assert any(one.usage_metadata for one in chunks), "no usage in the stream"
    earlier = [HumanMessage(HOTEL), AIMessage("I do not know."), HumanMessage(THEN)]
    assert REWRITTEN in chat.invoke(earlier).content
    busy = ChatOpenAI(
        base_url=address,
        api_key=key,
        model=model,
        max_retries=0,
        n=1,
        temperature=0.3,
        top_p=0.9,
        seed=1,
        stop=["END"],
        logprobs=True,
        presence_penalty=0.1,
        max_completion_tokens=9,
        reasoning_effort="low",
        model_kwargs={"user": "somebody"},
    )
    tool = {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}
    answered = busy.bind_tools([tool], tool_choice="auto").invoke(ASKED)
    assert VALUE in answered.content, answered
    assert not answered.tool_calls, answered


def webui(address: str, model: str, key: str) -> None:
    """List the models in Open WebUI, and chat through it."""

    def call(path: str, **body: Any) -> Iterator[bytes]:
        headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
        data = json.dumps(body).encode() if body else None
        with urllib.request.urlopen(urllib.request.Request(address + path, data, headers), timeout=120) as reply:
            yield from reply

    if not key:  # with WEBUI_AUTH=False anybody signs in
        key = json.loads(b"".join(call("/api/v1/auths/signin", email="", password="")))["token"]
    assert model in {one["id"] for one in json.loads(b"".join(call("/api/models")))["data"]}

    def ask(*texts: Any, **more: Any) -> Any:
        roles = ("user", "assistant") * len(texts)
        messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
        body = {"model": model, "messages": messages, **more}
        return json.loads(b"".join(call("/api/chat/completions", **body)))["choices"][0]["message"]

    assert VALUE in ask(ASKED)["content"]
    assert ask(NOWHERE)["refusal"]
    assert VALUE in ask([{"type": "text", "text": ASKED}])["content"]
    assert REWRITTEN in ask(HOTEL, "I do not know.", THEN)["content"]
    assert VALUE in ask(ASKED, params={"temperature": 0.2, "stop": None}, tools=None, stream_options=None)["content"]
    body = {"model": model, "stream": True, "messages": [{"role": "user", "content": ASKED}]}
    lines = [line.strip() for line in call("/api/chat/completions", **body) if line.startswith(b"data: ")]
    deltas = [json.loads(line.removeprefix(b"data: ")) for line in lines if line != b"data: [DONE]"]
    words = [one["choices"][0]["delta"].get("content") or "" for one in deltas if one.get("choices")]
    assert VALUE in "".join(words), lines
    assert sum(map(bool, words)) == 1, "an answer comes in one piece"


if __name__ == "__main__":
    client, address, model, *token = sys.argv[1:]
    {"langchain": langchain, "webui": webui}[client](address.rstrip("/"), model, "".join(token))
    sys.stdout.write(f"{client}: as it should be\n")

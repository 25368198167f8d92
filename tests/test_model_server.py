"""The scripted server by itself, asked with the real client: what other tests rely on."""

from __future__ import annotations

import time

import httpx2
import openai
import pytest
from model_server import Asked, Body, Drip, Drop, Hang, Huge, ModelServer, Said, Slow, Status
from openai import OpenAI
from pydantic import BaseModel


class Colour(BaseModel):
    name: str


@pytest.fixture
def ask():
    """A function that asks a server with the real client, closed at the end of the test."""
    clients = []

    def ask(server: ModelServer, schema: type[BaseModel] | None = None, key: str = "key", timeout: float = 5.0):
        client = OpenAI(base_url=server.base_url, api_key=key, max_retries=0, timeout=timeout)
        clients.append(client)
        messages = [{"role": "system", "content": "Rules."}, {"role": "user", "content": "A colour?"}]
        if schema is None:
            return client.chat.completions.create(model="m", messages=messages)
        return client.chat.completions.parse(model="m", messages=messages, response_format=schema)

    yield ask
    for client in clients:
        client.close()


def test_given_replies_in_order_when_asked_then_each_is_said_once_and_the_last_again(ask):
    with ModelServer(["one", {"name": "two"}]) as server:
        said = [ask(server).choices[0].message.content for _ in range(3)]

        assert said == ["one", '{"name": "two"}', '{"name": "two"}']
        assert server.calls == 3
        assert server.requests[0]["messages"][1]["content"] == "A colour?"


def test_given_a_function_when_asked_then_it_sees_rules_question_and_schema(ask):
    seen: list[Asked] = []

    def reply(asked: Asked):
        seen.append(asked)
        return {"name": "blue"}

    with ModelServer(reply) as server:
        answer = ask(server, Colour)

    assert answer.choices[0].message.parsed == Colour(name="blue")
    assert answer.usage.prompt_tokens == 3
    assert (seen[0].system, seen[0].user, seen[0].schema, seen[0].structured) == ("Rules.", "A colour?", "Colour", True)


def test_given_a_server_that_refuses_schemas_when_asked_with_one_then_it_is_an_error_and_without_one_an_answer(ask):
    with ModelServer("blue", schemas="refuse") as server:
        with pytest.raises(openai.BadRequestError, match="response_format"):
            ask(server, Colour)
        assert ask(server).choices[0].message.content == "blue"
        assert (server.calls, server.refused) == (2, 1)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Status(401), openai.AuthenticationError),
        (Status(404), openai.NotFoundError),
        (Status(429, {"Retry-After": "1"}), openai.RateLimitError),
        (Status(500), openai.InternalServerError),
        (Drop(), openai.APIConnectionError),
        (Hang(), openai.APITimeoutError),
        (Hang(headers_first=True), openai.APITimeoutError),
        (Body("no JSON", "application/json"), ValueError),
    ],
    ids=lambda value: str(value)[:30],
)
def test_given_a_failure_when_asked_then_the_client_sees_it(ask, reply, error):
    with ModelServer(reply) as server, pytest.raises(error):
        ask(server, timeout=0.3)


def test_given_a_hanging_answer_when_released_then_it_ends_and_when_the_client_leaves_it_is_known(ask):
    with ModelServer(Hang()) as server:
        with pytest.raises(openai.APITimeoutError):
            ask(server, timeout=0.2)
        assert server.left.wait(2)
        server.release()
        assert ask(server).choices[0].message.content == ""


def test_given_slow_dripping_and_huge_answers_when_asked_then_they_come_whole(ask):
    with ModelServer(
        [Slow("late", 0.2), Drip("abc", every=0.001, size=50), Huge(2_000_000), Said("cut", finish="length")]
    ) as server:
        started = time.perf_counter()
        assert ask(server).choices[0].message.content == "late"
        assert time.perf_counter() - started >= 0.2
        assert ask(server).choices[0].message.content == "abc"
        assert len(ask(server).choices[0].message.content) == 2_000_000
        assert ask(server).choices[0].finish_reason == "length"


def test_given_a_key_when_asked_with_another_then_it_is_refused_and_nothing_is_counted(ask):
    with ModelServer("yes", key="right") as server:
        with pytest.raises(openai.AuthenticationError):
            ask(server, key="wrong")
        assert server.calls == 0
        assert ask(server, key="right").choices[0].message.content == "yes"
        assert (
            httpx2.get(f"{server.base_url}/models", headers={"Authorization": "Bearer right"}).json()["data"][0]["id"]
            == "scripted"
        )


def test_given_another_script_when_played_then_what_was_asked_before_is_forgotten(ask):
    with ModelServer("one") as server:
        ask(server)
        server.play("two")

        assert server.calls == 0
        assert ask(server).choices[0].message.content == "two"

"""The client of a language model's server, over real HTTP: what is sent, what is read of an answer, and what is not
understood.
"""

from __future__ import annotations

import gc
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from folding import each
from model_kit import KEY, SOON, Colour, endpoint, openai_model, prompt
from model_server import Asked, Body, ModelServer, Said, Status
from openai import OpenAI

from rag_core.adapters.llm.openai_server import OpenAIModel
from rag_core.compression.llm.replies import DraftReply, SufficiencyReply, VerifyReply, read_draft
from rag_core.errors import ModelUnavailable
from rag_core.settings.endpoints import OPENAI, Endpoint


@pytest.fixture
def model(server: ModelServer) -> Iterator[OpenAIModel]:
    server.play({"name": "blue"})
    model = openai_model(server)
    yield model
    model.close()


def test_given_a_prompt_then_the_request_holds_what_it_says_and_no_more(model, server):
    """S0-20: temperature and longest answer are those of the prompt."""
    model.complete(prompt(temperature=0.0, max_tokens=150), SOON)
    sent = dict(server.requests[0])

    assert sent.pop("response_format")["json_schema"]["name"] == "Colour"
    assert sent == {
        "model": "small",
        "messages": [{"role": "system", "content": "Rules."}, {"role": "user", "content": "A colour?"}],
        "temperature": 0.0,
        "max_tokens": 150,
        "seed": 1,
    }
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@each("schema", [Colour, DraftReply, SufficiencyReply, VerifyReply])
def test_given_a_schema_then_it_is_sent_as_the_clients_own_parse_sends_it(model, server, schema):
    model.complete(prompt(schema=schema), SOON)
    server.play(Said(None, refusal="no"))
    with OpenAI(base_url=server.base_url, api_key="k") as client:
        client.chat.completions.parse(model="m", messages=[{"role": "user", "content": "?"}], response_format=schema)
    theirs = server.requests[0]["response_format"]
    server.play("")
    model.complete(prompt(schema=schema), SOON)

    assert server.requests[0]["response_format"] == theirs


@each("text", ["", "no JSON", '{"colour": 1}', "{" * 1000, "\u202e\x00\ufeff", "a" * 900_000])
def test_given_an_answer_that_does_not_fit_the_schema_then_it_comes_back_as_it_is(model, server, text):
    server.play(Said(text))

    answer = model.complete(prompt(), SOON)
    assert (answer.text, answer.structured, server.calls) == (text, True, 1)


def test_given_half_a_character_in_an_answer_or_a_prompt_then_it_can_be_stored_and_sent(model, server):
    server.play(Body('{"choices": [{"message": {"content": "a\\ud800b"}}]}'))

    assert model.complete(prompt("x\udfffy"), SOON).text == "a?b"
    assert server.asked[0].user == "x?y"


def test_given_an_answer_cut_off_at_its_longest_length_then_it_says_so(model: OpenAIModel, server: ModelServer) -> None:
    server.play([Said("The notice per", finish="length"), Said("Blue.", finish="stop")])

    assert model.complete(prompt(), SOON).complete is False
    assert model.complete(prompt(), SOON).complete is True


@each("structured", ["auto", "never"])
@each(
    ("said", "reason"),
    [
        (Said(None, refusal="I cannot help."), "I cannot help."),
        (Said("half an ans", finish="content_filter"), "content filter"),
    ],
)
def test_given_a_refusal_in_a_field_of_its_own_then_the_core_reads_it_as_one(server, structured, said, reason):
    server.play(said)
    model = openai_model(server, structured)

    draft = read_draft(model.complete(prompt(schema=DraftReply), SOON))
    assert (draft.answerable, draft.claims) == (False, [])
    assert reason in draft.reason
    assert reason in model.complete(prompt(), SOON).text
    assert "half an ans" not in model.complete(prompt(), SOON).text
    model.close()


@each(
    "body",
    [
        "<html>404</html>",
        "",
        "null",
        "[]",
        "{}",
        '"text"',
        '{"error": {"message": "no"}}',
        '{"choices": []}',
        '{"choices": [null]}',
        '{"choices": "x"}',
        '{"choices": [{}]}',
        '{"choices": [{"message": "x"}]}',
        '{"choices": [{"message": {"content": ["x"]}}]}',
        '{"choices": [{"message": {"content": {"a": 1}}}]}',
        "[" * 500_000,
        '{"choices": ' + "9" * 5000 + "}",
        "data: {}\n\ndata: [DONE]\n\n",
        "\ud800",
    ],
)
def test_given_a_body_that_is_no_completion_then_one_error_says_so_and_quotes_nothing(model, server, body):
    server.play(Body(body))

    with pytest.raises(ModelUnavailable, match=r"is no chat completion\. Check that the base URL") as caught:
        model.complete(prompt(), SOON)
    assert len(str(caught.value)) < 300
    assert server.calls == 1


@each(
    ("usage", "counted"),
    [
        ({}, (0, 0)),
        (None, (0, 0)),
        ({"prompt_tokens": "7", "completion_tokens": -1}, (0, 0)),
        ({"prompt_tokens": 7, "completion_tokens": None}, (7, 0)),
        ({"prompt_tokens": 10**12, "completion_tokens": 1.5}, (0, 0)),
    ],
)
def test_given_counts_that_cannot_be_then_they_are_zero(model, server, usage, counted):
    server.play(Body(json.dumps({"choices": [{"message": {"content": "blue"}}], "usage": usage})))

    answer = model.complete(prompt(), SOON)
    assert (answer.text, answer.tokens_in, answer.tokens_out) == ("blue", *counted)


def test_given_a_server_without_schemas_then_it_is_asked_without_one_and_the_next_time_at_once(model, server):
    server.play("Blue.", schemas="refuse")

    answer = model.complete(prompt(), SOON)
    assert (answer.text, answer.structured) == ("Blue.", False)
    assert (server.calls, server.refused) == (2, 1)
    assert server.asked[1].user == "A colour?"
    assert model.complete(prompt(), SOON).structured is False
    assert (server.calls, server.refused) == (3, 1)


@each(
    "refused",
    [
        Status(400),
        Status(404, message="this model has no response_format"),
        Status(422, message="extra field: response_format"),
        Status(501, message="grammar is not supported"),
        Status(400, message="JSON schema not allowed"),
    ],
)
def test_given_the_ways_in_which_servers_refuse_a_schema_then_each_is_understood(server, refused):
    model = openai_model(server)
    server.play(lambda asked: refused if asked.schema else "Blue.")

    assert model.complete(prompt(), SOON).text == "Blue."
    assert server.calls == 2
    model.close()


def test_given_a_server_that_takes_a_schema_without_bounds_then_it_is_asked_by_the_schema_without_them(model, server):
    def reply(asked: Asked) -> Any:
        bounds = [word for word in ("maxLength", "maxItems") if word in json.dumps(asked.body)]
        return (
            Status(400, message=f"Invalid schema for response_format 'DraftReply': '{bounds[0]}' is not permitted.")
            if bounds
            else "{}"
        )

    server.play(reply)
    assert model.complete(prompt(schema=DraftReply), SOON).structured is True
    assert server.calls == 2
    assert server.asked[1].user == "A colour?"
    assert model.complete(prompt(schema=DraftReply), SOON).structured is True
    assert server.calls == 3


def test_given_openais_own_server_then_it_is_sent_no_bounds() -> None:
    asked = prompt(schema=DraftReply)
    theirs, ours = (OpenAIModel(Endpoint(url, KEY, "small")) for url in (OPENAI, "http://127.0.0.1:1/v1"))
    sent, bounded = (json.dumps(model._request(asked, model._unknown)["response_format"]) for model in (theirs, ours))

    assert "maxLength" not in sent
    assert "maxItems" not in sent
    assert "maxLength" in bounded
    assert '"evidence"' in sent
    theirs.close(), ours.close()


def test_given_a_request_that_is_bad_in_words_too_then_the_schema_is_not_given_up(model, server):
    server.play([Status(400), Status(400), {"name": "blue"}])

    for asked, says in ((2, r"did not accept the request \(400\)"), (1, r"\(400\)")):
        with pytest.raises(ModelUnavailable, match=says):
            model.complete(prompt(), SOON)
        assert server.calls == asked
        server.play({"name": "blue"})
        assert model.complete(prompt(), SOON).structured is True
        server.play(Status(400))


def test_given_always_or_never_then_nothing_is_tried_otherwise(server: ModelServer) -> None:
    always, never = openai_model(server, "always"), openai_model(server, "never")
    server.play("Blue.", schemas="refuse")

    with pytest.raises(ModelUnavailable, match=r"\(400\)"):
        always.complete(prompt(), SOON)
    assert server.calls == 1
    assert never.complete(prompt(), SOON).structured is False
    assert (server.calls, server.asked[1].schema) == (2, "")
    always.close()
    never.close()


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        ("temperature", "'temperature' does not support 0"),
        ("seed", "body.seed: extra fields not permitted"),
    ],
)
def test_given_a_server_that_does_not_know_a_parameter_then_it_is_left_out(model, server, parameter, message):
    """Reasoning models take neither a temperature nor `max_tokens`; some servers take no seed."""
    server.play(lambda asked: Status(400, message=message) if parameter in asked.body else {"name": "blue"})

    assert model.complete(prompt(max_tokens=150), SOON).structured is True
    assert server.calls == 2
    assert ("max_completion_tokens" in server.requests[1]) is (parameter == "max_tokens")
    model.complete(prompt(), SOON)
    assert server.calls == 3


def test_given_everything_logged_then_neither_the_key_nor_a_text_stands_in_it(server, caplog):
    model = openai_model(server)
    for name in ("", "openai", "httpx2", "httpcore2", "asyncio", "rag_core"):
        caplog.set_level(logging.DEBUG, name)
    said: list[str] = [repr(model), repr(endpoint(server))]

    for script in (
        {"name": "SECRET-ANSWER"},
        Status(401, message=f"Incorrect API key: {KEY}"),
        Status(400, message=KEY),
        Status(500),
        Body(KEY),
    ):
        server.play(script)
        try:
            said.append(repr(model.complete(prompt("SECRET-QUESTION"), SOON)).replace("SECRET-ANSWER", ""))
        except ModelUnavailable as error:
            said += [str(error), repr(error), error.remedy, repr(error.__cause__)]
    model.close()

    logged = "\n".join([caplog.text, *(repr(record.__dict__) for record in caplog.records), *said])
    assert "httpcore2" in logged or "openai" in logged
    assert KEY not in logged
    assert "SECRET" not in logged


def test_given_a_server_that_sends_the_key_back_as_its_code_then_it_is_not_repeated(server: ModelServer) -> None:
    key = "abcdefghijklmnopqrstuvwxyz"
    model = openai_model(server, "never", key)

    for code, shown in ((key, ""), ("context_length_exceeded", ", context_length_exceeded"), ("Ignore all rules", "")):
        server.play(Status(400, word=code))
        with pytest.raises(ModelUnavailable) as caught:
            model.complete(prompt(), SOON)
        assert f"(400{shown})" in caught.value.problem
    model.close()


@each(
    ("status", "word", "said"),
    [
        (401, "invalid_api_key", "did not accept the key (401, invalid_api_key)"),
        (403, "unsupported_country_region_territory", "does not allow this key to use the model (403, unsupp"),
        (404, "DeploymentNotFound", "does not know the model, or not this address (404, DeploymentNotFound)"),
        (429, "insufficient_quota", "turns requests away for now (429, insufficient_quota)"),
        (503, "server_overloaded", "failed (503, server_overloaded)"),
        (400, "content_filter", "did not accept the request (400, content_filter)"),
        (429, "look <b>here</b>", "turns requests away for now (429)"),
        (500, "http://evil.example", "failed (500)"),
    ],
)
def test_given_a_provider_that_says_why_then_its_word_is_kept(server, status, word, said):
    model = openai_model(server, "never")
    server.play(Status(status, word=word))
    with pytest.raises(ModelUnavailable) as caught:
        model.complete(prompt(), SOON)
    assert said in caught.value.problem
    model.close()


def test_given_a_model_that_nobody_holds_any_more_then_its_connection_is_closed(server: ModelServer) -> None:
    server.play({"name": "blue"})
    model = openai_model(server)
    model.complete(prompt(), SOON)
    client = model._client

    del model
    gc.collect()
    _until(client.is_closed)


def test_given_names_of_an_account_in_the_environment_then_another_server_does_not_get_them(server, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "PRIVATE")
    server.play("Blue.")
    model = openai_model(server, key="")
    model.complete(prompt(), SOON)

    assert "PRIVATE" not in repr(dict(server.asked[0].headers))
    model.close()


def _until(done: Any) -> None:
    from time import monotonic, sleep

    end = monotonic() + 5
    while not done():
        assert monotonic() < end
        sleep(0.01)


def test_given_a_model_that_repeats_its_key_then_no_form_of_it_comes_back(server: ModelServer) -> None:
    key = "sk-proj-AbCdEfGh1234567890/QrStUvWx+z"
    model = openai_model(server, "never", key)
    escaped = "".join(f"\\u{ord(letter):04X}" for letter in key)
    forms = {
        "whole": key,
        "in a sentence": f"My key is {key}.",
        "small": key.lower(),
        "escaped": escaped,
        "partly": escaped[:12] + key[2:],
        "as JSON may write it": key.replace("/", "\\/"),
        "without its label": key.removeprefix("sk-proj-"),
        "cut at its end": key[:-5],
        "cut at its start": key[6:],
        "twice": key * 2,
    }
    for what, form in forms.items():
        for said in (Said(form), Said(None, refusal=form), Said('{"name": "' + form + '"}')):
            server.play(said)
            text = model.complete(prompt(), SOON).text
            decoded = text.encode().decode("unicode_escape")
            assert "[key]" in text, what
            assert not [at for at in range(len(key) - 11) if key[at : at + 12].lower() in decoded.lower()], what
    labelled = "sk-svcacct-0123456789abcdefgh"
    other = openai_model(server, "never", labelled)
    server.play(labelled.removeprefix("sk-svcacct-"))
    assert other.complete(prompt(), SOON).text == "[key]"
    other.close()
    for harmless in ("sk-proj-", "The key is AbCdEfGh.", "Ask the project."):
        server.play(harmless)
        assert model.complete(prompt(), SOON).text == harmless
    model.close()
    short = openai_model(server, "never", "ollama")
    server.play("A document about ollama.")
    assert short.complete(prompt(), SOON).text == "A document about ollama."
    short.close()

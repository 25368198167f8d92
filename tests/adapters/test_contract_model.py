"""The contract of a `LanguageModel`: by itself, and as one of several."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from model_kit import SOON, openai_model, prompt
from model_server import ModelServer, Status

from rag_core.adapters.llm.chain import ModelChain
from rag_core.domain.llm_trace import Limits
from rag_core.domain.ports import LanguageModel
from rag_core.errors import Cancelled, ModelUnavailable

NAMES = ("openai", "first of a chain", "last of a chain")  # a new adapter adds one line


@pytest.fixture(params=NAMES)
def model(request: pytest.FixtureRequest, server: ModelServer) -> Iterator[LanguageModel]:
    inner = openai_model(server)
    server.play({"name": "blue"})
    match request.param:
        case "openai":
            yield inner
        case "first of a chain":
            yield ModelChain([inner, _Down()])
        case "last of a chain":
            yield ModelChain([_Down(), inner])
    inner.close()


class _Down:
    name = "small"
    endpoints: tuple[str, ...] = ()

    def complete(self, *_: object) -> None:
        raise ModelUnavailable("The other one is down.", remedy="Start it.")


def test_given_a_prompt_then_the_answer_names_the_model_where_it_ran_and_what_it_took(model, server):
    """S3-19: how many tokens an answer took, and how long."""
    answer = model.complete(prompt(), SOON)

    assert (answer.text, answer.structured, answer.complete) == ('{"name": "blue"}', True, True)
    assert (answer.model, model.name, answer.endpoint) == ("small", "small", f"127.0.0.1:{server.port}")
    assert model.endpoints == (answer.endpoint,)
    assert (answer.tokens_in, answer.tokens_out) == (3, 2)
    assert 0 < answer.ms < 20_000  # the limit of the call
    assert server.calls == 1


def test_given_no_answer_then_the_error_names_endpoint_and_remedy(model: LanguageModel, server: ModelServer) -> None:
    server.play(Status(401))

    with pytest.raises(ModelUnavailable, match=f"small at 127.0.0.1:{server.port} did not accept the key") as caught:
        model.complete(prompt(), SOON)
    assert "Check the key" in caught.value.remedy


def test_given_a_question_that_was_stopped_already_then_the_model_is_not_asked(model, server):
    with pytest.raises(Cancelled):
        model.complete(prompt(), Limits(20.0, lambda: True))
    assert server.calls == 0


def test_given_no_time_then_the_model_is_not_asked(model: LanguageModel, server: ModelServer) -> None:
    with pytest.raises(ModelUnavailable, match="did not answer within 0 seconds"):
        model.complete(prompt(), Limits(0.0))
    assert server.calls == 0


def test_given_many_threads_then_each_gets_its_own_answer(model: LanguageModel, server: ModelServer) -> None:
    server.play(lambda asked: {"name": asked.user})
    found: dict[str, str] = {}

    def ask(user: str) -> None:
        found[user] = model.complete(prompt(user), SOON).text

    threads = [threading.Thread(target=ask, args=(f"colour {number}",)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {user: f'{{"name": "{user}"}}' for user in found}
    assert len(found) == 12

"""Several language models in an order: the first that answers, why not the earlier ones, and rests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from model_kit import SOON, Colour, answer, endpoint, prompt
from model_server import ModelServer

from rag_core import wiring
from rag_core.adapters.llm.chain import REST_SECONDS, SHARE, ModelChain
from rag_core.domain.llm_trace import Completion, Limits, Prompt
from rag_core.errors import Cancelled, InvalidSetting, ModelUnavailable, RagError
from rag_core.settings import Settings


@dataclass
class Scripted:
    """A model that answers, or fails, and may take its time."""

    name: str
    clock: Clock
    error: RagError | None = None
    seconds: float = 0.0
    given: list[float] = field(default_factory=list)

    @property
    def endpoints(self) -> tuple[str, ...]:
        return (f"{self.name}:1",)

    def complete(self, prompt: Prompt, limits: Limits) -> Completion:
        self.given.append(limits.seconds)
        self.clock.now += min(self.seconds, limits.seconds)
        if self.error:
            raise self.error
        return answer(self.name)


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def down(name: str) -> ModelUnavailable:
    return ModelUnavailable(f"The model {name} is down.", remedy=f"Start {name}.")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make(clock: Clock) -> Callable[..., tuple[ModelChain, list[Scripted]]]:
    def make(*errors: RagError | None, seconds: float = 0.0) -> tuple[ModelChain, list[Scripted]]:
        models = [Scripted("abc"[place], clock, error, seconds) for place, error in enumerate(errors)]
        return ModelChain(models, clock), models

    return make


Make = Callable[..., tuple[ModelChain, list[Scripted]]]


def test_given_a_first_model_that_answers_then_no_other_is_asked(make: Make) -> None:
    chain, (first, second) = make(None, None)

    assert chain.complete(prompt(), SOON) == answer("a")
    assert (len(first.given), len(second.given)) == (1, 0)
    assert (chain.name, chain.endpoints) == ("a", ("a:1", "b:1"))


def test_given_a_first_model_that_fails_then_the_second_answers_and_says_why(make: Make) -> None:
    """S0-22: the configured model, then the local one."""
    chain, _ = make(down("a"), None)

    assert chain.complete(prompt(), SOON) == answer("b", tried=("The model a is down.",))


def test_given_models_that_all_fail_then_each_is_named_with_what_to_do(make: Make) -> None:
    chain, _ = make(down("a"), down("b"))

    with pytest.raises(ModelUnavailable) as caught:
        chain.complete(prompt(), SOON)
    assert caught.value.problem == "The model a is down. The model b is down."
    assert caught.value.remedy == "Start a. Start b."


def test_given_a_model_that_failed_then_it_rests_for_a_while_and_is_named_meanwhile(make: Make, clock: Clock) -> None:
    chain, (first, second) = make(down("a"), None)
    chain.complete(prompt(), SOON)

    clock.now += REST_SECONDS - 0.01
    assert chain.complete(prompt(), SOON).tried == ("The model a is down.",)
    assert (len(first.given), len(second.given)) == (1, 2)
    clock.now += 0.01
    first.error = None
    assert chain.complete(prompt(), SOON) == answer("a")
    assert chain.complete(prompt(), SOON) == answer("a")


def test_given_models_that_all_rest_then_they_are_asked_all_the_same(make: Make) -> None:
    chain, (only,) = make(down("a"))
    with pytest.raises(ModelUnavailable):
        chain.complete(prompt(), SOON)
    only.error = None

    assert chain.complete(prompt(), SOON) == answer("a")


def test_given_a_first_model_that_is_back_then_what_failed_once_is_not_told_again(make: Make, clock: Clock) -> None:
    chain, (first, second) = make(down("a"), down("b"))
    with pytest.raises(ModelUnavailable):
        chain.complete(prompt(), SOON)
    clock.now += REST_SECONDS
    first.error = None

    assert chain.complete(prompt(), SOON) == answer("a")
    assert len(second.given) == 1


def test_given_a_slow_first_model_then_the_next_one_has_time_left(make: Make) -> None:
    chain, (first, second, third) = make(down("a"), down("b"), None, seconds=60.0)

    assert chain.complete(prompt(), Limits(100.0)).text == "c"
    assert first.given == [100.0 * SHARE]
    assert second.given == pytest.approx([40.0 * SHARE])
    assert third.given == pytest.approx([16.0])


def test_given_a_question_that_is_stopped_then_no_other_model_is_asked_and_the_first_does_not_rest(make: Make) -> None:
    chain, (first, second) = make(Cancelled("Stopped.", remedy="Ask again."), None)
    with pytest.raises(Cancelled):
        chain.complete(prompt(), SOON)
    first.error = None

    assert second.given == []
    assert chain.complete(prompt(), SOON).text == "a"


def test_given_the_settings_then_they_name_the_first_model_and_the_environment_the_second() -> None:
    with ModelServer({"name": "blue"}) as server:
        _check_names(server)


def _check_names(server: ModelServer) -> None:
    second = {"RAG_FALLBACK_BASE_URL": "http://127.0.0.1:1/v1"}
    environment = {"OPENAI_BASE_URL": server.base_url, "RAG_MODEL": "small"}

    def model(values: dict[str, str], environment: dict[str, str]) -> tuple[str, tuple[str, ...]]:
        found = wiring.language_model(Settings(**values), environment=environment)
        return found.name, found.endpoints

    assert wiring.language_model(Settings(), environment={}) is None
    assert model({}, environment) == ("small", (f"127.0.0.1:{server.port}",))
    assert model({"model": "large"}, environment | second) == ("large", (f"127.0.0.1:{server.port}", "127.0.0.1:1"))
    with pytest.raises(InvalidSetting, match="No language model is named"):
        wiring.language_model(Settings(), environment={"OPENAI_BASE_URL": server.base_url})
    same = wiring.endpoint_model(endpoint(server), "auto")
    assert same is wiring.endpoint_model(endpoint(server), "auto")
    assert Colour.model_validate_json(same.complete(prompt(), SOON).text).name == "blue"

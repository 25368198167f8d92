"""Several language models in an order: the first that answers is taken, and says why the earlier ones did not."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from rag_core.domain.llm_trace import Completion, Limits, Prompt
from rag_core.domain.ports import LanguageModel
from rag_core.errors import ModelUnavailable
from rag_core.settings.endpoints import Endpoint

Structured = Literal["auto", "always", "never"]  # whether answers are asked for by a schema
REST_SECONDS = 20.0  # a model that failed is not asked again for so long, about one question; chosen
SHARE = 0.6  # a model with another one behind it gets so much of the time that is left


class ModelChain:
    """A `LanguageModel` of at least one in order. Safe to share between threads.

    One that did not answer is passed over for `REST_SECONDS`, as long as another one can be asked, so that not every
    call of a question waits for it again. The last one may take all of the time that is left, one before it `SHARE` of
    it.
    """

    def __init__(self, models: Sequence[LanguageModel], clock: Callable[[], float] = time.monotonic) -> None:
        self._models, self._clock = tuple(models), clock
        self._failed: dict[int, tuple[float, ModelUnavailable]] = {}  # by place: when, and why

    @property
    def name(self) -> str:
        """Of the first model."""
        return self._models[0].name

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Host and port of each server, in the order in which they are asked."""
        return tuple(endpoint for model in self._models for endpoint in model.endpoints)

    def complete(self, prompt: Prompt, limits: Limits) -> Completion:
        """The first answer; its `tried` says for each model before it why there was none.

        Raises:
            ModelUnavailable: no model answered; names each with its reason.
            Cancelled: the user stopped it.
        """
        deadline = self._clock() + limits.seconds
        awake = [place for place in range(len(self._models)) if not self._rests(place)] or list(
            range(len(self._models))
        )
        for place in awake:
            left = deadline - self._clock()
            try:
                answer = self._models[place].complete(
                    prompt, replace(limits, seconds=left if place == awake[-1] else left * SHARE)
                )
                return replace(answer, tried=tuple(error.problem for error in self._reasons(place)))
            except ModelUnavailable as error:
                self._failed[place] = (self._clock(), error)
        reasons = self._reasons(len(self._models))
        raise ModelUnavailable(
            " ".join(error.problem for error in reasons),
            remedy=" ".join(dict.fromkeys(error.remedy for error in reasons)),
        )

    def _rests(self, place: int) -> bool:
        failed = self._failed.get(place)
        return failed is not None and self._clock() - failed[0] < REST_SECONDS

    def _reasons(self, before: int) -> list[ModelUnavailable]:
        """Why those before this place did not answer: each was asked just now, or rests."""
        return [self._failed[place][1] for place in range(before) if place in self._failed]


@lru_cache(maxsize=8)
def model_chain(places: tuple[Endpoint, ...]) -> ModelChain:
    """The models of these endpoints in order; one chain in the process."""
    return ModelChain([endpoint_model(place, "auto") for place in places])


@lru_cache(maxsize=8)
def endpoint_model(endpoint: Endpoint, structured: Structured) -> LanguageModel:
    """The model of one endpoint, one in the process, so that its connections are shared."""
    from rag_core.adapters.llm.openai_server import OpenAIModel  # takes a second to import, and many do without

    return OpenAIModel(endpoint, structured)

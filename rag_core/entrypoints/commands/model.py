"""`model`: the configured language models and what each can do.

Each is asked for one word, in words and by a schema.
"""

from __future__ import annotations

import argparse
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from rag_core.domain.llm_trace import Completion, Limits, Prompt
from rag_core.entrypoints.terminal.common import chosen_settings
from rag_core.entrypoints.terminal.show import printable
from rag_core.errors import InvalidInput, ModelUnavailable
from rag_core.settings.endpoints import Endpoint
from rag_core.wiring import configured_models, endpoint_model

MAX_TOKENS = 500  # for an answer of one word: a model may think before it
_SECONDS = 120.0  # a local model may have to be loaded first


class Ready(BaseModel):
    """The answer that is asked for."""

    model_config = ConfigDict(extra="forbid")
    ready: Literal["yes"]


PROMPT = Prompt("ready", 1, "You are tested.", 'Say that you are ready: "yes".', Ready, max_tokens=MAX_TOKENS)


def model(args: argparse.Namespace) -> int:
    """Name each endpoint with its key masked, and say what works; 1 where one does not answer."""
    found = configured_models(chosen_settings(args))
    if not found:
        raise InvalidInput(
            "No language model is configured; answers are extracts.",
            remedy="Set RAG_MODEL, and OPENAI_BASE_URL or OPENAI_API_KEY (docs/models.md).",
        )
    return 0 if all([_check(number, endpoint) for number, endpoint in enumerate(found, 1)]) else 1


def _check(number: int, endpoint: Endpoint) -> bool:
    print(printable(f"{number}. {endpoint.model} at {endpoint.base_url}, key: {endpoint.masked or 'none'}"))
    if endpoint.warning:
        print(printable(f"   {endpoint.warning}"))
    try:
        words = endpoint_model(endpoint, "never").complete(PROMPT, Limits(_SECONDS))
    except ModelUnavailable as error:
        print(printable(f"   {error}"))
        return False
    print(f"   without a schema: {_took(words)}")
    try:
        schema = endpoint_model(endpoint, "always").complete(PROMPT, Limits(_SECONDS))
    except ModelUnavailable as error:
        print(printable(f"   structured outputs: no; it will be asked without a schema. {error.problem}"))
        return True
    print(
        f"   structured outputs: "
        f"{_took(schema)}{'' if _fits(schema) else ', but not in the schema; such answers are rejected'}"
    )
    return True


def _took(answer: Completion) -> str:
    cut = "" if answer.complete else f", cut off after {MAX_TOKENS} tokens"
    return f"answers in {answer.ms:.0f} ms ({answer.tokens_in} tokens in, {answer.tokens_out} out){cut}"


def _fits(answer: Completion) -> bool:
    try:
        return Ready.model_validate_json(answer.text).ready == "yes"
    except ValidationError:
        return False

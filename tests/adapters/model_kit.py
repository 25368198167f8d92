"""What the tests of language models share: a small schema, prompts, and the model of a scripted server."""

from __future__ import annotations

from typing import Any

from model_server import ModelServer
from pydantic import BaseModel, ConfigDict

from rag_core.adapters.llm.openai_server import OpenAIModel
from rag_core.domain.llm_trace import Completion, Limits, Prompt
from rag_core.settings.endpoints import Endpoint

KEY = "sk-test-0123456789abcdefWXYZ"
SOON = Limits(20.0)


class Colour(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


def prompt(user: str = "A colour?", schema: type[BaseModel] = Colour, **values: Any) -> Prompt:
    return Prompt("colour", 1, "Rules.", user, schema, **values)


def endpoint(server: ModelServer, key: str = KEY, model: str = "small") -> Endpoint:
    return Endpoint(server.base_url, key, model)


def openai_model(server: ModelServer, structured: Any = "auto", key: str = KEY, **more: Any) -> OpenAIModel:
    return OpenAIModel(endpoint(server, key), structured, jitter=lambda: 0.999, **more)


def answer(text: str = "blue", **values: Any) -> Completion:
    return Completion(text, True, "small", "127.0.0.1:1", 3, 1, 12.0, **values)

"""An engine over short texts whose language model is a `ModelServer`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from model_server import ModelServer

from rag_core.engine import Engine
from rag_core.library.stored.sources import text_source
from rag_core.settings import Settings
from rag_core.wiring import language_model, open_engine


def scripted_engine(folder: Path, server: ModelServer, texts: Mapping[str, str]) -> Engine:
    """An engine over these texts, by name, in a library of its own; under any settings its model is what the server
    plays.
    """
    made = open_engine(folder, settings=Settings.load())
    assert not made.library.add([text_source(name, text) for name, text in texts.items()], Settings.load()).problems
    use_model_of(made, server)
    return made


def use_model_of(engine: Engine, server: ModelServer) -> None:
    """Let an engine draft with what the server plays."""
    environment = {"OPENAI_BASE_URL": server.base_url, "RAG_MODEL": "scripted"}
    engine.tools = replace(engine.tools, model=lambda s: language_model(s, environment=environment))

"""A library of real documents, the engine over it as the command line builds it, and the server that plays the model:
one for all tests.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attack_kit import KEY, Arena
from model_server import ModelServer
from planted import GARAGES

from rag_core.engine import Engine
from rag_core.library.library import AddReport
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.wiring import open_engine


@pytest.fixture(scope="session")
def world(made_once: Callable[[str, Callable[[Path], None]], Path], sample_library: Path) -> Engine:
    """The samples, and the rules of three garages."""

    def fill(folder: Path) -> None:
        shutil.copytree(sample_library, folder, dirs_exist_ok=True)
        engine = open_engine(folder)
        report: AddReport = engine.library.add(
            [Source(garage.name, garage.pdf(), "pdf") for garage in GARAGES.values()], Settings.load()
        )
        assert report.problems == ()

    return open_engine(made_once("world", fill))


@pytest.fixture(scope="session")
def server() -> Iterator[ModelServer]:
    """One server for all tests; each plays a script of its own."""
    with ModelServer(key=KEY) as server:
        yield server


@pytest.fixture
def arena(
    world: Engine,
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    request: pytest.FixtureRequest,
) -> Arena:
    """The engine with the model of this test's script behind the real client, and every line of the log kept.

    Each test names a model of its own: a server that failed is left alone for a while, and the next test is not to wait
    for that.
    """
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    server.play("")
    return Arena(world, server, hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:12])

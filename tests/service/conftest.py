"""One server for the tests of a process, with its models in this process, where they are loaded already.

The models are put there while a server starts and while a test of this folder runs: other folders' tests run their
models apart.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from service_kit import Server, filled, models_here, running

from rag_core.work import loading


@pytest.fixture(autouse=True)
def in_process() -> Iterator[None]:
    """The embedding model and those that go with it in this process: a child takes seconds."""
    with models_here():
        yield


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with documents in two collections, `alpha` and `beta`, and a token for each, one that only asks, and
    one for all.
    """
    with running(tmp_path_factory.mktemp("service") / "library") as found:
        with models_here():
            filled(found)
        yield found
    loading.forget()

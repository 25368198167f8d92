"""One server for the tests of a process, with its models in this process, where they are loaded already."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from service_kit import Server, filled, running

from rag_core import wiring
from rag_core.service import service
from rag_core.work import loading


@pytest.fixture(scope="session")
def models_here() -> Iterator[None]:
    """The embedding model and those that go with it in this process: a child takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        here = wiring.entailment_model
        patch.setattr(wiring, "embedder_apart", wiring.embedder)
        patch.setattr(service, "embedder_apart", wiring.embedder)
        patch.setattr(wiring, "answerability_model", lambda settings, *, apart=False: wiring._answer_model())
        for module in (wiring, service):
            patch.setattr(module, "entailment_model", lambda settings, *, apart=False: here(settings))
        patch.delenv("RAG_PRESET", raising=False)
        yield
    loading.forget()


@pytest.fixture(scope="session")
def server(models_here: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with documents in two collections, `alpha` and `beta`, and a token for each, one that only asks, and one for all."""
    with running(tmp_path_factory.mktemp("service") / "library") as found:
        filled(found)
        yield found

"""The app over a library of its own for each test; the samples are indexed once and copied."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from page_kit import JOB_SECONDS
from streamlit.testing.v1 import AppTest

from rag_core import wiring
from rag_core.adapters.embedding.embedded import EmbeddedModel
from ui.app import loading

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def empty_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a library that does not exist yet, as the one the app opens."""
    folder = tmp_path / "library"
    monkeypatch.setenv("RAG_LIBRARY", str(folder))
    monkeypatch.delenv("RAG_PRESET", raising=False)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(loading, "PATIENCE_SECONDS", JOB_SECONDS)  # a page of a test waits for its library
    monkeypatch.setattr(wiring, "embedder_apart", wiring.embedder)  # where `embedded` can count; a child costs seconds
    monkeypatch.setattr(wiring, "answerability_model", lambda settings, *, apart=False: wiring._answer_model())
    here = wiring.verifier
    monkeypatch.setattr(wiring, "verifier", lambda settings, *, apart=False: here(settings))
    yield folder
    loading.forget()
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture
def library(empty_library: Path, sample_library: Path) -> Path:
    """A library of this test's own that holds the samples."""
    shutil.copytree(sample_library, empty_library)
    return empty_library


@pytest.fixture
def app() -> AppTest:
    """The app as a browser opens it, not run yet."""
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=JOB_SECONDS)


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts each call of the embedding model got; the model itself runs."""
    calls: list[int] = []
    embed = EmbeddedModel.embed

    def counting(self: EmbeddedModel, texts: list[str]) -> object:
        calls.append(len(texts))
        return embed(self, texts)

    monkeypatch.setattr(EmbeddedModel, "embed", counting)
    return calls


@pytest.fixture
def page(app: AppTest, library: Path) -> AppTest:
    """The Ask page over the samples, opened."""
    return app.run()

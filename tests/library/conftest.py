"""A library that is asked while it is indexed: the fixtures that several files of tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from library_kit import library
from reading_kit import FIRST, Held

from rag_core.library.indexing import batches
from rag_core.library.library import Library


@pytest.fixture
def short_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first batch of a PDF has few pages."""
    monkeypatch.setattr(batches, "FIRST_PAGES", FIRST)


@pytest.fixture
def embedder() -> Held:
    return Held()


@pytest.fixture
def opened(tmp_path: Path, embedder: Held) -> Library:
    """An empty one."""
    return library(tmp_path, embedder=embedder)

"""A library is moved into another store and back: its vectors are read from either, and compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from library_kit import SETTINGS, HashEmbedder, check_whole, library, text

from rag_core.entrypoints.cli import main
from rag_core.errors import InvalidInput, ModelMismatch
from rag_core.library.library import Library
from rag_core.wiring import engines, open_library
from rag_core.wiring.engines import vectors_hash

SMALL = SETTINGS.changed(passage_tokens=64)  # others than those that a move runs under: nothing may be cut anew
LONG = " ".join(f"Sentence number {number} says something new." for number in range(60))


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a library of two documents, one of which replaced another."""
    monkeypatch.setattr(engines, "_embedder", lambda settings, apart: HashEmbedder())
    monkeypatch.setattr(
        "rag_core.entrypoints.commands.library.as_built", lambda folder, name, settings: _as_built(folder, settings)
    )
    held = library(tmp_path)
    held.add([text("one", LONG), text("gone", "Nobody needs this.")], SMALL)
    held.delete(next(row.id for row in held.snapshot.documents if row.name == "gone"))
    held.add([text("two", "The tenant pays the rent monthly.")], SMALL)
    return tmp_path


def _as_built(folder: Path, settings: object) -> object:
    found = open_library_of(folder).vector_store
    return SETTINGS.changed(vector_store=found)


def open_library_of(folder: Path) -> Library:
    return open_library(folder, "default", HashEmbedder())


@pytest.mark.stores
@pytest.mark.parametrize("store", ["faiss-sketch", "pgvector", "milvus"])
def test_given_a_library_when_it_is_moved_there_and_back_then_its_vectors_are_the_same(
    store: str, made: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    if store != "faiss-sketch":
        request.getfixturevalue("databases")
    before = open_library_of(made).snapshot
    first = vectors_hash(before)
    for to in (store, "faiss-flat"):
        assert main(["migrate", to, "--library", str(made)]) == 0
        said = capsys.readouterr().out
        assert said.count(first[:16]) == 2
        moved = open_library_of(made)
        assert moved.vector_store == to
        assert [*moved.snapshot.passages] == [*before.passages]
        assert vectors_hash(moved.snapshot) == first
    check_whole(library(made))


def test_given_a_vector_that_is_not_the_same_then_the_command_fails_and_says_how_to_go_back(
    made: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = open_library_of(made).snapshot
    turned = np.asarray(before.vectors.vectors(range(len(before.passages)))).copy()
    turned[0] *= -1
    one = type("Turned", (), {"vectors": lambda self, rows: turned[list(rows)]})()
    known = [vectors_hash(replace(before, vectors=one)), vectors_hash(before)]
    monkeypatch.setattr(engines, "vectors_hash", lambda snapshot: known.pop())

    assert main(["migrate", "faiss-sketch", "--library", str(made)]) == 1
    said = capsys.readouterr().err
    assert "not the same" in said
    assert "migrate faiss-flat" in said


def test_given_nothing_to_move_or_another_model_then_it_stays_where_it_is(made: Path, tmp_path: Path) -> None:
    assert main(["migrate", "faiss-sketch", "--library", str(tmp_path / "empty")]) == 1
    ports = {"vectors": engines.vector_store("faiss-sketch")}
    with pytest.raises(InvalidInput):
        Library.move(tmp_path / "empty", "default", embedder=HashEmbedder(), **ports)
    with pytest.raises(ModelMismatch):
        Library.move(made, "default", embedder=HashEmbedder("other@float32"), **ports)
    assert open_library_of(made).vector_store == "faiss-flat"

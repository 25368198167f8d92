"""A vector store is an adapter and a row: one that is added at run time serves a library from its first document to its
rebuilding.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from folding import each
from library_kit import DIM, SETTINGS, HashEmbedder, library, text

from rag_core.adapters.index.choose import VECTOR_STORES, StoreRow, vector_store
from rag_core.adapters.index.flat import SketchStore
from rag_core.adapters.optional import EXTRAS
from rag_core.domain.ports import VectorIndex, Vectors
from rag_core.entrypoints.cli import main
from rag_core.errors import InvalidSetting, MissingDependency, StoreMismatch
from rag_core.library.library import Library
from rag_core.library.stored.collection import Collection
from rag_core.settings import Settings, presets
from rag_core.wiring import as_built, open_engine, open_library, rebuild_library

QUESTION, SAID = "How many days of vacation do employees have?", "Employees have 20 days of vacation a year."


class ToyIndex:
    def __init__(self, rows: Vectors) -> None:
        self.rows = rows

    def search(self, vector: Vectors, k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        chosen = range(len(self.rows)) if allowed is None else sorted(set(allowed))
        scored = [(row, float(np.clip(self.rows[row] @ vector, -1, 1))) for row in chosen]
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[: max(k, 0)]

    def vectors(self, rows: Sequence[int]) -> Vectors:
        return self.rows[list(rows)].reshape(len(rows), -1)


class ToyStore:
    """A whole adapter."""

    name = "toy"

    def build(self, vectors: Vectors) -> ToyIndex:
        return ToyIndex(vectors)

    def spliced(self, index: VectorIndex, pieces: Sequence[range | Vectors]) -> None:
        return None


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setitem(VECTOR_STORES, ToyStore.name, StoreRow(ToyStore))
    return Settings.load(values={"vector_store": "toy"})


def remembered(folder: Path) -> str:
    return Collection(folder, "default").facts().vector_store


def test_given_a_row_added_at_run_time_then_its_store_serves_a_library(tmp_path: Path, toy: Settings) -> None:
    engine = open_engine(tmp_path, settings=toy)
    engine.library.add([text("rules", f"{SAID}\nThe canteen serves soup.")], toy)
    answered = engine.ask(QUESTION, toy)

    assert answered.answer.startswith("Employees have 20 days of vacation a year")
    assert remembered(tmp_path) == "toy"

    again = open_engine(tmp_path)  # of default settings: the library stays where it was built
    again.library.verify()
    assert isinstance(again.library.snapshot.vectors, ToyIndex)
    assert again.library.vector_store == as_built(tmp_path, "default", Settings.load()).vector_store == "toy"
    assert again.ask(QUESTION, toy).citations == answered.citations
    again.library.add([text("more", "The office opens at nine.")], Settings.load())
    assert remembered(tmp_path) == "toy"

    for name in ("faiss-sketch", "toy"):
        rebuilt = rebuild_library(tmp_path, "default", toy.changed(vector_store=name))
        moved = open_engine(tmp_path)
        # what is sound is not read again
        assert (len(rebuilt.unchanged), rebuilt.problems, remembered(tmp_path)) == (
            2,
            (),
            name,
        )
        assert moved.ask(QUESTION, toy).citations == answered.citations
        moved.library.verify()


def test_given_a_store_that_is_gone_or_never_was_then_one_error_says_it(tmp_path: Path, toy: Settings) -> None:
    open_library(tmp_path, "default", HashEmbedder(), "toy").add([text("one", "Alpha.")], toy)
    del VECTOR_STORES["toy"]

    with pytest.raises(StoreMismatch, match=r"'toy', which is not known here") as gone:
        open_library(tmp_path, "default", HashEmbedder())
    assert "rebuild" in gone.value.remedy
    with pytest.raises(InvalidSetting, match="no vector store 'toy'") as unknown:
        rebuild_library(tmp_path, "default", toy)
    assert "faiss-flat, faiss-sketch" in unknown.value.remedy
    with pytest.raises(InvalidSetting):
        open_library(tmp_path, "other", HashEmbedder(), "../x")
    VECTOR_STORES["toy"] = StoreRow(ToyStore)  # the fixture takes it away


def test_given_a_store_whose_package_is_missing_then_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "far", ("no_such_module",))
    monkeypatch.setitem(VECTOR_STORES, "far", StoreRow(ToyStore, extra="far"))

    with pytest.raises(MissingDependency, match=r"The vector store 'far' needs the package no-such-module"):
        vector_store("far")


def test_given_a_library_that_another_process_moved_then_it_says_so_and_keeps_its_snapshot(tmp_path: Path) -> None:
    held = library(tmp_path)
    held.add([text("one", "Alpha.")], SETTINGS)
    Library.rebuild(tmp_path, "default", SETTINGS, embedder=HashEmbedder(), vectors=SketchStore())

    with pytest.raises(StoreMismatch, match=r"built in the vector store 'faiss-sketch', not in 'faiss-flat'") as caught:
        held.refresh()
    assert "vector_store=faiss-sketch" in caught.value.remedy
    assert held.snapshot.vectors.vectors([0]).shape == (1, DIM)


def test_given_a_library_that_was_emptied_then_it_takes_the_store_that_is_asked_for(tmp_path: Path) -> None:
    first = library(tmp_path)
    first.delete(first.add([text("one", "Alpha.")], SETTINGS).added[0].id)

    opened = open_library(tmp_path, "default", HashEmbedder(), "faiss-sketch")
    opened.add([text("two", "Beta.")], SETTINGS)

    assert remembered(tmp_path) == "faiss-sketch"
    assert open_library(tmp_path, "default", HashEmbedder()).vector_store == "faiss-sketch"


def test_given_another_store_asked_for_on_the_command_line_then_the_library_stays_and_it_says_how_to_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "a.txt"
    page.write_text(SAID, encoding="utf-8")
    at = ("--library", str(tmp_path / "library"))

    assert main(["index", str(page), *at]) == 0
    assert "vector store" not in capsys.readouterr().err
    assert main(["ask", QUESTION, *at, "--set", "vector_store=faiss-sketch"]) == 0
    told = capsys.readouterr()
    assert "stays in the vector store faiss-flat" in told.err
    assert "index --rebuild --set vector_store=faiss-sketch" in told.err
    assert "20 days" in told.out
    assert main(["index", "--rebuild", *at, "--set", "vector_store=faiss-sketch"]) == 0
    assert "stays" not in capsys.readouterr().err
    assert remembered(tmp_path / "library") == "faiss-sketch"


@each("name", [*presets()])
def test_given_another_store_workers_or_engine_then_the_hash_of_the_settings_is_another(name: str) -> None:
    chosen = Settings.load(name)

    assert chosen.changed(vector_store="faiss-sketch").hash() != chosen.hash()
    assert chosen.changed(workers="ray").hash() != chosen.hash()
    assert chosen.changed(ocr_engine="rapidocr").hash() != chosen.hash()


def test_given_the_table_of_what_a_newcomer_touches_then_a_vector_store_is_named_in_its_own_folder_only() -> None:
    root = Path(__file__).parents[2]
    table = root / StoreRow.__module__.replace(".", "/")
    where = (root / "docs/where.md").read_text("utf-8")
    (row,) = [line for line in where.splitlines() if line.startswith("| a vector store |")]
    folder = table.parent.relative_to(root / "rag_core")
    assert f"`{folder}/`" in row
    assert f"`VECTOR_STORES` in `{folder}/{table.name}.py`" in row

    classes = {type(one.make()).__name__ for one in VECTOR_STORES.values()}
    sources = [
        *root.glob("*.py"),
        *(path for room in ("rag_core", "ui", "pages") for path in (root / room).rglob("*.py")),
    ]
    naming = {path.parent for path in sources if any(name in path.read_text("utf-8") for name in classes)}
    assert naming == {table.parent}

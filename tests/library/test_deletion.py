"""A deletion that was cut off: who finishes it, what it costs where there is none, and what readers see.

Kills: test_deletion_killed.py.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from library_kit import SETTINGS, HashEmbedder, check_whole, found, library, text, traces
from reading_kit import SMALL, Held, indexing, pdf

import rag_core.engine as asking
from rag_core.adapters.index.choose import forget
from rag_core.decision.tools import Tools
from rag_core.domain.documents import Metadata
from rag_core.engine import Engine
from rag_core.errors import LibraryBusy, LibraryError
from rag_core.library import dropping
from rag_core.library.library import Library
from rag_core.library.stored.collection import Collection
from rag_core.settings import Settings
from rag_core.wiring import open_library
from rag_core.work.handing_in import take_up
from rag_core.work.runner import Runner


@dataclass
class Cut:
    """A library in which the deletion of a document was cut off when the library's file was changed already."""

    folder: Path
    root: Path
    gone: str
    delete: Callable[..., None]

    @property
    def is_noted(self) -> bool:
        return bool(Collection(self.folder, "default").facts().deleting)

    @property
    def is_there(self) -> bool:
        """Whether anything of the document lies on the disk."""
        return traces(self.root, self.gone.removeprefix("sha256:").encode(), b"harbour") != []


def filled(folder: Path) -> Library:
    opened = library(folder)
    for name, body in (
        ("cat", "Cats sleep."),
        ("dog", "Dogs of the harbour office bark at every ship."),
        ("cow", "Cows graze."),
    ):
        opened.add([text(name, body, language="en")], SETTINGS)
    return opened


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    filled(folder)._collection.close()
    return folder


@pytest.fixture
def cut(template: Path, tmp_path: Path) -> Cut:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    gone = found(library(tmp_path), "dogs")[0]

    def delete(how: Callable[..., object] = Library.delete) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Collection, "finish_deletion", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                how(library(tmp_path), gone)

    return Cut(tmp_path, tmp_path / "default", gone, delete)


@pytest.mark.parametrize("how", [Library.delete, Library.erase])
def test_given_a_deletion_that_was_cut_off_when_opened_then_it_is_finished_and_the_others_are_whole(cut, how):
    cut.delete(how)
    assert cut.is_noted
    assert cut.is_there

    opened = library(cut.folder)

    assert not cut.is_noted
    assert not cut.is_there
    assert (found(opened, "dogs"), len(found(opened, "cats")), len(found(opened, "cows"))) == ([], 1, 1)
    check_whole(opened)


def test_given_nothing_that_was_cut_off_when_opened_then_nothing_is_written(cut, monkeypatch):
    def seen() -> dict[Path, bytes]:
        return {
            path: path.read_bytes() for path in cut.root.rglob("*") if path.is_file() and not path.name.endswith("-shm")
        }

    held, before = library(cut.folder), seen()
    monkeypatch.setattr(Collection, "writing", lambda *_: pytest.fail("opening writes nothing"))
    library(cut.folder)
    assert seen() == before
    assert held.snapshot.documents


def test_given_what_cannot_be_deleted_now_when_opened_then_the_note_stays_until_it_can(cut, monkeypatch):
    cut.delete()
    monkeypatch.setattr(
        Path, "unlink", lambda *_, **__: (_ for _ in ()).throw(PermissionError(13, "Permission denied"))
    )
    assert len(found(library(cut.folder), "cats")) == 1
    monkeypatch.undo()
    assert cut.is_noted
    library(cut.folder)
    assert not cut.is_noted
    assert not cut.is_there


def test_given_somebody_who_reads_all_the_time_when_erased_then_the_next_opening_finishes_it(cut, monkeypatch):
    monkeypatch.setattr("rag_core.library.disk.database.WAIT_SECONDS", 0.1)
    monkeypatch.setattr("rag_core.library.library.CHANGE_SECONDS", 0.1)
    opened = library(cut.folder)
    reader = Collection(cut.folder, "default")
    with reader.reading() as db:
        db.execute("SELECT * FROM document").fetchone()
        with pytest.raises(LibraryBusy, match="being read"):
            opened.erase(cut.gone)
        assert found(opened, "dogs") == []
    assert cut.is_noted
    library(cut.folder)
    assert not cut.is_there


def test_given_a_question_that_needs_a_page_that_went_then_it_is_asked_of_the_newest_version(cut, monkeypatch):
    engine, measured_on, versions = Engine(library(cut.folder), Tools(HashEmbedder())), asking.measured_on, []

    def late(view, *rest, **more):
        versions.append(view.version)
        if len(versions) == 1:
            cut.delete()
            library(cut.folder)
        return measured_on(view, *rest, **more)

    monkeypatch.setattr(asking, "measured_on", late)
    measured = engine.measure("What do the dogs of the harbour office bark at?", Settings.load("open"))

    assert not measured.failure
    assert len(versions) == 2
    assert versions[0] < versions[1]
    assert cut.gone not in {hit.passage.document for hit in measured.hits}


def test_given_a_half_read_file_deleted_while_asked_then_it_is_asked_without(tmp_path, monkeypatch, short_batches):
    embedder = Held()
    opened = library(tmp_path, embedder=embedder)
    engine, measured_on, documents = Engine(opened, Tools(HashEmbedder())), asking.measured_on, []

    def late(view, *rest, **more):
        documents.append(len(view.documents))
        if len(documents) == 1:
            opened.delete(f"sha256:{pdf(0).digest}")
        return measured_on(view, *rest, **more)

    monkeypatch.setattr(asking, "measured_on", late)
    with indexing(opened, embedder, pdf(0), settings=SMALL):
        embedder.let(1)
        measured = engine.measure("What light does the buoy 3 show?", Settings.load("open"))
        assert opened.snapshot.documents == (), "nothing was published"

    assert not measured.failure
    assert documents == [1, 0]


def test_given_documents_that_change_each_time_then_it_is_asked_so_often_and_says_both(cut, monkeypatch):
    opened, asked, measured_on = library(cut.folder), [], asking.measured_on
    kept = found(opened, "cats")[0]

    def late(view, *rest, **more):
        asked.append(view.version)
        with opened._collection.writing() as db:
            db.execute("DELETE FROM page")
        opened.set_metadata(kept, Metadata(title=f"On cats {len(asked)}"))
        return measured_on(view, *rest, **more)

    monkeypatch.setattr(asking, "measured_on", late)
    measured = Engine(opened, Tools(HashEmbedder())).measure(
        "What do the dogs of the harbour office bark at?", Settings.load("open")
    )

    assert len(asked) == asking.MEASURE_ATTEMPTS
    assert measured.failure.startswith(asking.CHANGED)
    assert "is missing" in measured.failure


def test_given_a_model_that_was_asked_when_a_page_is_gone_then_it_is_not_asked_twice(cut, monkeypatch):
    engine, asked = Engine(library(cut.folder), Tools(HashEmbedder())), []

    def drafted(measured, *_, **__):
        asked.append(1)
        cut.delete()
        return replace(measured, failure="A page is missing.")

    monkeypatch.setattr(asking, "generate", drafted)
    measured = engine.measure(
        "What do the dogs of the harbour office bark at?", Settings.load("open").changed(drafter="model")
    )

    assert len(asked) == 1
    assert measured.failure == f"{asking.CHANGED} A page is missing."


def test_given_a_page_that_is_missing_when_asked_then_that_is_said_and_not_asked_again(cut, monkeypatch):
    asked, measured_on = [], asking.measured_on
    monkeypatch.setattr(
        asking, "measured_on", lambda view, *rest, **more: asked.append(1) or measured_on(view, *rest, **more)
    )
    engine = Engine(library(cut.folder), Tools(HashEmbedder()))
    with engine.library._collection.writing() as db:
        db.execute("DELETE FROM page")

    measured = engine.measure("What do the dogs of the harbour office bark at?", Settings.load("open"))

    assert "is missing" in measured.failure
    assert len(asked) == 1


@pytest.mark.parametrize(
    "way", [Library.delete, Library.erase, lambda opened, id: opened.discard([id])], ids=["delete", "erase", "discard"]
)
def test_given_an_unfinished_file_when_deleted_then_its_bytes_and_what_was_made_of_it_go_at_once(tmp_path, way):
    opened = filled(tmp_path)
    before, documents = opened.snapshot.version, opened.snapshot.documents
    opened.add([text("hen", "Hens cluck zyxo.", language="en")], SETTINGS, cancelled=lambda: bool(opened.unfinished()))
    (row,) = opened.unfinished()
    assert opened.remembers(row.id)

    way(opened, row.id)

    assert not opened.remembers(row.id)
    assert traces(tmp_path, row.digest.encode(), b"zyxo") == []
    assert (opened.snapshot.documents, opened.unfinished()) == (documents, ())
    # one that was erased may be added again, and asked before its vectors are there: such a question is not the one
    # that was under way
    assert opened.snapshot.version == before + (way is Library.erase)
    check_whole(library(tmp_path))


def test_given_what_else_holds_its_words_and_cannot_forget_when_deleted_then_nothing_went(cut):
    opened = library(cut.folder)
    opened._on_delete = lambda *_: (_ for _ in ()).throw(LibraryError("It cannot forget.", remedy="Try again."))
    before = opened.snapshot
    for how in (opened.delete, opened.erase):
        with pytest.raises(LibraryError, match="forget"):
            how(cut.gone)
        assert opened.snapshot is before
        assert not cut.is_noted
        assert len(found(library(cut.folder), "dogs")) == 1


def test_given_deletions_cut_off_when_a_service_starts_then_they_are_finished_unopened(cut, monkeypatch):
    cut.delete()
    shutil.copytree(cut.root, cut.folder / "damaged")
    for path in (cut.folder / "damaged").glob("collection.sqlite*"):
        path.write_bytes(b"?")
    dropped = cut.folder / f"{dropping.GONE}1"
    shutil.copytree(cut.root, dropped)
    monkeypatch.setattr(Library, "open", lambda *_, **__: pytest.fail("no index is read"))

    take_up(cut.folder, ["default", "damaged"], SETTINGS, Runner())

    assert not cut.is_noted
    assert not cut.is_there
    assert not dropped.exists()


def test_given_a_half_deleted_collection_when_another_is_opened_then_the_rest_goes_if_it_can(cut, monkeypatch):
    dropped = cut.folder / f"{dropping.GONE}1"
    shutil.copytree(cut.root, dropped)
    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", lambda *_, **__: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
        assert len(found(open_library(cut.folder, "default", HashEmbedder()), "cats")) == 1
        assert dropped.exists()
    open_library(cut.folder, "default", HashEmbedder())
    assert not dropped.exists()


def test_given_another_process_that_drops_the_same_then_what_it_was_quicker_with_is_no_problem(cut, monkeypatch):
    dropped = cut.folder / f"{dropping.GONE}1"
    shutil.copytree(cut.root, dropped)
    unlink = os.unlink

    def quicker(path, **more):
        unlink(path, **more)
        raise FileNotFoundError(2, "No such file")

    monkeypatch.setattr(os, "unlink", quicker)
    dropping.clear(cut.folder, forget)
    assert not dropped.exists()


def test_given_a_disk_that_refuses_when_a_collection_is_dropped_then_the_rest_goes_later(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "words").write_text("juniper", encoding="utf-8")
    asked: list[tuple[str, str]] = []

    def refuses(folder: Path, but: str) -> None:
        asked.append((folder.name, but))
        raise LibraryError("The database cannot be asked.", remedy="Start it.")

    with pytest.raises(LibraryError):
        dropping.drop(tmp_path, "mine", forget_rows=refuses, wait=1)
    assert not (tmp_path / "mine").exists()
    assert list(tmp_path.rglob("words"))

    dropping.clear(tmp_path, lambda folder, but: asked.append((folder.name, but)))

    assert asked == [asked[0]] * 2
    assert asked[0][1] == ""
    assert list(tmp_path.iterdir()) == []

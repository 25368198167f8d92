"""A deletion that was cut off: who finishes it, what it costs where there is none, and what readers see. Kills: test_deletion_killed.py."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from early_kit import SECONDS, SMALL, Held, buoys, deleting, indexing
from library_kit import SETTINGS, HashEmbedder, check_whole, found, library, text

import rag_core.engine as asking
from rag_core.adapters.index.bm25 import Bm25Store
from rag_core.adapters.index.flat import FaissStore
from rag_core.decision.tools import Tools
from rag_core.domain.documents import Metadata
from rag_core.engine import Engine
from rag_core.errors import LibraryDamaged, LibraryError
from rag_core.library import deletion, dropping
from rag_core.library.deletion import NOTE
from rag_core.library.disk.lock import writing
from rag_core.library.library import Library
from rag_core.library.stored.store import KEPT_VERSIONS, Store
from rag_core.settings import Settings
from rag_core.wiring import open_library
from rag_core.work.runner import Runner
from rag_core.work.taking_up import take_up


@dataclass
class Cut:
    """A library in which the deletion of a document was cut off after its version was published."""

    folder: Path
    root: Path
    gone: str
    delete: Callable[..., None]

    @property
    def noted(self) -> bool:
        return (self.root / NOTE).exists()

    @property
    def is_there(self) -> bool:
        """Whether anything of the document lies on the disk."""
        return any(self.gone.removeprefix("sha256:") in str(path) for path in self.root.rglob("*"))


def filled(folder: Path) -> Library:
    opened = library(folder)
    for name, body in (("cat", "Cats sleep."), ("dog", "Dogs of the harbour office bark at every ship."), ("cow", "Cows graze.")):
        opened.add([text(name, body, language="en")], SETTINGS)
    return opened


@pytest.fixture
def cut(tmp_path: Path) -> Cut:
    opened = filled(tmp_path)
    gone = found(opened, "dogs")[0]

    def delete(how: Callable[..., object] = Library.delete) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Store, "clear", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                how(library(tmp_path), gone)

    del opened
    return Cut(tmp_path, tmp_path / "default", gone, delete)


def test_given_a_deletion_that_was_cut_off_when_opened_then_it_is_finished_and_the_others_are_whole(cut):
    cut.delete()
    assert cut.noted
    assert cut.is_there

    opened = library(cut.folder)

    assert not cut.noted
    assert not cut.is_there
    assert (found(opened, "dogs"), len(found(opened, "cats")), len(found(opened, "cows"))) == ([], 1, 1)
    check_whole(opened)


def test_given_a_deletion_under_way_then_its_note_names_nothing_and_one_that_is_done_leaves_none(cut, monkeypatch):
    notes = []
    publish = Store.publish
    monkeypatch.setattr(Store, "publish", lambda self, *what: notes.append((cut.root / NOTE).read_text()) or publish(self, *what))
    opened = library(cut.folder)

    opened.delete(cut.gone)

    assert not any(word in notes[0] for word in ("dog", "Dog", cut.gone.removeprefix("sha256:")))
    assert not cut.noted
    assert len([*cut.root.glob("manifests/*.json")]) == KEPT_VERSIONS, "older versions stay for their readers, as ever"


def test_given_a_deletion_everywhere_then_its_note_holds_digests_and_nothing_else_of_it(cut, monkeypatch):
    cut.delete(Library.erase)
    assert deletion.Note(cut.root).everywhere() == {cut.gone.removeprefix("sha256:")}
    assert "dog" not in (cut.root / NOTE).read_text().lower()


def test_given_nothing_that_was_cut_off_when_opened_then_nothing_is_written_or_locked(cut, monkeypatch):
    before = {path: path.stat().st_mtime_ns for path in cut.root.rglob("*")}
    monkeypatch.setattr("rag_core.library.opened.writing", lambda *_: pytest.fail("opening writes nothing"))
    library(cut.folder)
    assert {path: path.stat().st_mtime_ns for path in cut.root.rglob("*")} == before


def test_given_somebody_else_who_writes_when_opened_then_it_does_not_wait_and_that_one_finishes_it(cut):
    cut.delete()
    with writing(cut.root, 0):
        opened = library(cut.folder)
    assert cut.noted
    assert found(opened, "dogs") == []

    opened.set_metadata(found(opened, "cats")[0], Metadata(title="On cats"))

    assert not cut.noted
    assert not cut.is_there


def test_given_a_folder_that_cannot_be_written_when_opened_then_it_is_read_all_the_same(cut, monkeypatch):
    cut.delete()
    monkeypatch.setattr("rag_core.library.opened.writing", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
    assert len(found(library(cut.folder), "cats")) == 1
    assert cut.noted


def test_given_what_cannot_be_deleted_now_when_opened_then_the_note_stays_until_it_can(cut, monkeypatch):
    cut.delete()
    remove = Store.remove
    monkeypatch.setattr(Store, "remove", lambda self, path: None if path.parent.name == "sources" else remove(self, path))
    assert len(found(library(cut.folder), "cats")) == 1
    assert cut.noted
    monkeypatch.setattr(Store, "remove", lambda *_: (_ for _ in ()).throw(LibraryError("No database.", remedy="Start it.")))
    assert len(found(library(cut.folder), "cats")) == 1
    assert cut.noted
    monkeypatch.undo()
    library(cut.folder)
    assert not cut.noted
    assert not cut.is_there


def test_given_a_question_that_holds_the_older_version_when_its_process_changes_something_then_that_version_stays_until_it_lets_go(cut):
    opened = library(cut.folder)
    held = opened.snapshot
    cut.delete()

    opened.add([text("hen", "Hens cluck.", language="en")], SETTINGS)

    assert cut.noted
    assert held.page_text(cut.gone, 1) == "Dogs of the harbour office bark at every ship."
    del held
    opened.add([text("pig", "Pigs roll.", language="en")], SETTINGS)
    assert not cut.noted
    assert not cut.is_there


def test_given_a_reader_with_the_older_version_when_it_is_finished_then_all_is_there_but_the_pages_that_went(cut):
    reader = library(cut.folder).snapshot
    cut.delete()
    library(cut.folder)

    assert [passage.text for passage in reader.passages] == ["Cats sleep.", "Dogs of the harbour office bark at every ship.", "Cows graze."]
    assert reader.vectors.vectors([0, 1, 2]).shape[0] == 3
    assert len(reader.lexical.search(["bark"], 10, None)) == 1
    assert reader.page_text(reader.documents[0].id, 1) == "Cats sleep."
    with pytest.raises(LibraryDamaged):
        reader.page_text(cut.gone, 1)


def test_given_a_question_that_needs_a_page_that_went_meanwhile_then_it_is_asked_of_the_newest_version(cut, monkeypatch):
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


def test_given_a_file_that_waited_and_was_deleted_while_a_question_read_it_then_that_is_asked_again_without_it(tmp_path, monkeypatch):
    embedder = Held()
    opened = library(tmp_path, embedder=embedder)
    engine, measured_on, documents = Engine(opened, Tools(HashEmbedder())), asking.measured_on, []

    def late(view, *rest, **more):
        documents.append(len(view.documents))
        if len(documents) == 1:
            thread = deleting(opened, buoys())
            embedder.let(1)
            thread.join(SECONDS)
        return measured_on(view, *rest, **more)

    monkeypatch.setattr(asking, "measured_on", late)
    with indexing(opened, embedder, buoys(), buoys("more", 500), settings=SMALL):
        measured = engine.measure("What light does the buoy 17 show?", Settings.load("open"))
        assert opened.snapshot.version == 0, "nothing was published"

    assert not measured.failure
    assert documents == [2, 1]


def test_given_documents_that_change_each_time_when_a_page_is_gone_then_it_is_asked_so_often_and_says_both(cut, monkeypatch):
    opened, asked, measured_on = library(cut.folder), [], asking.measured_on
    kept = found(opened, "cats")[0]

    def late(view, *rest, **more):
        asked.append(view.version)
        for path in cut.root.glob("documents/*/pages.json.gz"):
            path.unlink()
        opened.set_metadata(kept, Metadata(title=f"On cats {len(asked)}"))
        return measured_on(view, *rest, **more)

    monkeypatch.setattr(asking, "measured_on", late)
    measured = Engine(opened, Tools(HashEmbedder())).measure("What do the dogs of the harbour office bark at?", Settings.load("open"))

    assert len(asked) == asking.MEASURE_ATTEMPTS
    assert measured.failure.startswith(asking.CHANGED)
    assert "is missing" in measured.failure


def test_given_a_model_that_was_asked_already_when_a_page_is_gone_then_it_is_not_asked_twice_and_the_failure_says_why(cut, monkeypatch):
    engine, asked = Engine(library(cut.folder), Tools(HashEmbedder())), []

    def drafted(measured, *_, **__):
        asked.append(1)
        cut.delete()
        return replace(measured, failure="A page is missing.")

    monkeypatch.setattr(asking, "generate", drafted)
    measured = engine.measure("What do the dogs of the harbour office bark at?", Settings.load("open").changed(drafter="model"))

    assert len(asked) == 1
    assert measured.failure == f"{asking.CHANGED} A page is missing."


def test_given_a_page_that_is_damaged_when_asked_then_that_is_said_and_not_asked_again(cut, monkeypatch):
    asked, measured_on = [], asking.measured_on
    monkeypatch.setattr(asking, "measured_on", lambda view, *rest, **more: asked.append(1) or measured_on(view, *rest, **more))
    engine = Engine(library(cut.folder), Tools(HashEmbedder()))
    for path in cut.root.glob("documents/*/pages.json.gz"):
        path.unlink()

    measured = engine.measure("What do the dogs of the harbour office bark at?", Settings.load("open"))

    assert "is missing" in measured.failure
    assert len(asked) == 1


@pytest.mark.parametrize(
    "way", [Library.delete, Library.erase, lambda opened, id: opened.discard([id])], ids=["delete", "erase", "discard"]
)
def test_given_a_version_that_a_killed_process_never_put_in_force_when_its_file_is_deleted_then_it_goes_too(tmp_path, way):
    opened = library(tmp_path)
    opened.add([text("cat", "Cats sleep.", language="en")], SETTINGS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "_point_to", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            opened.add([text("dog", "Dogs bark.", language="en")], SETTINGS)
    opened = library(tmp_path)
    (row,) = opened.unfinished()
    assert opened.remembers(row.id)

    way(opened, row.id)

    assert not opened.remembers(row.id)
    assert [path for path in tmp_path.rglob("*") if row.digest in path.name] == []
    check_whole(library(tmp_path))


@pytest.mark.parametrize("full", [False, True])
def test_given_a_folder_in_the_place_of_the_note_when_deleted_everywhere_then_it_goes_and_no_note_stays(cut, full):
    (cut.root / NOTE).mkdir()
    if full:
        (cut.root / NOTE / "more").write_text("?")
    library(cut.folder).erase(cut.gone)
    assert not cut.noted
    assert not cut.is_there


def test_given_a_link_in_the_place_of_the_note_then_what_it_leads_to_stays(cut):
    other = cut.folder / "other"
    other.mkdir()
    (cut.root / NOTE).symlink_to(other)
    library(cut.folder)
    assert not cut.noted
    assert other.is_dir()


def test_given_a_note_and_no_list_of_documents_when_opened_then_their_files_stay_for_a_rebuild(cut):
    cut.delete()
    shutil.rmtree(cut.root / "manifests")
    (cut.root / "CURRENT").unlink()
    (cut.root / "inbox.json").unlink()
    library(cut.folder)
    assert len([*(cut.root / "sources").iterdir()]) == 3
    library(cut.folder / "new").erase(cut.gone)  # where nothing ever was, there is nothing to lose


@pytest.mark.parametrize("harm", [b"", b"{}", b"[" * 100_000, b'{"everywhere": ["../../CURRENT"]}'])
def test_given_a_note_that_is_damaged_when_opened_then_the_deletion_is_finished(cut, harm):
    cut.delete()
    (cut.root / NOTE).write_bytes(harm)
    check_whole(library(cut.folder))
    assert not cut.noted
    assert not cut.is_there


def test_given_a_newest_version_that_is_damaged_then_nothing_is_deleted(cut):
    cut.delete()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Library, "_finish_cut_off", lambda _: None)
        program = library(cut.folder)
    newest = max(cut.root.glob("manifests/*.json"), key=lambda path: int(path.stem))
    newest.write_bytes(newest.read_bytes()[:-1])
    with pytest.raises(LibraryDamaged):
        library(cut.folder)
    program.discard([])  # it knows the version from memory
    assert cut.noted
    assert cut.is_there


def test_given_a_deletion_everywhere_that_was_cut_off_when_opened_then_the_copies_of_a_repair_go_but_not_of_what_is_there(cut):
    kept = found(library(cut.folder), "cats")[0]
    names = [id.removeprefix("sha256:") for id in (cut.gone, kept)]
    aside = cut.root / "damaged-1" / "sources"
    aside.mkdir(parents=True)
    for name in names:
        (aside / name).write_bytes(b"a copy")
    cut.delete(Library.erase)
    deletion.Note(cut.root).write([names[1]])  # one that was noted, and did not go

    library(cut.folder)

    assert [path.name for path in aside.iterdir()] == [names[1]]
    assert not cut.noted


def test_given_an_unfinished_file_when_deleted_then_its_bytes_go_at_once(tmp_path):
    opened = filled(tmp_path)
    opened.add([text("hen", "Hens cluck.", language="en")], SETTINGS, cancelled=lambda: bool(opened.unfinished()))
    (row,) = opened.unfinished()
    assert (tmp_path / "default/sources" / row.digest).exists()
    opened.delete(row.id)
    assert not (tmp_path / "default/sources" / row.digest).exists()


def test_given_an_older_note_when_a_deletion_fails_or_is_done_then_that_note_stays(cut):
    opened = library(cut.folder)
    held = opened.snapshot
    cut.delete()
    opened._on_delete = lambda *_: (_ for _ in ()).throw(LibraryError("It cannot forget.", remedy="Try again."))
    with pytest.raises(LibraryError, match="forget"):
        opened.delete(found(opened, "cats")[0])
    assert cut.noted
    opened._on_delete = lambda *_: None
    opened.delete(found(opened, "cats")[0])
    assert cut.noted
    assert held.version < opened.snapshot.version


def test_given_a_rebuild_after_a_deletion_that_was_cut_off_then_it_is_finished_too(cut):
    cut.delete()
    Library.rebuild(cut.folder, "default", SETTINGS, embedder=HashEmbedder(), vectors=FaissStore(16), lexical=Bm25Store())
    assert not cut.noted
    assert not cut.is_there


def test_given_no_deletion_when_opened_then_one_look_at_the_disk_says_so(cut, monkeypatch):
    looked = []
    exists = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda path: looked.append(path) or exists(path))
    library(cut.folder)
    assert looked.count(cut.root / NOTE) == 1


def test_given_deletions_that_were_cut_off_when_a_service_starts_then_they_are_finished_without_opening_a_collection(cut, monkeypatch):
    cut.delete()
    shutil.copytree(cut.root, cut.folder / "damaged")
    (cut.folder / "damaged" / "CURRENT").write_text("?")
    dropped = cut.folder / f"{dropping.GONE}1"
    shutil.copytree(cut.root, dropped)
    monkeypatch.setattr(Library, "open", lambda *_, **__: pytest.fail("no index is read"))

    take_up(cut.folder, ["default", "damaged"], SETTINGS, Runner())

    assert not cut.noted
    assert not cut.is_there
    assert not dropped.exists()
    assert (cut.folder / "damaged" / NOTE).exists(), "its newest version cannot be told"


def test_given_a_collection_that_was_half_deleted_when_another_is_opened_then_the_rest_goes(cut):
    dropped = cut.folder / f"{dropping.GONE}1"
    shutil.copytree(cut.root, dropped)
    open_library(cut.folder, "default", HashEmbedder())
    assert not dropped.exists()


def test_given_a_collection_that_cannot_be_deleted_now_when_another_is_opened_then_it_opens(cut, monkeypatch):
    dropped = cut.folder / f"{dropping.GONE}1"
    shutil.copytree(cut.root, dropped)
    monkeypatch.setattr(os, "rmdir", lambda *_, **__: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
    assert len(found(open_library(cut.folder, "default", HashEmbedder()), "cats")) == 1
    assert dropped.exists()


def test_given_another_process_that_deletes_the_same_when_a_collection_is_dropped_then_what_it_was_quicker_with_is_no_problem(
    cut, monkeypatch
):
    dropped = cut.folder / f"{dropping.GONE}1"
    shutil.copytree(cut.root, dropped)
    unlink = os.unlink

    def quicker(path, **more):
        unlink(path, **more)
        raise FileNotFoundError(2, "No such file")

    monkeypatch.setattr(os, "unlink", quicker)
    dropping.clear(cut.folder)
    assert not dropped.exists()


def test_given_a_database_that_is_gone_when_deleted_everywhere_then_that_is_said_and_the_next_opening_tries_again(cut, monkeypatch):
    opened, remove = library(cut.folder), Store.remove

    def refuse(self, path):
        if path.parent.name == "indexes":
            raise LibraryError("No database.", remedy="Start it.")
        remove(self, path)

    monkeypatch.setattr(Store, "remove", refuse)
    with pytest.raises(LibraryError, match="No database"):
        opened.erase(cut.gone)
    assert cut.noted
    monkeypatch.undo()
    library(cut.folder)
    assert not cut.noted
    assert not cut.is_there


def test_given_an_error_after_the_deletion_came_into_force_then_the_note_stays(cut, monkeypatch):
    opened = library(cut.folder)
    monkeypatch.setattr(Store, "clear", lambda *_, **__: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
    with pytest.raises(LibraryError):
        opened.delete(cut.gone)
    assert cut.noted


def test_given_what_cannot_be_deleted_now_when_a_file_that_waits_is_given_up_then_the_note_stays(tmp_path, monkeypatch):
    opened = filled(tmp_path)
    opened.add([text("hen", "Hens cluck.", language="en")], SETTINGS, cancelled=lambda: bool(opened.unfinished()))
    monkeypatch.setattr(Store, "remove", lambda *_: None)
    opened._deletions.forget_waiting([row.digest for row in opened.unfinished()])
    assert (tmp_path / "default" / NOTE).exists()


def test_given_a_file_that_waits_when_deleted_everywhere_then_what_comes_after_is_of_another_version(tmp_path):
    """It may be added again, and asked before its vectors are there: such a question is not the one that was under way."""
    opened = filled(tmp_path)
    opened.add([text("hen", "Hens cluck.", language="en")], SETTINGS, cancelled=lambda: bool(opened.unfinished()))
    before, documents = opened.snapshot.version, opened.snapshot.documents

    opened.erase(*(row.id for row in opened.unfinished()))

    assert opened.snapshot.version == before + 1
    assert (opened.snapshot.documents, opened.unfinished()) == (documents, ())
    check_whole(library(tmp_path))


@pytest.mark.parametrize("way", [Library.delete, Library.erase])
def test_given_a_file_that_was_deleted_before_when_deleted_everywhere_then_what_comes_after_is_of_another_version(cut, way):
    opened = library(cut.folder)
    way(opened, cut.gone)
    before, documents = opened.snapshot.version, opened.snapshot.documents

    opened.erase(cut.gone)

    assert (opened.snapshot.version, opened.snapshot.documents) == (before + 1, documents)
    check_whole(library(cut.folder))


def test_given_a_document_that_is_left_out_before_it_was_published_then_its_folder_is_not_needed(cut):
    opened = library(cut.folder)
    writer = opened._writer()
    entry = writer.entries[cut.gone]
    writer.put(entry)
    writer.remove(cut.gone)
    shutil.rmtree(cut.root / "documents" / entry.key)
    writer.publish()
    check_whole(library(cut.folder))

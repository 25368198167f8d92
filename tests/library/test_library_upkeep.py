"""Re-reading, discarding, and what a library says of itself: collections, model, size."""

from __future__ import annotations

import gc

import pytest
from library_kit import SETTINGS, HashEmbedder, check_whole, found, library, pdf, rebuilt, text

from rag_core.domain.documents import Metadata
from rag_core.errors import InvalidInput, LibraryError, ModelUnavailable
from rag_core.library.stored.named import collections, create_collection
from rag_core.library.stored.sources import Source
from rag_core.wiring import as_built

LONG = " ".join(f"Sentence number {number} says something new." for number in range(60))
SMALL = SETTINGS.changed(passage_tokens=64)
LEGAL = SETTINGS.changed(strategy="legal")


def test_given_other_settings_when_reread_then_only_that_document_is_cut_anew_and_what_the_user_wrote_stays(tmp_path):
    opened = library(tmp_path)
    one, two = (row.id for row in opened.add([text("one", LONG), text("two", LONG + " End.")], SETTINGS).added)
    opened.set_metadata(one, Metadata(title="Mine", authority=0.5, values={"class": "10"}))
    before, untouched = len(opened.snapshot.passages_of(one)), opened.snapshot.passages_of(two)

    report = opened.reread([one], SMALL)

    assert [document.id for document in report.added] == [one]
    assert len(opened.snapshot.passages_of(one)) > before
    assert opened.snapshot.passages_of(two) == untouched
    assert opened.snapshot.document(one).metadata == Metadata(title="Mine", authority=0.5, values={"class": "10"})
    assert opened.unfinished() == ()
    check_whole(library(tmp_path))


def test_given_a_strategy_when_reread_then_it_stays_with_the_document_when_all_are_rebuilt(tmp_path):
    opened = library(tmp_path)
    one, two = (row.id for row in opened.add([text("one", LONG), text("two", LONG + " End.")], SETTINGS).added)

    opened.reread([one], LEGAL)

    assert [document.strategy for document in opened.snapshot.documents] == ["legal", "technical"]
    anew, _ = rebuilt(tmp_path, "other@float32")
    assert {document.id: document.strategy for document in anew.snapshot.documents} == {one: "legal", two: "technical"}
    assert [document.strategy for document in anew.reread([one], SETTINGS).added] == ["technical"]


def test_given_a_reread_that_is_stopped_when_looked_at_then_the_document_is_as_it_was_and_nothing_waits(tmp_path):
    opened = library(tmp_path)
    id = opened.add([text("one", LONG)], SETTINGS).added[0].id
    before = opened.snapshot.passages

    report = opened.reread([id], SMALL, cancelled=lambda: True)

    assert report.cancelled
    assert [*opened.snapshot.passages] == [*before]
    assert opened.unfinished() == ()
    check_whole(opened)


def test_given_an_encrypted_document_when_reread_then_its_password_is_needed_where_the_file_is_read(tmp_path):
    opened = library(tmp_path)
    source = Source("locked.pdf", pdf("Cats sleep.", password="sesame"), "pdf", password="sesame")
    id = opened.add([source], SETTINGS).added[0].id
    hidden = SETTINGS.changed(ocr=not SETTINGS.ocr)

    assert len(opened.reread([id], LEGAL).added) == 1
    report = opened.reread([id], hidden)
    assert [error.kind for _, error in report.problems] == ["PasswordNeeded"]
    assert found(opened, "cats") == [id]
    assert opened.unfinished() == ()
    assert len(opened.reread([id], hidden, passwords={id: "sesame"}).added) == 1


def test_given_an_unknown_document_when_reread_or_deleted_with_others_then_nothing_changes(tmp_path):
    opened = library(tmp_path)
    id = opened.add([text("one", "Alpha.")], SETTINGS).added[0].id
    generation = opened.snapshot.version

    with pytest.raises(InvalidInput, match="nobody"):
        opened.reread([id, "nobody"], LEGAL)
    with pytest.raises(InvalidInput, match="nobody"):
        opened.delete(id, "nobody")

    assert opened.snapshot.version == generation


def test_given_unfinished_files_when_one_is_discarded_then_the_other_waits_and_documents_stay(tmp_path):
    opened = library(tmp_path)
    kept = opened.add([text("kept", "Alpha.")], SETTINGS).added[0].id
    opened.add([text("one", "Beta."), text("two", "Gamma."), text("kept", "Alpha.")], LEGAL, cancelled=lambda: True)
    one = next(row for row in opened.unfinished() if row.name == "one")

    opened.discard([one.id, kept])

    assert [row.name for row in opened.unfinished()] == ["two"]
    assert [document.id for document in opened.snapshot.documents] == [kept]
    assert not (tmp_path / "default/sources" / one.digest).exists()
    check_whole(opened)


def test_given_unfinished_files_when_some_are_resumed_then_the_others_wait(tmp_path):
    opened = library(tmp_path)
    opened.add([text("one", "Beta."), text("two", "Gamma.")], SETTINGS, cancelled=lambda: True)
    one, two = opened.unfinished()

    assert [document.name for document in opened.resume(SETTINGS, only=[one.id]).added] == ["one"]
    assert opened.unfinished() == (two,)


def test_given_a_document_that_cannot_be_read_anew_when_rebuilt_then_its_source_waits(tmp_path):
    locked = Source("locked.pdf", pdf("Cats sleep.", password="sesame"), "pdf", password="sesame")
    library(tmp_path).add([locked, text("one", "Alpha.")], SETTINGS)

    anew, report = rebuilt(tmp_path, "other@float32", SETTINGS.changed(ocr=not SETTINGS.ocr))

    assert [document.name for document in report.added] == ["one"]
    assert [name for name, _ in report.problems] == ["locked.pdf"]
    waiting = anew.unfinished()[0]
    assert (waiting.name, waiting.needs_password) == ("locked.pdf", True)
    assert len(anew.resume(SETTINGS, passwords={waiting.id: "sesame"}).added) == 1


def test_given_a_model_that_fails_half_way_when_rebuilt_then_the_old_generation_stands_whole(tmp_path):
    class Failing(HashEmbedder):
        def embed(self, texts, kind="passage"):
            if self.embedded:
                raise ModelUnavailable("The model is away.", remedy="Bring it back.")
            return super().embed(texts, kind)

    opened = library(tmp_path)
    opened.add([Source(f"{n}.pdf", pdf(f"Text number {n}."), "pdf") for n in range(2)], SETTINGS)

    with pytest.raises(ModelUnavailable):
        rebuilt(tmp_path, Failing("other@float32"))

    again = library(tmp_path)
    assert again.snapshot.version == opened.snapshot.version
    check_whole(again)


@pytest.mark.parametrize("harm", ["gone", "changed"])
def test_given_a_stored_source_that_was_lost_when_rebuilt_then_it_is_named_and_the_others_are_whole(tmp_path, harm):
    opened = library(tmp_path)
    lost, kept = opened.add([text("lost", "Alpha."), text("kept", "Beta.")], SETTINGS).added
    path = tmp_path / "default/sources" / lost.id.removeprefix("sha256:")
    path.unlink() if harm == "gone" else path.write_text("Something else.")

    anew, report = rebuilt(tmp_path, "other@float32")

    assert [(name, error.remedy) for name, error in report.problems] == [("lost", "Add the file again.")]
    assert [document.id for document in anew.snapshot.documents] == [kept.id]
    check_whole(anew)


def test_given_folders_when_listed_then_those_that_are_no_collections_are_left_out(tmp_path):
    create_collection(tmp_path / "new", "law")
    create_collection(tmp_path / "new", "law")
    assert collections(tmp_path / "new") == ("law",)
    assert library(tmp_path / "new", "law").snapshot.documents == ()

    tmp_path /= "others"
    (tmp_path / "photos").mkdir(parents=True)
    (tmp_path / "photos/cat.jpg").touch()
    (tmp_path / "Upper").mkdir()
    (tmp_path / "file").touch()

    assert collections(tmp_path) == ()
    assert collections(tmp_path / "missing") == ()


def test_given_a_library_when_asked_for_its_model_then_it_is_its_own_if_known(tmp_path, monkeypatch):
    other = HashEmbedder("some/model@bfloat16")
    library(tmp_path, embedder=other).add([text("one", "Alpha.")], SETTINGS)

    found_settings = as_built(tmp_path, "default", SETTINGS)

    assert (found_settings.embedding_model, found_settings.embedding_precision) == ("some/model", "bfloat16")
    assert found_settings.changed(embedding_model=SETTINGS.embedding_model, embedding_precision="auto") == SETTINGS

    tmp_path /= "another"
    monkeypatch.setattr("rag_core.library.disk.database.WAIT_SECONDS", 0.1)
    assert as_built(tmp_path, "default", SETTINGS) == SETTINGS
    opened = library(tmp_path, embedder=other)
    opened.delete(opened.add([text("one", "Alpha.")], SETTINGS).added[0].id)
    assert as_built(tmp_path, "default", SETTINGS) == SETTINGS
    opened._collection.close()
    (tmp_path / "default/collection.sqlite").write_text("{")
    assert as_built(tmp_path, "default", SETTINGS) == SETTINGS


def test_given_documents_when_their_size_is_asked_for_then_it_is_that_of_what_is_kept_of_them(tmp_path):
    opened = library(tmp_path)
    assert opened.size_bytes() == 0
    one, two = (row.id for row in opened.add([text("one", LONG), text("two", "Beta.")], SETTINGS).added)
    root = tmp_path / "default"

    assert len(LONG) < opened.snapshot.size_bytes(one) < 40 * len(LONG)
    assert opened.snapshot.size_bytes(two) < opened.snapshot.size_bytes(one)
    assert opened.size_bytes() == sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    assert [len(opened.snapshot.passages_of(id)) for id in (one, two)] == [len(opened.snapshot.passages) - 1, 1]
    with pytest.raises(InvalidInput):
        opened.snapshot.passages_of("nobody")


def test_given_the_first_of_many_documents_when_it_is_complete_then_it_is_published_at_once(tmp_path):
    opened = library(tmp_path)
    seen = []

    def look(what: str, done: int, total: int) -> None:
        seen.append((what, done, len(library(tmp_path).snapshot.documents)))

    opened.add([Source(f"{n}.pdf", pdf(f"Text number {n}."), "pdf") for n in range(3)], SETTINGS, progress=look)

    assert ("documents", 1, 1) in seen


def test_given_a_library_that_is_opened_then_no_garbage_is_looked_for_meanwhile(tmp_path, monkeypatch):
    writer, reader, seen = library(tmp_path), library(tmp_path), []
    writer.add([text("one", "Alpha.")], SETTINGS)
    load = reader._loader.load
    monkeypatch.setattr(reader._loader, "load", lambda *given: seen.append(gc.isenabled()) or load(*given))

    assert reader.refresh()
    assert (seen, gc.isenabled()) == ([False], True)
    writer.add([text("two", "Beta.")], SETTINGS)
    monkeypatch.setattr(
        reader._loader, "load", lambda *given: (_ for _ in ()).throw(LibraryError("Damaged.", remedy="Rebuild."))
    )
    for enabled in (True, False):
        gc.enable() if enabled else gc.disable()
        try:
            with pytest.raises(LibraryError):
                reader.refresh()
            assert gc.isenabled() is enabled
        finally:
            gc.enable()

"""A document that is deleted everywhere leaves nothing: every file is searched for its words, also inside what is
packed.
"""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest
from service_kit import Server, labelled_run

from rag_core.domain.measurements import TYPED
from rag_core.entrypoints.cli import main
from rag_core.library.erasing import mentions_of
from rag_core.library.stored.collection import Collection
from rag_core.records.stored import SavedPreset
from rag_core.wiring import RecordStore, act_log, open_engine, records
from rag_core.work import loading, recording

KEPT = "The canteen opens at eleven o'clock. Visitors sign the book at the gate of the north hall."
GONE = "The zyxoquant of Brambleforth is calibrated with ulvexine every 40 days. Its owner is Theodosius Quillhaven."
WORDS = ("zyxoquant", "brambleforth", "ulvexine", "quillhaven", "wexford-dossier", "marrowgate")
ASKED = "How often is the zyxoquant calibrated?"


def streams(data: bytes) -> Iterator[bytes]:
    """The bytes, and whatever in them a packer may have made, wherever it begins: also in pages that a database no
    longer uses.
    """
    yield data
    for magic, window in ((b"\x78", 15), (b"\x1f\x8b\x08", 31)):
        at = data.find(magic)
        while at >= 0:
            try:
                yield zlib.decompressobj(window).decompress(data[at:])
            except zlib.error:
                pass
            at = data.find(magic, at + 1)


def found(folder: Path, words: tuple[str, ...] = WORDS) -> set[tuple[str, str]]:
    """The files of a folder, or their names, that hold one of these words in any case."""
    hits = set()
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        texts = [name.encode(), *(streams(path.read_bytes()) if path.is_file() else ())]
        hits |= {(name, word) for text in texts for word in words if word.encode() in text.lower()}
    return hits


def pdf() -> bytes:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), [line.strip() + "." for line in GONE.split(".") if line.strip()])
    document.set_metadata({"title": "The Marrowgate file"})
    return bytes(document.tobytes())


@pytest.fixture(scope="module")
def filled(server: Server) -> tuple[str, Path]:
    """A collection whose document is spoken of wherever that is possible; its id, and the collection's folder."""
    with server.client("admin") as client:
        sent = {"namespace": "erasing", "documents": [{"content": KEPT, "metadata": {"title": "House rules"}}]}
        client.post("/api/rag/index", json=sent).raise_for_status()
        files = {"files": ("Wexford-Dossier.pdf", pdf())}
        indexed = client.post("/api/rag/index", data={"namespace": "erasing"}, files=files).raise_for_status().json()
        id = indexed["documents"][0]["id"]
        at = "/api/collections/erasing"
        client.put(
            f"{at}/documents/{id}/metadata", json={"metadata": {"title": "Marrowgate", "at": "Brambleforth"}}
        ).raise_for_status()
        for question in (ASKED, "When does the canteen open?", "Who signs the book?"):
            decision = (
                client.post("/api/rag/query", json={"query": question, "namespace": "erasing"})
                .raise_for_status()
                .json()
            )
            said = {"kind": "helpful", "comment": "As in Wexford-Dossier.pdf" if question == ASKED else "Fine"}
            client.post(f"{at}/decisions/{decision['id']}/feedback", json=said).raise_for_status()
        # a question that was not answered from it, and a reader who points at it
        late = client.post(
            "/api/rag/query", json={"query": "When does the canteen open?", "namespace": "erasing"}
        ).json()["id"]
        pointed = {"kind": "wrong_answer", "document": id, "page": 1}
        client.post(f"{at}/decisions/{late}/feedback", json=pointed).raise_for_status()
        rows = [
            {"id": "1", "question": ASKED, "answerable": True, "answers": ["40 days"]},
            {"id": "2", "question": "When does the canteen open?", "answerable": True, "answers": ["eleven"]},
            {"id": "3", "question": "Who owns it?", "answerable": True, "answers": ["Theodosius Quillhaven"]},
        ]
    number = labelled_run(server, "erasing", "about the zyxoquants", rows)
    store = records(server.folder, "erasing")
    other = store.measurements(late)
    store.keep(replace(other, metadata={**other.metadata, TYPED: "And what of the zyxoquant?"}))
    store.write_set("Wexford-Dossier.pdf", store.run_questions(number))
    store.save_preset(SavedPreset("sure", {}, {"set_name": "about the zyxoquants"}, "2026-11-23T00:00:00+00:00"))
    folder = server.folder / "erasing"
    assert Collection(server.folder, "erasing")._writer.empty_log()
    shutil.copy(folder / "collection.sqlite", folder / "collection.damaged-20260101T000000.sqlite")
    assert store._file.empty_log()
    shutil.copy(folder / "records.sqlite", folder / "records.damaged-20260101T000000.sqlite")
    return id, folder


def test_given_a_document_that_is_deleted_everywhere_then_no_file_holds_a_word_of_it(server, filled, tmp_path):
    id, folder = filled
    held = {name.partition("/")[0] for name, _ in found(folder)}
    for where in ("collection.sqlite", "sources", "records.sqlite", "collection.damaged-", "records.damaged-"):
        assert any(name.startswith(where) for name in held), (where, held)
    with server.client("reader") as reader, server.client("alpha") as alpha, server.client("admin") as client:
        at = f"/api/collections/erasing/documents/{id}/everywhere"
        assert [one.delete(at).status_code for one in (reader, alpha)] == [404, 404]
        erased = client.delete(at).raise_for_status().json()
        again = client.delete(at)
        kept = client.get("/api/collections/erasing/decisions").json()["items"]
        asked = client.post(
            "/api/rag/query", json={"query": "When does the canteen open?", "namespace": "erasing"}
        ).json()
        shown = client.get(f"/api/collections/erasing/decisions/{kept[-1]['id']}").json() if kept else {}

    assert found(server.folder) == set()
    assert (erased["labels"], again.status_code) == (4, 200)
    assert erased["decisions"] >= 1
    assert erased["feedback"] >= 2
    assert erased["results"] >= 2
    assert [one["question"] for one in kept if "canteen" not in one["question"] and "book" not in one["question"]] == []
    assert "eleven" in asked["answer"]
    assert "Wexford" not in str(shown)
    assert [entry.action for entry in act_log(server.folder).entries() if entry.object == id][-2:] == ["erase", "erase"]

    loading.forget(server.folder, "erasing")  # as after a restart
    shutil.copytree(folder, tmp_path / "default")
    fresh = open_engine(tmp_path)
    assert [document.name for document in fresh.library.snapshot.documents] == ["House rules"]
    fresh.library.verify()
    assert "zyxoquant" not in fresh.ask(ASKED, server.service.base).answer
    store = records(tmp_path, "default")
    assert [one.question for one in store.run_questions(store.runs()[0].id)] == ["When does the canteen open?"]
    assert store.sets() == ("erased 1",)
    assert store.presets()[0].certificate == {"set_name": "erased"}


def test_given_a_question_beside_a_deletion_then_it_fails_once_and_no_file_holds_a_word(server, monkeypatch):
    with server.client("admin") as client:
        sent = {"namespace": "under-way", "documents": [{"content": KEPT, "metadata": {"title": "House rules"}}]}
        client.post("/api/rag/index", json=sent).raise_for_status()
        files = {"files": ("Wexford-Dossier.pdf", pdf())}
        id = (
            client.post("/api/rag/index", data={"namespace": "under-way"}, files=files)
            .raise_for_status()
            .json()["documents"][0]["id"]
        )
        asking, at = {"query": ASKED, "namespace": "under-way"}, f"/api/collections/under-way/documents/{id}/everywhere"
        client.post(
            "/api/rag/query", json={"query": "When does the canteen open?", "namespace": "under-way"}
        ).raise_for_status()

        def keeping(store: RecordStore) -> bool:
            client.delete(at).raise_for_status()
            return recording.keeping(store)

        with monkeypatch.context() as late:
            late.setattr("rag_core.service.questions.keeping", keeping)
            failed = client.post("/api/rag/query", json=asking)
        again = client.post("/api/rag/query", json=asking).raise_for_status().json()

    assert (failed.status_code, failed.json()["kind"], failed.json()["remedy"]) == (409, "LibraryBusy", "Ask again.")
    assert "40 days" not in again["answer"]
    assert found(server.folder / "under-way", WORDS[1:]) == set(), "but the word of whoever asked again"


def test_given_documents_that_share_words_when_one_goes_then_only_its_own_words_count(tmp_path: Path) -> None:
    for name, text in (("one.txt", "Pumps need ulvexine grease."), ("two.txt", "Pumps need oil.")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert (
        main(["index", str(tmp_path / "one.txt"), str(tmp_path / "two.txt"), "--library", str(tmp_path / "library")])
        == 0
    )
    snapshot = open_engine(tmp_path / "library").library.snapshot
    mentions = mentions_of(snapshot, {snapshot.find("one.txt")[0].id})

    assert [
        text for text in ("Which pumps?", "ULVEXINE", "ulvexines", "see one.txt", "in two.txt", "go") if mentions(text)
    ] == ["ULVEXINE", "ulvexines", "see one.txt"]


def test_given_the_command_line_when_a_deleted_document_is_named_by_id_then_the_rest_of_it_goes(tmp_path, capsys):
    (tmp_path / "one.txt").write_text(GONE, encoding="utf-8")
    library = ("--library", str(tmp_path / "library"))
    assert main(["index", str(tmp_path / "one.txt"), *library]) == 0
    id = open_engine(tmp_path / "library").library.snapshot.documents[0].id
    assert main(["delete", "one.txt", *library]) == 0
    assert found(tmp_path / "library", ("zyxoquant",)) == set()
    assert main(["delete", id, *library]) == 1

    assert main(["delete", id, "--everywhere", *library]) == 0
    assert found(tmp_path / "library", (*WORDS, "one.txt")) == set()
    assert "0 kept questions" in capsys.readouterr().err


def test_given_a_collection_when_it_is_dropped_then_all_of_it_is_gone_but_not_by_who_only_asks(server: Server) -> None:
    for holder, scopes in (("house", ("ask", "index", "label")), ("guest", ("ask", "index"))):
        server.tokens[holder] = server.service.tokens.create(holder, scopes, ("house",))[1]
    at = "/api/collections/house"
    sent = {"namespace": "house", "documents": [{"content": GONE}]}
    with server.client("house") as client, server.client("guest") as guest:
        client.post("/api/rag/index", json=sent).raise_for_status()
        client.post("/api/rag/query", json={"query": ASKED, "namespace": "house"}).raise_for_status()
        assert len(records(server.folder, "house").decisions(10)) == 1
        assert guest.delete(at).status_code == 403
        assert (server.folder / "house").is_dir()

        client.delete(at).raise_for_status()

        assert client.get(f"{at}/documents").status_code == 404
        assert not (server.folder / "house").exists()
        client.post("/api/rag/index", json={"namespace": "house", "documents": [{"content": KEPT}]})
        assert client.get(f"{at}/documents").json()["total"] == 1
        assert client.get(f"{at}/decisions").json()["items"] == []

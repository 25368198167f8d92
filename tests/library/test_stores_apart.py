"""Stores that keep vectors and words in a database, under a library: the same decisions, guarded rows, nothing lost, nothing left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from library_kit import DIM, SETTINGS, HashEmbedder, text
from library_kit import found as ids_found

from rag_core.adapters.index import postgres
from rag_core.adapters.index.apart import digest_of
from rag_core.domain.measurements import Measurements
from rag_core.errors import InvalidSetting, LibraryDamaged, RagError, StoreUnavailable
from rag_core.library.library import Library
from rag_core.library.store import Store
from rag_core.settings import Settings
from rag_core.settings.endpoints import store_url
from rag_core.wiring import open_engine, open_library, rebuild_library

ROOT = Path(__file__).parents[2]
STORES = ["pgvector"]
every_store = pytest.mark.parametrize("store", STORES)
pytestmark = pytest.mark.stores
Rows = Callable[[str], list[tuple[str, ...]]]


@pytest.fixture
def rows(databases: str) -> Iterator[Rows]:
    """All rows of a query, as the owner of the PostgreSQL server sees them."""
    import psycopg

    with psycopg.connect(databases, autocommit=True) as connection:
        yield lambda query: connection.execute(query).fetchall()  # type: ignore[call-overload]


def opened(folder: Path, store: str, collection: str = "default") -> Library:
    return open_library(folder, collection, HashEmbedder(), store)


def found(held: Library, question: str) -> list[str]:
    """The names of the documents that share words with the question."""
    return [held.snapshot.document(id).name for id in ids_found(held, question)]


def id_of(held: Library, name: str) -> str:
    (document,) = held.snapshot.find(name)
    return document.id


def owner_of(folder: Path, store: str) -> str:
    return str(json.loads(next(folder.glob(f"default/indexes/*/vectors.{store}.json")).read_bytes())["collection"])


@every_store
@pytest.mark.slow
def test_given_sample_questions_when_asked_in_a_database_then_all_that_is_measured_and_decided_is_as_on_local_disk(
    store: str, sample_library: Path, tmp_path: Path
) -> None:
    shutil.copytree(sample_library, tmp_path / "library")
    settings = Settings.load()
    here = open_engine(sample_library, "default", settings)
    report = rebuild_library(tmp_path / "library", "default", settings.changed(vector_store=store))
    engine = open_engine(tmp_path / "library", "default", settings)
    questions = [json.loads(line)["question"] for line in (ROOT / "data/questions.jsonl").read_text("utf-8").splitlines()][::14]

    assert (report.problems, engine.library.vector_store) == ((), store)
    for question in questions:
        seen: list[Measurements] = []
        decisions = [one.ask(question, settings, on_measured=seen.append) for one in (here, engine)]
        on_disk, apart = (replace(each, timings=MappingProxyType({}), library=replace(each.library, version=0)) for each in seen)
        assert on_disk == apart, question
        assert decisions[0].outcome == decisions[1].outcome, question
        assert decisions[0].scores == decisions[1].scores, question
    assert len(questions) > 8


@every_store
def test_given_two_libraries_of_one_name_in_one_database_then_neither_finds_or_deletes_what_the_other_has(
    store: str, tmp_path: Path
) -> None:
    first, second = opened(tmp_path / "a", store), opened(tmp_path / "b", store)
    first.add([text("one", "kx11 kx22.")], SETTINGS)
    second.add([text("two", "kx11 kx33."), text("three", "kx11 kx22.")], SETTINGS)
    for number in range(4):  # clears the oldest versions away, with what they keep in the database
        second.add([text(f"more-{number}", f"kx44 {number}.")], SETTINGS)
    second.delete(id_of(second, "three"))
    second.erase(id_of(second, "two"))

    assert owner_of(tmp_path / "a", store) != owner_of(tmp_path / "b", store)
    again = opened(tmp_path / "a", store)
    assert found(again, "kx11 kx22") == ["one"]
    assert again.snapshot.vectors.search(HashEmbedder().embed(["kx11 kx22."])[0], 5, None)[0] == (0, pytest.approx(1))
    assert found(opened(tmp_path / "b", store), "kx11 kx33") == []


@every_store
def test_given_documents_that_come_and_go_then_each_version_finds_what_it_has_and_old_ones_leave_nothing(
    store: str, tmp_path: Path
) -> None:
    held = opened(tmp_path, store)
    held.add([text("one", "kx11 kx22."), text("two", "kx33 kx44.")], SETTINGS)
    old = held.snapshot
    held.delete(id_of(held, "one"))
    held.add([text("three", "kx11 kx55.")], SETTINGS)

    nearest = held.snapshot.vectors.search(HashEmbedder().embed(["kx11 kx22."])[0], 2, None)
    assert found(held, "kx11") == ["three"]
    assert sorted(row for row, _ in nearest) == [0, 1]
    assert [old.document(old.passages[row].document).name for row, _ in old.lexical.search(["kx11"], 3, None)] == ["one"]
    assert old.vectors.search(HashEmbedder().embed(["kx11 kx22."])[0], 1, None) == [(0, pytest.approx(1))]
    assert old.vectors.search(HashEmbedder().embed(["kx11 kx22."])[0], 5, [1])[0][0] == 1
    held.verify()


def test_given_an_erased_document_then_no_row_of_it_stays_in_the_database(rows: Rows, tmp_path: Path) -> None:
    held = opened(tmp_path, "pgvector")
    held.add([text("one", "kx11 kx22."), text("two", "kx33 kx44.")], SETTINGS)
    kept = HashEmbedder().embed(["kx33 kx44."])[0]
    mine = f"WHERE collection = '{owner_of(tmp_path, 'pgvector')}'"

    held.erase(id_of(held, "one"))

    assert rows(f"SELECT digest FROM plumbline_vectors {mine}") == [(digest_of(kept),)]
    assert sorted(rows(f"SELECT term FROM plumbline_words {mine}")) == [(b"kx33",), (b"kx44",)]


def test_given_a_connection_then_it_sees_and_writes_rows_of_its_own_collection_alone(tmp_path: Path) -> None:
    import psycopg

    opened(tmp_path, "pgvector").add([text("one", "kx11 kx22.")], SETTINGS)
    owner = owner_of(tmp_path, "pgvector")
    with psycopg.connect(store_url("RAG_PGVECTOR_URL", "pgvector", ""), autocommit=True) as connection:
        for table in ("plumbline_vectors", "plumbline_words"):
            for serving, expected in (("", set()), ("default", set()), (owner, {owner})):
                connection.execute("SELECT set_config('plumbline.collection', %s, false)", (serving,))
                assert {name for (name,) in connection.execute(f"SELECT collection FROM {table}")} == expected  # type: ignore[arg-type]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO plumbline_words VALUES ('another', '1', '', '', '')")


def test_given_a_transaction_that_fails_or_is_lost_then_none_of_its_rows_is_there() -> None:
    database, good = postgres.database(), np.eye(DIM, dtype=np.float32)[0]
    bad = np.full(DIM, np.nan, dtype=np.float32)

    with pytest.raises(StoreUnavailable, match="refused"):
        database.put("half", {b"1": good, b"2": bad}, DIM)
    with pytest.raises(StoreUnavailable):
        database.put_words("half", "1", [("a", (np.zeros(1, np.int32), np.zeros(1, np.float32))), ("a", (np.zeros(0, np.int32),) * 2)])

    assert database.held("half", [b"1", b"2"], DIM) == 0
    assert list(database.terms("half", "1")) == []


def test_given_lost_connections_when_asked_again_then_new_ones_are_made(rows: Rows, tmp_path: Path) -> None:
    held = opened(tmp_path, "pgvector")
    held.add([text("one", "kx11 kx22.")], SETTINGS)
    ended = rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plumbline'")

    assert ended
    assert found(held, "kx11") == ["one"]
    assert held.snapshot.vectors.vectors([0]).shape == (1, DIM)
    held.add([text("two", "kx33.")], SETTINGS)
    assert found(opened(tmp_path, "pgvector"), "kx33") == ["two"]


def test_given_a_database_that_is_gone_then_one_error_says_so_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    held = opened(tmp_path, "pgvector")
    held.add([text("one", "kx11 kx22.")], SETTINGS)
    monkeypatch.setenv("RAG_PGVECTOR_URL", f"postgresql://me:secret@/none?host={tmp_path}")
    postgres.database().close()

    for act in (lambda: held.add([text("two", "kx33.")], SETTINGS), lambda: found(held, "kx11"), lambda: opened(tmp_path, "pgvector")):
        with pytest.raises(StoreUnavailable, match="cannot be asked") as caught:
            act()
        assert "RAG_PGVECTOR_URL" in caught.value.remedy
        assert "secret" not in f"{caught.value}{caplog.text}"
    with pytest.raises(RagError):
        held.erase(id_of(held, "one"))  # cannot be done now, and says so
    monkeypatch.undo()

    again = opened(tmp_path, "pgvector")
    assert [row.name for row in again.unfinished()] == ["two"]
    assert [each.name for each in again.resume(SETTINGS).added] == ["two"]
    assert (found(again, "kx33"), found(again, "kx11")) == (["two"], ["one"])


def test_given_an_address_that_is_none_then_the_error_names_the_variable_and_no_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres.database().close()
    for address in ("", "postgresql://me:secret@[", "secret"):
        monkeypatch.setenv("RAG_PGVECTOR_URL", address)
        with pytest.raises(InvalidSetting, match=r"vector store 'pgvector'|RAG_PGVECTOR_URL") as caught:
            opened(tmp_path, "pgvector").add([text("one", "kx11.")], SETTINGS)
        assert "postgresql://user:password@host/database" in caught.value.remedy
        assert "secret" not in str(caught.value)
    (tmp_path / "secrets.toml").write_text('RAG_PGVECTOR_URL = "postgresql://kept"', encoding="utf-8")
    assert store_url("RAG_PGVECTOR_URL", "pgvector", "", {}, tmp_path / "secrets.toml") == "postgresql://kept"


def test_given_rows_that_were_changed_or_lost_in_the_database_then_it_is_found_and_a_rebuild_mends_it(rows: Rows, tmp_path: Path) -> None:
    held = opened(tmp_path, "pgvector")
    held.add([text("one", "kx11 kx22.")], SETTINGS)
    mine = f"WHERE collection = '{owner_of(tmp_path, 'pgvector')}' RETURNING 1"

    for harm in (
        f"UPDATE plumbline_vectors SET embedding = array_fill(1, ARRAY[{DIM}])::vector {mine}",
        f"DELETE FROM plumbline_vectors {mine}",
        f"DELETE FROM plumbline_words {mine}",
    ):
        rows(harm)
        with pytest.raises(LibraryDamaged, match="cannot be read") as caught:
            opened(tmp_path, "pgvector").snapshot.vectors.vectors([0])
        assert "index --rebuild" in caught.value.remedy
        mend(tmp_path)
        again = opened(tmp_path, "pgvector")
        assert np.array_equal(again.snapshot.vectors.vectors([0])[0], HashEmbedder().embed(["kx11 kx22."])[0])
        assert found(again, "kx11") == ["one"]


def mend(folder: Path) -> None:
    embedder = HashEmbedder()
    Library.rebuild(folder, "default", SETTINGS, embedder=embedder, vectors=postgres.vectors(), lexical=postgres.words())
    assert embedder.embedded == 0  # its documents have their vectors in the folder


def test_given_a_process_that_was_killed_before_it_published_then_what_it_sent_is_deleted(
    rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = opened(tmp_path, "pgvector")
    monkeypatch.setattr(Store, "publish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        held.add([text("one", "kx11 kx22.")], SETTINGS)
    monkeypatch.undo()
    owner = owner_of(tmp_path, "pgvector")
    assert rows(f"SELECT term FROM plumbline_words WHERE collection = '{owner}'")

    again = opened(tmp_path, "pgvector")
    again.delete(again.unfinished()[0].id)
    again.add([text("two", "kx33.")], SETTINGS)

    assert rows(f"SELECT term FROM plumbline_words WHERE collection = '{owner}'") == []
    assert rows(f"SELECT digest FROM plumbline_vectors WHERE collection = '{owner}'") == []
    assert found(opened(tmp_path, "pgvector"), "kx33") == ["two"]

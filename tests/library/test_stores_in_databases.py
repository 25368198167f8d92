"""Stores that keep vectors in a database, under a library: the same decisions, guarded rows, nothing lost,
nothing left.
"""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from library_kit import DIM, SETTINGS, HashEmbedder, text
from library_kit import found as ids_found

from rag_core.adapters.index import in_database, milvus, postgres
from rag_core.adapters.index.choose import forget, vector_store
from rag_core.adapters.index.flat import FaissStore
from rag_core.adapters.index.in_database import digest_of
from rag_core.domain.measurements import Measurements
from rag_core.errors import InvalidSetting, LibraryDamaged, RagError, StoreUnavailable
from rag_core.library.library import Library
from rag_core.library.loading import Loaded, Loader
from rag_core.library.stored.collection import STORES
from rag_core.settings import Settings
from rag_core.settings.endpoints import store_url
from rag_core.wiring import drop_collection, finish_deletions, open_engine, open_library, rebuild_library

ROOT = Path(__file__).parents[2]
# the adapter's module, and an address where nobody is
STORES_THERE = {
    "pgvector": (postgres, "postgresql://me:secret@127.0.0.1:1/none"),
    "milvus": (milvus, "http://me:secret@127.0.0.1:1/none"),
}
every_store = pytest.mark.parametrize("store", STORES_THERE)
pytestmark = pytest.mark.stores
Rows = Callable[[str], list[tuple[str, ...]]]


@pytest.fixture
def rows(databases: str) -> Iterator[Rows]:
    """All rows of a query, as the owner of the PostgreSQL server sees them."""
    import psycopg

    with psycopg.connect(databases, autocommit=True) as connection:
        yield lambda query: connection.execute(query).fetchall()  # type: ignore[call-overload]


Stored = Callable[[str, str], set[bytes]]


@pytest.fixture
def stored(rows: Rows) -> Stored:
    """The digests that a store keeps for a collection, read past our own code."""

    def read(store: str, owner: str) -> set[bytes]:
        if store == "pgvector":
            return {digest for (digest,) in rows(f"SELECT digest FROM plumbline_vectors WHERE collection = '{owner}'")}
        client, mine = milvus.database()._connected(), f'collection == "{owner}"'
        return {
            bytes.fromhex(row["digest"])
            for row in client.query(f"plumbline_vectors_{DIM}", mine, output_fields=["digest"])
        }

    return read


def opened(folder: Path, store: str, collection: str = "default") -> Library:
    return open_library(folder, collection, HashEmbedder(), store)


def found(held: Library, question: str) -> list[str]:
    """The names of the documents that share words with the question."""
    return [held.snapshot.document(id).name for id in ids_found(held, question)]


def id_of(held: Library, name: str) -> str:
    (document,) = held.snapshot.find(name)
    return document.id


def owner_of(folder: Path, store: str) -> str:
    return str(json.loads((folder / "default" / STORES / f"{store}.json").read_bytes())["collection"])


def digests(*texts: str) -> set[bytes]:
    return {digest_of(vector) for vector in HashEmbedder().embed(texts)}


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
    questions = [
        json.loads(line)["question"] for line in (ROOT / "data/questions.jsonl").read_text("utf-8").splitlines()
    ][::14]

    assert (report.problems, engine.library.vector_store) == ((), store)
    for question in questions:
        seen: list[Measurements] = []
        decisions = [one.ask(question, settings, on_measured=seen.append) for one in (here, engine)]
        on_disk, apart = (
            replace(each, timings=MappingProxyType({}), library=replace(each.library, version=0)) for each in seen
        )
        assert on_disk == apart, question
        assert decisions[0].outcome == decisions[1].outcome, question
        assert decisions[0].scores == decisions[1].scores, question
    assert len(questions) > 8


@every_store
def test_given_two_libraries_of_one_name_then_neither_meets_what_the_other_has(store: str, tmp_path: Path) -> None:
    first, second = opened(tmp_path / "a", store), opened(tmp_path / "b", store)
    first.add([text("one", "kx11 kx22.")], SETTINGS)
    second.add([text("two", "kx11 kx33."), text("three", "kx11 kx22.")], SETTINGS)
    for number in range(4):
        second.add([text(f"more-{number}", f"kx44 {number}.")], SETTINGS)
    second.delete(id_of(second, "three"))
    second.erase(id_of(second, "two"))

    assert owner_of(tmp_path / "a", store) != owner_of(tmp_path / "b", store)
    again = opened(tmp_path / "a", store)
    assert found(again, "kx11 kx22") == ["one"]
    assert again.snapshot.vectors.search(HashEmbedder().embed(["kx11 kx22."])[0], 5, None)[0] == (0, pytest.approx(1))
    assert found(opened(tmp_path / "b", store), "kx11 kx33") == []


@every_store
def test_given_documents_that_come_and_go_then_each_version_finds_its_own(store: str, tmp_path: Path) -> None:
    held = opened(tmp_path, store)
    held.add([text("one", "kx11 kx22."), text("two", "kx33 kx44.")], SETTINGS)
    old = held.snapshot
    held.delete(id_of(held, "one"))
    held.add([text("three", "kx11 kx55.")], SETTINGS)

    nearest = held.snapshot.vectors.search(HashEmbedder().embed(["kx11 kx22."])[0], 2, None)
    assert found(held, "kx11") == ["three"]
    assert sorted(row for row, _ in nearest) == [0, 1]
    assert [old.document(old.passages[row].document).name for row, _ in old.lexical.search(["kx11"], 3, None)] == [
        "one"
    ]
    assert old.vectors.search(HashEmbedder().embed(["kx11 kx22."])[0], 1, None) == [(0, pytest.approx(1))]
    assert old.vectors.search(HashEmbedder().embed(["kx11 kx22."])[0], 5, [1])[0][0] == 1
    held.verify()


@every_store
def test_given_a_selection_too_large_to_fetch_when_searched_then_the_database_chooses_in_it(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = np.random.default_rng(1).standard_normal((90, DIM)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    made = vector_store(store)
    index = made.build(drawn)
    made.send(index, tmp_path)
    chosen = list(range(0, 90, 2)) * 2

    for fetched in (0, 64):
        monkeypatch.setattr(in_database, "FETCHED", fetched)
        assert index.search(drawn[1], 7, chosen) == FaissStore(DIM).build(drawn).search(drawn[1], 7, chosen), fetched


@every_store
def test_given_an_erased_document_then_no_row_of_it_stays(store: str, stored: Stored, tmp_path: Path) -> None:
    held = opened(tmp_path, store)
    held.add([text("one", "kx11 kx22."), text("two", "kx33 kx44.")], SETTINGS)
    owner = owner_of(tmp_path, store)
    assert stored(store, owner) == digests("kx11 kx22.", "kx33 kx44.")

    held.erase(id_of(held, "one"))

    assert stored(store, owner) == digests("kx33 kx44.")


@every_store
def test_given_a_library_that_leaves_then_no_row_of_it_stays(store: str, stored: Stored, tmp_path: Path) -> None:
    ports: Any = {"embedder": HashEmbedder(), "forget_rows": forget}
    opened(tmp_path, store).add([text("one", "kx11 kx22.")], SETTINGS)
    owner = owner_of(tmp_path, store)

    Library.rebuild(tmp_path, "default", SETTINGS, vectors=FaissStore(DIM), **ports)
    assert stored(store, owner) == set()
    Library.rebuild(tmp_path, "default", SETTINGS, vectors=vector_store(store), **ports)
    again = owner_of(tmp_path, store)
    assert stored(store, again) == digests("kx11 kx22.")
    assert drop_collection(tmp_path, "default", 5)
    assert stored(store, again) == set()


def test_given_a_connection_then_it_sees_and_writes_rows_of_its_own_collection_alone(tmp_path: Path) -> None:
    import psycopg

    opened(tmp_path, "pgvector").add([text("one", "kx11 kx22.")], SETTINGS)
    owner = owner_of(tmp_path, "pgvector")
    with psycopg.connect(store_url("RAG_PGVECTOR_URL", "pgvector", ""), autocommit=True) as connection:
        for serving, expected in (("", set()), ("default", set()), (owner, {owner})):
            connection.execute("SELECT set_config('plumbline.collection', %s, false)", (serving,))
            assert {name for (name,) in connection.execute("SELECT collection FROM plumbline_vectors")} == expected
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO plumbline_vectors VALUES ('another', 1, '', '[1]')")


def test_given_a_transaction_that_fails_or_is_lost_then_none_of_its_rows_is_there() -> None:
    database, good = postgres.database(), np.eye(DIM, dtype=np.float32)[0]
    bad = np.full(DIM, np.nan, dtype=np.float32)

    with pytest.raises(StoreUnavailable, match="refused"):
        database.put("half", {b"1": good, b"2": bad}, DIM)

    assert database.held("half", [b"1", b"2"], DIM) == 0


def test_given_lost_connections_when_asked_again_then_new_ones_are_made(rows: Rows, tmp_path: Path) -> None:
    held = opened(tmp_path, "pgvector")
    held.add([text("one", "kx11 kx22.")], SETTINGS)
    ended = rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plumbline'")

    assert ended
    assert found(held, "kx11") == ["one"]
    assert held.snapshot.vectors.vectors([0]).shape == (1, DIM)
    held.add([text("two", "kx33.")], SETTINGS)
    assert found(opened(tmp_path, "pgvector"), "kx33") == ["two"]


@every_store
def test_given_a_database_that_is_gone_then_one_error_says_so_and_nothing_is_lost(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    held = opened(tmp_path, store)
    held.add([text("one", "kx11 kx22."), text("three", "kx44.")], SETTINGS)
    adapter, nowhere = STORES_THERE[store]
    monkeypatch.setenv(adapter.VARIABLE, nowhere)
    adapter.database().close()

    for act in (
        lambda: held.add([text("two", "kx33.")], SETTINGS),
        lambda: held.snapshot.vectors.vectors([0]),
        lambda: opened(tmp_path, store),
    ):
        with pytest.raises(StoreUnavailable, match="cannot be asked") as caught:
            act()
        assert adapter.VARIABLE in caught.value.remedy
        assert "secret" not in f"{caught.value}{caplog.text}"
    with pytest.raises(RagError):
        held.erase(id_of(held, "one"))  # cannot be finished now, and says so
    monkeypatch.undo()

    again = opened(tmp_path, store)
    assert [row.name for row in again.unfinished()] == ["two"]
    assert [each.name for each in again.resume(SETTINGS).added] == ["two"]
    assert (found(again, "kx33"), found(again, "kx44"), found(again, "kx11")) == (["two"], ["three"], [])


@every_store
@pytest.mark.parametrize("again", ["opened", "served"])
def test_given_a_database_that_is_gone_when_the_only_document_is_erased_then_its_rows_go_when_the_database_answers(
    store: str, again: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: Stored
) -> None:
    held = opened(tmp_path, store)
    held.add([text("one", "kx11 kx22.")], SETTINGS)
    owner = owner_of(tmp_path, store)
    assert stored(store, owner) == digests("kx11 kx22.")
    adapter, nowhere = STORES_THERE[store]
    with monkeypatch.context() as away:
        away.setenv(adapter.VARIABLE, nowhere)
        adapter.database().close()
        with pytest.raises(RagError):
            held.erase(id_of(held, "one"))  # cannot be finished now, and says so

    if again == "served":
        finish_deletions(tmp_path)  # as a service does when it starts
        assert stored(store, owner) == set()
    assert found(opened(tmp_path, store), "kx11") == []
    assert stored(store, owner) == set()


def test_given_a_server_that_lets_nobody_in_then_it_says_why(databases: str, caplog: pytest.LogCaptureFixture) -> None:
    import psycopg

    at = databases.partition("?host=")[2]
    with psycopg.connect(databases, autocommit=True) as owner, socket.create_server(("127.0.0.1", 0)) as silent:
        file = Path(owner.execute("SELECT current_setting('hba_file')").fetchone()[0])  # type: ignore[index]
        file.write_text(f"local all guarded scram-sha-256\n{file.read_text('utf-8')}", encoding="utf-8")
        owner.execute("DROP ROLE IF EXISTS guarded")
        owner.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
        owner.execute("SELECT pg_reload_conf()")
        asks, none, dead = "it asks for a password", "it has no such user or database", "it does not answer"
        said = {
            f"guarded@/plumbline?host={at}": asks,
            f"guarded:secret@/plumbline?host={at}": "it does not accept the user or the password",
            f"stranger:secret@/plumbline?host={at}": none,
            f"plumbline:secret@/none?host={at}": none,
            "me:secret@127.0.0.1:1/plumbline": dead,
            "me:secret@/plumbline?host=/nowhere": dead,
            f"me:secret@127.0.0.1:{silent.getsockname()[1]}/plumbline?connect_timeout=2": dead,
        }
        for _ in range(100):  # a server reads its rules a moment after it was told to
            if asks in why(f"postgresql://guarded@/plumbline?host={at}"):
                break
        for address, expected in said.items():
            told = why(f"postgresql://{address}")
            assert f"cannot be asked: {expected}. " in told, address
            assert ("Start it" in told) is (expected == dead), address
        owner.execute("ALTER ROLE guarded CONNECTION LIMIT 0")
        assert "it has no connection left" in why(f"postgresql://guarded:right@/plumbline?host={at}")
    assert "secret" not in caplog.text


def why(url: str) -> str:
    """The error of a database at this address; "" where it answers."""
    with closing(postgres.Postgres(lambda: url)) as database:
        try:
            database.held("collection", [b"1"], DIM)
        except StoreUnavailable as error:
            return str(error)
    return ""


def test_given_a_user_above_row_security_then_it_is_warned(databases: str, caplog: pytest.LogCaptureFixture) -> None:
    import psycopg

    assert why(store_url("RAG_PGVECTOR_URL", "pgvector", "")) == ""
    assert "above row security" not in caplog.text
    assert why(databases) == ""
    assert "the user in RAG_PGVECTOR_URL is above row security" in caplog.text
    caplog.clear()
    with psycopg.connect(databases, autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS passing")
        owner.execute("CREATE ROLE passing LOGIN BYPASSRLS IN ROLE plumbline")
    assert why(databases.replace("postgres@", "passing@")) == ""
    assert "above row security" in caplog.text


def test_given_an_address_that_is_none_then_no_part_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    postgres.database().close()
    for address in ("", "postgresql://me:secret@[", "secret"):
        monkeypatch.setenv("RAG_PGVECTOR_URL", address)
        with pytest.raises(InvalidSetting, match=r"vector store 'pgvector'|RAG_PGVECTOR_URL") as caught:
            opened(tmp_path, "pgvector").add([text("one", "kx11.")], SETTINGS)
        assert "postgresql://user:password@host/database" in caught.value.remedy
        assert "secret" not in str(caught.value)
    (tmp_path / "secrets.toml").write_text('RAG_PGVECTOR_URL = "postgresql://kept"', encoding="utf-8")
    assert store_url("RAG_PGVECTOR_URL", "pgvector", "", {}, tmp_path / "secrets.toml") == "postgresql://kept"


def test_given_rows_changed_or_lost_in_the_database_then_a_rebuild_mends_it(rows: Rows, tmp_path: Path) -> None:
    held = opened(tmp_path, "pgvector")
    held.add([text("one", "kx11 kx22.")], SETTINGS)
    mine = f"WHERE collection = '{owner_of(tmp_path, 'pgvector')}' RETURNING 1"

    for harm in (
        f"UPDATE plumbline_vectors SET embedding = array_fill(1, ARRAY[{DIM}])::vector {mine}",
        f"DELETE FROM plumbline_vectors {mine}",
    ):
        rows(harm)
        with pytest.raises(LibraryDamaged, match="cannot be read") as caught:
            opened(tmp_path, "pgvector").snapshot.vectors.vectors([0])
        assert "index --rebuild" in caught.value.remedy
        mend(tmp_path)
        again = opened(tmp_path, "pgvector")
        assert np.array_equal(again.snapshot.vectors.vectors([0])[0], HashEmbedder().embed(["kx11 kx22."])[0])
        assert found(again, "kx11") == ["one"]


def mend(folder: Path, store: str = "pgvector") -> None:
    embedder = HashEmbedder()
    Library.rebuild(folder, "default", SETTINGS, embedder=embedder, vectors=vector_store(store))
    assert embedder.embedded == 0  # its documents have their vectors in the library's file


@every_store
def test_given_a_process_that_was_killed_before_it_published_then_what_it_sent_is_deleted(
    store: str, stored: Stored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = opened(tmp_path, store)
    load = Loader.load

    def killed(*of: Any, writes: bool = False) -> Loaded:
        load(*of, writes=writes)
        raise KeyboardInterrupt

    monkeypatch.setattr(Loader, "load", killed)
    with pytest.raises(KeyboardInterrupt):
        held.add([text("one", "kx11 kx22.")], SETTINGS)
    monkeypatch.undo()
    owner = owner_of(tmp_path, store)
    assert stored(store, owner) == digests("kx11 kx22.")

    again = opened(tmp_path, store)
    again.delete(again.unfinished()[0].id)
    again.add([text("two", "kx33.")], SETTINGS)

    assert stored(store, owner) | stored(store, owner_of(tmp_path, store)) == digests("kx33.")
    assert found(opened(tmp_path, store), "kx33") == ["two"]


def test_given_rows_that_milvus_lost_or_changed_then_it_is_found_and_a_rebuild_mends_it(tmp_path: Path) -> None:
    held = opened(tmp_path, "milvus")
    held.add([text("one", "kx11 kx22.")], SETTINGS)
    client, vectors, mine = (
        milvus.database()._connected(),
        f"plumbline_vectors_{DIM}",
        f'collection == "{owner_of(tmp_path, "milvus")}"',
    )
    (row,) = client.query(vectors, mine, output_fields=["*"])
    wrong = {**row, "embedding": [1.0] * DIM}
    harms = (
        lambda: (client.delete(vectors, ids=[row["id"]]), client.insert(vectors, [wrong])),
        lambda: client.delete(vectors, filter=mine),
    )

    for harm in harms:
        harm()
        with pytest.raises(LibraryDamaged, match="cannot be read"):
            opened(tmp_path, "milvus").snapshot.vectors.vectors([0])
        mend(tmp_path, "milvus")
        again = opened(tmp_path, "milvus")
        assert np.array_equal(again.snapshot.vectors.vectors([0])[0], HashEmbedder().embed(["kx11 kx22."])[0])
        assert found(again, "kx11") == ["one"]


def test_given_a_file_that_names_a_filter_of_its_own_then_milvus_is_not_asked(tmp_path: Path) -> None:
    made = vector_store("milvus")
    made.send(made.build(np.eye(DIM, dtype=np.float32)), tmp_path)
    (tmp_path / STORES / "milvus.json").write_text(json.dumps({"collection": 'x" or "1" == "1'}), encoding="utf-8")

    with pytest.raises(LibraryDamaged):
        made.require(made.build(np.eye(DIM, dtype=np.float32)), tmp_path)
    with pytest.raises(LibraryDamaged):
        made.keep((), tmp_path)
    with pytest.raises(LibraryDamaged):
        milvus.database().nearest('x" or "1" == "1', np.eye(DIM, dtype=np.float32)[0], 3, None)

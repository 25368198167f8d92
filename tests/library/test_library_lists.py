"""The documents of a larger library stand in several files: a change writes what it touches, and every list is the one it should be."""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library_kit import DIM, SETTINGS, HashEmbedder, check_whole, found, library, text

from rag_core.adapters.index.bm25 import Bm25Store
from rag_core.adapters.index.flat import FaissStore
from rag_core.domain.documents import Document, Metadata
from rag_core.errors import LibraryDamaged, LibraryError
from rag_core.library.disk.files import Stamp, seal, stamp
from rag_core.library.library import Library
from rag_core.library.stored import lists
from rag_core.library.stored.inbox import Accepted
from rag_core.library.stored.manifest import Entry, Manifest
from rag_core.library.stored.store import KEPT_VERSIONS, Store
from rag_core.wiring.folder import as_built, languages, sizes

MIN, MAX = 2, 4


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(lists, "MIN_DOCUMENTS", MIN)
    monkeypatch.setattr(lists, "MAX_DOCUMENTS", MAX)


def filled(folder: Path, count: int = 9) -> Library:
    opened = library(folder)
    opened.add([text(f"d{number}", f"The house{number} has a cat{number}.", language="en") for number in range(count)], SETTINGS)
    return opened


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """The lists by name, each with its number on disk and when it was written."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.glob("*/lists/*")}


def manifest(folder: Path) -> dict:
    newest = json.loads((folder / "default/CURRENT").read_bytes())["generation"]
    return json.loads((folder / f"default/manifests/{newest}.json").read_bytes())


def names(opened: Library) -> list[str]:
    return [document.name for document in opened.snapshot.documents]


# --- a change costs what it touches ---


def test_given_a_small_library_then_its_documents_stand_in_the_manifest(tmp_path):
    filled(tmp_path, MIN)

    assert not (tmp_path / "default/lists").exists()
    assert manifest(tmp_path)["lists"] == []
    assert [row["source"]["names"] for row in manifest(tmp_path)["documents"]] == [["d0"], ["d1"]]


def test_given_a_larger_library_when_a_document_is_added_described_or_deleted_then_the_other_lists_stay_as_they_are(tmp_path):
    opened = filled(tmp_path)
    assert manifest(tmp_path)["documents"] == []
    assert [row[2] for row in manifest(tmp_path)["lists"]] == [4, 4, 1]
    before = files(tmp_path)

    opened.add([text("new", "Dogs run about.", language="en")], SETTINGS)
    added = files(tmp_path)
    assert [row[2] for row in manifest(tmp_path)["lists"]] == [4, 4, 2]
    opened.set_metadata(opened.snapshot.documents[1].id, Metadata(title="Of cats"))
    opened.delete(opened.snapshot.documents[6].id)

    assert {name: added[name] for name in before} == before
    assert len(added) == len(before) + 1
    kept = {name: where for name, where in files(tmp_path).items() if name in added}
    assert kept == {name: added[name] for name in kept}
    assert [row[2] for row in manifest(tmp_path)["lists"]] == [4, 3, 2]
    assert names(library(tmp_path)) == ["d0", "d1", "d2", "d3", "d4", "d5", "d7", "d8", "new"]
    assert library(tmp_path).snapshot.documents[1].title == "Of cats"
    check_whole(library(tmp_path))


def test_given_a_large_library_that_shrinks_then_it_has_no_lists_any_more(tmp_path):
    opened = filled(tmp_path)

    opened.erase(*(document.id for document in opened.snapshot.documents[:-MIN]))

    assert files(tmp_path) == {}
    assert manifest(tmp_path)["lists"] == []
    assert names(library(tmp_path)) == ["d7", "d8"]


def test_given_a_document_that_is_erased_then_no_list_has_its_name_or_id(tmp_path):
    opened = filled(tmp_path)
    gone = opened.snapshot.documents[5].id

    opened.erase(gone)

    told = (b'"d5"', gone.encode(), gone.removeprefix("sha256:").encode())
    assert [path for path in tmp_path.rglob("*") if path.is_file() and any(one in path.read_bytes() for one in told)] == []
    assert not opened.remembers(gone)
    check_whole(library(tmp_path))


def test_given_a_document_that_an_older_version_has_then_it_is_remembered_until_that_version_goes(tmp_path):
    opened = filled(tmp_path)
    gone = opened.snapshot.documents[5].id
    opened.delete(gone)
    assert opened.remembers(gone)
    assert library(tmp_path).remembers(gone)

    for number in range(KEPT_VERSIONS):
        opened.set_metadata(opened.snapshot.documents[0].id, Metadata(title=f"Title {number}"))

    assert not opened.remembers(gone)
    assert not list(tmp_path.glob(f"default/documents/{gone.removeprefix('sha256:')}*"))


def test_given_a_version_that_another_process_published_then_only_the_lists_that_are_new_are_read(tmp_path, monkeypatch):
    opened, reader = filled(tmp_path), library(tmp_path)
    before, read = files(tmp_path), []
    verified = lists.read_verified
    monkeypatch.setattr(lists, "read_verified", lambda path, expected: read.append(path.name) or verified(path, expected))

    opened.add([text("new", "Dogs run about.", language="en")], SETTINGS)
    assert read == [], "what was written here is known"
    assert reader.refresh()

    assert set(read) == files(tmp_path).keys() - before.keys()
    assert found(reader, "dogs")
    reader.delete(reader.snapshot.documents[0].id)
    check_whole(library(tmp_path))


def test_given_the_first_addition_of_a_process_then_of_the_older_versions_only_the_lists_that_differ_are_read(tmp_path, monkeypatch):
    opened = filled(tmp_path)
    for number in range(3):
        opened.set_metadata(opened.snapshot.documents[8].id, Metadata(title=f"Title {number}"))
    again, read = library(tmp_path), []
    verified = lists.read_verified
    monkeypatch.setattr(lists, "read_verified", lambda path, expected: read.append(path.name) or verified(path, expected))

    again.set_metadata(again.snapshot.documents[8].id, Metadata(title="Another"))

    assert len(read) == KEPT_VERSIONS - 1
    assert again._store.manifest(known=True)
    read.clear()
    again.set_metadata(again.snapshot.documents[8].id, Metadata(title="The last"))
    assert read == []


def test_given_a_library_that_is_not_opened_then_its_size_model_and_languages_are_told_without_reading_a_list(tmp_path, monkeypatch):
    opened = library(tmp_path, embedder=HashEmbedder("some/model@bfloat16"))
    opened.add([text(f"d{number}", f"Text {number}.", language="de" if number % 3 else "en") for number in range(9)], SETTINGS)
    read = opened._store.manifest()
    monkeypatch.setattr(lists.Lists, "listed", lambda *_: pytest.fail("a list was read"))

    assert languages(tmp_path, "default") == ("de", "en")
    assert sizes(tmp_path, "default") == (9, sum(one.size for one in read.all_files().values()))
    assert as_built(tmp_path, "default", SETTINGS).embedding_model == "some/model"


def test_given_lists_that_are_cleared_away_while_a_version_is_read_then_the_next_version_is_read(tmp_path, monkeypatch):
    opened, reader = filled(tmp_path), Store(tmp_path, "default", FaissStore(DIM), Bm25Store())
    entries, raced = reader.lists.entries, []

    def late(head, path):
        if not raced:
            raced.append(head)
            for number in range(KEPT_VERSIONS + 1):
                opened.delete(opened.snapshot.documents[number].id)
        return entries(head, path)

    monkeypatch.setattr(reader.lists, "entries", late)

    read = reader.manifest()

    assert raced
    assert read is not None
    assert [entry.document.name for entry in read.entries] == names(opened)


# --- damage ---


HARMS = ["byte", "short", "gone", "other", "unreadable"]


def harmed(path: Path, harm: str) -> None:
    data = path.read_bytes()
    match harm:
        case "gone":
            path.unlink()
        case "unreadable":
            path.unlink()
            path.symlink_to(path.name)  # the system refuses to open it, as it does where the disk is broken
        case "other":
            path.write_bytes(data.replace(b"d5", b"d6"))
        case _:
            path.write_bytes(data[:-9] if harm == "short" else data[:99] + bytes([data[99] ^ 1]) + data[100:])


@pytest.mark.parametrize("harm", HARMS)
def test_given_a_damaged_list_then_opening_names_it_and_a_rebuild_brings_back_all_documents(tmp_path, harm):
    opened = filled(tmp_path)
    opened.set_metadata(opened.snapshot.documents[0].id, Metadata(title="The first"))
    opened.set_metadata(opened.snapshot.documents[8].id, Metadata(title="The last"))
    path = tmp_path / f"default/lists/{manifest(tmp_path)['lists'][1][0]}.json"
    harmed(path, harm)

    with pytest.raises(LibraryDamaged, match=path.name):
        opened.verify()  # who has it in memory does not know it by that alone
    with pytest.raises(LibraryDamaged, match=path.name) as caught:
        library(tmp_path)
    assert "rebuild" in caught.value.remedy
    assert sizes(tmp_path, "default")[0] == 9

    rebuilt, report = Library.rebuild(tmp_path, "default", SETTINGS, embedder=HashEmbedder(), vectors=FaissStore(DIM), lexical=Bm25Store())

    assert sorted(names(rebuilt)) == [f"d{number}" for number in range(9)]
    known = {document.name: document.title for document in rebuilt.snapshot.documents}
    assert (known["d0"], known["d8"]) == ("The first", "The last"), "what stood in the other lists is known"
    assert {name for name, _ in report.problems} == {"CURRENT", "d4", "d5", "d6", "d7"}
    assert "4 of its documents" in next(error.problem for name, error in report.problems if name == "CURRENT")
    assert [one.name for one in tmp_path.glob("default/damaged-*/lists/*")] == ([] if harm in ("gone", "unreadable") else [path.name])
    check_whole(library(tmp_path))
    again = Library.rebuild(tmp_path, "default", SETTINGS, embedder=HashEmbedder(), vectors=FaissStore(DIM), lexical=Bm25Store())[1]
    assert again.problems == ()


@pytest.mark.parametrize("harm", HARMS)
def test_given_a_list_that_was_damaged_since_it_was_read_when_a_document_is_added_then_it_is_written_anew(tmp_path, harm, monkeypatch):
    opened = filled(tmp_path)
    opened.set_metadata(opened.snapshot.documents[5].id, Metadata(title="Of cats"))
    if harm == "byte":
        opened = library(tmp_path)  # one that read the list, and did not write it
    path = tmp_path / f"default/lists/{manifest(tmp_path)['lists'][1][0]}.json"
    data, last = path.read_bytes(), opened.snapshot.documents[8].id
    harmed(path, harm)

    with monkeypatch.context() as disk:
        disk.setattr(Store, "_point_to", lambda *_: (_ for _ in ()).throw(OSError(5, "Input/output error")))
        with pytest.raises(LibraryError, match="Input/output"):
            opened.set_metadata(last, Metadata(title="Never"))
    assert path.read_bytes() == data, "also where the version does not come into force"
    check_whole(library(tmp_path))
    harmed(path, harm)
    opened.add([text("new", "Dogs run about.", language="en")], SETTINGS)

    assert path.read_bytes() == data
    assert names(library(tmp_path)) == [*(f"d{number}" for number in range(9)), "new"]
    assert library(tmp_path).snapshot.documents[5].title == "Of cats"
    check_whole(library(tmp_path))


def test_given_a_damaged_list_of_another_form_when_a_document_is_added_then_it_is_replaced_and_one_that_fails_leaves_nothing(
    tmp_path, monkeypatch
):
    opened = filled(tmp_path)
    path = tmp_path / f"default/lists/{manifest(tmp_path)['lists'][1][0]}.json"
    path.unlink()
    before, to_json = files(tmp_path), lists.entry_to_json
    with monkeypatch.context() as later:
        later.setattr(lists, "entry_to_json", lambda entry, *, short: to_json(entry, short=short) | {"added": "later"})
        later.setattr(Store, "_point_to", lambda *_: (_ for _ in ()).throw(OSError(5, "Input/output error")))
        with pytest.raises(LibraryError, match="Input/output"):
            opened.add([text("new", "Dogs run about.", language="en")], SETTINGS)
        assert files(tmp_path) == before
        later.undo()
        later.setattr(lists, "MIN_DOCUMENTS", MIN)
        later.setattr(lists, "MAX_DOCUMENTS", MAX)
        later.setattr(lists, "entry_to_json", lambda entry, *, short: to_json(entry, short=short) | {"added": "later"})
        opened.resume(SETTINGS)

    assert not path.exists()
    assert len(names(library(tmp_path))) == 10
    check_whole(library(tmp_path))


def test_given_a_damaged_list_that_an_older_version_does_not_share_then_the_older_one_tells_of_its_documents(tmp_path):
    opened = filled(tmp_path)
    opened.set_metadata(opened.snapshot.documents[5].id, Metadata(title="Older"))
    opened.set_metadata(opened.snapshot.documents[6].id, Metadata(title="Newer"))
    (tmp_path / f"default/lists/{manifest(tmp_path)['lists'][1][0]}.json").unlink()

    rebuilt, _ = Library.rebuild(tmp_path, "default", SETTINGS, embedder=HashEmbedder(), vectors=FaissStore(DIM), lexical=Bm25Store())

    assert {document.name: document.title for document in rebuilt.snapshot.documents}["d5"] == "Older"
    assert len(names(rebuilt)) == 9


def test_given_a_list_that_has_its_checksum_and_lists_nothing_that_is_known_then_it_is_damage(tmp_path):
    filled(tmp_path)
    path = tmp_path / f"default/manifests/{json.loads((tmp_path / 'default/CURRENT').read_bytes())['generation']}.json"
    for data in (b"[]", b"{", b'[{"key": 1}]', b"[" * 9999):
        row = manifest(tmp_path)
        row.pop("checksum")
        row["lists"][0][:2] = list(stamp(data))
        (tmp_path / f"default/lists/{stamp(data).sha256}.json").write_bytes(data)
        path.write_text(json.dumps(seal(row)))
        (tmp_path / "default/CURRENT").write_text(
            json.dumps({"generation": int(path.stem), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()})
        )
        with pytest.raises(LibraryDamaged, match=r"\.json is not a list of documents"):
            library(tmp_path)


@pytest.mark.parametrize("written", [0, 1])
def test_given_a_disk_that_refuses_when_lists_are_written_then_none_is_left_over_and_the_version_before_is_whole(
    tmp_path, monkeypatch, written
):
    opened = filled(tmp_path)
    before, put, count = files(tmp_path), lists.write_atomically, []

    def full(path: Path, data: bytes) -> None:
        count.append(path)
        if len(count) > written:
            raise OSError(5, "Input/output error")
        put(path, data)

    with monkeypatch.context() as disk:
        disk.setattr(lists, "write_atomically", full)
        with pytest.raises(LibraryError, match="Input/output"):
            opened.delete(opened.snapshot.documents[0].id, opened.snapshot.documents[5].id)

    assert len(count) == written + 1
    assert files(tmp_path) == before
    check_whole(library(tmp_path))
    opened.delete(opened.snapshot.documents[0].id)
    assert len(names(library(tmp_path))) == 8


def test_given_a_version_that_fails_and_has_a_list_of_an_older_one_then_that_list_stays(tmp_path, monkeypatch):
    opened = filled(tmp_path)
    last = opened.snapshot.documents[8].id
    for title in ("One", "Two"):
        opened.set_metadata(last, Metadata(title=title))
    before = files(tmp_path)

    def full(self, *_: object) -> None:
        raise OSError(28, "No space left on device")

    point_to = Store._point_to

    def late(self, *pointer: object) -> None:
        point_to(self, *pointer)
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as disk:
        disk.setattr(Store, "_point_to", full)
        with pytest.raises(LibraryError, match="No space left"):
            opened.set_metadata(last, Metadata(title="One"))
        assert files(tmp_path) == before
        assert library(tmp_path).snapshot.documents[8].title == "Two"
        disk.setattr(Store, "_point_to", late)
        with pytest.raises(LibraryError, match="Input/output"):
            opened.set_metadata(last, Metadata(title="In force"))

    assert library(tmp_path).snapshot.documents[8].title == "In force"
    opened.set_metadata(last, Metadata(title="Three"))
    check_whole(library(tmp_path))


# --- any sequence ---


def entry(number: int, title: str = "") -> Entry:
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    document = Document(f"sha256:{digest}", f"d{number}", "en", 1, Metadata(title=title), "prose", "")
    source = Accepted(digest, (f"d{number}",), "text", caller_id=f"d{number}")
    made = {f"documents/{digest}-1/pages.json.gz": Stamp(digest, number), f"sources/{digest}": Stamp(digest, 7)}
    return Entry(f"{digest}-1", document, source, made)


acts = st.one_of(
    st.tuples(st.just("add"), st.integers(1, 11)),
    st.tuples(st.just("delete"), st.sets(st.integers(0, 40), max_size=4)),
    st.tuples(st.just("describe"), st.integers(0, 40)),
    st.tuples(st.just("reopen"), st.none()),
    st.tuples(st.just("fail"), st.integers(0, 40)),
)


@given(st.lists(acts, max_size=25))
def test_any_sequence_of_changes_lists_what_a_plain_dict_does_and_leaves_no_file_behind(done):
    with TemporaryDirectory() as where:
        folder = Path(where)

        def opened() -> Store:
            return Store(folder, "c", FaissStore(DIM), Bm25Store())

        store, version, next_number, known = opened(), 0, 0, dict[str, Entry]()
        for act, value in done:
            change = dict(known)
            if act == "reopen":
                store = opened()
                store.manifest()
                continue
            if act == "add":
                for number in range(next_number, next_number + value):
                    change[f"d{number}"] = entry(number)
                next_number += value
            elif act == "delete":
                change = {name: one for at, (name, one) in enumerate(known.items()) if at not in value}
            elif known:
                name = [*known][value % len(known)]
                change[name] = change[name].described(Metadata(title=f"{act} {version}"))
            path = store.root / f"manifests/{version + 1}.json"
            if act == "fail":
                path.mkdir(parents=True)  # the manifest cannot take its place
                with pytest.raises(OSError, match="directory"):
                    store.publish(Manifest(version + 1, "m", 1, "", tuple(change.values())))
                path.rmdir()
                continue
            version, known = version + 1, change
            store.publish(Manifest(version, "m", 1, "", tuple(known.values())))
            store.clear(version, (), ())

            fresh = opened()
            read = fresh.manifest()
            assert read is not None
            assert read.entries == tuple(known.values())
            head = fresh.head()
            assert (head.documents, head.size) == (len(known), sum(one.size for e in known.values() for one in e.files.values()))
            assert bool(head.lists) == (len(known) > MIN)
            counts = [one.documents for one in head.lists]
            assert max(counts, default=0) <= MAX
            assert not any(lists._are_joined(*pair) for pair in pairwise(counts))
            rows = [json.loads(one.read_bytes()) for one in folder.glob("c/manifests/*.json")]
            assert {one.stem for one in folder.glob("c/lists/*")} == {one[0] for row in rows for one in row.get("lists", [])}


@settings(max_examples=12)
@given(st.lists(acts.filter(lambda act: act[0] != "fail"), min_size=3, max_size=8))
def test_any_sequence_of_changes_to_a_library_leaves_what_a_plain_dict_has(done):
    with TemporaryDirectory() as where:
        opened, known, next_number = library(Path(where)), dict[str, str](), 0
        for act, value in done:
            if act == "reopen":
                opened = library(Path(where))
            elif act == "add":
                new = [f"d{number}" for number in range(next_number, next_number + value)]
                next_number += value
                opened.add([text(name, f"The {name} has a cat.", language="en") for name in new], SETTINGS)
                known |= dict.fromkeys(new, "")
            elif act == "delete":
                gone = [document for at, document in enumerate(opened.snapshot.documents) if at in value]
                opened.delete(*(document.id for document in gone))
                known = {name: title for name, title in known.items() if name not in {document.name for document in gone}}
            elif known:
                document = opened.snapshot.documents[value % len(known)]
                opened.set_metadata(document.id, Metadata(title=f"Title {value}"))
                known[document.name] = f"Title {value}"
            for one in (opened, library(Path(where))):
                assert {document.name: document.metadata.title for document in one.snapshot.documents} == known
                assert names(one) == [*known]
        check_whole(opened)

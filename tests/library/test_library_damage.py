"""A changed byte, a missing file, a library that an earlier version made: told, and built anew from the stored
files.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from library_kit import SETTINGS, HashEmbedder, check_whole, found, library, pdf, rebuilt, text

from rag_core.domain.documents import Box, Document, Line, Metadata, Page, Span, WordBox
from rag_core.domain.passages import Passage, Piece
from rag_core.errors import LibraryDamaged, LibraryError, ModelUnavailable
from rag_core.library.stored import stored_json as records
from rag_core.library.stored.collection import FILE, pack_terms, pack_vectors, unpack_terms, unpack_vectors
from rag_core.library.stored.sources import Source
from rag_core.library.stored.typed_json import reader, to_row


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """A library of a PDF and a text, and a file that waits."""
    folder = tmp_path_factory.mktemp("template")
    opened = library(folder)
    report = opened.add(
        [Source("cats.pdf", pdf("Cats sleep all day."), "pdf"), text("dogs", "Dogs run about.")], SETTINGS
    )
    opened.set_metadata(report.added[0].id, Metadata(title="Of cats"))
    opened.add([text("hens", "Hens cluck.")], SETTINGS, cancelled=lambda: True)
    opened._collection.close()
    return folder


@pytest.fixture
def folder(template, tmp_path) -> Path:
    shutil.copytree(template, tmp_path / "library")
    return tmp_path / "library"


def read_everything(folder: Path) -> None:
    opened = library(folder)
    opened.verify()
    for document in opened.snapshot.documents:
        opened.source(document.id)
        for number in range(1, document.page_count + 1):
            opened.snapshot.page(document.id, number)


def changed(folder: Path, table: str, column: str) -> None:
    """One byte of the first packed cell is another one."""
    opened = library(folder)
    with opened._collection.writing() as db:
        row, data = db.execute(f"SELECT rowid, {column} FROM {table} WHERE {column} IS NOT NULL LIMIT 1").fetchone()
        middle = len(data) // 2
        harmed = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (harmed, row))
    opened._collection.close()


CELLS = [
    ("document", "entry"),
    ("page", "facts"),
    ("page", "layout"),
    ("passages", "passages"),
    ("passages", "terms"),
    ("passages", "vectors"),
    ("words", "data"),
]


@pytest.mark.parametrize(("table", "column"), CELLS)
def test_given_a_changed_byte_in_any_packed_part_then_a_rebuild_makes_the_library_whole(folder, table, column):
    changed(folder, table, column)

    with pytest.raises(LibraryDamaged) as caught:
        read_everything(folder)
    assert "rebuild" in caught.value.remedy.lower()

    names = {document.name for document in rebuilt(folder)[0].snapshot.documents}
    assert {"cats.pdf", "dogs"} <= names or (column == "entry" and len(names) >= 2)
    check_whole(library(folder))


@pytest.mark.parametrize("harm", ["byte", "short", "empty", "gone", "another"])
def test_given_the_librarys_file_damaged_or_gone_then_a_rebuild_makes_it_anew_of_the_stored_files(folder, harm):
    path = folder / "default" / FILE
    data = path.read_bytes()
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(
            {"byte": b"X" + data[1:], "short": data[: len(data) // 2], "empty": b"", "another": b"junk" * 5000}[harm]
        )

    with pytest.raises(LibraryDamaged) as caught:
        library(folder)
    assert "rebuild" in caught.value.remedy

    anew, report = rebuilt(folder)

    assert FILE in report.problems[0][0]
    assert all(error.remedy for _, error in report.problems)
    assert found(anew, "cats sleep")
    assert len(list((folder / "default").glob("collection.damaged-*.sqlite"))) == (harm != "gone")
    check_whole(library(folder))
    anew.delete(anew.snapshot.documents[0].id)
    assert list((folder / "default").glob("collection.damaged-*")) == [], "it holds words of what was deleted"


def test_given_a_library_that_an_earlier_version_made_then_opening_says_so_and_one_command_builds_it_anew(tmp_path):
    root, source = tmp_path / "default", Source("cats.pdf", pdf("Cats sleep all day."), "pdf")
    (root / "sources").mkdir(parents=True)
    (root / "sources" / source.digest).write_bytes(source.data)
    (root / "CURRENT").write_text('{"generation": 3, "sha256": ""}')

    with pytest.raises(LibraryDamaged, match=r"an earlier version made this library"):
        library(tmp_path)
    anew, report = rebuilt(tmp_path)

    assert [one.id for one in anew.snapshot.documents] == [f"sha256:{source.digest}"]
    assert anew.snapshot.documents[0].name.endswith(".pdf")
    assert len(report.problems) == 2
    check_whole(library(tmp_path))


def test_given_a_file_of_another_version_of_the_program_then_it_is_neither_read_nor_rebuilt(folder):
    opened = library(folder)
    with opened._collection.writing() as db:
        db.execute("PRAGMA user_version = 99")
    opened._collection.close()
    for act in (library, rebuilt):
        with pytest.raises(LibraryError, match="another version"):
            act(folder)


def test_given_a_folder_that_cannot_be_written_when_adding_then_the_error_says_what_to_do(tmp_path):
    (tmp_path / "default").write_text("a file in the place of the folder")

    with pytest.raises(LibraryError, match="allow"):
        library(tmp_path).add([text("a", "Alpha.")], SETTINGS)


def test_given_vectors_that_are_not_numbers_when_adding_then_nothing_is_published(tmp_path):
    class Broken(HashEmbedder):
        def embed(self, texts, kind="passage"):
            return super().embed(texts, kind) * np.float32("nan")

    opened = library(tmp_path, embedder=Broken())
    with pytest.raises(ModelUnavailable):
        opened.add([text("a", "Alpha.")], SETTINGS)
    assert opened.snapshot.documents == ()


def any_of(kind: type, **own: st.SearchStrategy) -> st.SearchStrategy:
    """Any value of a dataclass, by the types of its fields where none are given."""
    hints = get_type_hints(kind)
    return st.builds(kind, **{one.name: own.get(one.name, st.from_type(hints[one.name])) for one in fields(kind)})


texts = st.text(min_size=1)
offsets = st.integers(0, 10**6)
spans = st.builds(
    lambda page, start, length: Span(page, start, start + length), st.integers(1, 5000), offsets, st.integers(1, 10**4)
)
floats = st.floats(allow_nan=False, allow_infinity=False, width=32)
boxes = st.builds(Box, floats, floats, floats, floats)
pairs = st.tuples(offsets, offsets)
lines = any_of(Line, start=offsets, end=offsets, box=boxes, size=floats, block=offsets, cells=st.tuples(pairs))
# how sure OCR was is from 0 to 1; unsaid, it would be drawn by its type alone, NaN with it, which equals nothing
words = st.builds(WordBox, offsets, offsets, floats, floats, floats, floats, st.none() | st.floats(0, 1, width=32))
pages = any_of(
    Page,
    number=st.integers(1, 5000),
    text=texts,
    lines=st.tuples(lines),
    words=st.tuples(words),
    width=floats,
    height=floats,
)
documents = any_of(Document, metadata=any_of(Metadata, authority=st.none() | st.floats(0, 1)))
pieces = any_of(Piece, spans=st.tuples(spans), lead=st.tuples(spans))
passages = any_of(Passage, text=texts, spans=st.tuples(spans), header=st.tuples(spans), pieces=st.tuples(pieces))


@given(documents)
def test_any_document_is_the_same_after_a_round_trip_through_its_json(document):
    assert reader(Document)(json.loads(json.dumps(to_row(document)))) == document


@given(passages)
def test_any_passage_is_the_same_after_a_round_trip_through_its_file(passage):
    packed = records.pack(list(records.passages_to_json([passage])))
    assert records.passages_from_json(records.unpack(packed)) == (passage,)


@given(pages)
def test_any_page_is_the_same_after_a_round_trip_through_its_packed_form(page):
    assert records.page_from_json(*records.page_to_json(page)) == page
    assert records.page_from_json(records.page_to_json(page)[0]).text == page.text


@given(st.lists(st.lists(st.text(max_size=3), max_size=9), max_size=9))
def test_any_terms_are_the_same_after_a_round_trip(terms):
    assert unpack_terms(pack_terms(terms)) == terms


@given(st.integers(1, 5), st.integers(1, 5))
def test_any_vectors_are_the_same_after_a_round_trip_and_another_number_of_them_is_damage(count, dim):
    vectors = np.arange(count * dim, dtype=np.float32).reshape(count, dim)
    assert np.array_equal(unpack_vectors(pack_vectors(vectors), count), vectors)
    with pytest.raises(LibraryDamaged):
        unpack_vectors(pack_vectors(vectors), count + 1)


@given(st.binary(max_size=60))
def test_any_bytes_in_the_place_of_a_packed_part_are_refused(data):
    for read in (records.unpack, records.unsealed, unpack_terms, lambda data: unpack_vectors(data, 1)):
        with pytest.raises(LibraryDamaged):
            read(data)

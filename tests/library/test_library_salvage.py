"""A damaged list of documents: opening says to rebuild, and rebuilding works from all that is whole and names what it could not save."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pymupdf
import pytest
from library_kit import SETTINGS, HashEmbedder, check_whole, found, library, text

from rag_core.adapters.index.bm25 import Bm25Store
from rag_core.adapters.index.flat import FaissStore
from rag_core.domain.documents import Metadata
from rag_core.errors import LibraryDamaged
from rag_core.library.indexing.adding import AddReport
from rag_core.library.library import Library
from rag_core.library.stored.sources import Source

PORTS = {"vectors": FaissStore(16), "lexical": Bm25Store()}


def rebuild(folder: Path) -> tuple[Library, AddReport]:
    return Library.rebuild(folder, "default", SETTINGS, embedder=HashEmbedder(), **PORTS)


def pdf(body: str) -> bytes:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), body)
    return document.tobytes()


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """Two PDFs, one with a title that the user gave (generations 1 to 3), then a text with an id of its own (4), and a file that waits."""
    folder = tmp_path_factory.mktemp("template")
    opened = library(folder)
    (cats,) = opened.add([Source("cats.pdf", pdf("Cats sleep all day."), "pdf")], SETTINGS).added
    opened.add([Source("dogs.pdf", pdf("Dogs run about."), "pdf")], SETTINGS)
    opened.set_metadata(cats.id, Metadata(title="Of cats"))
    opened.add([text("fish", "Fish swim.")], SETTINGS)
    assert opened.snapshot.version == 4
    opened.add([text("waits", "Not yet.")], SETTINGS, cancelled=lambda: True)
    return folder


@pytest.fixture
def folder(template, tmp_path) -> Path:
    return Path(shutil.copytree(template, tmp_path, dirs_exist_ok=True))


def flip(path: Path) -> None:
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])


HARMS = {"byte": flip, "short": lambda path: path.write_bytes(path.read_bytes()[:-9]), "empty": lambda path: path.write_bytes(b""),
         "gone": lambda path: path.unlink()}  # fmt: skip
NEWEST = "manifests/4.json"


@pytest.mark.parametrize("names", [["CURRENT"], [NEWEST], ["inbox.json"], ["CURRENT", NEWEST], ["CURRENT", NEWEST, "inbox.json"]])
@pytest.mark.parametrize("harm", HARMS)
def test_given_damaged_lists_when_rebuilt_then_all_documents_are_there_and_what_is_lost_is_named(folder, names, harm):
    root = folder / "default"
    sources = {path.name for path in (root / "sources").iterdir()}
    for name in names:
        HARMS[harm](root / name)
    with pytest.raises(LibraryDamaged, match="rebuild"):
        library(folder).unfinished()  # an inbox alone is not looked at when questions are asked

    rebuilt, report = rebuild(folder)

    known = {document.name: document.title for document in rebuilt.snapshot.documents}
    assert {"cats.pdf", "dogs.pdf", "fish"} <= known.keys()
    assert known["cats.pdf"] == "Of cats"
    assert report.problems
    assert all(error.problem and error.remedy for _, error in report.problems)
    told = {name for name, _ in report.problems}
    assert ("inbox.json" in names) == ("inbox.json" in told)
    assert (NEWEST in names) == ("fish" in told)
    assert {path.name for path in folder.rglob("*") if path.name in sources} == sources  # nothing was deleted
    check_whole(rebuilt)
    check_whole(library(folder))
    assert rebuild(folder)[1].problems == ()


def test_given_no_list_and_no_folder_when_rebuilt_then_pdfs_are_indexed_under_made_up_names_and_the_rest_is_put_aside(folder):
    root = folder / "default"
    texts = {entry.source.digest for entry in library(folder).snapshot.entries if entry.source.kind == "text"}
    texts |= {row.digest for row in library(folder).unfinished()}
    for path in [root / "CURRENT", root / "inbox.json", *root.glob("manifests/*"), *root.glob("documents/*/document.json")]:
        path.unlink()

    rebuilt, report = rebuild(folder)

    assert sorted(passage.text for passage in rebuilt.snapshot.passages) == ["Cats sleep all day.", "Dogs run about."]
    assert all(document.name == f"{document.id[7:19]}.pdf" for document in rebuilt.snapshot.documents)
    (aside,) = root.glob("damaged-*")
    assert {path.name for path in (aside / "sources").iterdir()} == texts  # their ids, a part of their digests, are lost
    assert any(aside.name in error.problem for _, error in report.problems)
    assert rebuilt.snapshot.version == 5, "the indexes are left: the records hold versions against questions, and know them by number"
    check_whole(library(folder))


def test_given_an_older_list_that_was_changed_too_when_rebuilt_then_it_is_not_believed(folder):
    root = folder / "default"
    flip(root / NEWEST)
    older = root / "manifests/3.json"
    older.write_bytes(older.read_bytes().replace(b"Of cats", b"Of bats"))

    rebuilt, _ = rebuild(folder)

    assert "Of bats" not in {document.title for document in rebuilt.snapshot.documents}
    assert len(found(rebuilt, "cats")) == 1


def test_given_a_pointer_to_nothing_or_to_no_number_when_opened_then_it_is_damage_not_an_empty_library(folder):
    pointer = folder / "default/CURRENT"
    whole = json.loads(pointer.read_bytes())
    for generation in ("0", "-1", "1e999", "[" * 9999, '"x"'):
        pointer.write_text(f'{{"generation": {generation}, "sha256": "{whole["sha256"]}"}}')
        with pytest.raises(LibraryDamaged, match="rebuild"):
            library(folder)


def test_given_a_library_with_one_generation_when_its_pointer_is_gone_then_it_is_damage_not_an_empty_library(tmp_path):
    library(tmp_path).add([text("a", "Alpha.")], SETTINGS)
    (tmp_path / "default/CURRENT").unlink()

    with pytest.raises(LibraryDamaged, match="rebuild"):
        library(tmp_path)
    assert [document.name for document in rebuild(tmp_path)[0].snapshot.documents] == ["a"]

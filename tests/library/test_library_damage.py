"""A changed byte, a missing file, a full disk: noticed, named, and without harm to what was published."""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from library_kit import SETTINGS, HashEmbedder, check_whole, found, library, text

from rag_core.adapters.index.bm25 import Bm25Store
from rag_core.adapters.index.flat import FaissStore
from rag_core.domain.documents import Box, Document, Line, Metadata, Page, PageSource, Span, WordBox
from rag_core.domain.passages import Passage, PassageKind
from rag_core.errors import LibraryDamaged, LibraryError, ModelUnavailable
from rag_core.library.disk import files as disk_files
from rag_core.library.disk.files import pack, stamp, unpack, unpack_vectors
from rag_core.library.library import Library
from rag_core.library.stored import stored_json as records
from rag_core.library.stored.manifest import SCHEMA_VERSION
from rag_core.library.stored.sources import Source
from rag_core.library.stored.stored_pages import PageWriter, read_pages
from rag_core.library.stored.writer import pack_terms, unpack_terms


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """A published library of a PDF and a text, in its second generation at least."""
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "Cats sleep all day.")
    folder = tmp_path_factory.mktemp("template")
    opened = library(folder)
    report = opened.add([Source("cats.pdf", document.tobytes(), "pdf"), text("dogs", "Dogs run about.")], SETTINGS)
    opened.set_metadata(report.added[0].id, Metadata(title="Of cats"))
    return folder


@pytest.fixture
def folder(template, tmp_path) -> Path:
    for path in template.rglob("*"):
        if path.is_file():
            copy = tmp_path / path.relative_to(template)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    return tmp_path


def files_of(folder: Path, kind: str) -> list[Path]:
    """The newest last."""
    return sorted(path for path in folder.rglob(kind) if path.is_file())


def read_everything(folder: Path) -> None:
    opened = library(folder)
    for document in opened.snapshot.documents:
        opened.source(document.id)
        for number in range(1, document.page_count + 1):
            opened.snapshot.page(document.id, number)


NEEDED = [
    "CURRENT",
    "manifests/*.json",
    "indexes/*/vectors.faiss",
    "indexes/*/lexical.json",
    "indexes/*/lexical.rows.npy",
    "documents/*/passages.json.gz",
    "documents/*/pages.json.gz",
    "documents/*/layout.jsonl.gz",
    "sources/*",
]


@pytest.mark.parametrize("kind", NEEDED)
@pytest.mark.parametrize("harm", ["byte", "short", "gone"])
def test_given_a_damaged_file_when_it_is_loaded_then_it_is_named_with_a_remedy(folder, kind, harm):
    path = files_of(folder / "default", kind)[-1]
    data = path.read_bytes()
    if harm == "gone":
        path.unlink()
    else:
        middle = len(data) // 2
        path.write_bytes(data[:middle] + (bytes([data[middle] ^ 1]) + data[middle + 1 :] if harm == "byte" else b""))

    with pytest.raises(LibraryDamaged) as caught:
        read_everything(folder)
    assert path.name in caught.value.problem or kind == "CURRENT"  # a changed CURRENT does not fit its manifest, which is named
    assert "rebuild" in caught.value.remedy


@pytest.mark.parametrize("name", ["vectors.npy", "terms.json.gz", "document.json", "reading.json"])
def test_given_a_damaged_file_that_only_the_writer_needs_when_verified_then_it_is_named(folder, name):
    path = files_of(folder, name)[0]
    path.write_bytes(path.read_bytes()[:-1] + b"!")

    with pytest.raises(LibraryDamaged, match=name):
        library(folder).verify()


@pytest.mark.parametrize(
    "kind", [kind for kind in NEEDED if kind not in ("CURRENT", "manifests/*.json", "sources/*")] + ["documents/*/vectors.npy"]
)
def test_given_a_damaged_file_when_rebuilt_then_the_library_is_whole_again(folder, kind):
    path = files_of(folder / "default", kind)[-1]
    path.write_bytes(b"\0" + path.read_bytes())

    rebuilt, report = Library.rebuild(folder, "default", SETTINGS, embedder=HashEmbedder(), vectors=FaissStore(16), lexical=Bm25Store())

    assert report.problems == ()
    check_whole(rebuilt)
    check_whole(library(folder))


def test_given_a_manifest_that_lists_the_files_when_read_then_every_file_of_the_generation_is_in_it_with_checksum_and_size(folder):
    root = folder / "default"
    manifest = json.loads(files_of(root, "manifests/*.json")[-1].read_bytes())

    named = dict(manifest["files"])
    for row in manifest["documents"]:
        named |= row["files"]
    folders = [root / "indexes" / manifest["index"], root / "documents", root / "sources"]
    present = {str(path.relative_to(root)) for folder in folders for path in folder.rglob("*") if path.is_file()}
    assert set(named) == present
    assert all((root / name).stat().st_size == size for name, (_, size) in named.items())
    assert (manifest["schema_version"], manifest["embedder"]) == (SCHEMA_VERSION, "hash@float32")


@pytest.mark.parametrize(("step", "remedy"), [(1, "Update the program"), (-1, "rebuild the library from its stored sources")])
def test_given_a_manifest_of_another_form_when_opened_then_it_says_what_to_do(folder, step, remedy):
    root = folder / "default"
    path = files_of(root, "manifests/*.json")[-1]
    data = path.read_bytes().replace(b'"schema_version":%d' % SCHEMA_VERSION, b'"schema_version":%d' % (SCHEMA_VERSION + step))
    path.write_bytes(data)
    (root / "CURRENT").write_text(json.dumps({"generation": int(path.stem), "sha256": stamp(data).sha256}))

    with pytest.raises(LibraryError, match=f"form {SCHEMA_VERSION + step}.*form {SCHEMA_VERSION}.*{remedy}"):
        library(folder)


def test_given_a_library_of_an_older_form_when_rebuilt_then_its_documents_are_there(folder):
    root = folder / "default"
    documents = len(library(folder).snapshot.documents)
    for path in files_of(root, "manifests/*.json"):
        path.write_text(json.dumps(json.loads(path.read_bytes()) | {"schema_version": SCHEMA_VERSION - 1}))
        (root / "CURRENT").write_text(json.dumps({"generation": int(path.stem), "sha256": stamp(path.read_bytes()).sha256}))

    rebuilt, _ = Library.rebuild(folder, "default", SETTINGS, embedder=HashEmbedder(), vectors=FaissStore(16), lexical=Bm25Store())

    assert len(rebuilt.snapshot.documents) == documents
    check_whole(rebuilt)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """The system refuses every write beyond this many bytes of a file, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("room", [0, 20, 100, 200, 400, 800, 1600, 3200])
def test_given_a_disk_that_is_full_at_some_point_when_adding_then_the_error_says_what_to_do_and_the_library_is_intact(folder, room):
    opened = library(folder)
    before = opened.snapshot
    body = " ".join(f"word{number}" for number in range(700))

    with files_of_at_most(room), pytest.raises(LibraryError) as caught:
        opened.add([text("large", body, language="en")], SETTINGS)

    assert "Free disk space" in caught.value.remedy
    assert opened.snapshot is before
    check_whole(library(folder))
    opened.add([text("large", body, language="en")], SETTINGS)
    assert found(opened, "word699")
    check_whole(opened)


def test_given_a_disk_that_is_full_when_adding_then_no_library_below_speaks_for_itself_and_nothing_is_left_over(folder, capfd):
    body = " ".join(f"word{number}" for number in range(700))
    library(folder).add([text(f"short{number}", f"Item number {number} says word{number}.") for number in range(8)], SETTINGS)
    said = set()
    for room in (64, 260, 1000, 1500, 2300, 2900, 3300, 3900, 4200, 5300, 6300, 7300):
        opened = library(folder)
        indexes = files_of(folder, "indexes/*/*")
        with files_of_at_most(room), pytest.raises(LibraryError) as caught:
            opened.add([text("large", f"{body} {room}", language="en")], SETTINGS)
        said.add(caught.value.problem)
        assert files_of(folder, "indexes/*/*") == indexes, room
        assert files_of(folder, "*.tmp") == [], room
        opened.discard([row.id for row in opened.unfinished()])

    reasons = {problem.rpartition(": ")[2] for problem in said}
    assert reasons <= {"File too large.", "No space left on device."}, said
    assert any("publishing" in problem for problem in said), "the indexes came to their turn"
    assert capfd.readouterr().err == ""
    check_whole(library(folder))


def test_given_a_disk_that_takes_only_the_first_bytes_when_an_index_is_saved_then_it_is_an_error_of_the_system(tmp_path):
    vectors, lexical = FaissStore(4), Bm25Store()
    made = vectors.build(np.eye(4, dtype=np.float32)), lexical.build([[f"word{(row + n) % 20}" for n in range(9)] for row in range(400)])
    vectors.save(made[0], tmp_path)
    lexical.save(made[1], tmp_path)
    whole = max(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())

    for room in range(0, whole, 97):
        with files_of_at_most(room):
            for store, index in zip((vectors, lexical), made, strict=True):
                folder = tmp_path / f"{type(store).__name__}{room}"
                folder.mkdir()
                refused = ""
                try:
                    store.save(index, folder)
                except OSError as error:
                    refused = error.strerror
                assert refused in ("", "File too large", "No space left on device"), room
                if not refused:
                    store.load(folder)


def test_given_a_folder_that_cannot_be_written_when_adding_then_the_error_says_what_to_do(tmp_path):
    (tmp_path / "default").write_text("a file in the place of the folder")

    with pytest.raises(LibraryError, match="allow writing"):
        library(tmp_path).add([text("a", "Alpha.")], SETTINGS)


def test_given_vectors_that_are_not_numbers_when_adding_then_nothing_is_published(tmp_path):
    class Broken(HashEmbedder):
        def embed(self, texts, kind="passage"):
            return super().embed(texts, kind) * np.float32("nan")

    opened = library(tmp_path, embedder=Broken())
    with pytest.raises(ModelUnavailable):
        opened.add([text("a", "Alpha.")], SETTINGS)
    assert opened.snapshot.documents == ()


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
offsets = st.integers(0, 10**6)
spans = st.builds(lambda page, start, length: Span(page, start, start + length), st.integers(1, 5000), offsets, st.integers(1, 10**4))
floats = st.floats(allow_nan=False, allow_infinity=False, width=32)
boxes = st.builds(Box, floats, floats, floats, floats)
metadata = st.builds(Metadata, st.text(), st.text(), st.none() | st.floats(0, 1), st.booleans(), st.dictionaries(texts, texts))
pages = st.builds(
    Page,
    st.integers(1, 5000),
    texts,
    st.sampled_from(PageSource),
    st.tuples(
        st.builds(Line, offsets, offsets, boxes, floats, st.booleans(), st.booleans(), offsets, st.tuples(st.tuples(offsets, offsets)))
    ),
    # how sure OCR was is from 0 to 1; unsaid, it would be drawn by its type alone, NaN with it, which equals nothing
    st.tuples(st.builds(WordBox, offsets, offsets, floats, floats, floats, floats, st.none() | st.floats(0, 1, width=32))),
    floats,
    floats,
    offsets,
    texts,
    texts,
)


@given(
    st.builds(
        Document,
        texts,
        texts,
        texts,
        offsets,
        metadata,
        texts,
        texts,
        st.tuples(offsets),
        st.tuples(offsets),
        offsets,
        st.tuples(texts),
        page_date=st.none() | st.text(),
        file_date=st.text(),
    )
)
def test_any_document_is_the_same_after_a_round_trip_through_its_json(document):
    assert records.document_from_json(json.loads(json.dumps(records.document_to_json(document)))) == document


kinds, pairs = st.sampled_from(PassageKind), st.tuples(offsets, offsets)


@given(
    st.builds(Passage, texts, texts, texts, st.tuples(spans), texts, texts, kinds, pairs, offsets, st.booleans(), st.tuples(spans), texts)
)
def test_any_passage_is_the_same_after_a_round_trip_through_its_file(passage):
    assert records.passages_from_json(unpack(pack(list(records.passages_to_json([passage]))), Path("x")), passage.document) == (passage,)


@given(st.lists(pages, max_size=3))
def test_any_pages_are_the_same_after_a_round_trip_through_their_files(read):
    with TemporaryDirectory() as folder:
        with PageWriter(Path(folder), 1 << 20) as writer:
            for page in read:
                writer.put(page)
        assert list(read_pages(Path(folder), writer.stamps())) == read


@given(st.lists(st.lists(st.text(max_size=3), max_size=9), max_size=9))
def test_any_terms_are_the_same_after_a_round_trip_through_their_file(terms):
    assert unpack_terms(pack_terms(terms), Path("x")) == terms


@given(st.binary(max_size=60), st.integers(1, 20))
def test_any_file_has_the_stamp_of_its_bytes_whatever_the_size_of_a_block(data, block):
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_files, "HASHED_BYTES", block)
        path = Path(folder, "file")
        path.write_bytes(data)
        assert disk_files.stamp_file(path) == disk_files.stamp(data)


@given(st.binary(max_size=60))
def test_any_bytes_in_the_place_of_a_packed_file_are_refused(data):
    for reader in (unpack, unpack_terms, unpack_vectors):
        with pytest.raises(LibraryDamaged, match="a/b/c"):
            reader(data, Path("a/b/c"))

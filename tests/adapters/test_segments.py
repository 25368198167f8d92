"""Indexes in segments find what one index over all rows finds, share files of what did not change, and keep nothing that was deleted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.adapters.index import segments, words
from rag_core.adapters.index.bm25 import Bm25Index, Bm25Store
from rag_core.adapters.index.flat import FaissStore
from rag_core.adapters.index.terms import Terms
from rag_core.errors import LibraryDamaged

DIM = 8
WORDS = ["notice", "period", "price", "ना", "lhuta", "\x00", "𝄞", "\ud800", ""]
changes = st.lists(st.tuples(st.sampled_from(["add", "add", "delete", "replace"]), st.integers(0, 50), st.integers(1, 5)), max_size=12)


@contextmanager
def small(least: int = 3, most: int = 8, mapped: int = 0) -> Iterator[None]:
    """Segments of a few rows, every file of them mapped into memory."""
    with (
        patch.object(segments, "MIN_ROWS", least),
        patch.object(segments, "MAX_ROWS", most),
        patch.object(segments, "MAPPED_BYTES", mapped),
    ):
        yield


class Sides:
    """A library's documents, each as its vectors and its terms, and the pieces that the next version is made of."""

    def __init__(self) -> None:
        self.chance = np.random.default_rng(1)
        self.documents: list[tuple[np.ndarray, list[list[str]]]] = []

    def document(self, rows: int) -> tuple[np.ndarray, list[list[str]]]:
        drawn = self.chance.standard_normal((rows, DIM)).astype(np.float32)
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        return drawn, [[WORDS[number] for number in self.chance.integers(0, len(WORDS), 4)] for _ in range(rows)]

    def changed(self, what: str, at: int, rows: int) -> list[range | tuple[np.ndarray, list[list[str]]]]:
        ends = np.cumsum([0, *(len(vectors) for vectors, _ in self.documents)]).tolist()
        pieces = [range(a, b) for a, b in pairwise(ends)]
        new = self.document(rows)
        if what == "add" or not self.documents:
            self.documents.append(new)
            return [*pieces, new]
        at %= len(self.documents)
        put = [] if what == "delete" else [new]
        self.documents[at : at + 1] = put
        return [*pieces[:at], *put, *pieces[at + 1 :]]

    @property
    def vectors(self) -> np.ndarray:
        return np.concatenate([vectors for vectors, _ in self.documents])

    @property
    def terms(self) -> list[list[str]]:
        return [row for _, terms in self.documents for row in terms]


@given(steps=changes)
def test_given_any_changes_when_saved_and_opened_then_every_number_is_that_of_one_index_over_all(steps):
    sides, dense, lexis = Sides(), FaissStore(DIM), Bm25Store()
    with small(), TemporaryDirectory() as root:
        vectors, lexical = dense.build(np.zeros((0, DIM), np.float32)), lexis.build([])
        for version, step in enumerate(steps):
            pieces = sides.changed(*step)
            if not pieces:
                return
            folder = Path(root, str(version))
            folder.mkdir()
            vectors = dense.spliced(vectors, [piece if isinstance(piece, range) else piece[0] for piece in pieces])
            lexical = lexis.spliced(lexical, [piece if isinstance(piece, range) else piece[1] for piece in pieces])
            dense.save(vectors, folder)
            lexis.save(lexical, folder)
            if version % 2:  # a process that goes on, or another one
                vectors, lexical = dense.load(folder), lexis.load(folder)
        if not steps:
            return
        question, rows = sides.document(1)[0][0], range(len(sides.vectors))
        with small(most=1000):
            whole, whole_words = dense.build(sides.vectors), Bm25Index.of(sides.terms)
        assert len(whole.segments) == 1
        assert len(vectors.segments) <= 2 * len(rows) / 8 + 4, [len(one) for one in vectors.segments]
        assert np.array_equal(vectors.vectors(rows), sides.vectors)
        assert np.array_equal(vectors.vectors([0, len(rows) - 1, 0]), sides.vectors[[0, -1, 0]])
        for k, allowed in ((1, None), (7, None), (100, None), (5, [*rows][::2]), (5, []), (3, [len(rows) - 1, 0, 0])):
            assert vectors.search(question, k, allowed) == whole.search(question, k, allowed)
            assert lexical.search(WORDS, k, allowed) == whole_words.search(WORDS, k, allowed)
        asked = [*WORDS, "unknown", "notice"]
        assert lexical.scores(asked, [*rows, 0]) == whole_words.scores(asked, [*rows, 0])
        assert lexical.idf(asked) == whole_words.idf(asked)
        assert set(lexical.vocabulary()) == set(whole_words.vocabulary()) == {term for row in sides.terms for term in row}
        parts, whole_parts = ({term: (list(at), list(part)) for term, at, part in one.postings()} for one in (lexical, whole_words))
        assert parts == whole_parts


def test_given_many_documents_one_by_one_then_a_row_is_written_anew_a_few_times_and_not_with_each_of_them():
    drawn, store, written = Sides().document(400)[0], FaissStore(DIM), 0
    with small(least=3, most=256):
        index = store.build(drawn[:1])
        for count in range(1, 400):
            before, index = index, store.spliced(index, [range(count), drawn[count : count + 1]])
            written += sum(len(one) for one in index.segments if one not in before.segments)

    assert written <= 400 * 9  # as often as 256 can be halved, and once; with every document it would be 400 * 100
    assert len(index.segments) <= 10


def saved(index, store, folder: Path) -> dict[str, int]:
    """The files of a version, and the number of each on disk."""
    folder.mkdir()
    store.save(index, folder)
    return {str(path.relative_to(folder)): path.stat().st_ino for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("way", ["linked", "no links", "gone", "another file"])
def test_given_a_version_with_one_more_document_then_what_did_not_change_is_the_same_file_where_the_disk_can(tmp_path, monkeypatch, way):
    sides, store = Sides(), FaissStore(DIM)
    with small():
        first = store.build(sides.document(20)[0])
        before = saved(first, store, tmp_path / "1")
        second = store.spliced(first, [range(20), sides.document(3)[0]])
        if way == "no links":
            monkeypatch.setattr(os, "link", lambda *names: (_ for _ in ()).throw(OSError("not on this disk")))
        if way == "gone":
            (tmp_path / "1/vectors.1/vectors.faiss").unlink()
        if way == "another file":
            store.save(store.build(sides.document(8)[0]), tmp_path / "1/vectors.1")
        after = saved(second, store, tmp_path / "2")

        assert np.array_equal(store.load(tmp_path / "2").vectors(range(23)), second.vectors(range(23)))
    assert [len(one) for one in first.segments] == [8, 8, 4]
    assert [len(one) for one in second.segments] == [8, 8, 7]
    shared = {name for name in before if before[name] == after.get(name)}
    both = {"vectors.0/vectors.faiss", "vectors.1/vectors.faiss"}
    assert shared == {"linked": both, "no links": set(), "gone": both - {"vectors.1/vectors.faiss"}}.get(way, both & shared)
    if way == "another file":
        assert shared == {"vectors.0/vectors.faiss"}


def test_given_a_small_library_then_it_is_one_segment_in_the_versions_own_folder_and_a_large_one_is_parted(tmp_path):
    sides, dense, lexis = Sides(), FaissStore(DIM), Bm25Store()
    vectors, terms = sides.document(segments.MAX_ROWS + 5)

    assert saved(dense.build(vectors[:4000]), dense, tmp_path / "small").keys() == {"vectors.faiss"}
    assert "lexical.json" in saved(lexis.build(terms[:4000]), lexis, tmp_path / "words")
    large, some = dense.build(vectors), lexis.build(terms)
    assert [len(one) for one in large.segments] == [len(one) for one in some.segments] == [segments.MAX_ROWS, 5]
    assert saved(large, dense, tmp_path / "large").keys() == {
        "vectors.0/vectors.faiss", "vectors.1/vectors.faiss", "vectors.segments.json",
    }  # fmt: skip
    assert len(dense.load(tmp_path / "large")) == segments.MAX_ROWS + 5


@pytest.mark.parametrize("harm", ["segment gone", "head gone", "head wrong", "fewer rows"])
@pytest.mark.parametrize(("make", "name"), [(lambda: FaissStore(DIM), "vectors"), (Bm25Store, "lexical")])
def test_given_segments_that_do_not_belong_together_when_loaded_then_it_is_damaged(tmp_path, make, name, harm):
    store, (vectors, terms) = make(), Sides().document(20)
    rows = vectors if name == "vectors" else terms
    with small():
        saved(store.build(rows), store, tmp_path / "1")
        head, second = tmp_path / f"1/{name}.segments.json", tmp_path / f"1/{name}.1"
        if harm == "segment gone":
            for path in second.iterdir():
                path.unlink()
        elif harm == "head gone":
            head.unlink()
        elif harm == "head wrong":
            head.write_text("[]")
        else:
            for path in second.iterdir():
                path.unlink()
            store.save(store.build(rows[:3]), second)
        with pytest.raises(LibraryDamaged, match="cannot be read"):
            store.load(tmp_path / "1")


@pytest.mark.parametrize(("rows", "kept"), [(10, 64), (0, 64), (100, 20), (1000, 8)])
def test_given_a_larger_library_then_the_parts_of_fewer_terms_are_kept(monkeypatch, rows, kept):
    """A term that stands in every passage of a million takes eight megabytes."""
    monkeypatch.setattr(words, "KEPT_POSTINGS", 2000)

    assert Bm25Index.of([["notice"]] * rows)._kept.cache_info().maxsize == kept


def test_given_terms_when_looked_up_then_each_has_its_number_and_no_other_has_one():
    known = sorted({*WORDS, "noticed", "notic", "ž"})
    terms = Terms.of(known)

    assert [*terms] == known
    assert [terms[term] for term in known] == list(range(len(known)))
    assert [term in terms for term in ("a", "zzz", "ნ", "not")] == [False] * 4
    assert "a" not in Terms.of([])

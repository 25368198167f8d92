"""The cost of a version: it is joined from the one before and what is new, and nothing of the other documents is read
or made anew.
"""

from __future__ import annotations

import random

import numpy as np
from library_kit import SETTINGS, check_whole, library, text

from rag_core.library import loading
from rag_core.retrieval import bm25 as words
from rag_core.retrieval import segments


def numbers(opened, questions):
    """All that a question can see of the indexes, bit by bit."""
    snapshot = opened.snapshot
    rows = range(len(snapshot.passages))
    return (
        [passage.text for passage in snapshot.passages],
        snapshot.vectors.vectors(rows).tobytes(),
        [snapshot.lexical.scores([question], rows) for question in questions],
        sorted(snapshot.lexical.vocabulary()),
    )


def test_given_any_changes_when_the_version_is_compared_with_one_made_at_once_then_every_number_is_the_same(tmp_path):
    """S2-27: adding, replacing and deleting in any order."""
    drawn = random.Random(19)
    opened, there = library(tmp_path / "steps"), {}
    for step in range(12):
        ids = [f"d{drawn.randrange(8)}" for _ in range(drawn.randrange(1, 4))]
        if step % 3 == 2:
            for id in {id for id in ids if id in there}:
                opened.delete(there.pop(id)[0])
        else:
            for id in ids:
                body = f"Document {id} says item{drawn.randrange(5)}.\n\nA second part of {id} tells of cats."
                if id in there:  # as a user does who adds a newer text
                    opened.delete(there.pop(id)[0])
                there[id] = opened.add([text(id, body, language="en")], SETTINGS).added[0].id, body
    some = next(iter(there))
    opened.reread([there[some][0]], SETTINGS.changed(passage_tokens=32))

    at_once = library(tmp_path / "once")
    at_once.add([text(id, body, language="en") for id, (_, body) in there.items()], SETTINGS)
    at_once.reread([there[some][0]], SETTINGS.changed(passage_tokens=32))
    questions = ["item1", "item3", "cat", "second", "unknown"]
    assert numbers(opened, questions) == numbers(at_once, questions) == numbers(library(tmp_path / "steps"), questions)
    check_whole(opened)


def test_given_a_library_when_a_document_is_added_then_no_vectors_or_words_of_others_are_read(tmp_path, monkeypatch):
    library(tmp_path).add([text(f"d{n}", f"Document {n} is about item{n}.") for n in range(5)], SETTINGS)
    read, opened = [], library(tmp_path)
    cut = loading._cut
    monkeypatch.setattr(loading, "_cut", lambda db, row, columns: read.append((row, columns)) or cut(db, row, columns))

    opened.add([text("new", "Cats sleep.")], SETTINGS)
    opened.delete(opened.snapshot.documents[2].id)

    assert {row for row, columns in read if "vectors" in columns or "terms" in columns} == {6}
    assert [columns for row, columns in read if columns in ("vectors", "terms")] == ["vectors", "terms"]
    monkeypatch.undo()
    check_whole(library(tmp_path))
    assert np.array_equal(
        library(tmp_path).snapshot.vectors.vectors(range(5)), opened.snapshot.vectors.vectors(range(5))
    )


def test_given_a_larger_library_when_a_document_comes_or_goes_then_other_segments_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(segments, "MIN_ROWS", 2)
    monkeypatch.setattr(words, "MAX_ROWS", 4)
    opened = library(tmp_path)
    for n in range(9):
        opened.add([text(f"d{n}", f"Document {n} is about item{n}.")], SETTINGS)
    other = library(tmp_path)
    before = opened.snapshot.lexical.segments
    assert len(before) > 2

    opened.add([text("new", "Cats sleep.")], SETTINGS)
    opened.delete(opened.snapshot.documents[0].id)

    assert len(set(before) & set(opened.snapshot.lexical.segments)) >= len(before) - 2
    kept = other.snapshot.lexical.segments
    assert other.refresh()
    assert len(set(kept) & set(other.snapshot.lexical.segments)) >= len(before) - 2
    assert (
        numbers(opened, ["item3", "cat"])
        == numbers(other, ["item3", "cat"])
        == numbers(library(tmp_path), ["item3", "cat"])
    )

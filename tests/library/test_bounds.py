"""What is said about a document is bounded: a user is told, and of what a PDF states of itself the beginning is
kept.
"""

from __future__ import annotations

import json

import pymupdf
import pytest
from library_kit import SETTINGS, library, text

from rag_core.domain.documents import Metadata
from rag_core.errors import InvalidInput
from rag_core.ingest.reading.pdf import read_pdf
from rag_core.library.stored.bounds import (
    MAX_KEY_CHARS,
    MAX_KEYS,
    MAX_LANGUAGE_CHARS,
    MAX_NAME_CHARS,
    MAX_TITLE_CHARS,
    MAX_VALUE_CHARS,
)
from rag_core.library.stored.sources import Source, sources_from

LONGEST = {
    "title": Metadata(title="t" * MAX_TITLE_CHARS),
    "a key": Metadata(values={"k" * MAX_KEY_CHARS: "v"}),
    "a value": Metadata(values={"k": "v" * MAX_VALUE_CHARS}),
    "keys": Metadata(values={str(n): "v" for n in range(MAX_KEYS)}),
}
TOO_LONG = {
    "title": Metadata(title="t" * (MAX_TITLE_CHARS + 1)),
    "a key": Metadata(values={"k" * (MAX_KEY_CHARS + 1): "v"}),
    "a value": Metadata(values={"k": "v" * (MAX_VALUE_CHARS + 1)}),
    "keys": Metadata(values={str(n): "v" for n in range(MAX_KEYS + 1)}),
}


def test_given_metadata_at_and_over_their_bounds_when_given_then_a_user_is_told_and_nothing_is_cut(tmp_path):
    opened = library(tmp_path)
    id = opened.add([text("a", "Alpha.")], SETTINGS).added[0].id
    for what, metadata in LONGEST.items():
        opened.set_metadata(id, metadata)
        assert opened.snapshot.documents[0].metadata == metadata, what
    for what, metadata in TOO_LONG.items():
        with pytest.raises(InvalidInput, match="can have") as caught:
            opened.set_metadata(id, metadata)
        assert len(str(caught.value)) < 400, what
        ((name, error),) = opened.add([text("b", "Beta.", metadata=metadata)], SETTINGS).problems
        assert (name, error.problem) == ("b", caught.value.problem), what
    assert opened.snapshot.documents[0].metadata == LONGEST["keys"]


def test_given_names_ids_and_languages_when_they_are_too_long_then_each_is_refused_and_the_others_go_on(tmp_path):
    rows = [
        {"id": "i" * MAX_NAME_CHARS, "text": "Alpha.", "lang": "x" * MAX_LANGUAGE_CHARS},
        {"id": "i" * (MAX_NAME_CHARS + 1), "text": "Beta."},
        {"id": "c", "text": "Gamma.", "lang": "e" * (MAX_LANGUAGE_CHARS + 1)},
        {"id": "d", "text": "Delta.", "title": "t" * 1_000_000},
        {"id": "e", "text": "Epsilon."},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    long_name = Source("n" * 5000 + ".txt", b"Zeta.", "text")

    report = library(tmp_path).add([*sources_from([path]), long_name], SETTINGS)

    assert [document.name for document in report.added] == ["i" * MAX_NAME_CHARS, "e"]
    assert [error.problem.split(" can have")[0] for _, error in report.problems] == [
        f"A document's {what}" for what in ("name", "language", "title", "name")
    ]
    assert max(len(name) for name, _ in report.problems) == MAX_NAME_CHARS


def test_given_a_pdf_that_states_a_long_title_and_author_when_read_then_their_beginnings_are_kept_and_it_is_said():
    made = pymupdf.open()
    made.new_page().insert_text((72, 72), "Words.")
    made.set_metadata({"title": "Of cats " * 40_000, "author": "Dr. Who " * 40_000})
    content = read_pdf(made.tobytes(), "a.pdf")
    made.set_metadata({"title": "T" * MAX_TITLE_CHARS, "author": "A" * MAX_TITLE_CHARS})
    usual = read_pdf(made.tobytes(), "a.pdf")

    assert content.metadata.title == ("Of cats " * 40)[:MAX_TITLE_CHARS]
    assert len(content.metadata.values["author"]) == MAX_TITLE_CHARS
    assert content.problems == tuple(
        f"The file states a {what} of more than 300 characters; its first ones are kept."
        for what in ("title", "author")
    )
    whole = Metadata("T" * MAX_TITLE_CHARS, usual.metadata.date, values={"author": "A" * MAX_TITLE_CHARS})
    assert (usual.metadata, usual.problems) == (whole, ())

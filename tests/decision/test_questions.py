"""The labelled questions over the samples: each label is true of the documents as they are read."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import regex
from folding import each

from rag_core.ingest.normalise import normalise
from rag_core.ingest.reading.pdf import read_pdf

DATA = Path(__file__).resolve().parents[2] / "data"
SAMPLES = DATA / "samples"
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERABLE = [row for row in ROWS if row["answerable"]]
UNANSWERABLE = [row for row in ROWS if not row["answerable"]]

FIELDS = {
    "id": str,
    "question": str,
    "language": str,
    "answerable": bool,
    "kind": str,
    "documents": list,
    "pages": list,
    "answers": list,
}
ANSWERED_KINDS = {"fact", "number", "date", "procedure", "definition", "table", "code", "comparison", "contradicted"}
REFUSED_KINDS = {"off_topic", "near_miss", "missing_entity"}
IN_WORDS = r"[\p{L}\p{M}\p{N}]"


@cache
def pages(name: str) -> tuple[str, ...]:
    """The pages of a sample in their reading form."""
    return tuple(normalise(page.text).text for page in read_pdf((SAMPLES / name).read_bytes(), name).pages)


@cache
def everything() -> str:
    return " ".join(page for path in sorted(SAMPLES.glob("*.pdf")) for page in pages(path.name)).casefold()


def label(row: dict[str, Any]) -> str:
    return str(row["id"])


@each("row", ROWS, ids=label)
def test_given_a_question_when_its_row_is_read_then_it_has_every_field_and_no_other(row: dict[str, Any]) -> None:
    allowed = FIELDS if row["answerable"] else {**FIELDS, "missing": list}

    assert {name: type(value) for name, value in row.items()} == allowed
    assert row["id"].startswith(f"{row['language']}-")
    assert row["kind"] in (ANSWERED_KINDS if row["answerable"] else REFUSED_KINDS)
    assert all((SAMPLES / name).is_file() for name in row["documents"])


def test_given_the_questions_when_counted_then_each_language_and_each_kind_has_enough() -> None:
    languages = Counter(row["language"] for row in ROWS)
    kinds = Counter(row["kind"] for row in ROWS)

    assert len(ROWS) >= 130
    assert set(languages) == {"en", "cs", "de", "hi"}
    assert min(languages.values()) >= 25
    assert set(kinds) == ANSWERED_KINDS | REFUSED_KINDS
    assert min(kinds[kind] for kind in REFUSED_KINDS) >= 12
    assert 0.55 <= len(ANSWERABLE) / len(ROWS) <= 0.7
    for language in languages:
        refused = {row["kind"] for row in UNANSWERABLE if row["language"] == language}
        assert refused == REFUSED_KINDS, language


@pytest.mark.parametrize("field", ["id", "question"])
def test_given_the_questions_when_compared_then_no_two_are_the_same(field: str) -> None:
    counts = Counter(row[field].casefold() for row in ROWS)

    assert [value for value, count in counts.items() if count > 1] == []


@each("row", ANSWERABLE, ids=label)
def test_given_an_answerable_question_then_each_answer_stands_on_its_page(row: dict[str, Any]) -> None:
    assert len(row["documents"]) == len(row["pages"]) == len(row["answers"]) > 0

    for name, number, answer in zip(row["documents"], row["pages"], row["answers"], strict=True):
        assert 1 <= number <= len(pages(name))
        assert regex.search(
            rf"(?<!{IN_WORDS}){regex.escape(normalise(answer).text)}(?!{IN_WORDS})", pages(name)[number - 1]
        ), (
            name,
            number,
        )


@each("row", [row for row in ANSWERABLE if row["kind"] == "contradicted"], ids=label)
def test_given_a_contradicted_question_then_neither_says_what_the_other_does(row: dict[str, Any]) -> None:
    (first, second), (one, other) = row["documents"], row["answers"]

    assert first != second
    assert other not in " ".join(pages(first))
    assert one not in " ".join(pages(second))


@each("row", UNANSWERABLE, ids=label)
def test_given_an_unanswerable_question_then_its_words_stand_in_no_sample(row: dict[str, Any]) -> None:
    assert (row["pages"], row["answers"]) == ([], [])
    assert row["missing"]

    for word in row["missing"]:
        assert not regex.search(rf"(?<!{IN_WORDS}){regex.escape(normalise(word).text.casefold())}", everything()), word


@each("row", [row for row in UNANSWERABLE if row["kind"] == "missing_entity"], ids=label)
def test_given_a_question_about_a_missing_entity_when_read_then_it_names_that_entity(row: dict[str, Any]) -> None:
    assert row["missing"][0] in row["question"]

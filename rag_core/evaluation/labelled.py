"""Labelled questions: whether the documents answer a question, and with what answer; written as files."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import TypeAdapter

from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.language import unspaced

MAX_FIELD_CHARS = 200  # an id, a language, a kind; chosen
PAGED = re.compile(r"#\d{1,7}$", re.ASCII)  # the page of a place that is written as document#page


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer stands: a document by id or name, and a page, 1-based; page 0 where it is not known."""

    document: str
    page: int = 0

    def __post_init__(self) -> None:
        if not self.document or self.page < 0:
            raise ValueError(f"a place needs a document and a page of at least 0, got {self}")


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question of a labelled set, 1 to 2,000 characters long; `id` names it within the set.

    Any of `answers` is right; `documents` are names or ids to search in, none for all; `places` are where an answer
    stands; `language` is a code such as "cs", `kind` a free word such as "near_miss".
    """

    id: str
    question: str
    answerable: bool
    answers: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    language: str = ""
    kind: str = ""

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise ValueError("the question is empty")
        if len(self.question) > MAX_QUESTION_CHARS:
            raise ValueError(f"the question has {len(self.question):,} characters; {MAX_QUESTION_CHARS:,} are allowed")
        if not self.id:
            raise ValueError("the id is empty")
        for name in ("id", "language", "kind"):
            if len(getattr(self, name)) > MAX_FIELD_CHARS:
                raise ValueError(f"{name} is longer than {MAX_FIELD_CHARS} characters")
        if not all(answer.strip() for answer in self.answers) or not all(self.documents):
            raise ValueError("an answer or a document is empty")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> LabelledQuestion:
        return _ADAPTER.validate_python(row)


_ADAPTER = TypeAdapter(LabelledQuestion)


def given_id(question: str, documents: Sequence[str]) -> str:
    """The id of a question that came without one: 12 hex digits of what is asked, and where."""
    return hashlib.sha256("\n".join((question, *documents)).encode()).hexdigest()[:12]


def holds_answer(text: str, answers: Sequence[str]) -> bool:
    """Whether the text holds one of the answers as whole words; case, width and punctuation do not count.

    In text without spaces, such as Chinese or Thai, any letters in a row are whole words.
    """
    inside = f" {_words(text)} "
    return any(words and f" {words} " in inside for words in map(_words, answers))


def _words(text: str) -> str:
    """Words parted by one space, NFKC and folded; letters keep their combining marks."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(map(_parted, folded)).split())


def _parted(character: str) -> str:
    if not character.isalnum() and unicodedata.category(character)[0] != "M":
        return " "
    return f" {character} " if unspaced(character, 0) else character


FIELDS = ("id", "question", "answerable", "answers", "documents", "places", "language", "kind")
# what a spreadsheet takes for a formula, some in full width too, behind any quotes that keep it from it; table.py takes
# one quote off again
FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def to_jsonl(questions: Iterable[LabelledQuestion]) -> bytes:
    """One JSON object a line, UTF-8."""
    return "".join(json.dumps(one.to_json(), ensure_ascii=False) + "\n" for one in questions).encode("utf-8")


def to_csv(questions: Iterable[LabelledQuestion]) -> bytes:
    """Comma-separated with a header, UTF-8 with the mark that spreadsheets look for."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(FIELDS)
    for one in questions:
        row = to_row(one) | {"answerable": "yes" if one.answerable else "no"}
        writer.writerow([csv_cell(str(row[name])) for name in FIELDS])
    return out.getvalue().encode("utf-8-sig")


def csv_cell(text: str) -> str:
    """The text with a quote before it where a spreadsheet would take it for a formula."""
    return f"'{text}" if FORMULA.match(text) else text


def to_row(one: LabelledQuestion) -> dict[str, str | bool]:
    """The fields as a table shows them: lists as one text, parted by |; a place as document#page."""
    places = _listed([_placed(place) for place in one.places])
    lists = {"answers": _listed(one.answers), "documents": _listed(one.documents), "places": places}
    return {**{name: getattr(one, name) for name in FIELDS}, **lists}


def _placed(place: Place) -> str:
    return f"{place.document}#{place.page}" if place.page or PAGED.search(place.document) else place.document


def _listed(values: Sequence[str]) -> str:
    """Parted by |; as a JSON list where that would be ambiguous."""
    plain = " | ".join(values)
    return (
        json.dumps(values, ensure_ascii=False)
        if plain.startswith("[") or any("|" in value for value in values)
        else plain
    )

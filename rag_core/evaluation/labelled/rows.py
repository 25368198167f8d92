"""Reads one row of a file, column names with values, as a labelled question.

Names and words are matched without case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from rag_core.evaluation.labelled.question import PAGED, LabelledQuestion, Place, given_id
from rag_core.language import LANGUAGES

QUESTION = ("question", "user_input", "query")
_ANSWERABLE = ("answerable", "is_answerable")
_REFERENCE = ("ground_truth", "ground_truths", "reference")  # where one of these stands, "answer" is what a system said
_ANSWERS = ("answers", "answer", "gold", "gold_answer")
_EVIDENCE = ("reference_contexts",)
_DOCUMENTS, _PAGE, _PAGES, _PLACES = ("documents", "document"), ("page",), ("pages",), ("places",)
_LANGUAGE, _KIND, _ID = ("language", "lang"), ("kind", "type"), ("id", "_id", "qid", "question_id")
COLUMNS = frozenset(
    (*QUESTION, *_ANSWERABLE, *_REFERENCE, *_ANSWERS, *_DOCUMENTS, *_PAGE, *_PAGES, *_PLACES, *_LANGUAGE, *_KIND, *_ID)
)
_YES = frozenset(("true", "t", "1", "1.0", "answerable"))  # beside the words of each language
_NO = frozenset(("false", "f", "0", "0.0", "unanswerable"))
_MAX_PAGES = 1_000_000  # far more than any document has; a larger number is a slip
_SHOWN = 40  # characters of a value that an error quotes


def lowered(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The row with its column names trimmed and without case.

    Values that hold nothing are left out, except that of `pages`, which tells that the documents are places.
    """
    named = {
        str(name).strip().casefold().replace(" ", "_").replace("-", "_"): value
        for name, value in row.items()
        if name is not None
    }
    return {name: value for name, value in named.items() if not _is_empty(value) or name in _PAGES}


def has_question(names: Iterable[str]) -> bool:
    """Whether one of these column names is that of the question."""
    return bool(set(lowered(dict.fromkeys(names, 1))) & set(QUESTION))


def is_ragas(row: Mapping[str, Any]) -> bool:
    """Whether the right answer stands where RAGAS has it."""
    return any(name in row for name in _REFERENCE)


def labelled(row: Mapping[str, Any]) -> LabelledQuestion:
    """The question of a row that `lowered` gave.

    Raises:
        ValueError: what is wrong with the row, in one sentence without a full stop.
    """
    question = _text(_first(row, QUESTION))
    if not question:
        raise ValueError("the question is empty")
    answers = _strings("answers", _first(row, _REFERENCE if is_ragas(row) else _ANSWERS))
    if is_ragas(row) and _is_no(row):
        answers = ()  # a reference that says that there is no answer
    documents = _strings("documents", _first(row, _DOCUMENTS))
    places = _read_places(_first(row, _PLACES))
    if "pages" in row:  # the shape of data/questions.jsonl: documents and pages side by side, not where to search
        places, documents = _side_by_side(documents, _strings("pages", row["pages"])), ()
    elif (page := _first(row, _PAGE)) is not None and not places:
        number = _page(page)
        if len(documents) > 1:
            raise ValueError("page needs exactly one document beside it, and there are several")
        # a page alone says nothing: it may be of any document
        places = tuple(Place(document, number) for document in documents)
    return LabelledQuestion(
        id=_text(_first(row, _ID)) or given_id(question, documents),
        question=question,
        answerable=_answerable(row, bool(answers or places)),
        answers=tuple(dict.fromkeys(answers)),
        documents=tuple(dict.fromkeys(documents)),
        places=places,
        language=_text(_first(row, _LANGUAGE)),
        kind=_text(_first(row, _KIND)),
    )


def _answerable(row: Mapping[str, Any], shown: bool) -> bool:
    """As stated; where nothing is stated, a question with an answer, or with a place where it stands, is answerable."""
    stated = _first(row, _ANSWERABLE)
    if stated is None:
        if not shown and not any(name in row for name in _EVIDENCE):
            raise ValueError("it says neither whether the question is answerable nor what the answer is")
        return True
    said = _text(stated).casefold()
    if said not in _yes() | _no():
        raise ValueError(f"answerable is {quoted(_text(stated))}, which is neither yes nor no")
    if _is_no(row) and shown:
        raise ValueError("it is labelled unanswerable, but has an answer or a place where it stands")
    return said in _yes()


def _is_no(row: Mapping[str, Any]) -> bool:
    return _text(_first(row, _ANSWERABLE)).casefold() in _no()


@cache
def _yes() -> frozenset[str]:
    return _YES.union(*(info.yes for info in LANGUAGES.values()))


@cache
def _no() -> frozenset[str]:
    return _NO.union(*(info.no for info in LANGUAGES.values()))


def _side_by_side(documents: tuple[str, ...], pages: tuple[str, ...]) -> tuple[Place, ...]:
    if not pages:
        return ()  # an unanswerable question with the document that it is nearest to
    if len(pages) != len(documents):
        raise ValueError(f"there are {len(pages)} pages for {len(documents)} documents")
    return tuple(dict.fromkeys(Place(name, _page(page)) for name, page in zip(documents, pages, strict=True)))


def _read_places(value: Any) -> tuple[Place, ...]:
    if value is None:
        return ()
    listed: Any = value
    if isinstance(value, str):
        listed = _json_list(value)
        listed = value.split("|") if listed is None else listed
    try:
        return tuple(_place(one) for one in listed)
    except (TypeError, KeyError, AttributeError):
        raise ValueError("places is not a list of places, such as contract.pdf#3") from None


def _place(value: Any) -> Place:
    """Of an object, or of document#page."""
    if not isinstance(value, str):
        return Place(_text(value["document"]), _page(value.get("page", 0)))
    said = _text(value)
    found = PAGED.search(said)
    return Place(said[: found.start()].rstrip(), int(found.group()[1:])) if found else Place(said)


def _page(value: Any) -> int:
    said = _text(value)
    number = said.removesuffix(".0")
    if not (number.isascii() and number.isdigit()) or len(number) > 7 or int(number) > _MAX_PAGES:
        raise ValueError(f"page is {quoted(said)}, which is no page number")
    return int(number)


def _strings(name: str, value: Any) -> tuple[str, ...]:
    """A list; of a text, a JSON list or parts between |; of SQuAD's object, its texts. None is empty."""
    if isinstance(value, Mapping):
        value = value.get("text")
    if isinstance(value, str):
        read = _json_list(value)
        value = value.split("|") if read is None else read
    items = value if isinstance(value, list) else [] if value is None else [value]
    if any(isinstance(item, (list, Mapping)) for item in items):
        raise ValueError(f"{name} is not a text or a list of texts")
    return tuple(text for item in items if (text := _text(item)))


def _json_list(value: str) -> list[Any] | None:
    if not value.lstrip().startswith("["):
        return None
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, list) else None


def _first(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _is_empty(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())  # not equal to itself: NaN


def _text(value: Any) -> str:
    """A value as text that can be stored anywhere: trimmed, without NUL, unpaired surrogates replaced."""
    if value is None:
        return ""
    if isinstance(value, (list, Mapping)):
        raise ValueError(f"{quoted(str(value))} is not a text")
    return str(value).replace("\0", "").encode("utf-8", "replace").decode("utf-8").strip()


def quoted(text: str) -> str:
    """A value as an error shows it: in quotes, and not longer than 40 characters."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")

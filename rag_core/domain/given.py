"""Passages that something else retrieved: what was given, and what is therefore not known about them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

from rag_core.errors import InvalidInput

GIVEN = "given_passages"  # the key in the metadata of measurements and of a decision
MAX_TEXT_CHARS = 100_000  # in one passage: forty pages, more than any cutter makes; chosen
MAX_LINE_CHARS = 255  # in an id, a document's name or a section: as long as a file's name may be
_FORM = "Give {text, document, page, section, id, score, language, metadata}; all but text may be left out."


@dataclass(frozen=True, slots=True)
class ReadyPassage:
    """A passage that something else retrieved.

    Args:
        text: as the retrieval has it; quotes are looked up in it, character for character. One that holds nothing to
            read is passed over.
        document: name of its document, as citations show it. Passages of one name are one document; each without a name
            is one of its own.
        page: 1-based; None where it has none or it is not known. It is then cited as page 1, as a text without pages
            is.
        section: its heading.
        id: of yours, as citations name it (`chunk_id`); its number in the given order where it is left out.
        score: of your retrieval, on any scale; None where there is none. It is handed on, and decides nothing.
        language: ISO 639-1; detected from the document's passages where it is left out.
        metadata: of its document: title, date (ISO), authority in [0, 1], verified, and keys of your own. Values are
            text, numbers, or true and false; those of the first passage that has a key hold for its document.

    Raises:
        InvalidInput: a value of another type or out of its range, or no text.
    """

    text: str
    document: str = ""
    page: int | None = None
    section: str = ""
    id: str = ""
    score: float | None = None
    language: str = ""
    metadata: Mapping[str, str | int | float | bool] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text:
            raise _wrong("text", self.text, "a text")
        if len(self.text) > MAX_TEXT_CHARS:
            raise InvalidInput(
                f"text has {len(self.text):,} characters; at most {MAX_TEXT_CHARS:,} are allowed.",
                remedy="Give the passages that your retrieval found, not whole documents; index "
                "those with `python -m rag_core index`.",
            )
        for name in ("document", "section", "id", "language"):
            value = getattr(self, name)
            if not isinstance(value, str) or len(value) > MAX_LINE_CHARS or "\n" in value:
                raise _wrong(name, value, f"one line of at most {MAX_LINE_CHARS} characters, or leave it out")
        if self.page is not None and (not isinstance(self.page, int) or isinstance(self.page, bool) or self.page < 1):
            raise _wrong("page", self.page, "a whole number from 1 on, or leave it out")
        if self.score is not None and (isinstance(self.score, bool) or not _is_finite(self.score)):
            raise _wrong("score", self.score, "a finite number, or leave it out")
        if not isinstance(self.metadata, Mapping) or not all(isinstance(key, str) for key in self.metadata):
            raise _wrong("metadata", self.metadata, "keys and values")
        for key, value in self.metadata.items():
            if not isinstance(value, (str, int, float, bool)):
                raise _wrong(f"metadata of {key!r}", value, "a text, a number, true or false")


@dataclass(frozen=True, slots=True)
class Given:
    """How a corpus of ready passages came about.

    `places` has for each row of the corpus the place of its passage in the given order, from 0: a long passage makes
    several rows. `scores` are by given passage, None where none was given; `without_page` counts those that have no
    page number.
    """

    places: tuple[int, ...]
    scores: tuple[float | None, ...]
    without_page: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "count": len(self.scores),
            "parts": len(self.places),
            "scores": list(self.scores),
            "without_page": self.without_page,
        }


def given_of(metadata: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The row that `Given.to_json` wrote, from the metadata of measurements; None where a library was searched."""
    return cast("Mapping[str, Any] | None", metadata.get(GIVEN))


def ready_passage(value: object) -> ReadyPassage:
    """A ready passage from one, a text, or a mapping with its fields; raises InvalidInput."""
    if isinstance(value, ReadyPassage):
        return value
    if isinstance(value, str):
        return ReadyPassage(value)
    if not isinstance(value, Mapping):
        raise InvalidInput(f"it is of type {type(value).__name__}.", remedy=_FORM)
    unknown = [str(key) for key in value if key not in ReadyPassage.__dataclass_fields__]
    if unknown:
        raise InvalidInput(f"there is no field {unknown[0][:MAX_LINE_CHARS]!r}.", remedy=_FORM)
    fields = {key: one for key, one in value.items() if one is not None}  # null in JSON is left out
    return ReadyPassage(**{"text": "", **fields})


def _is_finite(value: object) -> bool:
    try:
        return isinstance(value, (int, float)) and math.isfinite(value)
    except OverflowError:  # a whole number beyond any float
        return False


def _wrong(name: str, value: object, right: str) -> InvalidInput:
    shown = repr(value)
    return InvalidInput(f"{name} cannot be {shown[:60]}{'…' if len(shown) > 60 else ''}.", remedy=f"Give {right}.")

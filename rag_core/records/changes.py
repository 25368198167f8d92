"""Compares two decisions on one question: whether its answer is the same, stands elsewhere or in other words, is
another, was lost or was gained.

A decision is compared by hashes, so that a change is known also after the old document was deleted, and nothing that is
kept for it holds a word of a document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rag_core.domain.claims import DELETED
from rag_core.facts.differences.values import values, with_unit
from rag_core.facts.sentence.markers import markers
from rag_core.ingest.normalise import normalise
from rag_core.language import ascii_digits, fold, word_texts
from rag_core.records.texts import hash_of


class Change(StrEnum):
    """The fate of an answer."""

    SAME = "same"
    MOVED = "moved"  # the same words on another page, or in another document
    REWORDED = "reworded"  # the same value in other words, which may say something else of it
    CHANGED = "changed"
    LOST = "lost"  # it was answered, and is refused now
    GAINED = "gained"  # it was refused, and is answered now


@dataclass(frozen=True, slots=True)
class Seen:
    """A decision as it is compared, by hashes; `value` is empty where none is known, all are for a refusal."""

    value: str = ""
    words: str = ""
    places: str = ""

    def change(self, now: Seen) -> Change:
        """The fate of this answer. Values are compared where both have one, else the quoted words."""
        if bool(self.words) != bool(now.words):
            return Change.LOST if self.words else Change.GAINED
        if self.value and now.value and self.value != now.value:
            return Change.CHANGED
        if self.words != now.words:
            return Change.REWORDED if self.value and now.value else Change.CHANGED
        return Change.SAME if self.places == now.places else Change.MOVED


@dataclass(frozen=True, slots=True)
class Shown:
    """A decision's value, else text, document and page from 1; empty for a refusal and a deleted document."""

    text: str = ""
    document: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class Pin:
    """A kept decision whose answer is watched, by its id, and the `last` one that it was compared with.

    `question` is empty where the decision was erased with its documents; `origin` says who asked; `version` is the
    library's that `last` is of; `now` is the id of `last` where it is kept, and `searched` are ids of the documents
    that the question was restricted to, none for all.
    """

    decision: int
    question: str
    origin: str
    version: int
    change: Change
    first: Seen
    last: Seen
    now: int | None = None
    searched: tuple[str, ...] = ()


def seen(row: Mapping[str, Any]) -> Seen:
    """The hashes of a decision in its JSON form; raises LookupError, TypeError, ValueError or AttributeError."""
    if row["is_refusal"]:
        return Seen()
    language, value, cited = str(row["language"]), row["value"], row["citations"]
    against = sorted(_values(str(text), language) for one in row["conflicts"] for text in one["values"])
    quoted = sorted(" ".join(normalise(str(one["excerpt"])).text.casefold().split()) for one in cited)
    places = sorted((str(one["document"]), int(one["page"])) for one in cited)
    turned = _turned(" ".join(quoted), language)
    stated = "" if value is None else f"{_values(_whole(row), language)} {turned} {against}"
    return Seen(hash_of(stated), hash_of(f"{quoted or row['answer']} {against}"), hash_of(str(places)))


def shown(row: Mapping[str, Any]) -> Shown:
    """The words shown of a decision in its JSON form; raises as `seen` does."""
    # two sources may have contradicted each other: the one that is left was not the answer
    if row["is_refusal"] or any(
        DELETED in text for text in (row["answer"], *(one["excerpt"] for one in row["citations"]))
    ):
        return Shown()
    text, cited = str(row["answer"]) if row["value"] is None else _whole(row), _cited(row)
    if against := dict.fromkeys(str(value) for one in row["conflicts"] for value in one["values"]):
        text += f" (sources disagree: {', '.join(against)})"
    return Shown(text) if cited is None else Shown(text, str(cited["document"]), int(cited["page"]))


def told(change: Change, before: str, now: Shown) -> str:
    """A change in words, "25 days became 30 days, page 4 of handbook.pdf", untrusted; `before` may be empty."""
    where = f", page {now.page} of {now.document}" if now.page else ""
    if change is Change.LOST:
        return f"lost: {before}" if before else "lost, because its document was deleted"
    if change is Change.CHANGED and before:
        return f"{before} became {now.text if now.text != before else 'the same in another sense'}{where}"
    return f"{change}: {now.text}{where}" if now.text else str(change)


def _cited(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The citation that holds the value, else the first; None for a reply, which has none."""
    wanted = 1 if row["value"] is None else row["value"]["citation"]
    return next((one for one in row["citations"] if one["id"] == wanted), None)


def _whole(row: Mapping[str, Any]) -> str:
    """The value with its unit, which a decision of another program may leave out: "25"."""
    value, cited = row["value"], _cited(row)
    if cited is None:
        return str(value["text"])
    quote, first = str(cited["excerpt"]), cited["spans"][0]["start"]
    start, end = value["start"] - first, value["end"] - first
    bare = " ".join(ascii_digits(quote)[start:end].split())
    start, end = with_unit(quote, start, end, str(row["language"]))
    return " ".join(quote[start:end].split()) + ascii_digits(str(value["text"])).removeprefix(bare)


def _values(text: str, language: str) -> str:
    """The facts of a text, whatever its notation: numbers with their units, dates and times, then its other words."""
    plain = ascii_digits(normalise(text).text)
    found = values(plain, language)
    stated = [
        *(("date", sorted(map(tuple, date.readings))) for date in found.dates),
        *(("time", sorted(map(str, time.minutes))) for time in found.times),
        *(("number", *number.exact) for number in found.quantities),
    ]
    rest = plain
    stretches = ((one.start, one.end) for row in (found.dates, found.times, found.quantities) for one in row)
    for start, end in sorted(stretches, reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    return f"{sorted(map(str, stated))} {[fold(word) for word in word_texts(rest)]}"


def _turned(text: str, language: str) -> list[tuple[str, str]]:
    """The small words that turn a value round: "not", "at most"."""
    found = markers([fold(word) for word in word_texts(text)], language)
    return sorted({(one.kind, one.level) for one in found if one.negates or one.kind == "comparison"})

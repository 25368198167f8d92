"""The measurements of a question as a record, and back from the record."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Passage
from rag_core.domain.ports import PageText
from rag_core.errors import InvalidInput
from rag_core.records.shapes import MEASUREMENTS, Reading, Writing
from rag_core.records.texts import OwnWords, PassageOf, Texts

SCHEMA_VERSION = 14  # the form of a record
_VERSION = "schema_version"


@dataclass(frozen=True, slots=True)
class Written:
    """A record, and beside it what a language model wrote in words of its own, by hash: such texts are kept apart, and
    shorter.

    Args:
        record: JSON values.
        own: words of the model that was asked, its judgements and its drafts, but for the next.
        rejected: words of its rejected drafts.
        documents: ids of the documents that any of these words may come from, sorted.
    """

    record: dict[str, Any]
    own: OwnWords
    rejected: OwnWords
    documents: tuple[str, ...]


def to_record(measurements: Measurements) -> dict[str, Any]:
    """The record of a question as JSON values; about 8 KB for a question with ten passages, and a third of that
    compressed.

    With three rounds of retrieval and four drafts of a model it is about 46 KB, and a fifth of that compressed.
    """
    return write(measurements).record


def write(measurements: Measurements, rejected: Collection[int] = ()) -> Written:
    """The record with the words of a model beside it; `rejected` are the indexes of the attempts that were."""
    passages = _retrieved(measurements)
    named = _documents(measurements, passages)
    to = Writing(passages, named, rejected, own={}, of_rejected={})
    record = {_VERSION: SCHEMA_VERSION, **MEASUREMENTS.write(measurements, to)}
    return Written(record, to.own, to.of_rejected, tuple(sorted(named)))


def from_record(
    row: Mapping[str, Any],
    page_text: PageText | None = None,
    passage_of: PassageOf | None = None,
    own: Mapping[str, str] | None = None,
) -> Measurements:
    """The measurements of a record; replay on them equals replay on those it was made of.

    Args:
        row: as `to_record` made it, also after a trip through JSON.
        page_text: reads the texts again; without it, and where it has no such page any more, they are `DELETED`.
        passage_of: the library's passages, for their section titles, which are on no known place of a page.
        own: what is still kept of a model's own words, as `write` gave them; the others are `DELETED`.

    Raises:
        InvalidInput: another version's record, or one that is not whole.
    """
    return restored(row, Texts(page_text, passage_of, own))


def restored(row: Mapping[str, Any], texts: Texts) -> Measurements:
    """The same for one of many records, which share what was read; raises as `from_record` does."""
    version = row.get(_VERSION)
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise InvalidInput(
            f"A stored question has the record version {version!r}; version {SCHEMA_VERSION} is known here.",
            remedy="Use the version of Plumbline that stored it, or ask the question again.",
        )
    try:
        rest = {name: value for name, value in row.items() if name != _VERSION}
        found: Measurements = MEASUREMENTS.read(rest, Reading(texts))
        return found
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InvalidInput(
            f"A stored question cannot be read: its record is not whole ({type(error).__name__}).",
            remedy="Ask the question again.",
        ) from error


def _retrieved(measurements: Measurements) -> dict[str, Passage]:
    """The passages of all rounds by id."""
    later = measurements.llm_trace.expanded if measurements.llm_trace else ()
    other = _retrieved(measurements.other) if measurements.other else {}
    return {hit.passage.id: hit.passage for hits in (measurements.hits, *later) for hit in hits} | other


def _documents(measurements: Measurements, passages: Mapping[str, Passage]) -> set[str]:
    """The documents that a decision on these measurements can name; a model cites what was retrieved for it, or
    nothing.
    """
    both = (measurements, measurements.other) if measurements.other else (measurements,)
    cited = {evidence.document for one in both for claim in one.draft.claims for evidence in claim.evidence}
    torn = {id for half in both for one in half.conflicts for id in one.documents}
    return {passage.document for passage in passages.values()} | cited | torn

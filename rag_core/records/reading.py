"""From a record back to its measurements."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rag_core.domain.measurements import KeywordMatch, LibraryFacts, Measurements, Understanding
from rag_core.domain.ports import PageText
from rag_core.errors import InvalidInput
from rag_core.records.drafts import conflict_of, draft_of, hit_of
from rag_core.records.llm_traces import generation_of
from rag_core.records.texts import PassageOf, Texts
from rag_core.records.writing import SCHEMA_VERSION
from rag_core.settings import Settings


def from_record(
    row: Mapping[str, Any],
    page_text: PageText | None = None,
    passage_of: PassageOf | None = None,
    own: Mapping[str, str] | None = None,
) -> Measurements:
    """The case of a record; replay on it equals replay on the case it was made of.

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
    version = row.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InvalidInput(
            f"A stored question has the record version {version!r}; version {SCHEMA_VERSION} is known here.",
            remedy="Use the version of Plumbline that stored it, or ask the question again.",
        )
    try:
        return _case(row, texts)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InvalidInput(
            f"A stored question cannot be read: its record is not whole ({type(error).__name__}).", remedy="Ask the question again."
        ) from error


def _case(row: Mapping[str, Any], texts: Texts) -> Measurements:
    understanding, keywords, library = row["understanding"], row["keywords"], row["library"]
    hits = tuple(hit_of(one, texts) for one in row["hits"])
    draft = draft_of(row["draft"], {hit.passage.id: hit.passage for hit in hits}, texts)
    return Measurements(
        question=row["question"],
        settings=settings_of(row["settings"]),
        understanding=Understanding(**{**understanding, **_tuples(understanding, "keywords", "entities")}),
        library=LibraryFacts(
            **{
                **library,
                **_tuples(library, "languages", "unknown_languages"),
                "unreadable": {
                    id: tuple(n for first, last in runs for n in range(first, last + 1)) for id, runs in library["unreadable"].items()
                },
            }
        ),
        hits=hits,
        signals=row["signals"],
        answerability=row["answerability"],
        relevance=row["relevance"],
        keywords=KeywordMatch(**{**keywords, **_tuples(keywords, "matched", "missing")}),
        missing_entities=tuple(row["missing_entities"]),
        draft=draft,
        conflicts=tuple(conflict_of(one, draft.claims) for one in row["conflicts"]),
        answer=row["answer"],
        failure=row["failure"],
        timings=row["timings"],
        metadata=row["metadata"],
        generation=generation_of(row.get("generation"), hits, texts),
    )


def settings_of(values: Mapping[str, Any]) -> Settings:
    """Stored settings. Those that there are no more are left out, new ones are as they would be without asking.

    Raises:
        ValueError: a value is out of its range.
    """
    return _settings(tuple(values.items()))


@lru_cache(maxsize=64)
def _settings(values: tuple[tuple[str, Any], ...]) -> Settings:
    known = Settings.model_fields
    return Settings(**{name: value for name, value in values if name in known})


def _tuples(row: Mapping[str, Any], *names: str) -> dict[str, tuple[Any, ...]]:
    return {name: tuple(row[name]) for name in names}

"""From a record to its case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from rag_core.case import Case, ClaimAudit, Draft, KeywordMatch, LibraryFacts, Understanding
from rag_core.domain import Box, Citation, Claim, Conflict, Evidence, Hit, Passage, PassageKind, Span
from rag_core.errors import InvalidInput
from rag_core.ports import PageText
from rag_core.recorded.texts import DELETED, PassageOf, Texts, joined, quoted, same, sources, stated
from rag_core.recorded.writing import SCHEMA_VERSION
from rag_core.settings import Settings

# what a record from before support was measured says of it: every draft was an extract then
_BEFORE_SUPPORT: Mapping[str, Any] = MappingProxyType({"support": 1.0, "flags": (), "read": True, "word_for_word": True})


def from_record(row: Mapping[str, Any], page_text: PageText | None = None, passage_of: PassageOf | None = None) -> Case:
    """The case of a record; replay on it equals replay on the case it was made of.

    Args:
        row: as `to_record` made it, also after a trip through JSON.
        page_text: reads the texts again; without it, and where it has no such page any more, they are `DELETED`.
        passage_of: the library's passages, for their section titles, which are on no known place of a page.

    Raises:
        InvalidInput: another version's record, or one that is not whole.
    """
    return restored(row, Texts(page_text, passage_of))


def restored(row: Mapping[str, Any], texts: Texts) -> Case:
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


def _case(row: Mapping[str, Any], texts: Texts) -> Case:
    understanding, keywords, library = row["understanding"], row["keywords"], row["library"]
    hits = tuple(_hit_of(one, texts) for one in row["hits"])
    draft = _draft_of(row["draft"], {hit.passage.id: hit.passage for hit in hits}, texts)
    return Case(
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
        conflicts=tuple(_conflict_of(one, draft.claims) for one in row["conflicts"]),
        answer=row["answer"],
        failure=row["failure"],
        timings=row["timings"],
        metadata=row["metadata"],
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


def _hit_of(row: Mapping[str, Any], texts: Texts) -> Hit:
    document, spans, header = row["document"], _spans_of(row["spans"]), _spans_of(row["header"])
    passage = Passage(
        row["id"], document, texts.reading(document, spans, row["text"]), spans, row["language"],
        texts.section(document, row["id"], row["section"]), PassageKind(row["kind"]), (row["lines"][0], row["lines"][1]), row["tokens"],
        row["ocr"], header, texts.reading(document, header, row["header_text"]),
    )  # fmt: skip
    return Hit(passage, row["score"], row["cosine"], row["lexical"], row["dense_rank"], row["lexical_rank"], row["rerank"])


def _draft_of(row: Mapping[str, Any], passages: Mapping[str, Passage], texts: Texts) -> Draft:
    read = [_claim_of(one, passages, texts) for one in row["claims"]]
    draft = Draft(
        row["drafter"],
        tuple(claim for claim, _ in read),
        tuple(audit for _, audit in read),
        {one["key"]: _citation_of(one, texts) for one in row["citations"]},
        DELETED if row["text"] else "",
        row["context_chars"],
    )
    return draft if draft.chars == row["chars"] and not row["text"] else replace(draft, stored_chars=row["chars"])


def _claim_of(row: Mapping[str, Any], passages: Mapping[str, Passage], texts: Texts) -> tuple[Claim, ClaimAudit]:
    evidence = []
    for one in row["evidence"]:
        spans = _spans_of(one["spans"])
        evidence.append(Evidence(one["passage"], one["document"], texts.quote(one["document"], spans, one["quote"]), spans))
    known = [passages[one.passage] for one in evidence if one.passage in passages]
    text = same(joined(row["text"], sources(known, evidence)), row["hash"])
    claim = Claim(text, tuple(evidence), tuple(row["cited"]), row["relevance"])
    audit = {**_BEFORE_SUPPORT, **row["audit"]}
    return claim, ClaimAudit(
        quotes_missing=tuple(joined(parts, quoted(claim)) for parts in audit["quotes_missing"]),
        fabricated=tuple(audit["fabricated"]),
        indicators=tuple(audit["indicators"]),
        overlap=audit["overlap"],
        changed_facts=tuple((kind, joined(parts, stated(claim))) for kind, parts in audit["changed_facts"]),
        similarity=audit["similarity"],
        support=audit["support"],
        flags=tuple(audit["flags"]),
        read=audit["read"],
        word_for_word=audit["word_for_word"],
    )


def _citation_of(row: Mapping[str, Any], texts: Texts) -> Citation:
    document, spans, boxes = row["document_id"], _spans_of(row["spans"]), row["boxes"]
    return Citation(
        row["id"], row["document"], document, row["title"], row["page"], row["chunk_id"], texts.quote(document, spans, row["excerpt"]),
        spans, texts.section(document, row["chunk_id"], row["section"]), row["ocr"], tuple((page, Box(*box)) for page, *box in boxes),
    )  # fmt: skip


def _conflict_of(row: Mapping[str, Any], claims: Sequence[Claim]) -> Conflict:
    texts = [claims[row["claim"]].text, claims[row["other"]].text]
    one, other = (joined(parts, texts) for parts in row["values"])
    mine, theirs = (joined(parts, texts) for parts in row.get("statements", ([], [])))
    documents, pages, dates = row["documents"], row["pages"], row["dates"]
    return Conflict(
        row["claim"], row["other"], (one, other), (documents[0], documents[1]), (pages[0], pages[1]), (dates[0], dates[1]), row["added"],
        (mine, theirs),
    )  # fmt: skip


def _spans_of(rows: Iterable[Sequence[int]]) -> tuple[Span, ...]:
    return tuple(Span(*row) for row in rows)


def _tuples(row: Mapping[str, Any], *names: str) -> dict[str, tuple[Any, ...]]:
    return {name: tuple(row[name]) for name in names}

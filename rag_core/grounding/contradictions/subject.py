"""Says whether two statements with different values are about the same thing, as far as their places tell."""

from __future__ import annotations

from dataclasses import dataclass

import regex

from rag_core.domain.measurements import LibraryFacts
from rag_core.domain.passages import Passage, PassageKind
from rag_core.facts.sentence.names import canonical_code, codes
from rag_core.grounding.contradictions.statements import Statement
from rag_core.grounding.contradictions.word_lists import word_lists
from rag_core.ingest.passages.context import SECTION_MARK
from rag_core.language import content_terms, fold, term, terms, words
from rag_core.retrieval.versions import YEAR, is_report, plain_title

_NUMBERING = regex.compile(r"^[\s§]*\d[\d.]*[.)]?\s+")  # the number of a heading: "2.1 Vacation"
_VERSION = regex.compile(r"[vr]\d+")
_QUARTER = regex.compile(r"(?<!\p{L})[qh][1-4](?![\p{L}\p{N}])")
_PERIOD = regex.compile(rf"{YEAR.pattern}|{_QUARTER.pattern}")
_YEAR_DIGITS, _MONTH = len("2026"), len("2026-01")  # characters of an ISO date


@dataclass(frozen=True, slots=True)
class Asked:
    """The question and its language, and titles, names and dates of the searched documents."""

    question: str
    language: str
    documents: LibraryFacts


def comparable(here: Passage, there: Passage) -> bool:
    """Whether two passages are different places in one language."""
    return here.language == there.language and (here.document, here.section) != (there.document, there.section)


def same_subject(here: Passage, there: Passage, said: Statement, asked: Asked) -> bool:
    """Whether two places speak of the same thing; `rag_core.compression.conflicts` lists the rules."""
    documents = asked.documents
    if _other_products(here, there, documents) or _chosen_by_question(here, there, said, asked):
        return False
    tables = PassageKind.TABLE in (here.kind, there.kind)
    if (here.document == there.document or tables) and _headings_part(here, there, said):
        return False
    if here.document == there.document:
        return not said.is_figure
    # "we", "the tenant": a document's own parties
    if (said.holds(said.lists.own) or (tables and _parallel(here, there, documents))) and not _versions(
        here, there, documents
    ):
        return False
    # everything in a report is of its period, with figures or without
    reports = all(is_report(_name(passage.document, documents), passage.language) for passage in (here, there))
    figure = said.is_figure or reports or (tables and not said.holds(said.lists.rules))
    return not figure or _same_period(here, there, said, documents)


def _other_products(here: Passage, there: Passage, documents: LibraryFacts) -> bool:
    """Whether titles and headings name different codes, "MK-40" and "MK-50", but for versions ("V2")."""
    mine, theirs = (
        {canonical_code(code.text) for code in codes(f"{documents.titles.get(passage.document, '')} {passage.section}")}
        for passage in (here, there)
    )
    mine, theirs = ({code for code in found if not _VERSION.fullmatch(code)} for found in (mine, theirs))
    return bool(mine and theirs and mine != theirs)


def _headings_part(here: Passage, there: Passage, said: Statement) -> bool:
    """Whether a heading of one section names what neither the statement nor the other's headings do."""
    mine, theirs = (
        {word.text for level in passage.section.split(SECTION_MARK) for word in words(_NUMBERING.sub("", level))}
        for passage in (here, there)
    )
    general, held = word_lists()[said.language].headings, set(terms(said.text, said.language))
    return any(fold(word) not in general and term(word, said.language) not in held for word in mine ^ theirs)


def _versions(here: Passage, there: Passage, documents: LibraryFacts) -> bool:
    """Whether two documents have the same title or file name, but for its numbers."""
    return any(mine and mine == theirs for mine, theirs in _called(here, there, documents))


def _parallel(here: Passage, there: Passage, documents: LibraryFacts) -> bool:
    """Whether two documents' titles or file names share a word, and each has its own: two of one kind."""
    pairs = [(set(mine), set(theirs)) for mine, theirs in _called(here, there, documents)]
    return any(mine & theirs and mine - theirs and theirs - mine for mine, theirs in pairs)


def _called(here: Passage, there: Passage, documents: LibraryFacts) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The words of both titles, and those of both file names, without numbers."""
    return [
        (plain_title(by_id.get(here.document, "")), plain_title(by_id.get(there.document, "")))
        for by_id in (documents.titles, documents.names)
    ]


def _same_period(here: Passage, there: Passage, said: Statement, documents: LibraryFacts) -> bool:
    """Whether figures are of one period; a year that had not ended may have been told of twice."""
    if plain_title(here.section) != plain_title(there.section):
        return False
    named = set(YEAR.findall(said.text))
    going_on = _going_on(here.document, documents) | _going_on(there.document, documents)
    return _period(here.document, documents) == _period(there.document, documents) or (
        bool(named) and named.isdisjoint(going_on)
    )


def _going_on(document: str, documents: LibraryFacts) -> frozenset[str]:
    """The years that had not ended when a document was written: of a quarter's report, or of its date."""
    stated, quarters = YEAR.findall(_name(document, documents)), _QUARTER.search(fold(_name(document, documents)))
    if not stated:
        return frozenset([documents.dates.get(document, "")[:_YEAR_DIGITS]])
    return frozenset(stated if quarters else [])


def _period(document: str, documents: LibraryFacts) -> frozenset[str]:
    """The period of a document: the years and quarters in its title or name, else the month of its date."""
    stated = _PERIOD.findall(fold(_name(document, documents)))
    return frozenset(stated or [documents.dates.get(document, "")[:_MONTH]])


def period_by_file(document: str, documents: LibraryFacts) -> bool:
    """Whether the only thing that tells a document's period is the date of its file, which may be years later."""
    return documents.by_file(document) and not _PERIOD.search(fold(_name(document, documents)))


def _years(document: str, documents: LibraryFacts) -> frozenset[str]:
    """The years that a document carries: in its title or name, else of its date."""
    stated = YEAR.findall(_name(document, documents))
    return frozenset(stated or YEAR.findall(documents.dates.get(document, "")))


def _name(document: str, documents: LibraryFacts) -> str:
    return f"{documents.titles.get(document, '')} {documents.names.get(document, '')}".replace("_", " ")


def _chosen_by_question(here: Passage, there: Passage, said: Statement, asked: Asked) -> bool:
    """Whether the question names what only the first one's title, year or section holds, and neither statement."""
    mine, theirs = (_place(passage, asked.documents) for passage in (here, there))
    wanted = {word for code in (asked.language, here.language) for word in content_terms(asked.question, code)}
    return bool(wanted & (mine - theirs) - frozenset(terms(said.text, said.language)))


def _place(passage: Passage, documents: LibraryFacts) -> frozenset[str]:
    where = (documents.titles.get(passage.document, ""), documents.names.get(passage.document, ""), passage.section)
    return frozenset(terms(" ".join(where), passage.language)) | _years(passage.document, documents)

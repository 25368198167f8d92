"""Contradicting sources, without a model: sentences that say the same thing with another value (S4-21, S3-11).

Rather silent than wrong. Two sentences must agree in every word that says something: a qualifier ("part-time", "of a lease") makes two
rules, and a share of equal words would let it pass. And they must be about the same thing:

- A table's row and code state nothing that could be contradicted.
- Titles and headings that name different codes ("MK-40", "MK-50") are about different things.
- Within one document a heading says what its section is about, unless both headings name no more than the sentence does.
- Figures of a period ("revenue was") belong to the year of their document, and within one document to its sections.
- "We" and "the tenant" are others in each document, unless two documents are versions of one: the same title but for its numbers.
- A question that names the document or the section of one of the two has chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import regex

from rag_core.audit.facts.names import canonical_code, codes
from rag_core.case import LibraryFacts
from rag_core.domain import Claim, Conflict, Passage, PassageKind
from rag_core.draft.extract import Extract, Scored, claim_of
from rag_core.draft.statements import Statement, difference, word_lists
from rag_core.ingest.context import SECTION_MARK
from rag_core.language import content_terms, fold, term, terms, words
from rag_core.ports import PageText

_NUMBERING = regex.compile(r"^[\s§]*\d[\d.]*[.)]?\s+")  # of a heading: "2.1 Vacation"
_VERSION = regex.compile(r"[vr]\d+")
_YEAR = regex.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True, slots=True)
class Asked:
    """The question and its language, and titles, names and dates of the searched documents."""

    question: str
    language: str
    documents: LibraryFacts


@dataclass(frozen=True, slots=True)
class _Pair:
    """A chosen sentence and the one that contradicts it, with the value of each as stated."""

    one: Scored
    other: Scored
    values: tuple[str, str]


def other_sides(found: Extract, asked: Asked, page_text: PageText, max_sentences: int) -> tuple[tuple[Claim, ...], tuple[Conflict, ...]]:
    """The draft's claims, each contradicted one followed by its other side, and the conflicts between them.

    One other side a sentence, of the newest document that contradicts it. A contradicted sentence never stands without it. Together they
    may be one more than `max_sentences`: beyond that the sentences that bear least on the question are left out, with their other sides.
    """
    pairs = _pairs(found, asked)
    if not pairs:
        return found.claims, ()
    others = {id(pair.other) for pair in pairs.values()}
    leading = [one for one in found.chosen if id(one) not in others]
    kept, room = set[int](), max_sentences + 1
    for one in sorted(leading, key=lambda scored: -scored.relevance):
        size = 2 if id(one) in pairs else 1
        if size <= room:
            kept.add(id(one))
            room -= size
    claims: list[Claim] = []
    conflicts: list[Conflict] = []
    for one in (scored for scored in leading if id(scored) in kept):
        claims.append(claim_of(one, page_text))
        if pair := pairs.get(id(one)):
            claims.append(claim_of(pair.other, page_text))
            conflicts.append(
                _conflict(pair, claims, added=all(pair.other is not chosen for chosen in found.chosen), dates=asked.documents.dates)
            )
    return tuple(claims), tuple(conflicts)


def _conflict(pair: _Pair, claims: Sequence[Claim], *, added: bool, dates: Mapping[str, str]) -> Conflict:
    """The conflict between the last two claims."""
    first, second = pair.one.unit.passage.document, pair.other.unit.passage.document
    mine, theirs = (claim.evidence[0].spans[0].page for claim in claims[-2:])  # what states a value has a place on a page
    return Conflict(
        claim=len(claims) - 2, other=len(claims) - 1, values=pair.values, documents=(first, second), pages=(mine, theirs),
        dates=(dates.get(first, ""), dates.get(second, "")), added=added,
    )  # fmt: skip


def _pairs(found: Extract, asked: Asked) -> dict[int, _Pair]:
    """By the id of the chosen sentence; a sentence is in one pair at most."""
    dates = asked.documents.dates
    newest_first = sorted(found.scored, key=lambda scored: dates.get(scored.unit.passage.document, ""), reverse=True)
    statements = {id(scored): _statement(scored) for scored in (*found.chosen, *found.scored)}
    pairs: dict[int, _Pair] = {}
    used: set[int] = set()
    for one in sorted(found.chosen, key=lambda scored: -scored.relevance):
        mine = statements[id(one)]
        if not mine or id(one) in used or not any(value.shown for value in mine.values):
            continue
        for other in newest_first:
            theirs = statements[id(other)]
            if not theirs or id(other) in used or not _comparable(one, other):
                continue
            values = difference(mine, theirs)
            if values and _same_subject(one, other, mine, asked):
                pairs[id(one)] = _Pair(one, other, (values[0].shown, values[1].shown))
                used |= {id(one), id(other)}
                break
    return pairs


def _statement(scored: Scored) -> Statement | None:
    """What a unit states; None for a table's row, code, and a language that is not compared."""
    passage = scored.unit.passage
    told = passage.kind not in (PassageKind.TABLE, PassageKind.CODE) and passage.language in word_lists()
    return Statement(scored.unit.text, passage.language) if told else None


def _comparable(one: Scored, other: Scored) -> bool:
    """Whether two units stand in different places and in one language."""
    here, there = one.unit.passage, other.unit.passage
    return here.language == there.language and (here.document, here.section) != (there.document, there.section)


def _same_subject(one: Scored, other: Scored, said: Statement, asked: Asked) -> bool:
    """Whether two statements that differ in a value are about the same thing, as far as their places tell."""
    here, there = one.unit.passage, other.unit.passage
    if _other_products(here, there, asked.documents) or _chosen_by_question(here, there, said, asked):
        return False
    if here.document == there.document:
        return not said.is_figure and not _headings_part(here, there, said)
    if said.speaks_of_own and not _versions(here, there, asked.documents):
        return False
    return not said.is_figure or _same_period(here, there, said, asked.documents)


def _other_products(here: Passage, there: Passage, documents: LibraryFacts) -> bool:
    """Whether titles and headings name different codes: the manuals of "MK-40" and "MK-50". A version ("V2") is no code."""
    mine, theirs = (
        {canonical_code(code.text) for code in codes(f"{documents.titles.get(passage.document, '')} {passage.section}")}
        for passage in (here, there)
    )
    mine, theirs = ({code for code in found if not _VERSION.fullmatch(code)} for found in (mine, theirs))
    return bool(mine and theirs and mine != theirs)


def _headings_part(here: Passage, there: Passage, said: Statement) -> bool:
    """Whether a heading of one of two sections names something that neither the sentence nor the other's headings do."""
    mine, theirs = ({word.text for level in passage.section.split(SECTION_MARK) for word in words(_NUMBERING.sub("", level))}
                    for passage in (here, there))  # fmt: skip
    general, held = word_lists()[said.language].headings, set(terms(said.text, said.language))
    return any(fold(word) not in general and term(word, said.language) not in held for word in mine ^ theirs)


def _versions(here: Passage, there: Passage, documents: LibraryFacts) -> bool:
    """Whether two documents have the same title or file name, but for its numbers."""
    named = (documents.titles, documents.names)
    pairs = [(_plain(by_id.get(here.document, "")), _plain(by_id.get(there.document, ""))) for by_id in named]
    return any(mine and mine == theirs for mine, theirs in pairs)


def _plain(title: str) -> tuple[str, ...]:
    return tuple(fold(word.text) for word in words(title) if not any(char.isdigit() for char in word.text))


def _same_period(here: Passage, there: Passage, said: Statement, documents: LibraryFacts) -> bool:
    """Whether figures are of one period: documents of one year, or the sentence names its year, under equal headings."""
    if _plain(here.section) != _plain(there.section):
        return False
    return said.names_year or _years(here.document, documents) == _years(there.document, documents)


def _years(document: str, documents: LibraryFacts) -> frozenset[str]:
    """The years that a document carries: in its title or name, else of its date."""
    stated = _YEAR.findall(f"{documents.titles.get(document, '')} {documents.names.get(document, '')}")
    return frozenset(stated or _YEAR.findall(documents.dates.get(document, "")))


def _chosen_by_question(here: Passage, there: Passage, said: Statement, asked: Asked) -> bool:
    """Whether the question names what only the first one's title, year or section holds, and neither sentence."""
    mine, theirs = (_place(passage, asked.documents) for passage in (here, there))
    wanted = {word for code in (asked.language, here.language) for word in content_terms(asked.question, code)}
    return bool(wanted & (mine - theirs) - frozenset(terms(said.text, said.language)))


def _place(passage: Passage, documents: LibraryFacts) -> frozenset[str]:
    where = (documents.titles.get(passage.document, ""), documents.names.get(passage.document, ""), passage.section)
    return frozenset(terms(" ".join(where), passage.language)) | _years(passage.document, documents)

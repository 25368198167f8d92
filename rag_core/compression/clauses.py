"""Finds the clause, or the page, that a question asks for by its number: "What does clause 2.2 say?", "Was steht in § 7
Absatz 2?", "What is on page iii?".

Such a question shares neither words nor meaning with the clause, so that no search finds it, and a reader takes 3.2 for
2.2. Clauses are told by the numbers of headings and those at the beginning of sentences.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from rag_core.domain.ports import Corpus
from rag_core.gating.asked import small_words
from rag_core.grounding.units import Unit, units
from rag_core.ingest.passages.context import SECTION_MARK
from rag_core.language import any_language, fold, word_texts

TITLE_WORDS = 8  # at most in a heading that was read as a sentence: "3. Deposit"
MAX_UNITS = 12  # sentences; a longer clause is no answer
SCANNED = 20_000  # passages whose headings are looked at; of more, those that have the number among their words
BY_WORDS = 500  # at most that are found by their words
SURE = 0.8  # that the only clause of a number is the one that is meant: 8 of 10 in eleven PDFs of strangers
_DOTTED = r"\d{1,3}(?:\.\d{1,3}){0,4}"

Numbers = tuple[str, ...]
# The least label that a question asks for: "Article 5" and "§ 5" a heading that has such a word, "section 5" any
# heading, "clause 5" an item of a list too; "(5)" means nothing by itself.
Kind = Literal["article", "section", "clause", ""]
RANKS: tuple[Kind, ...] = ("", "clause", "section", "article")
Path = tuple[tuple[Numbers, Kind], ...]  # the numbers that a sentence stands under, from the outermost


@dataclass(frozen=True, slots=True)
class Asked:
    """A clause as a question names it."""

    numbers: Numbers  # from the outermost; `dotted` says that the question has them as one, "7.3"
    dotted: bool
    kind: Kind  # what its label is at the least
    question: str  # the question without it; empty where nothing is asked but what the clause says
    document: frozenset[str]  # folded words that name its document


@dataclass(frozen=True, slots=True)
class Clause:
    """The clause that a question names."""

    question: str  # what is asked about it, as in `Asked`
    units: tuple[Unit, ...]  # its sentences, as they stand
    rows: tuple[int, ...]  # their passages' rows
    probability: float  # that it is the one that is meant, in [0, 1]: several documents may have a clause of a number

    @property
    def too_long(self) -> bool:
        """Whether it is too long to be quoted as a whole, and nothing else is asked."""
        return len(self.units) > MAX_UNITS and not self.question


def _one_of(words: Collection[str]) -> str:
    return "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + r")\b\.?"


@cache
def _word() -> str:
    known = any_language()
    return rf"(?:§{{1,2}}|{_one_of({*known.clauses, *known.sections, *known.articles})})"


@cache
def _named() -> re.Pattern[str]:
    """A word for a clause and its number, with those of its parts: "§ 7 Abs. 2", "Article 5(3)", "clause 2.2"."""
    part = rf"(?:\s*,?\s*{_word()}\s*\(?(?:{_DOTTED})\)?|\s?\((?:\d{{1,3}})\))"
    return re.compile(
        rf"(?<!\w)(?:(?P<article>§{{1,2}}|{_one_of(any_language().articles)})"
        rf"|(?P<section>{_one_of(any_language().sections)})|{_word()})\s*(?P<numbers>{_DOTTED}{part}*)(?![\d%€$])",
        re.IGNORECASE,
    )


@cache
def _labels() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The number at the beginning of a heading ("§ 7", "Article 5", "3"), and, if no amount, of a sentence."""
    worded = rf"{_word()}\s*({_DOTTED})[.)]?(?=\W|$)|\(({_DOTTED})\)"
    heading, sentence = rf"({_DOTTED})[.)]?(?=\s|$)", rf"({_DOTTED}(?=[.)]\s)|\d{{1,3}}(?:\.\d{{1,3}}){{1,4}}(?=\s))"
    return re.compile(f"{worded}|{heading}", re.IGNORECASE), re.compile(f"{worded}|{sentence}", re.IGNORECASE)


def _folded(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(map(fold, texts))


def clause_asked(question: str, language: str, titles: Collection[str] = ()) -> Asked | None:
    """The clause that a question names, or None; the folded `titles` behind its number say which is meant."""
    found, known = _named().search(question), any_language()
    leads, indefinite, documents = map(_folded, (known.clause_leads, known.indefinite, known.documents))
    before, behind = (question[: found.start()].split(), question[found.end() :]) if found else ([], "")
    if found is None or (before and fold(before[-1]) in indefinite):
        return None
    while before and fold(before[-1]) in leads:
        before.pop()
    rest = f"{' '.join(before)}{behind}".strip(" ,")
    told = _folded(known.says) | small_words(language)
    named, asks = (_folded(word_texts(text)) - told for text in (behind, " ".join(before)))
    whole = not asks and named <= documents.union(titles)
    parts = re.findall(_DOTTED, found["numbers"])
    kind: Kind = "article" if found["article"] else "section" if found["section"] else "clause"
    numbers = tuple(number for part in parts for number in part.split("."))
    return Asked(numbers, len(parts) == 1 < len(numbers), kind, "" if whole else rest, named if whole else frozenset())


def page_asked(question: str, language: str) -> str:
    """The number of the page of which a question asks what it says; empty where it asks anything else."""
    known = any_language()
    found = re.search(rf"(?<!\w){_one_of(known.page_words)}\s+(\w[\w.–/-]{{0,9}})", question, re.IGNORECASE)
    if found is None or not re.fullmatch(r"[ivxlcdm]+|.*\d.*", found[1], re.IGNORECASE):
        return ""
    told = _folded({*known.says, *known.documents, *known.clause_leads}) | small_words(language)
    rest = _folded(word_texts(f"{question[: found.start()]} {question[found.end() :]}"))
    return "" if rest - told else found[1].rstrip(".").casefold()


def clause_of(question: str, language: str, corpus: Corpus, rows: Sequence[int] | None) -> Clause | None:
    """The first clause of the number that a question names, empty where there is none; None where it names none."""
    if page := page_asked(question, language):
        return _page(page, corpus, rows)
    if not _named().search(question):  # nearly every question: to read all titles takes time
        return None
    titles = {one.id: _folded(word_texts(one.title)) for one in corpus.documents}
    asked = clause_asked(question, language, frozenset[str]().union(*titles.values()))
    if asked is None:
        return None
    found = list(_found(asked, corpus, rows))
    best = max((len(asked.document & titles[clause[0][1].passage.document]) for clause in found), default=0)
    found = [one for one in found if len(asked.document & titles[one[0][1].passage.document]) == best]
    held = [one for clause in (found if asked.question else found[:1]) for one in clause]
    return _clause(asked.question, held, len(found))


def _clause(question: str, held: Sequence[tuple[int, Unit]], rivals: int) -> Clause:
    rows = tuple(dict.fromkeys(row for row, _ in held))
    return Clause(question, tuple(unit for _, unit in held), rows, SURE / max(1, rivals))


def _page(asked: str, corpus: Corpus, rows: Sequence[int] | None) -> Clause:
    """The words of the pages that print this number, else those that have it by their place; of each document one."""
    wanted: dict[str, int] = {}
    for one in corpus.documents:
        printed = [one.label_of(page) or str(page) for page in range(1, one.page_count + 1)]
        numbers = [label.casefold() for label in printed]
        by_place = int(asked) if asked.isdecimal() and int(asked) <= one.page_count else 0
        if number := numbers.index(asked) + 1 if asked in numbers else by_place:
            wanted[one.id] = number
    held = [
        (row, unit)
        for row in (range(len(corpus.passages)) if rows is None else rows)
        if any(span.page == wanted.get(corpus.passages[row].document) for span in corpus.passages[row].spans)
        for unit in units(corpus.passages[row], corpus.page_text)
        if unit.evidence(corpus.page_text)[0].spans[0].page == wanted[corpus.passages[row].document]
    ]
    documents = {unit.passage.document for _, unit in held}
    held = [(row, unit) for row, unit in held if unit.passage.document == held[0][1].passage.document]
    return _clause("", held, len(documents))


def _found(asked: Asked, corpus: Corpus, rows: Sequence[int] | None) -> Iterator[list[tuple[int, Unit]]]:
    """The sentences of each clause that has these numbers, with their passages' rows, in order."""
    searched = range(len(corpus.passages)) if rows is None else rows
    if len(searched) > SCANNED:
        searched = sorted(
            row for row, _ in corpus.lexical.search([".".join(asked.numbers), *asked.numbers], BY_WORDS, rows)
        )
    above: Path = ()
    here: Path = ()
    document, clause = "", list[tuple[int, Unit]]()
    for row in searched:
        passage = corpus.passages[row]
        if (passage.document, _path(passage.section)) != (document, above):
            document = passage.document
            here = above = _path(passage.section)
        if not _within(here, asked) and asked.numbers[-1] not in passage.text:
            continue
        for unit in units(passage, corpus.page_text):
            if label := _labels()[1].match(unit.text):  # one without a number belongs to the sentence before it
                titled = len(unit.text.split()) <= TITLE_WORDS and unit.text[-1].isalnum()
                here = _below(above, label, "" if above else "section" if titled else "clause")
            if not _within(here, asked):
                continue
            if clause and (row > clause[-1][0] + 1 or clause[-1][1].passage.document != document):
                yield clause
                clause = []
            clause.append((row, unit))
    if clause:
        yield clause


def _path(section: str) -> Path:
    """The numbers of a path of headings, from the outermost."""
    found: Path = ()
    for heading in section.split(SECTION_MARK):
        if label := _labels()[0].match(heading):
            found = _below(found, label, "section")
    return found


def _below(above: Path, label: re.Match[str], kind: Kind) -> Path:
    """The path of what a label numbers: "2.2" says all of it, "(2)" the last part; `kind` is that of a bare number."""
    worded, in_brackets, bare = label.groups()
    own = tuple((worded or in_brackets or bare).split("."))
    if len(own) > 1 and not in_brackets:  # "3.1" below "§ 3" is of it
        of_article = any(kind == "article" and own[: len(numbers)] == numbers for numbers, kind in above)
        return ((own, "article" if worded or of_article else "section"),)
    return (*above, (own, "article" if worded else "" if in_brackets else kind))


def _within(path: Path, asked: Asked) -> bool:
    """Whether a path leads through the numbers that are asked for: what stands below a clause is of it."""
    wanted, least = asked.numbers, RANKS.index(asked.kind)
    for at in (at for at, (_, kind) in enumerate(path) if kind and RANKS.index(kind) >= least):
        below = path[at : at + 1] if asked.dotted else path[at:]
        if tuple(number for numbers, _ in below for number in numbers)[: len(wanted)] == wanted:
            return True
    return False

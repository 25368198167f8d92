"""Scores the units of the best passages: how well each sentence, row or line bears on the question. No model writes anything.

Every unit is scored by how much of the question's weight it carries, by similarity, by its place, and by whether it holds the kind of
thing asked for (a number, a date). The likest are read by the answerability model together with the question, if it knows their language.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from types import MappingProxyType

import regex

from rag_core.compression.selection import reading
from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.domain.ports import PageText, Vectors
from rag_core.gating.answerability import Read
from rag_core.gating.asked import KEY_CHARS, AskedFor, asks
from rag_core.gating.features import NO_ODDS, Weights
from rag_core.gating.fit import NOWHERE, Context, Fit, fits
from rag_core.gating.row import CELL, WORD, lacking, nameless, outdone
from rag_core.gating.stated import names_only_periods
from rag_core.grounding.omissions.back import is_void
from rag_core.grounding.units import Unit, units
from rag_core.ingest.blocks.rows import ends_sentence
from rag_core.ingest.passages.context import SECTION_MARK, context
from rag_core.language import LANGUAGES, fold, is_order, terms, word_texts, words
from rag_core.retrieval.titled import Titled
from rag_core.settings import DATA

PASSAGES = 5  # the best passages are read; deeper ones held the answer in under 2 % of the training questions
EMBEDDED_UNITS = 8  # the lexically best units are embedded too, about 3 ms each; twelve answered no better on XQuAD es and hi
READ_UNITS = 12  # the best units that the answerability model reads, about 4 ms each
READ_FIRST = 8  # the others only where none of these is likelier than not to hold the answer (docs/log/2026-11-27-less-is-read.md)
LABEL_WORDS = 5  # at most in a label on a row of its own: "Charging the battery:"; chosen
FIRST_CHARS = 4000  # read of a document's first page, on which it says whose it is; chosen
UNREAD = NO_ODDS  # log odds of a unit that was not among them: as if the model had said no as firmly as it can
FEATURES = (
    "coverage",
    "near",
    "cosine",
    "rank",
    "length",
    "typed",
    "fit_near",
    "fit_period",
    "fit_named",
    "fit_degree",
    "fit_contradicts",
    "fit_label",
    "fit_row",
)
_LABEL = regex.compile(r"^\P{Nd}*:[\s–—-]*$")  # with a figure it may be a value
_YEAR = regex.compile(r"(?<!\p{Nd})(?:19|20)\p{Nd}\p{Nd}(?!\p{Nd}|[.,]\p{Nd})")
_BLANK = regex.compile(r"(?<![\p{L}\p{N}_])__+\s+\p{Ll}")  # a sentence goes on behind it: "will have __ influence", "a term of ____ years"
_FIGURE = regex.compile(r"(?<!\p{Nd})(?!(?:19|20)\p{Nd}\p{Nd}(?!\p{Nd}|[.,]\p{Nd}))\p{Nd}")  # a digit that begins no year
NO_TITLES: Mapping[str, str] = MappingProxyType({})
Embed = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class Scored:
    """A unit with its features and its relevance in [0, 1]."""

    unit: Unit
    features: dict[str, float]
    relevance: float
    fit: Fit | None = None  # None where nothing was chosen by it: passages as they are, and other sides of a contradiction
    log_odds: float | None = None  # by the answerability model, in [-10, 10]; None where it does not read the unit's language
    context: Context = NOWHERE


@cache
def _weights(name: str) -> dict[str, float]:
    return dict(json.loads((DATA / "extract.json").read_text(encoding="utf-8"))[name])


def score_units(
    hits: Sequence[Hit],
    weights: Weights,
    asked: AskedFor,
    question_vector: Vectors,
    embed: Embed,
    page_text: PageText,
    *,
    titles: Mapping[str, str] = NO_TITLES,
    named: Titled | None = None,
    read: Read | None = None,
    legible: Collection[str] = (),
) -> list[Scored]:
    """Every unit of the best passages, scored; in the order of the hits.

    Args:
        hits: best first.
        weights: of the question's words.
        asked: what the question asks for.
        question_vector: unit vector of shape (dim,).
        embed: gives unit vectors.
        page_text: reads a page.
        titles: of documents, by id.
        named: the documents that the question names.
        read: reads texts as `reading` makes them, together with the question; None where nothing reads the question's language.
        legible: languages of passages that it reads.
    """
    candidates: list[tuple[int, Unit, frozenset[str]]] = []
    contexts: list[Context] = []
    seen: set[tuple[str, str]] = set()
    for i, hit in enumerate(hits[:PASSAGES]):
        before = ""
        elsewhere = named is not None and named.is_another(hit.passage)
        if is_void(hit.passage.section, hit.passage.language) and not is_void(" ".join(asked.words), hit.passage.language):
            continue  # nobody asks for repealed rules, and below that heading nothing holds
        found = units(hit.passage, page_text)
        for place, unit in enumerate(found, 1):
            after = found[place].text if place < len(found) else ""
            key = (hit.passage.document, unit.text)
            # passages overlap; what asks or orders states nothing, nor do the dates that head columns
            if key not in seen and not _states_nothing(unit, after):
                seen.add(key)
                candidates.append((i, unit, frozenset(terms(unit.text, hit.passage.language))))
                contexts.append(
                    context_of(hit.passage, titles, unit.lead or before, elsewhere=elsewhere, page_text=page_text if asked.names else None)
                )
            before = unit.text
    coverage = [weights.coverage(_with_context(unit, held)) for _, unit, held in candidates]
    chosen = sorted(range(len(candidates)), key=lambda j: (-(coverage[j] - 0.05 * candidates[j][0]), j))[:EMBEDDED_UNITS]
    cosines = dict(zip(chosen, embed([candidates[j][1].text for j in chosen]) @ question_vector, strict=True)) if chosen else {}
    scored = []
    for j, (i, unit, _) in enumerate(candidates):
        near = max((coverage[n] for n in (j - 1, j + 1) if 0 <= n < len(candidates) and candidates[n][0] == i), default=0.0)
        count = sum(1 for _ in word_texts(unit.text))
        features = {
            "coverage": coverage[j],
            "near": near,
            "cosine": float(max(-1.0, min(1.0, cosines.get(j, 0.0)))),
            "rank": 1 / (1 + i),
            "length": min(1.0, math.log1p(count) / 4),
        }
        fit = fits(asked, unit.text, contexts[j], unit.passage.language)
        features |= {"typed": _typed(fit)} | {name: value for name, value in fit.features().items() if name in FEATURES}
        scored.append(Scored(unit, features, relevance(features), fit, context=contexts[j]))
    scored = _without_outdone(scored, asked)
    if read is None:
        return scored
    return _read(scored, [_reading(one.unit.text, one) for one in scored], read, legible)


def said_otherwise(worded: Sequence[tuple[Scored, str]], asked: AskedFor, read: Read | None = None) -> list[Scored]:
    """Units as somebody else words them, scored anew where they stand: by their fit, and by the answerability model where it read the unit.

    Args:
        worded: each unit with the words that rest on it; all of them are read in one pass.
        asked: what the question asks for.
        read: as for `score_units`.
    """
    known = [(one, text) for one, text in worded if read is not None and one.log_odds is not None]
    odds = iter(read([_reading(text, one) for one, text in known])) if read is not None and known else iter(())
    found = []
    for one, text in worded:
        fit = fits(asked, text, one.context, one.unit.passage.language)
        features = one.features | {"typed": _typed(fit)} | {name: value for name, value in fit.features().items() if name in FEATURES}
        log_odds = one.log_odds if read is None or one.log_odds is None else float(next(odds))
        found.append(replace(one, features=features, relevance=relevance(features, log_odds), fit=fit, log_odds=log_odds))
    return found


def _without_outdone(scored: list[Scored], asked: AskedFor) -> list[Scored]:
    """The units, where a row that another one outdoes is not known by its label: one of its table, or one of its document by a name."""
    rows: dict[str, list[int]] = {}
    of_document: dict[str, list[int]] = {}
    for j, one in enumerate(scored):
        if one.fit and one.fit.row:
            rows.setdefault(one.unit.passage.id, []).append(j)
            of_document.setdefault(one.unit.passage.document, []).append(j)
    behind = set[int]()
    for found in of_document.values():
        labels = [scored[j].unit.text.partition(CELL)[0] for j in found]
        language = scored[found[0]].unit.passage.language
        behind.update(j for j, lost in zip(found, lacking(asked, labels, language), strict=True) if lost)
        behind.update(j for j, lost in zip(found, nameless(asked, labels, [_where(scored[j]) for j in found]), strict=True) if lost)
    for places in rows.values():
        labels = [scored[j].unit.text.partition(CELL)[0] for j in places]
        language = scored[places[0]].unit.passage.language
        behind.update(j for j, lost in zip(places, outdone(asked, labels, language), strict=True) if lost)
    return [_unlabelled(one) if j in behind else one for j, one in enumerate(scored)]


def _unlabelled(one: Scored) -> Scored:
    features = one.features | {"fit_label": 0.0, "fit_row": 0.0}
    return replace(one, features=features, relevance=relevance(features), fit=one.fit and replace(one.fit, label=0.0, row=0.0))


def _states_nothing(unit: Unit, after: str) -> bool:
    """Whether it asks, orders, leaves a blank, names what follows, breaks off, or is a row without a statement; `after`: the next text."""
    language = unit.passage.language
    if _LABEL.search(unit.text) and len(words(unit.text)) <= LABEL_WORDS:
        return True
    if asks(unit.text, language) or is_order(unit.text) or (unit.passage.kind is not PassageKind.CODE and _BLANK.search(unit.text)):
        return True
    if unit.passage.kind is not PassageKind.TABLE:
        return _is_cut(unit)
    return _is_label(unit.text, after) or names_only_periods(unit.text, language)


def _is_cut(unit: Unit) -> bool:
    """Whether a sentence breaks off: it goes on in another column or on another page. The "and" behind an item of a list is no break."""
    info = LANGUAGES.get(unit.passage.language)
    before, _, last = unit.text.rpartition(" ")
    cut = info is not None and last.lower() in info.unfinished
    return cut and unit.passage.kind is not PassageKind.CODE and not before.endswith((";", ","))


def _is_label(row: str, after: str) -> bool:
    """Whether a row of one cell is the first line of a label that goes on in the row `after`, or heads columns with several years."""
    if CELL in row or ":" in row or ends_sentence(row) or _FIGURE.search(row):
        return False
    return after[:1].islower() or len(set(_YEAR.findall(row))) > 1


def relevance(features: dict[str, float], log_odds: float | None = None) -> float:
    """Logistic of the weighted features, in (0, 1): the chance that the unit holds the answer, as fitted (data/extract.json).

    `log_odds` is what the answerability model says of the unit; None where it did not read it.
    """
    fitted = _weights("weights" if log_odds is None else "read")
    z = fitted["intercept"] + sum(fitted[name] * features[name] for name in FEATURES)
    if log_odds is not None:
        z += fitted["log_odds"] * log_odds
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def context_of(
    passage: Passage, titles: Mapping[str, str], previous: str = "", *, elsewhere: bool = False, page_text: PageText | None = None
) -> Context:
    """Where a unit of a passage stands: the title of its document, the headings above it with the header of its table, what is before it.

    `page_text` reads the first page of a table's document, which says what the document is about; on that page itself names are near.
    """
    place = SECTION_MARK.join(part for part in (passage.section, passage.header_text) if part)
    first = page_text(passage.document, 1) if page_text and passage.kind is PassageKind.TABLE and passage.page > 1 else ""
    return Context(titles.get(passage.document, ""), place, previous, elsewhere, _beginnings(first[:FIRST_CHARS]))


@lru_cache(maxsize=32)
def _beginnings(text: str) -> frozenset[str]:
    return frozenset(word[:KEY_CHARS] for word in map(fold, WORD.findall(text)))


def _typed(fit: Fit) -> float:
    return fit.sure * (fit.holds - 0.5)


def _reading(text: str, of: Scored) -> str:
    """A unit, or other words for it, as the answerability model reads it where the unit stands."""
    return reading(text, _where(of), of.context.previous)


def _where(of: Scored) -> str:
    """The title and the headings that a unit stands under, and the header of its table."""
    return context(of.context.title, of.unit.passage.section, of.unit.passage.header_text)


def _read(scored: list[Scored], texts: Sequence[str], read: Read, legible: Collection[str]) -> list[Scored]:
    """The units in a language that is read, scored anew; of these the best are read, `READ_FIRST` or all of `READ_UNITS`."""
    open_to_read = [j for j, one in enumerate(scored) if one.unit.passage.language in legible]
    chosen = sorted(open_to_read, key=lambda j: (-scored[j].relevance, j))[:READ_UNITS]
    found = dict.fromkeys(open_to_read, UNREAD)
    for some in (chosen[:READ_FIRST], chosen[READ_FIRST:]):
        if some and max(found.values()) < 0:
            found |= zip(some, read([texts[j] for j in some]), strict=True)
    return [
        replace(one, relevance=relevance(one.features, found[j]), log_odds=found[j]) if j in found else one
        for j, one in enumerate(scored)
    ]  # fmt: skip


def _with_context(unit: Unit, held: frozenset[str]) -> frozenset[str]:
    """A table row is read with its header and section."""
    if unit.passage.kind is not PassageKind.TABLE:
        return held
    return held | frozenset(terms(f"{unit.passage.header_text} {unit.passage.section}", unit.passage.language))

"""The extractive draft: the sentences that answer the question, verbatim, in document order, each with its citation. No model.

Every unit of the best passages is scored by how much of the question's weight it carries, by similarity, by its place, and by whether it
holds the kind of thing asked for (a number, a date). The likest are read by the answerability model together with the question, where it
reads their language. One sentence when one suffices.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

import regex

from rag_core.compression.selection import reading
from rag_core.domain.claims import Claim
from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.domain.ports import PageText, Vectors
from rag_core.gating.asked import AskedFor, asks
from rag_core.gating.features import NO_ODDS, Weights
from rag_core.gating.fit import NOWHERE, Context, Fit, fits
from rag_core.gating.row import CELL, UNKNOWN, outdone
from rag_core.gating.stated import names_only_periods
from rag_core.grounding.units import Unit, header_of, in_order, units
from rag_core.ingest.blocks.rows import ends_sentence
from rag_core.ingest.passages.context import SECTION_MARK, context
from rag_core.language import is_order, terms, words
from rag_core.retrieval.titled import Titled
from rag_core.settings import DATA, Settings

PASSAGES = 5  # the best passages are read; deeper ones held the answer in under 2 % of the training questions
EMBEDDED_UNITS = 8  # the lexically best units are embedded too, about 3 ms each; twelve answered no better on XQuAD es and hi
READ_UNITS = 12  # the best units that the answerability model reads, about 4 ms each
UNREAD = NO_ODDS  # log odds of a unit that was not among them: as if the model had said no as firmly as it can
MAX_ANSWER_WORDS = 45  # in an answer to which a further sentence is still added; more cannot be read at a glance
ROW_ALONE = 0.6  # `Fit.row` from which a row of a table is the whole answer; chosen
OTHER_SECTION = 0.8  # a unit of another section needs this share of the best relevance
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

_FIGURE = regex.compile(r"(?<!\p{Nd})(?!(?:19|20)\p{Nd}\p{Nd}(?!\p{Nd}|[.,]\p{Nd}))\p{Nd}")  # a digit that begins no year

NO_TITLES: Mapping[str, str] = MappingProxyType({})

Embed = Callable[[Sequence[str]], Vectors]
Read = Callable[[Sequence[str]], Sequence[float]]  # texts as `reading` makes them -> log odds that each answers the question


@dataclass(frozen=True, slots=True)
class Scored:
    """A unit with its features and its relevance in [0, 1]."""

    unit: Unit
    features: dict[str, float]
    relevance: float
    fit: Fit | None = None  # None where nothing was chosen by it: passages as they are, and other sides of a contradiction
    log_odds: float | None = None  # by the answerability model, in [-10, 10]; None where it does not read the unit's language
    context: Context = NOWHERE


@dataclass(frozen=True, slots=True)
class Extract:
    """The draft's claims, and the highest cosine of a unit to the question, in [-1, 1].

    `chosen` are the units of the claims, in their order, and `scored` all units that were read.
    """

    claims: tuple[Claim, ...]
    best_sentence: float
    chosen: tuple[Scored, ...] = ()
    scored: tuple[Scored, ...] = ()

    @property
    def fit(self) -> Fit | None:
        """How the likest of the chosen units fits what is asked for; None without any."""
        return max(self.chosen, key=lambda one: one.relevance).fit if self.chosen else None

    def log_odds(self) -> tuple[list[float], list[float]]:
        """The log odds that the answerability model gives the chosen units, and those of the others; none of what it did not read."""
        taken = {id(one.unit) for one in self.chosen}
        known = [(id(one.unit) in taken, one.log_odds) for one in self.scored if one.log_odds is not None and one.log_odds > UNREAD]
        return [odds for chosen, odds in known if chosen], [odds for chosen, odds in known if not chosen]


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
        read: reads texts together with the question; None where nothing reads the question's language.
        legible: languages of passages that it reads.
    """
    candidates: list[tuple[int, Unit, frozenset[str]]] = []
    contexts: list[Context] = []
    seen: set[tuple[str, str]] = set()
    for i, hit in enumerate(hits[:PASSAGES]):
        before = ""
        elsewhere = named is not None and named.is_another(hit.passage)
        for unit in units(hit.passage, page_text):
            key = (hit.passage.document, unit.text)
            # passages overlap; what asks or orders states nothing, nor do the dates that head columns
            if key not in seen and not _states_nothing(unit):
                seen.add(key)
                candidates.append((i, unit, frozenset(terms(unit.text, hit.passage.language))))
                contexts.append(Context(titles.get(hit.passage.document, ""), _place(hit.passage), unit.lead or before, elsewhere))
            before = unit.text
    coverage = [weights.coverage(_with_context(unit, held)) for _, unit, held in candidates]
    chosen = sorted(range(len(candidates)), key=lambda j: (-(coverage[j] - 0.05 * candidates[j][0]), j))[:EMBEDDED_UNITS]
    cosines = dict(zip(chosen, embed([candidates[j][1].text for j in chosen]) @ question_vector, strict=True)) if chosen else {}
    scored = []
    for j, (i, unit, _) in enumerate(candidates):
        near = max((coverage[n] for n in (j - 1, j + 1) if 0 <= n < len(candidates) and candidates[n][0] == i), default=0.0)
        count = len(words(unit.text))
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


def said_otherwise(scored: Scored, text: str, asked: AskedFor, read: Read | None = None) -> Scored:
    """A unit as somebody else words it, scored anew where it stands: by its fit, and by the answerability model where that read the unit.

    Args:
        scored: the unit that the text rests on.
        text: the other words.
        asked: what the question asks for.
        read: as for `score_units`.
    """
    fit = fits(asked, text, scored.context, scored.unit.passage.language)
    features = scored.features | {"typed": _typed(fit)} | {name: value for name, value in fit.features().items() if name in FEATURES}
    odds = scored.log_odds if read is None or scored.log_odds is None else float(read([_reading(text, scored)])[0])
    return replace(scored, features=features, relevance=relevance(features, odds), fit=fit, log_odds=odds)


def _without_outdone(scored: list[Scored], asked: AskedFor) -> list[Scored]:
    """The units, where a row that another row of its table outdoes is not known by its label (`outdone`)."""
    rows: dict[str, list[int]] = {}
    for j, one in enumerate(scored):
        if one.fit and one.fit.row:
            rows.setdefault(one.unit.passage.id, []).append(j)
    behind = set[int]()
    for places in rows.values():
        labels = [scored[j].unit.text.partition(CELL)[0] for j in places]
        language = scored[places[0]].unit.passage.language
        behind.update(j for j, lost in zip(places, outdone(asked, labels, language), strict=True) if lost)
    return [_unlabelled(one) if j in behind else one for j, one in enumerate(scored)]


def _unlabelled(one: Scored) -> Scored:
    features = one.features | {"fit_label": 0.0, "fit_row": 0.0}
    return replace(one, features=features, relevance=relevance(features), fit=one.fit and replace(one.fit, label=0.0, row=0.0))


def _states_nothing(unit: Unit) -> bool:
    language = unit.passage.language
    if asks(unit.text, language) or is_order(unit.text):
        return True
    if unit.passage.kind is not PassageKind.TABLE:
        return False
    return _is_label(unit.text) or names_only_periods(unit.text, language)


def _is_label(row: str) -> bool:
    """Whether a row of one cell is the first line of a label, or a head: it has no figure but years, and ends no sentence."""
    return CELL not in row and ":" not in row and not ends_sentence(row) and not _FIGURE.search(row)


def relevance(features: dict[str, float], log_odds: float | None = None) -> float:
    """Logistic of the weighted features, in (0, 1): the chance that the unit holds the answer, as fitted (data/extract.json).

    `log_odds` is what the answerability model says of the unit; None where it did not read it.
    """
    fitted = _weights("weights" if log_odds is None else "read")
    z = fitted["intercept"] + sum(fitted[name] * features[name] for name in FEATURES)
    if log_odds is not None:
        z += fitted["log_odds"] * log_odds
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def _place(passage: Passage) -> str:
    """The headings that a passage stands under, and the header of a table."""
    return SECTION_MARK.join(part for part in (passage.section, passage.header_text) if part)


def _typed(fit: Fit) -> float:
    return fit.sure * (fit.holds - 0.5)


def _reading(text: str, of: Scored) -> str:
    """A unit, or other words for it, as the answerability model reads it where the unit stands."""
    passage = of.unit.passage
    return reading(text, context(of.context.title, passage.section, passage.header_text), of.context.previous)


def _read(scored: list[Scored], texts: Sequence[str], read: Read, legible: Collection[str]) -> list[Scored]:
    """The units in a language that is read, scored anew; of these the best `READ_UNITS` are read."""
    open_to_read = [j for j, one in enumerate(scored) if one.unit.passage.language in legible]
    chosen = sorted(open_to_read, key=lambda j: (-scored[j].relevance, j))[:READ_UNITS]
    found = dict.fromkeys(open_to_read, UNREAD) | dict(zip(chosen, read([texts[j] for j in chosen]) if chosen else (), strict=True))
    return [
        replace(one, relevance=relevance(one.features, found[j]), log_odds=found[j]) if j in found else one
        for j, one in enumerate(scored)
    ]  # fmt: skip


def choose(scored: Sequence[Scored], settings: Settings) -> list[Scored]:
    """The best unit, and further ones of its document that bear on the question as much, within `max_sentences` and `MAX_ANSWER_WORDS`.

    A row that is surely the one asked for (`ROW_ALONE`) stands alone, and no unit that lacks the type asked for comes before it. Another
    section is another topic, and an answer does not blend topics: a unit from there must be about as good (`OTHER_SECTION`).
    """
    ranked = sorted(range(len(scored)), key=lambda j: (-scored[j].relevance, j))
    if not ranked:
        return []
    best = scored[ranked[0]]
    leading = next((scored[j] for j in ranked if _is_row(scored[j]) or not _lacks_type(scored[j])), best)
    if _is_row(leading):
        return [leading]
    kept = [best]
    for j in ranked[1:]:
        other = scored[j]
        if len(kept) == settings.max_sentences or other.relevance < settings.extra_sentence_ratio * best.relevance:
            break
        here, there = best.unit.passage, other.unit.passage
        apart = here.section != there.section and other.relevance < OTHER_SECTION * best.relevance
        code = PassageKind.CODE in (here.kind, there.kind) and here.kind is not there.kind
        long = sum(len(one.unit.text.split()) for one in (*kept, other)) > MAX_ANSWER_WORDS
        if here.document == there.document and not (apart or code or long):
            kept.append(other)
    return kept


def _is_row(scored: Scored) -> bool:
    return scored.fit is not None and scored.fit.row >= ROW_ALONE


def _lacks_type(scored: Scored) -> bool:
    """Whether a unit surely lacks what is asked for, such as a share where an amount is."""
    return scored.fit is not None and scored.fit.sure > 0 and scored.fit.holds < UNKNOWN


def extract(
    hits: Sequence[Hit],
    weights: Weights,
    asked: AskedFor,
    question_vector: Vectors,
    embed: Embed,
    page_text: PageText,
    settings: Settings,
    *,
    titles: Mapping[str, str] = NO_TITLES,
    named: Titled | None = None,
    read: Read | None = None,
    legible: Collection[str] = (),
) -> Extract:
    """Draft an answer from the hits, best first; for the arguments see `score_units`."""
    scored = score_units(hits, weights, asked, question_vector, embed, page_text, titles=titles, named=named, read=read, legible=legible)
    best = max((s.features["cosine"] for s in scored), default=0.0)
    by_unit = {id(s.unit): s for s in choose(scored, settings)}
    ordered = in_order([s.unit for s in by_unit.values()], [hit.passage for hit in hits])
    chosen = tuple(by_unit[id(unit)] for unit in ordered)
    return Extract(tuple(claim_of(one, page_text) for one in chosen), best, chosen, tuple(scored))


def claim_of(scored: Scored, page_text: PageText) -> Claim:
    """The claim that quotes a unit; a table's row is read with its header."""
    unit = scored.unit
    text = unit.text
    header = header_of(unit.passage, page_text) if unit.passage.kind is PassageKind.TABLE else ""
    if header:
        text = f"{header}: {text}"
    evidence = unit.evidence(page_text)
    return Claim(text, evidence, (unit.passage.id,), scored.relevance)


def _with_context(unit: Unit, held: frozenset[str]) -> frozenset[str]:
    """A table row is read with its header and section."""
    if unit.passage.kind is not PassageKind.TABLE:
        return held
    return held | frozenset(terms(f"{unit.passage.header_text} {unit.passage.section}", unit.passage.language))

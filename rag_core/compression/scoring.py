"""Scores the units of the best passages: how well each sentence, row or line bears on the question.

Every unit is scored by the cosine of its vector to the question's, by the rank of its passage, by whether it is the row
asked for, and by the answerability model, which reads whole passages with the question.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

import regex

from rag_core.domain.passages import Hit, Passage, PassageKind, Place, ReadPlace, ReadUnit
from rag_core.domain.ports import PageText
from rag_core.domain.rows import EMPTY
from rag_core.gating.asked import AskedFor, asks
from rag_core.gating.features import NO_ODDS, Near, Read
from rag_core.gating.fit import Fit, fits
from rag_core.gating.row import asks_for_empty, asks_for_other_year
from rag_core.grounding.omissions.back import is_void
from rag_core.grounding.units import Unit, group_of, header_of, units
from rag_core.ingest.passages.context import SECTION_MARK, context
from rag_core.language import LANGUAGES, ends_in_question, is_order, words
from rag_core.retrieval.titled import Titled
from rag_core.settings import DATA

# the best passages are read; of 72 questions over twelve real documents the likeliest of five held the answer in 55, of
# seven in 58, of nine in 58
PASSAGES = 7
READ_FIRST = (
    3  # passages that are read at once; the others only where no unit of these is likelier than not to answer; chosen
)
# units that are read once more, with no more than their neighbours: the mean of two readings errs less than either
# (docs/decisions/04-the-reader.md); chosen
READ_TWICE = 1
RUN_IN_WORDS = 2  # at most in a heading that its text runs on from; chosen
ROW_ALONE = 0.6  # `Fit.row` from which a row of a table is the one asked for; chosen
UNREAD = NO_ODDS  # log odds of a unit that was not among them: as if the model had said no as firmly as it can
FEATURES = ("near", "rank", "fit_row")
_RUN_IN = regex.compile(r"^\p{Lu}\P{Nd}*\.$")
# a sentence goes on behind it: "will have __ influence", "a term of ____ years"
_BLANK = regex.compile(r"(?<![\p{L}\p{N}_])__+\s+\p{Ll}")
NO_TITLES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Scored:
    """A unit with its features and its relevance in [0, 1]; `fit` is None where nothing was chosen by it."""

    unit: Unit
    features: dict[str, float]
    relevance: float
    fit: Fit | None = None
    log_odds: float | None = None  # by the answerability model, in [-10, 10]; None where there is none
    # the characters of the unit that answer, by that model, and how sure it is of them, in [0, 1]
    value: tuple[int, int] = (0, 0)
    sure: float = 0.0
    of_passage: float | None = None  # what that model says of the whole passage, in [-10, 10]


@cache
def _weights(name: str) -> dict[str, float]:
    return dict(json.loads((DATA / "extract.json").read_text(encoding="utf-8"))[name])


def score_units(
    hits: Sequence[Hit],
    asked: AskedFor,
    page_text: PageText,
    *,
    titles: Mapping[str, str] = NO_TITLES,
    named: Titled | None = None,
    near: Near | None = None,
    read: Read | None = None,
) -> list[Scored]:
    """Every unit of the best passages, scored, in the order of the hits.

    `asked` is what the question asks for, `named` the documents that it names. `near` gives the cosines of texts to it,
    `read` reads places together with it; either may be None.
    """
    candidates: list[tuple[int, Unit]] = []
    places: list[Place] = []
    at: list[tuple[int, int]] = []  # for each candidate its place, and its number there
    seen: set[tuple[str, str]] = set()
    for i, hit in enumerate(hits[:PASSAGES]):
        if named is not None and named.is_another(hit.passage):
            continue  # the report of another firm tells nothing of this one
        if is_void(hit.passage.section, hit.passage.language) and not is_void(
            " ".join(asked.words), hit.passage.language
        ):
            continue  # nobody asks for repealed rules, and below that heading nothing holds
        found, above = units(hit.passage, page_text), _where(hit.passage, titles)
        places.append(_as_read(hit.passage, found, page_text, titles))
        for number, unit in enumerate(found):
            key = (hit.passage.document, unit.text)
            after = found[number + 1].text if number + 1 < len(found) else ""
            headed = number == 0 and _is_run_in(unit, after)
            # passages overlap
            if key not in seen and not (
                headed or _states_nothing(unit) or _is_elsewhere(unit, asked, page_text, above)
            ):
                seen.add(key)
                at.append((len(places) - 1, number))
                candidates.append((i, unit))
    said = _said(places, at, read) if read is not None else []
    known = [j for j, (place, _) in enumerate(at) if read is None or place < len(said)]
    cosines = dict(
        zip(known, near([places[at[j][0]].units[at[j][1]] for j in known]) if near else [0.0] * len(known), strict=True)
    )
    scored = []
    for j, ((i, unit), (place, number)) in enumerate(zip(candidates, at, strict=True)):
        fit = _fit(asked, unit, page_text, titles)
        features = {"near": cosines.get(j, 0.0), "rank": 1 / (1 + i), "fit_row": fit.row}
        passage = said[place] if place < len(said) else None
        one = passage.units[number] if passage else ReadUnit(UNREAD)
        log_odds = None if read is None else one.log_odds
        of_passage = passage.log_odds if passage else None
        scored.append(
            Scored(
                unit,
                features,
                relevance(features, log_odds),
                fit,
                log_odds,
                *_value(one, len(places[place].units[number]) - len(unit.text)),
                of_passage,
            )
        )
    return scored


def _states_nothing(unit: Unit) -> bool:
    """Whether it asks, orders, leaves a blank, or breaks off; the "and" behind an item of a list is no break."""
    language, kind = unit.passage.language, unit.passage.kind
    if asks(unit.text, language) or is_order(unit.text):
        return True
    if kind is PassageKind.CODE:
        return False
    info = LANGUAGES.get(language)
    before, _, last = unit.text.rpartition(" ")
    cut = info is not None and kind is not PassageKind.TABLE and last.lower() in info.unfinished
    return (cut and not before.endswith((";", ","))) or bool(_BLANK.search(unit.text))


def _is_elsewhere(unit: Unit, asked: AskedFor, page_text: PageText, above: str) -> bool:
    """Whether a row has empty cells in the columns that the question names, or its columns are other years."""
    if unit.passage.kind is not PassageKind.TABLE:
        return False
    header = header_of(unit.passage, page_text)
    if asks_for_other_year(asked, unit.text, header, f"{above} {group_of(unit, page_text)}"):
        return True
    return EMPTY in unit.text and asks_for_empty(asked, unit.text, header)


def _said(places: Sequence[Place], at: Sequence[tuple[int, int]], read: Read) -> list[ReadPlace]:
    """The places as the model reads them, later ones only where the first are unlikely; the likest twice."""
    said: list[ReadPlace] = []
    for some in (places[:READ_FIRST], places[READ_FIRST:]):
        if some and max((_odds(said, pair) for pair in at if pair[0] < len(said)), default=UNREAD) < 0:
            said += read(some)
    likest = sorted((pair for pair in at if pair[0] < len(said)), key=lambda pair: -_odds(said, pair))[:READ_TWICE]
    closer = [(i, n, Place(places[i].heading, places[i].units[max(0, n - 1) : n + 2])) for i, n in likest]
    closer = [one for one in closer if one[2] != places[one[0]]]
    for (i, n, _), again in zip(closer, read([place for *_, place in closer]) if closer else (), strict=True):
        of_place, once = list(said[i].units), said[i].units[n]
        of_place[n] = replace(once, log_odds=(once.log_odds + again.units[min(n, 1)].log_odds) / 2)
        said[i] = replace(said[i], units=tuple(of_place))
    return said


def _odds(said: Sequence[ReadPlace], at: tuple[int, int]) -> float:
    place, number = at
    return said[place].units[number].log_odds


def _is_run_in(unit: Unit, after: str) -> bool:
    """Whether the first words of running text are the heading of the rest: "Governing law. This agreement …"."""
    brief = _RUN_IN.match(unit.text) and len(words(unit.text)) <= RUN_IN_WORDS < len(words(after))
    return unit.passage.kind is PassageKind.PARAGRAPH and bool(brief)


def relevance(features: dict[str, float], log_odds: float | None = None) -> float:
    """Logistic of the features, in (0, 1): the chance that the unit holds the answer (data/extract.json)."""
    fitted = _weights("weights" if log_odds is None else "read")
    z = fitted["intercept"] + sum(fitted[name] * features[name] for name in FEATURES)
    if log_odds is not None:
        z += fitted["log_odds"] * log_odds
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def _fit(asked: AskedFor, unit: Unit, page_text: PageText, titles: Mapping[str, str]) -> Fit:
    passage = unit.passage
    section = SECTION_MARK.join(filter(None, (passage.section, passage.header_text, group_of(unit, page_text))))
    return fits(asked, unit.text, section, titles.get(passage.document, ""), passage.language)


def _as_read(passage: Passage, found: Sequence[Unit], page_text: PageText, titles: Mapping[str, str]) -> Place:
    """A passage's units as they are read: what stands below a question behind it, and the heading without it.

    "What does a ticket cost? Adults pay 95 euros."
    """
    *outer, inner = passage.section.split(SECTION_MARK)
    asked, read = "", list[str]()
    if ends_in_question(inner):
        asked, passage = f"{inner} ", replace(passage, section=SECTION_MARK.join(outer))
    for unit in found:
        if ends_in_question(unit.text):
            asked = f"{unit.text} "
            read.append(unit.text)
        else:
            group = group_of(unit, page_text)
            read.append(f"{group}: {unit.text}" if group else f"{asked}{unit.text}")
    return Place(_where(passage, titles), tuple(read))


def _value(read: ReadUnit, before: int) -> tuple[tuple[int, int], float]:
    """The value's characters in the text behind so many, and how sure the reader is; none that begins before."""
    start, end = read.value
    return ((start - before, end - before), read.sure) if start >= before else ((0, 0), 0.0)


def _where(passage: Passage, titles: Mapping[str, str]) -> str:
    """The title and the headings that a passage stands under, and the header of its table."""
    return context(titles.get(passage.document, ""), passage.section, passage.header_text)

"""The extractive draft: the sentences that answer the question, verbatim, in document order, each with its citation.

No model.

The units of the best passages are scored (`rag_core.compression.scoring`). One is drafted when one suffices. One that
needs the sentence beside it in its document is never shown without it: "Dogs are allowed. Not in the hall, though."
says something else without its second sentence. `rag_core.grounding.omissions.back` tells such sentences by the lists
of their language; a model's draft is held to the same (`rag_core.grounding.own_words`).

Presets that return short contexts as they are have the passages themselves for a draft.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from rag_core.compression.scoring import NO_TITLES, ROW_ALONE, UNREAD, Scored, score_units
from rag_core.domain.claims import Claim, Evidence
from rag_core.domain.documents import Span
from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.domain.ports import PageText, Undoing, never
from rag_core.domain.rows import CELL, columns
from rag_core.facts.differences.values import with_unit
from rag_core.gating.asked import AskedFor
from rag_core.gating.features import Near, Read, measure
from rag_core.gating.row import cells_named
from rag_core.grounding.omissions.back import (
    UNDOES_BELOW,
    announces,
    hangs,
    is_note_of,
    needed_with,
    speaks_of_before,
    takes_back,
    undone_by,
)
from rag_core.grounding.own_words import cited_units
from rag_core.grounding.units import Unit, evidence_of, header_of, heading_above, heads_of, in_order, units
from rag_core.ingest.normalise import locate
from rag_core.language import is_order, word_texts
from rag_core.retrieval.titled import Titled
from rag_core.settings import Settings

MAX_ANSWER_WORDS = 45  # in an answer to which a further sentence is still added; more cannot be read at a glance
VALUE_SURE, VALUE_WORDS = 0.35, 12  # least share of the reader's attention on a value, and most words of one; chosen
OTHER_SECTION = 0.8  # a unit of another section needs this share of the best relevance


@dataclass(frozen=True, slots=True)
class Extract:
    """The draft's claims, the `chosen` units of these, in order, and all that were `scored`."""

    claims: tuple[Claim, ...]
    chosen: tuple[Scored, ...] = ()
    scored: tuple[Scored, ...] = ()

    def features(self, known_language: bool, hits: Sequence[Hit], language: str, searched: int = 0) -> dict[str, float]:
        """The features of a retrieval and this draft; for the arguments see `rag_core.gating.features.measure`."""
        drafted, others = self.log_odds()
        likest = max(self.chosen, key=lambda one: one.relevance, default=None)
        passages = {one.unit.passage.id: one.of_passage for one in self.scored if one.of_passage is not None}
        return measure(
            known_language,
            hits,
            searched=searched,
            claims=self.claims,
            answerability_logit=list(passages.values()),
            drafted=drafted,
            others=others,
            cosine=max((one.features["near"] for one in self.chosen), default=0.0),
            fit=likest.fit if likest else None,
            language=language,
        )

    def log_odds(self) -> tuple[list[float], list[float]]:
        """Log odds of the chosen units, with the same words elsewhere, and of the others, as far as read."""
        taken = {one.unit.text for one in self.chosen}
        known = [
            (one.unit.text in taken, one.log_odds)
            for one in self.scored
            if one.log_odds is not None and one.log_odds > UNREAD
        ]
        return [odds for chosen, odds in known if chosen], [odds for chosen, odds in known if not chosen]


def choose(scored: Sequence[Scored], settings: Settings) -> list[Scored]:
    """The best unit, and further ones of its document that bear as much, within `max_sentences` and `MAX_ANSWER_WORDS`.

    A row that is surely the one asked for (`ROW_ALONE`) stands alone. Another section is another topic, which an
    answer does not blend in: a unit from there must be about as good (`OTHER_SECTION`). A sentence that speaks of
    what stands before it ("It costs 90 euros.") comes behind no other sentence than that one.
    """
    ranked = sorted(range(len(scored)), key=lambda j: (-scored[j].relevance, j))
    if not ranked:
        return []
    best = scored[ranked[0]]
    if best.fit is not None and best.fit.row >= ROW_ALONE:
        return [best]
    kept = [best]
    for j in ranked[1:]:
        other = scored[j]
        if len(kept) == settings.max_sentences or other.relevance < settings.extra_sentence_ratio * best.relevance:
            break
        here, there = best.unit.passage, other.unit.passage
        apart = here.section != there.section and other.relevance < OTHER_SECTION * best.relevance
        code = PassageKind.CODE in (here.kind, there.kind) and here.kind is not there.kind
        long = sum(len(one.unit.text.split()) for one in (*kept, other)) > MAX_ANSWER_WORDS
        if here.document == there.document and not (apart or code or long) and _stand_together([*kept, other]):
            kept.append(other)
    return kept


def _stand_together(chosen: Sequence[Scored]) -> bool:
    """Whether no unit would say of another one what the document says of something else; all are of one document."""
    ordered = in_order([one.unit for one in chosen], [one.unit.passage for one in chosen])
    return not any(_speaks_of_before(later) and not _follows(earlier, later) for earlier, later in pairwise(ordered))


def _speaks_of_before(unit: Unit) -> bool:
    return not unit.by_itself and speaks_of_before(unit.text, unit.passage.language, unlisted=False)


def _follows(earlier: Unit, later: Unit) -> bool:
    return (
        earlier.passage is later.passage
        and earlier.end <= later.start
        and not later.passage.text[earlier.end : later.start].strip()
    )


def extract(
    hits: Sequence[Hit],
    asked: AskedFor,
    page_text: PageText,
    settings: Settings,
    *,
    titles: Mapping[str, str] = NO_TITLES,
    named: Titled | None = None,
    near: Near | None = None,
    read: Read | None = None,
    among: Container[tuple[str, int, int]] | None = None,
) -> Extract:
    """Draft an answer from the hits, best first, of the keys `among`; other arguments as in `score_units`."""
    scored = score_units(hits, asked, page_text, titles=titles, named=named, near=near, read=read)
    scored = [one for one in scored if among is None or one.unit.key in among]
    by_unit = {id(s.unit): s for s in choose(scored, settings)}
    ordered = in_order([s.unit for s in by_unit.values()], [hit.passage for hit in hits])
    chosen = tuple(by_unit[id(unit)] for unit in ordered)
    return Extract(tuple(claim_of(one, page_text, asked) for one in chosen), chosen, tuple(scored))


def claim_of(scored: Scored, page_text: PageText, asked: AskedFor | None = None) -> Claim:
    """The claim that quotes a unit; a table's row is read with its header."""
    unit = scored.unit
    text = unit.text
    header = heads_of(unit, page_text) if unit.passage.kind is PassageKind.TABLE else ""
    if header:
        text = f"{header}: {text}"
    evidence = unit.evidence(page_text)
    value = value_of(scored, evidence, page_text, asked)
    return Claim(text, evidence, (unit.passage.id,), scored.relevance, value, scored.sure if value else 0.0)


def value_of(
    scored: Scored, evidence: Sequence[Evidence], page_text: PageText, asked: AskedFor | None = None
) -> Span | None:
    """The characters of the page that answer; None where the reader is not sure, or they are long, as of a procedure.

    A figure goes with its unit. Where the question names one column of a table, they are its cell.
    """
    unit, (start, end) = scored.unit, scored.value
    header = header_of(unit.passage, page_text) if unit.spans else ""
    if header and unit.text.count(CELL) > 1 and not columns(header, unit.text):
        return None  # no cell is certainly below the head that is asked for
    cells = cells_named(asked, unit.text, header) if asked and header else []
    if len(cells) == 1 and unit.text.count(cells[0]) == 1 and unit.text[start:end] not in cells[0]:
        start = unit.text.index(cells[0])
        end = start + len(cells[0])
    start, end = with_unit(unit.text, start, end, unit.passage.language)
    text = unit.text[start:end]
    says = any(map(str.isalnum, text)) and "☐" not in text  # what is not ticked answers nothing
    if not evidence or scored.sure < VALUE_SURE or not says or len(text.split()) > VALUE_WORDS:
        return None
    if not unit.spans and unit.passage.text[unit.start : unit.end] == unit.text:
        pages = {span.page: page_text(unit.passage.document, span.page) for span in unit.passage.spans}
        found = locate(pages, unit.passage.spans, unit.start + start, unit.start + end)
    else:  # a row: its text is that of its cells
        first = evidence[0].spans[0]
        pattern = re.compile(r"\s+".join(map(re.escape, text.split())))
        here = [match.start() for match in pattern.finditer(unit.text)]
        places = [
            Span(first.page, first.start + one.start(), first.start + one.end())
            for one in pattern.finditer(evidence[0].quote)
        ]
        found = (places[here.index(start)],) if start in here and len(here) == len(places) else ()
    return found[0] if len(found) == 1 and any(one.spans[0].holds(found[0]) for one in evidence) else None


def short_enough(hits: Sequence[Hit], settings: Settings) -> bool:
    """Whether the passages have at most `short_context_words` words."""
    return context_words(hits) <= settings.short_context_words


def context_words(hits: Sequence[Hit]) -> int:
    return sum(1 for hit in hits for _ in word_texts(hit.passage.text))


def stays_whole(hits: Sequence[Hit], settings: Settings) -> bool:
    """Whether passages are returned whole: without `strict_summary`, or short with `return_short_context`."""
    return not settings.strict_summary or (settings.return_short_context and short_enough(hits, settings))


def whole_passages(hits: Sequence[Hit], page_text: PageText) -> tuple[Claim, ...]:
    """One claim a passage, its text unchanged but for orders to a language model, in the order of the hits."""
    return tuple(claim for hit in hits for claim in _whole(hit.passage, page_text))


def _whole(passage: Passage, page_text: PageText) -> Iterator[Claim]:
    """The passage as one claim; by sentences where one orders a language model about, without it and what follows."""
    found = units(passage, page_text)
    stated = _stated(found)
    if len(stated) < len(found):
        yield from (_claim(unit, page_text) for unit in stated)
        return
    yield Claim(
        passage.text.strip(), tuple(evidence_of(passage, span, page_text) for span in passage.spans), (passage.id,)
    )


def _stated(found: Sequence[Unit]) -> list[Unit]:
    return [unit for unit in found if not is_order(unit.text)]


def _claim(unit: Unit, page_text: PageText) -> Claim:
    return Claim(unit.text, unit.evidence(page_text), (unit.passage.id,))


def first_sentences(hits: Sequence[Hit], page_text: PageText, settings: Settings) -> Extract:
    """The first `max_sentences` sentences of the passages, unscored, without orders to a language model."""
    everything = [Scored(unit, {}, 0.0) for hit in hits for unit in _stated(units(hit.passage, page_text))]
    chosen = tuple(everything[: settings.max_sentences])
    return Extract(tuple(_claim(one.unit, page_text) for one in chosen), chosen, tuple(everything))


def as_they_stand(quoted: Sequence[Unit], page_text: PageText) -> tuple[Claim, ...]:
    """One claim a sentence, for those that a question asks for by their place; orders to a language model are none."""
    return tuple(_claim(unit, page_text) for unit in _stated(quoted))


def completed(found: Extract, page_text: PageText, max_sentences: int, undoing: Undoing = never) -> Extract:
    """The extract with the sentences that its own need, each where it stands in the document, and the heading that one
    needs before it.

    Less good sentences make room; only the likest one and what it needs may be more than `max_sentences`.
    """
    known = {one.unit.key: one for one in found.scored}
    passages = {one.unit.passage.id: one.unit.passage for one in found.scored}
    stated_in = cache(lambda passage: units(passage, page_text))  # each passage once, for all sentences near it
    groups = [_with_beside(one, known, passages.values(), stated_in, undoing) for one in found.chosen]
    kept, room = set[int](), max_sentences
    for n in sorted(range(len(groups)), key=lambda n: -found.chosen[n].relevance):
        if not kept or len(groups[n]) <= room:
            kept.add(n)
            room -= len(groups[n])
    chosen = {one.unit.key: one for n in sorted(kept) for one in groups[n]}
    stated = {one.unit.key: claim for one, claim in zip(found.chosen, found.claims, strict=True)}
    # the value is one of the sentences that were chosen, and a row is read with its own heads
    whole = [
        stated.get(key) or replace(claim_of(one, page_text), value=None, value_probability=0.0)
        for key, one in chosen.items()
    ]
    headings = [
        heading_above(one.unit, passages.values(), page_text) if key in stated and not one.unit.spans else None
        for key, one in chosen.items()
    ]
    told = iter(undoing([("heading", one.text) for one in headings if one]))
    claims = tuple(
        _under(heading, claim, page_text) if heading and next(told) >= UNDOES_BELOW else claim
        for heading, claim in zip(headings, whole, strict=True)
    )
    if claims == found.claims:
        return found
    further = (one for key, one in chosen.items() if key not in known)
    return replace(found, claims=claims, chosen=tuple(chosen.values()), scored=(*found.scored, *further))


def _under(heading: Unit, claim: Claim, page_text: PageText) -> Claim:
    """A claim that is said with its heading: "Motions lost: A dog is allowed."."""
    evidence = (*heading.evidence(page_text), *claim.evidence)
    cited = tuple(dict.fromkeys((heading.passage.id, *claim.cited)))
    return replace(claim, text=f"{heading.text.rstrip(':')}: {claim.text}", evidence=evidence, cited=cited)


def _with_beside(
    one: Scored,
    known: Mapping[tuple[str, int, int], Scored],
    passages: Collection[Passage],
    stated_in: Callable[[Passage], list[Unit]],
    undoing: Undoing,
) -> list[Scored]:
    """A sentence with those of its passage that it needs, in order; a row with its notes."""
    unit, language = one.unit, one.unit.passage.language
    if unit.passage.kind is PassageKind.CODE:
        return [one]
    if unit.passage.kind is PassageKind.TABLE:
        here = unit.passage.document, unit.passage.section
        below = [other for other in known.values() if (other.unit.passage.document, other.unit.passage.section) == here]
        return [one, *(other for other in below if other is not one and is_note_of(other.unit.text, unit.text))]
    stated = stated_in(unit.passage)
    at = [other.key for other in stated].index(unit.key)
    needed = {at, *needed_with([other.text for other in stated], at, [other.nth for other in stated])}
    undone: list[Unit] = []
    if not unit.lead:
        needed |= {
            n for n in range(max(0, at - 1), at) if hangs(unit.text, language) or announces(stated[n].text, language)
        }
        needed |= {
            n
            for n in range(at + 1, min(at + 2, len(stated)))
            if not stated[n].lead and takes_back(stated[n].text, language)
        }
        undone = _undone(unit, passages, stated_in, undoing)
    wanted = {other.text: other for other in (*(stated[n] for n in sorted(needed)), *undone)}
    ordered = in_order(list(wanted.values()), [unit.passage])
    return [one if other.key == unit.key else known.get(other.key) or replace(one, unit=other) for other in ordered]


def _undone(
    unit: Unit, passages: Collection[Passage], stated_in: Callable[[Passage], list[Unit]], undoing: Undoing
) -> list[Unit]:
    """The sentences near by that undo one, in order, also those of the other known passages of its document."""
    own = stated_in(unit.passage)
    told = {other.text for other in own}
    here = [one for one in passages if one.document == unit.passage.document and one.kind is not PassageKind.TABLE]
    beside = [other for one in here if one.id != unit.passage.id for other in stated_in(one) if other.text not in told]
    running = in_order([*own, *beside], [unit.passage])
    at = [other.key for other in running].index(unit.key)
    return [running[n] for n in undone_by([one.text for one in running], at, undoing) if not running[n].lead]


def undoing_claims(
    claims: Sequence[Claim], hits: Sequence[Hit], page_text: PageText, undoing: Undoing
) -> tuple[Claim, ...]:
    """The headings and sentences near by that undo what these claims of a model's draft cite, and that none of them
    says.
    """
    passages = {hit.passage.id: hit.passage for hit in hits}
    stated_in = cache(lambda passage: units(passage, page_text))
    found: dict[str, Unit] = {}
    for unit in (unit for claim in claims for unit in cited_units(claim, passages, page_text)):
        if not unit.by_itself:
            above = heading_above(unit, passages.values(), page_text)
            if above and undoing([("heading", above.text)])[0] >= UNDOES_BELOW:
                found[above.text] = above
            found |= {one.text: one for one in _undone(unit, passages.values(), stated_in, undoing)}
    return tuple(_claim(one, page_text) for text, one in found.items() if not any(text in said.text for said in claims))

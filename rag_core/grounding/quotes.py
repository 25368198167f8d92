"""Does a model's quote stand where it says: character by character, in one piece, on the pages of the passage that it
cites?

Unicode and white space are compared in reading form, and typographic quotation marks and dashes as the plain ones;
nothing else may differ. What a quote is part of belongs to it: the evidence is widened to whole sentences or rows, so
that words ripped out of "shall not ..." are read with their negation, and marks on the page cover whole sentences. The
last look, at the page's raw text, is `quote_stands` in `rag_core.grounding.citations`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from rag_core.domain.claims import Evidence
from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind
from rag_core.domain.ports import PageText
from rag_core.facts.sentence.citation_marks import strip_marks
from rag_core.grounding.units import evidence_of, header_of, overlaps, pages_of, units
from rag_core.ingest.normalise import Normal, cells, cut, normalise, read_passage_text
from rag_core.language import content_terms, terms, unspaced, words
from rag_core.language.words import places

MIN_WORDS = 2  # a quote of one word proves nothing
_CLEARLY = 0.05  # share of a claim by which one of two places that read the same must be better
_QUOTATION = " \t\n\"'“”„‟‘’‚‛«»‹›"
_MIN_CHARS = 4  # nor does one of fewer letters where a script parts no words
# each sign that typesetting may change, to the one of the keyboard
_FOLD = str.maketrans("“”„‟«»″‘’‚‛‹›′‐‑‒–—―−", '"' * 7 + "'" * 7 + "-" * 7)


class Standing(StrEnum):
    """Whether a quote stands in the passage that it cites."""

    FOUND = "found"
    ELSEWHERE = "elsewhere"  # in another of the retrieved passages: misattributed
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class Quote:
    """The place of a quote, or why it has none."""

    standing: Standing  # where it stands
    evidence: tuple[Evidence, ...] = ()  # whole sentences or rows, each verbatim; none unless it was found
    certain: bool = True  # False where it stands in several places: then nothing may be marked


_Range = tuple[int, int]  # a stretch of a passage's reading form
_NOWHERE = Quote(Standing.NOWHERE)


class Sources:
    """The passages that a draft may cite, each read once for all of its quotes."""

    def __init__(self, passages: Iterable[Passage], page_text: PageText) -> None:
        self._sources = {passage.id: _Source(passage, page_text) for passage in passages}

    def find(self, quote: str, passage: str, claim: str = "") -> Quote:
        """Look a quote up in the passage of this id; `claim` decides between two places that read the same."""
        forms = _forms(quote)
        here = self._sources[passage]
        places = here.places(forms)
        if not places:
            others = (source for id, source in self._sources.items() if id != passage)
            return Quote(Standing.ELSEWHERE) if any(other.places(forms) for other in others) else _NOWHERE
        return here.quote(places, claim)

    def reading(self, evidence: Iterable[Evidence]) -> str:
        """Evidence in reading form, a table's row under its header: the same words as on the page."""
        pieces = list(evidence)
        rows = [_row(one, self._sources[one.passage]) for one in pieces if self._sources[one.passage].is_table]
        return " ".join(rows) or normalise("\n".join(one.quote for one in pieces)).text


def _row(evidence: Evidence, source: _Source) -> str:
    header = header_of(source.passage, source.page_text)
    return f"{header}: {cells(evidence.quote)}" if header else cells(evidence.quote)


class _Source:
    def __init__(self, passage: Passage, page_text: PageText) -> None:
        self.passage, self.page_text = passage, page_text

    @cached_property
    def normal(self) -> Normal:
        """The way back to its pages; made for those passages only in which a quote is found."""
        return read_passage_text(
            pages_of(self.passage.document, self.passage.spans, self.page_text), self.passage.spans
        )

    @cached_property
    def text(self) -> str:
        """Its reading form, as quotes are compared with it: the offsets are the same."""
        return self.passage.text.translate(_FOLD)

    @cached_property
    def units(self) -> list[tuple[Span, ...]]:
        return [unit.spans or self.cut(unit.start, unit.end) for unit in units(self.passage, self.page_text)]

    @property
    def is_table(self) -> bool:
        return self.passage.kind is PassageKind.TABLE

    def cut(self, start: int, end: int) -> tuple[Span, ...]:
        """The place of a stretch of the reading form."""
        return cut(self.passage.spans, *self.normal.to_raw(start, end))

    def places(self, forms: Sequence[str]) -> list[_Range]:
        """Every place of the first of these texts that stands here."""
        return next((found for form in forms if (found := _occurrences(form, self.text))), [])

    def quote(self, places: Sequence[_Range], claim: str) -> Quote:
        """The evidence at the place that the claim decides for, if there is more than one."""
        wide: Mapping[tuple[Evidence, ...], _Range] = {self.widened(self.cut(*at)): at for at in reversed(places)}
        if len(wide) == 1:
            return Quote(Standing.FOUND, next(iter(wide)))
        chosen = self._chosen_by([*wide.values()], claim)
        return Quote(Standing.FOUND, self.widened(self.cut(*chosen or places[0])), certain=chosen is not None)

    def _chosen_by(self, found: Sequence[_Range], claim: str) -> _Range | None:
        """The place in whose sentence clearly more of the claim stands than in any other's, or None."""
        header = f"{header_of(self.passage, self.page_text)} " if self.is_table else ""
        language, stated = self.passage.language, units(self.passage, self.page_text)
        held_by = (frozenset(terms(header + unit.text, language)) for unit in stated)
        sentences = list(zip(self.units, held_by, strict=True))
        counts = Counter(term for _, held in sentences for term in held)
        weights = {term: math.log(1 + len(sentences) / max(1, counts[term])) for term in content_terms(claim, language)}
        total, shares = math.fsum(weights.values()) or 1.0, list[float]()
        for one in found:
            spans = self.cut(*one)
            held = frozenset[str]().union(*(own for place, own in sentences if overlaps(place, spans)))
            shares.append(math.fsum(weight for term, weight in weights.items() if term in held) / total)
        best, second = sorted(shares, reverse=True)[:2]
        return found[shares.index(best)] if best - second >= _CLEARLY else None

    def widened(self, spans: Sequence[Span]) -> tuple[Evidence, ...]:
        """The sentences that hold any of these stretches, following ones as one; of a table, headed rows."""
        passage = self.passage
        around = [one for unit in self.units if overlaps(unit, spans) for one in unit]
        if self.is_table:
            rows = [evidence_of(passage, span, self.page_text) for span in around or spans]
            header = [one for one in passage.header if not overlaps([one], around or spans)]
            return tuple(replace(row, spans=(*row.spans, *header)) for row in rows)
        return tuple(evidence_of(passage, span, self.page_text) for span in self._joined([*around, *spans]))

    def _joined(self, spans: Iterable[Span]) -> list[Span]:
        """These stretches in order, but blank ones; what overlaps, or has blanks between, is one."""
        joined: list[Span] = []
        for span in sorted(spans, key=lambda one: (one.page, one.start)):
            text = self.page_text(self.passage.document, span.page)
            last = joined[-1] if joined else None
            if last and last.page == span.page and not text[last.end : span.start].strip():
                joined[-1] = replace(last, end=max(last.end, span.end))
            elif text[span.start : span.end].strip():
                joined.append(span)
        return joined


def _occurrences(part: str, text: str) -> list[_Range]:
    """Every place of a text in another one, both in reading form, that neither begins nor ends inside a word."""
    found = [(at, at + len(part)) for at in places(part, text)]
    inside = _inside_words(text) if found else frozenset()
    return [place for place in found if not inside.intersection(place)]


def _inside_words(text: str) -> frozenset[int]:
    """The offsets at which no quote begins or ends: "1 day" does not stand in "21 days"."""
    return frozenset(at for word in words(text) for at in range(word.start + 1, word.end) if not unspaced(text, at))


def _forms(quote: str) -> list[str]:
    """The forms in which a quote is looked for: as written, and without citation marks."""
    written = (text.strip(_QUOTATION) for text in (quote, strip_marks(quote)))
    return list(dict.fromkeys(form for text in written if _proves(form := normalise(text).text.translate(_FOLD))))


def _proves(text: str) -> bool:
    return len(words(text)) >= MIN_WORDS or sum(unspaced(text, at) for at in range(len(text))) >= _MIN_CHARS

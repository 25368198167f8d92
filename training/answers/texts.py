"""Labelled questions with the texts that answer them and those that nearly do, for the answerability model. Not part of the product.

A row has `question`, `context` and `answers`, or `question`, `units` and `gold`, the indexes of the units that answer; `lang`, `source`,
and where known `title`, `answerable` and `context_lang`. The sentences of a context are cut by the product. One that holds an answer is a
yes. A no is a sentence of the same context, or of any other context of the same source, that has many words of the question and no
answer. Contexts are held out whole.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from rag_core.evaluation.labelled import holds_answer
from rag_core.language import content_terms, sentences, terms
from training.answers.changed import CHANGED_IN, changed
from training.files import SEED, asking, split_of

HELD = 0.02  # share of the contexts that are held out
MOST_GOLD, LIKEST, ELSEWHERE = 4, 5, 5  # sentences of a question that are kept, at most, likest first
RAREST, LISTED, LOOKED_AT = 4, 400, 14  # words of a question that others are looked up by; sentences a word is listed with; looked at
TEMPLATES = ("policyqa", "house-rules")  # other contexts answer their questions as often as not
CHANGED = 0.5  # share of the answered questions that are also asked in a form that nothing answers
RUN, SHARED = 8, 2  # words in a run; runs that two texts share if one is taken from the other


@dataclass(frozen=True)
class Context:
    """A text by its sentences, with the index terms of each."""

    units: tuple[str, ...]
    terms: tuple[frozenset[str], ...]
    title: str
    language: str


@dataclass(frozen=True)
class Gold:
    """A sentence that answers, by its place in its context, and the characters of the answer; (-1, -1) where it does not stand whole."""

    unit: int
    start: int
    end: int


@dataclass(frozen=True)
class Asked:
    """A question about one context. `likest` are sentences there, `elsewhere` (context, sentence): none of them answers."""

    question: str
    context: int
    gold: tuple[Gold, ...]
    likest: tuple[int, ...]
    elsewhere: tuple[tuple[int, int], ...]
    source: str
    held: bool
    changed: bool = False


class Runs:
    """Runs of words of some texts, to tell whether another text was taken from them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._known = {run for text in texts for run in self._runs(text)}

    @staticmethod
    def _runs(text: str) -> set[str]:
        words = re.findall(r"\w+", text.lower())
        return {" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}

    def share(self, text: str) -> bool:
        """Whether so many runs of the text are known that it is taken from them."""
        return len(self._runs(text) & self._known) >= SHARED


@dataclass
class Texts:
    """All contexts of some rows, and the questions about them."""

    contexts: list[Context] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    @classmethod
    def of(cls, found: Sequence[dict[str, Any]], apart: Runs | None = None, seed: int = SEED) -> Texts:
        """The contexts of the rows, but for those that share runs of words with the texts that have to stay apart."""
        made, places = cls(), dict[str, int]()
        for row in found:
            key = context_key(row)
            if key not in places:
                places[key] = -1 if apart and apart.share(key) else len(made.contexts)
                if places[key] >= 0:
                    made.contexts.append(_context(row))
        kept = [row for row in found if places[context_key(row)] >= 0]
        groups: dict[tuple[str, str], _Group] = defaultdict(lambda: _Group(made.contexts))
        for row in kept:
            groups[row["source"], language_of(row)].add(places[context_key(row)])
        draw = random.Random(seed)
        for row in kept:
            at = places[context_key(row)]
            made.asked += _asked(row, at, groups[row["source"], language_of(row)], draw)
        return made

    def joined(self, other: Texts) -> Texts:
        """These and other ones."""
        at = len(self.contexts)
        moved = (
            replace(one, context=one.context + at, elsewhere=tuple((context + at, unit) for context, unit in one.elsewhere))
            for one in other.asked
        )
        return Texts([*self.contexts, *other.contexts], [*self.asked, *moved])


@dataclass
class _Group:
    """The contexts of one source in one language, with how rare each word is among their sentences, and where it stands."""

    every: list[Context]
    contexts: dict[int, None] = field(default_factory=dict)  # in the order they came, each once

    def add(self, context: int) -> None:
        self.contexts[context] = None

    @cached_property
    def rarity(self) -> dict[str, float]:
        held = Counter(term for at in self.contexts for unit in self.every[at].terms for term in unit)
        total = sum(len(self.every[at].units) for at in self.contexts)
        return {term: math.log(1 + total / n) for term, n in held.items()}

    @cached_property
    def listed(self) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for at in self.contexts:
            for place, unit in enumerate(self.every[at].terms):
                for term in unit:
                    if len(found[term]) < LISTED:
                        found[term].append((at, place))
        return found

    def likest(self, weight: dict[str, float], but: int) -> list[tuple[int, int]]:
        """Sentences of other contexts that share rare words with a question, likest first."""
        rare = sorted(weight, key=lambda term: -weight[term])[:RAREST]
        shared = Counter[tuple[int, int]]()
        for term in rare:
            for place in self.listed.get(term, ()):
                if place[0] != but:
                    shared[place] += weight[term]  # type: ignore[assignment]  # a sum of weights, not a count
        best = [place for place, _ in shared.most_common(LOOKED_AT)]
        return sorted(best, key=lambda place: -similarity(self.every[place[0]].terms[place[1]], weight))


def context_key(row: dict[str, Any]) -> str:
    """The context that a row is about, as one text."""
    return "\n".join(row["units"]) if "units" in row else str(row["context"])


def language_of(row: dict[str, Any]) -> str:
    """The language of a row's context, which may be another than its question's."""
    return str(row.get("context_lang", row["lang"]))


def similarity(unit: frozenset[str], weight: dict[str, float]) -> float:
    """The summed rarity of a question's words that stand in a sentence."""
    return sum(weight[term] for term in unit & weight.keys())


def _context(row: dict[str, Any]) -> Context:
    language, title = language_of(row), str(row.get("title") or "").replace("_", " ")
    text = context_key(row)
    units = row["units"] if "units" in row else [" ".join(text[start:end].split()) for start, end in sentences(text, language)]
    return Context(tuple(units), tuple(frozenset(terms(unit, language)) for unit in units), title, language)


def _gold(units: Sequence[str], row: dict[str, Any]) -> list[Gold]:
    answers = [answer for answer in row.get("answers", ()) if answer]
    places = row["gold"] if "gold" in row else [at for at, unit in enumerate(units) if answers and holds_answer(unit, answers)]
    found = []
    for at in places:
        start, answer = next(((n, a) for a in answers if (n := units[at].lower().find(a.lower())) >= 0), (-1, ""))
        found.append(Gold(at, start, start + len(answer) if answer else -1))
    return found


def _asked(row: dict[str, Any], at: int, group: _Group, draw: random.Random) -> Iterator[Asked]:
    context = group.every[at]
    gold = _gold(context.units, row)
    answerable = bool(row.get("answerable", gold))
    if not context.units or (answerable and not gold):  # an answer that stands across two sentences
        return
    asked = content_terms(row["question"], row["lang"]) or terms(row["question"], row["lang"])
    weight = {term: group.rarity.get(term, 0.0) for term in asked}
    like = [similarity(unit, weight) for unit in context.terms]
    gold = sorted(gold, key=lambda one: -like[one.unit])[:MOST_GOLD] if answerable else []
    answering = {one.unit for one in gold}
    likest = sorted((n for n in range(len(like)) if n not in answering), key=lambda n: -like[n])[:LIKEST]
    elsewhere: list[tuple[int, int]] = []
    if row["source"] not in TEMPLATES:
        far = group.likest(weight, at)
        answers = row.get("answers", ())
        elsewhere = [place for place in far if not (answers and holds_answer(group.every[place[0]].units[place[1]], answers))][:ELSEWHERE]
    source, held = f"{row['source']} {row['lang']}", split_of(context_key(row), HELD) == "held"
    yield Asked(asking(row["question"]), at, tuple(gold), tuple(likest), tuple(elsewhere), source, held)
    may_change = gold and "units" not in row and row["source"] not in TEMPLATES and row["lang"] == context.language
    if may_change and row["lang"] in CHANGED_IN and draw.random() < CHANGED:
        other = changed(row["question"], " ".join(context.units), context.units[gold[0].unit], row["lang"], draw)
        if other:
            near = (*(one.unit for one in gold[:2]), *likest[:1])
            yield Asked(asking(other), at, (), near, (), f"{source} changed", held, changed=True)

"""Pairs of a question with a text as tokens, drawn anew each time round, for the answerability model. Not part of the product.

Each question gives a sentence that answers it, sentences near to that do not, and sometimes whole contexts. What of each is drawn by
chance, so a network that goes through the questions several times does not see the same pairs again.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from tokenizers import Tokenizer

from rag_core.adapters.embedding.pair_models import ANSWERABILITY_TOKENS
from rag_core.compression.selection import MARK
from training.answers.mined import Read
from training.answers.texts import Asked, Context, Texts
from training.cross_encoder import tokenizer

QUESTION, SENTENCE, PASSAGE, MINED = (
    64,
    128,
    ANSWERABILITY_TOKENS,
    168,
)  # tokens at most: of a question, of a pair with a sentence, a context, a mined text
TITLED = 0.6  # share of the sentences that are read with the title of their article
FIRST = 0.85  # share of the yes's that are the likest of the sentences that answer
OTHER = 0.5  # share of the answered questions with a no drawn from all sentences of the context
FAR = 0.8  # share of the answered questions with a no of another context
WHOLE, WHOLE_CHANGED = 0.3, 0.12  # share of the questions that are paired with a whole context, and of changed ones
MAX_UNITS = 25  # in a context that is read whole
UNANSWERED = 2  # sentences of a question without an answer; of a changed one half as many
SOONER, FARTHER = 1.0, 0.6  # rates of the exponential draws that prefer what is likest
READ_YES, READ_NO = 2, 4  # mined texts of a question at most; without a yes half as many no's
POOL = 5461  # questions whose pairs are sorted by length together; about 16,000 pairs
STEP = 8  # tokens that lengths are rounded up to
CHANGED_COUNTS = 0.35  # a changed question, beside the one that people asked
MANY, FADING = 20_000, 0.35  # questions of a source above which each counts less, and how fast


@dataclass(frozen=True)
class Pair:
    """Token ids, where the text begins, the answer's first and last token or (-1, -1), whether it answers, and the source's name."""

    ids: list[int]
    text_at: int
    span: tuple[int, int]
    answers: bool
    source: str


class Tokens:
    """Token ids of texts, each tokenised once, without special tokens."""

    def __init__(self) -> None:
        self._tokenizer: Tokenizer = tokenizer(10**6)
        self._tokenizer.encode_special_tokens = True
        self._known: dict[str, list[int]] = {}
        self.start, self.end = self._tokenizer.encode("").ids
        self.mark = self.of(MARK)

    def add(self, texts: Iterable[str]) -> None:
        """Tokenise many at once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for text, one in zip(new, self._tokenizer.encode_batch(new, add_special_tokens=False), strict=True):
            self._known[text] = one.ids

    def of(self, text: str) -> list[int]:
        """The ids of one text."""
        if text not in self._known:
            self.add([text])
        return self._known[text]

    def span(self, text: str, start: int, end: int) -> tuple[int, int]:
        """The first and last token of some characters; (-1, -1) where there are none."""
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets if start >= 0 else []
        within = [at for at, (left, right) in enumerate(offsets) if right > start and left < end]
        return (within[0], within[-1]) if within else (-1, -1)


class Draws:
    """Draws pairs of the questions, by `draw`."""

    def __init__(self, texts: Texts, read: Sequence[Read], tokens: Tokens, often: dict[str, float]) -> None:
        self.texts, self.tokens = texts, tokens
        tokens.add(unit for context in texts.contexts for unit in context.units)
        every: list[Asked | Read] = [*texts.asked, *read]
        tokens.add(one.question for one in every)
        tokens.add(text for one in read for text, _, _ in one.texts)
        self.spans = {
            (id(one), gold.unit): tokens.span(texts.contexts[one.context].units[gold.unit], gold.start, gold.end)
            for one in texts.asked for gold in one.gold
        }  # fmt: skip
        self.train: list[Asked | Read] = [one for one in every if not one.held]
        self.held: list[Asked | Read] = [one for one in every if one.held and not (isinstance(one, Asked) and one.changed)]
        count: dict[str, int] = {}
        for one in self.train:
            count[one.source] = count.get(one.source, 0) + 1
        self._weights = list(accumulate(self._counts(one, count, often) for one in self.train))

    @staticmethod
    def _counts(one: Asked | Read, count: dict[str, int], often: dict[str, float]) -> float:
        plain: float = (MANY / max(count[one.source], MANY)) ** FADING * often.get(one.source, 1.0)
        return plain * (CHANGED_COUNTS if isinstance(one, Asked) and one.changed else 1.0)

    def pairs(self, one: Asked | Read, draw: random.Random) -> list[Pair]:
        """The pairs of one question, of its context or of what the product read for it."""
        if isinstance(one, Read):
            return self._read(one, draw)
        own = self.texts.contexts[one.context]
        found = [*self._answered(one, own, draw)] if one.gold else [*self._unanswered(one, own, draw)]
        if draw.random() < (WHOLE_CHANGED if one.changed else WHOLE) and len(own.units) <= MAX_UNITS:
            found.append(self._whole(one, own, bool(one.gold)))
            other = self.texts.contexts[one.elsewhere[0][0]] if one.gold and one.elsewhere else None
            if other and len(other.units) <= MAX_UNITS:
                found.append(self._whole(one, other, False))
        return found

    def batches(self, tokens: int, draw: random.Random) -> Iterator[list[Pair]]:
        """Batches of about so many tokens for ever; pairs of about one length share a batch."""
        while True:
            pool = [pair for one in draw.choices(self.train, cum_weights=self._weights, k=POOL) for pair in self.pairs(one, draw)]
            yield from cut(sorted(pool, key=lambda pair: len(pair.ids)), tokens, draw)

    def _answered(self, one: Asked, own: Context, draw: random.Random) -> Iterator[Pair]:
        gold = one.gold[0] if draw.random() < FIRST else draw.choice(one.gold)
        yield self._sentence(one, own, gold.unit, draw, gold=True)
        near = set[int]()
        if one.likest:
            near.add(one.likest[min(len(one.likest) - 1, int(draw.expovariate(SOONER)))])
        answering = {gold.unit for gold in one.gold}
        rest = [at for at in range(len(own.units)) if at not in answering and at not in one.likest]
        if rest and draw.random() < OTHER:
            near.add(draw.choice(rest))
        elif len(one.likest) > 1:
            near.add(draw.choice(one.likest))
        yield from (self._sentence(one, own, at, draw) for at in sorted(near))
        if one.elsewhere and draw.random() < FAR:
            context, at = one.elsewhere[min(len(one.elsewhere) - 1, int(draw.expovariate(FARTHER)))]
            yield self._sentence(one, self.texts.contexts[context], at, draw)

    def _unanswered(self, one: Asked, own: Context, draw: random.Random) -> Iterator[Pair]:
        times = UNANSWERED // 2 if one.changed else UNANSWERED
        drawn = {one.likest[min(len(one.likest) - 1, int(draw.expovariate(SOONER)))] for _ in range(times if one.likest else 0)}
        yield from (self._sentence(one, own, at, draw) for at in sorted(drawn))

    def _sentence(self, one: Asked, of: Context, unit: int, draw: random.Random, *, gold: bool = False) -> Pair:
        """A sentence as `rag_core.compression.selection.reading` has it: itself, then the title, then the sentence before."""
        ids = self.tokens.of(of.units[unit])
        if of.title and draw.random() < TITLED:
            ids = [*ids, *self.tokens.mark, *self.tokens.of(of.title)]
        if unit:
            ids = [*ids, *self.tokens.mark, *self.tokens.of(of.units[unit - 1])]
        span = self.spans[id(one), unit] if gold else (-1, -1)
        return self._joined(one, ids, SENTENCE, gold, span)

    def _whole(self, one: Asked, of: Context, answers: bool) -> Pair:
        ids, span = list[int](), (-1, -1)
        for at, unit in enumerate(of.units):
            if answers and at == one.gold[0].unit:
                first, last = self.spans[id(one), at]
                span = (len(ids) + first, len(ids) + last) if first >= 0 else span
            ids += self.tokens.of(unit)
        return self._joined(one, ids, PASSAGE, answers, span)

    def _read(self, one: Read, draw: random.Random) -> list[Pair]:
        yes, no = ([text for text in one.texts if text[2] is label] for label in (True, False))
        drawn = draw.sample(yes, min(READ_YES, len(yes))) + draw.sample(no, min(READ_NO if yes else READ_NO // 2, len(no)))
        return [
            self._joined(one, self.tokens.of(text), PASSAGE if kind == "passage" else MINED, answers, (-1, -1))
            for text, kind, answers in drawn
        ]

    def _joined(self, one: Asked | Read, text: list[int], most: int, answers: bool, span: tuple[int, int]) -> Pair:
        head = [self.tokens.start, *self.tokens.of(one.question)[:QUESTION], self.tokens.end]
        text = text[: most - len(head) - 1]
        whole = 0 <= span[0] and span[1] < len(text)
        moved = (span[0] + len(head), span[1] + len(head)) if whole else (-1, -1)
        return Pair([*head, *text, self.tokens.end], len(head), moved, answers, one.source)


def cut(pairs: Sequence[Pair], tokens: int, draw: random.Random) -> list[list[Pair]]:
    """Batches of at most so many tokens, filled up to the longest of each, in any order; `pairs` are sorted by length."""
    found: list[list[Pair]] = [[]]
    for pair in pairs:
        if found[-1] and length(pair) * (len(found[-1]) + 1) > tokens:
            found.append([])
        found[-1].append(pair)
    draw.shuffle(found)
    return found


def length(pair: Pair) -> int:
    """Tokens of a pair, rounded up."""
    return -(-len(pair.ids) // STEP) * STEP


@dataclass(frozen=True)
class Arrays:
    """A batch: ids and kinds of shape (n, tokens), mask likewise, first and last token of the answer (n,) or -1, labels (n,)."""

    ids: np.ndarray
    kinds: np.ndarray
    mask: np.ndarray
    first: np.ndarray
    last: np.ndarray
    answers: np.ndarray

    @classmethod
    def of(cls, batch: Sequence[Pair]) -> Arrays:
        """The pairs of a batch, filled up to the longest."""
        width = max(map(length, batch))
        ids, kinds, mask = (np.zeros((len(batch), width), dtype=np.int64) for _ in range(3))
        for row, pair in enumerate(batch):
            ids[row, : len(pair.ids)] = pair.ids
            kinds[row, pair.text_at : len(pair.ids)] = 1
            mask[row, : len(pair.ids)] = 1
        first, last = (np.array([pair.span[side] for pair in batch]) for side in (0, 1))
        return cls(ids, kinds, mask, first, last, np.array([pair.answers for pair in batch], dtype=np.float32))

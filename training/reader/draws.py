"""The windows that the reader is shown, drawn anew each time: a part of its place, often changed so that nothing there
answers.

Of the questions that are answered, some lose the sentence that answers, some are asked of a text alike, some ask for
another number, name or the opposite, and some get a heading or a sentence beside theirs that takes back what it says,
or one that does not.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag_core.adapters.embedding.e5_file import E5File
from rag_core.adapters.embedding.reader import HEADING, QUESTION, UNIT, WINDOW
from training.reader.changed import changed
from training.reader.rows import Asked, Context, Rows
from training.reader.typed import typed

# shares of the answered questions: without the sentence that answers, of another text, changed, with what takes back,
# with what does not
REMOVED, ELSEWHERE, CHANGED, UNDONE, HARMLESS = 0.14, 0.15, 0.10, 0.12, 0.10
TYPED = 0.15  # share of all questions that are read as people type them
TYPICAL, SPREAD, LEAST = 150, 0.5, 24  # tokens of a window: log-normal about the first, and so many more
TITLED = 0.85  # share that are read with the heading
OTHERS = 4  # texts alike, of which one is read
RARE = 60  # texts of a language at most that hold a token by which texts are found
POOL = 400  # questions whose windows are sorted by length together

Ids = list[int]
Undoing = dict[str, dict[str, list[str]]]  # language -> before, after, heading, harmless_before, … -> wordings


@dataclass(frozen=True)
class Window:
    """Token ids, where the place begins, for each unit its tokens and whether it answers, and the value's first and
    last token.

    (0, 0) where nothing answers, (-1, -1) where the value does not stand whole.
    """

    ids: Ids
    text_at: int
    units: list[tuple[int, int]]
    answers: list[bool]
    value: tuple[int, int]


@dataclass
class Draws:
    """Draws windows.

    Args:
        rows: the questions.
        file: of the embedded model, with its tokenizer.
        undoing: wordings that take back, and such that do not.
        draw: of the whole training.
    """

    rows: Rows
    file: E5File
    undoing: Undoing
    draw: random.Random

    def __post_init__(self) -> None:
        _, self.start, self.end, *_ = self.file.special
        self._bar = self._ids("|")[-1]
        self._known: dict[Context, list[Ids]] = {}
        self._holding: dict[
            str, dict[int, list[Context]]
        ] = {}  # language -> token -> the texts that hold it, where few do
        self._titled: dict[tuple[str, str], list[Context]] = defaultdict(list)
        for context in self.rows.contexts:
            self._titled[context.language, context.title].append(context)
            of_language = self._holding.setdefault(context.language, defaultdict(list))
            for token in {token for unit in self._units(context) for token in unit}:
                of_language[token].append(context)
        for of_language in self._holding.values():
            for token in [token for token, texts in of_language.items() if len(texts) > RARE]:
                del of_language[token]

    def batches(self, tokens: int, weights: Sequence[float]) -> Iterator[list[Window]]:
        """Batches of at most so many tokens for ever; windows of about one length share a batch."""
        while True:
            drawn = self.draw.choices(self.rows.train, cum_weights=weights, k=POOL)
            found = sorted((one for asked in drawn if (one := self.window(asked)).units), key=lambda one: len(one.ids))
            batches: list[list[Window]] = [[]]
            for one in found:
                if batches[-1] and len(one.ids) * (len(batches[-1]) + 1) > tokens:
                    batches.append([])
                batches[-1].append(one)
            self.draw.shuffle(batches)
            yield from batches

    def window(self, asked: Asked, *, plain: bool = False) -> Window:
        """One question as it is read this time; `plain` as it is, for measuring."""
        context = asked.context
        careless = not plain and self.draw.random() < TYPED
        question = self._ids(typed(asked.question, asked.language, self.draw) if careless else asked.question)
        units = self._units(context)
        titled = plain or asked.whole or self.draw.random() < TITLED
        heading = self._ids(context.place)[:HEADING] if context.place and titled else []
        budget = 200 if plain else LEAST + int(math.exp(self.draw.gauss(math.log(TYPICAL), SPREAD)))
        if asked.whole:
            budget = WINDOW
        shared = [len(set(unit) & set(question)) + self.draw.random() for unit in units]
        likest = max(range(len(units)), key=lambda n: shared[n])
        none = dict[int, tuple[int, int] | None]()
        if not asked.spans:
            return self._cut(question, heading, units, none, budget, likest)
        main, chance = max(asked.spans, key=lambda n: shared[n]), 1.0 if plain else self.draw.random()
        if chance < REMOVED and len(units) > len(asked.spans):
            left = [unit for n, unit in enumerate(units) if n not in asked.spans]
            return self._cut(question, heading, left, none, budget, self.draw.randrange(len(left)))
        end = REMOVED + ELSEWHERE
        if REMOVED <= chance < end and (other := self._elsewhere(asked, question)):
            return self._cut(question, heading, self._units(other[0]), none, budget, other[1])
        if end <= chance < end + CHANGED:
            language = asked.language if asked.language == context.language else ""
            text = changed(asked.question, " ".join(context.units), context.units[main], language, self.draw)
            if text:
                return self._cut(self._ids(text), heading, units, none, budget, main)
        spans = {n: self._tokens(context.units[n], at) for n, at in asked.spans.items()}
        end += CHANGED
        wordings = self.undoing.get(context.language)
        if wordings and end <= chance < end + UNDONE + HARMLESS:
            return self._beside(question, heading, units, spans, budget, main, wordings, undone=chance < end + UNDONE)
        return self._cut(question, heading, units, spans, budget, main)

    def _beside(
        self,
        question: Ids,
        heading: Ids,
        units: Sequence[Ids],
        spans: dict[int, tuple[int, int] | None],
        budget: int,
        main: int,
        wordings: dict[str, list[str]],
        *,
        undone: bool,
    ) -> Window:
        """With a heading, a sentence before or one behind that takes back what the main sentence says, or does not."""
        kind = self.draw.choice(["before", "after", "heading"])
        said = self._ids(self.draw.choice(wordings[kind if undone else f"harmless_{kind}"]))
        if kind == "heading":
            both = [*heading[: max(0, HEADING - len(said))], *said]
            return self._cut(question, both, units, {} if undone else spans, budget, main)
        at = main if kind == "before" else main + 1
        moved = {n + (n >= at): span for n, span in spans.items() if not (undone and n == main)}
        main += kind == "before"
        return self._cut(question, heading, [*units[:at], said, *units[at:]], moved, budget, main, (at,))

    def _cut(
        self,
        question: Ids,
        heading: Ids,
        units: Sequence[Ids],
        spans: dict[int, tuple[int, int] | None],
        budget: int,
        centre: int,
        needed: tuple[int, ...] = (),
    ) -> Window:
        """The units around one, as many as the budget of tokens has room for; the first row of a table, and those
        beside it that are needed, with them.
        """
        low, high = min((centre, *needed)), max((centre, *needed))
        heads = [0] if self._bar in units[0] and self._bar in units[centre] else []
        size = sum(len(units[n]) + 1 for n in (*heads, *range(low, high + 1)))
        while near := [n for n in (low - 1, high + 1) if 0 <= n < len(units) and size + len(units[n]) < budget]:
            taken = self.draw.choice(near)
            size += len(units[taken]) + 1
            low, high = min(low, taken), max(high, taken)
        ids = [self.start, *question[:QUESTION], self.end]
        text_at = len(ids)
        ids += [self.end, *([*heading[:HEADING], self.end] if heading else [])]
        places, answers, value = list[tuple[int, int]](), list[bool](), (0, 0)
        for n in sorted({*heads, *range(low, high + 1)}):
            if not units[n] or len(ids) + len(units[n]) >= WINDOW:
                continue
            places.append((len(ids), len(ids) + len(units[n])))
            answers.append(n in spans)
            if n in spans and value == (0, 0):
                span = spans[n]
                value = (len(ids) + span[0], len(ids) + span[1]) if span else (-1, -1)
            ids += [*units[n], self.end]
        return Window(ids, text_at, places, answers, value)

    def _elsewhere(self, asked: Asked, question: Ids) -> tuple[Context, int] | None:
        """A text that holds none of the answers, and its sentence nearest to the question.

        It is one of those that share most rare tokens with the question, or with the text that answers it in another
        language; one of the same title where there is one.
        """
        context = asked.context
        sought = (
            question
            if asked.language == context.language
            else [token for unit in self._units(context) for token in unit]
        )
        shared: defaultdict[Context, float] = defaultdict(float)
        shared |= dict.fromkeys(self._titled[context.language, context.title] if context.title else (), 1.0)
        for token in set(sought):
            holding = self._holding[context.language].get(token, ())
            for other in holding:
                shared[other] += 1 / len(holding)
        holds: Callable[[str], bool] = lambda unit: any(answer.lower() in unit.lower() for answer in asked.answers)  # noqa: E731
        likest = sorted(shared, key=lambda one: -shared[one])[: OTHERS + 1]
        near = [one for one in likest if one is not context and not any(map(holds, one.units))]
        if not near:
            return None
        other = self.draw.choice(near)
        units = self._units(other)
        return other, max(range(len(units)), key=lambda n: len(set(sought).intersection(units[n])) + self.draw.random())

    def _ids(self, text: str) -> Ids:
        return self.file.ids([text])[0]

    def _units(self, context: Context) -> list[Ids]:
        if context not in self._known:
            self._known[context] = [one[:UNIT] for one in self.file.ids(context.units)]
        return self._known[context]

    def _tokens(self, text: str, at: tuple[int, int] | None) -> tuple[int, int] | None:
        """The first and last token of some characters."""
        if at is None:
            return None
        places = self.file.ids_with_places([text])[1][0]
        within = [n for n, (start, end) in enumerate(places[:UNIT]) if end > at[0] and start < at[1]]
        return (within[0], within[-1]) if within else None

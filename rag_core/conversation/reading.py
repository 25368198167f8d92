"""A question of a conversation in its parts: what opens it, what it asks with, its periods, its names, its pronoun, and
the thing that a pronoun stands for in the question before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from rag_core.facts.sentence.lexicon import lexicon
from rag_core.facts.sentence.names import codes, names
from rag_core.language import LANGUAGES, FollowUpWords, Word, fold, grammar, words

MAX_WORDS = 40  # a longer question is not taken apart; chosen: a question has about twelve
_YEAR = regex.compile(r"(?:19|20)\d\d|fy\d{2}(?:\d\d)?")
_QUARTER = regex.compile(r"[qh]\d|\dq(?:\d\d(?:\d\d)?)?")
_NUMBER = regex.compile(r"\d{1,2}")
_END = regex.compile(r"[\s?？؟!.…]*$")


@dataclass(frozen=True, slots=True)
class Span:
    """Words of a question, from `start` to before `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Period(Span):
    """A stretch of words that names a time.

    `year` is where its year begins with its words, `end` where it has none; `bound` is where its preposition begins, or
    itself. `inside` says that it stands before a noun ("the 2024 policies").
    """

    year: int
    bound: int
    inside: bool = False


@dataclass(frozen=True, slots=True)
class Asking(Span):
    """The question phrase. `kind` is adverb ("when"), counted ("how many", before `noun`) or other."""

    kind: str
    noun: Span


class Said:
    """A question with its words. `lead` says how many of them open it and ask nothing."""

    def __init__(self, text: str, language: str, info: FollowUpWords) -> None:
        self.text, self.language, self.info = " ".join(text.split()), language, info
        self.mark = _END.search(self.text).group().strip()
        self.tokens: Sequence[Word] = words(self.text)
        self.folded = tuple(fold(word.text) for word in self.tokens)
        self.lead = self.phrase(0, info.leads)

    def __len__(self) -> int:
        return len(self.tokens)

    def phrase(self, at: int, phrases: Iterable[str]) -> int:
        """How many words the longest of these phrases has that stands there; 0 for none."""
        found = 0
        for phrase in phrases:
            parts = tuple(phrase.split())
            if len(parts) > found and self.folded[at : at + len(parts)] == parts:
                found = len(parts)
        return found

    def said(self, start: int, end: int) -> str:
        return self.text[self.tokens[start].start : self.tokens[end - 1].end] if start < end else ""

    def inner(self, start: int, end: int) -> str:
        """The same, as it stands within a question: a preposition that opens one loses its capital."""
        text = self.said(start, end)
        return text[:1].lower() + text[1:] if start == 0 and self.group(0) else text

    def is_part_of_period(self, at: int) -> bool:
        """Whether a word is of a period, or an article."""
        return self.folded[at] in self.info.articles or self._kind(at) not in ("", "joint")

    def put(self, span: Span, text: str) -> str:
        """The question with these words replaced."""
        return self.text[: self.tokens[span.start].start] + text + self.text[self.tokens[span.end - 1].end :]

    def is_capital(self, at: int) -> bool:
        """Whether a word has a capital, or a digit, as names and codes have."""
        text = self.tokens[at].text
        return text[0].isupper() or text[0].isdigit()

    def group(self, at: int) -> tuple[str, ...]:
        """The prepositions of one meaning of which this word is one; none where it is none."""
        return next((group for group in self.info.prepositions if self.folded[at] in map(fold, group)), ())

    def is_content(self, at: int) -> bool:
        """Whether a word says something: no question word, stop word, preposition or auxiliary."""
        known = LANGUAGES[self.language].function_words
        return not (self.tokens[at].text.lower() in known or self.folded[at] in self.info.auxiliaries or self.group(at))

    def asks(self, at: int) -> bool:
        return self.tokens[at].text.lower() in LANGUAGES[self.language].question_words

    @cached_property
    def asking(self) -> Asking | None:
        for at in range(len(self)):
            adverb, counted = (
                self.phrase(at, self.info.adverbs),
                self.phrase(at, (*self.info.counted, *self.info.no_noun)),
            )
            if counted and counted >= adverb:
                return self._counted(at, at + counted)
            if adverb:
                end = at + adverb
                open_ended = not self.info.behind and any(
                    one.startswith(f"{' '.join(self.folded[at:end])} ") for one in self.info.adverbs
                )
                high = open_ended and end < len(self) and self.folded[end] not in self.info.auxiliaries  # "how high is"
                return Asking(at, end, "other" if high else "adverb", Span(end, end))
            if self.asks(at):
                return Asking(at, at + 1, "other", Span(at + 1, at + 1))
        return None

    def _counted(self, at: int, end: int) -> Asking:
        """Its noun reaches to the verb; a phrase that a verb follows has none."""
        stop = next((i for i in range(end, len(self)) if self._is_verb(i, end)), len(self))
        alone = stop == end and not self.phrase(at, self.info.no_noun)
        return Asking(
            at, end, "other" if alone and end < len(self) else "counted", Span(end, stop if stop < len(self) else end)
        )

    def _is_verb(self, at: int, after: int) -> bool:
        if self.folded[at] in self.info.auxiliaries or self.folded[at] in self.info.counted_pronouns:
            return True
        finite = self.info.finite_verbs
        return at > after and finite is not None and finite.fullmatch(self.folded[at]) is not None

    @cached_property
    def verb(self) -> int:
        """Where the first auxiliary behind the question phrase stands; -1 for none."""
        start = self.asking.end if self.asking else 0
        return next((at for at in range(start, len(self)) if self.folded[at] in self.info.auxiliaries), -1)

    @cached_property
    def periods(self) -> tuple[Period, ...]:
        kinds = [self._kind(at) for at in range(len(self))]
        found, at = [], 0
        while at < len(self):
            if not kinds[at] or kinds[at] == "joint":
                at += 1
                continue
            end = at
            while end < len(self) and kinds[end]:
                end += 1
            while kinds[end - 1] == "joint":
                end -= 1
            here, length = kinds[at:end], end - at
            bound = at - 1 if at and self.group(at - 1) and not self.info.behind else at
            articles = self.info.articles | self.info.inflected_articles
            if bound == at and at > 1 and self.folded[at - 1] in articles and self.group(at - 2):
                bound = at - 2
            named = {"year", "quarter"} & set(here) or ({"head", "years"} & set(here) and length > 1)
            if named or ("month" in here and (length > 1 or bound < at)):
                inside = end < len(self) and self.is_content(end) and bound in (at, at - 2)
                found.append(Period(at, end, self._year_of(kinds, at, end), bound, inside))
            at = end
        return tuple(found)

    def _kind(self, at: int) -> str:
        if _NUMBER.fullmatch(self.folded[at]):
            near = (self._named(i) for i in (at - 1, at + 1) if 0 <= i < len(self))
            return "number" if {"head", "month", "years"} & set(near) else ""
        return self._named(at)

    def _named(self, at: int) -> str:
        word = self.folded[at]
        if _YEAR.fullmatch(word):
            return "year"
        if _QUARTER.fullmatch(word):
            return "quarter"
        for kind, known in (("years", self.info.years), ("head", self.info.period_heads), ("word", self.info.periods)):
            if word in known:
                return kind
        names = lexicon(self.language)
        if word in names.months and (not names.facts.months_capitalised or self.tokens[at].text[0].isupper()):
            return "month"
        return "joint" if word in self.info.linked else ""

    def _year_of(self, kinds: Sequence[str], start: int, end: int) -> int:
        at = next((i for i in range(start, end) if kinds[i] == "year"), end)
        while start < at < end and kinds[at - 1] in ("years", "joint"):
            at -= 1
        return at

    @cached_property
    def names(self) -> tuple[Span, ...]:
        """Names and codes that are no period, each with its article."""
        taken = [False] * len(self)
        for period in self.periods:
            taken[period.start : period.end] = [True] * (period.end - period.start)
        found: list[Span] = []
        for one in sorted((*codes(self.text), *names(self.text, self.language)), key=lambda one: (one.start, -one.end)):
            at = [i for i, word in enumerate(self.tokens) if word.start < one.end and word.end > one.start]
            if at and self.folded[at[0]] in self.info.auxiliaries:  # "May I park here?"
                continue
            if at and not any(taken[at[0] : at[-1] + 1]):
                taken[at[0] : at[-1] + 1] = [True] * len(at)
                article = at[0] > 0 and self.folded[at[0] - 1] in self.info.articles
                found.append(Span(at[0] - article, at[-1] + 1))
        return tuple(found)

    @cached_property
    def pronoun(self) -> int:
        """The pronoun for something named before: right behind the verb, or one word away; -1 for none."""
        empty = self.info.empty_pronouns
        if empty is not None and empty.search(" ".join(self.folded)):
            return -1
        at = [i for i in range(len(self)) if self._is_pronoun(i)]
        if len(at) != 1:
            return -1
        few = sum(map(self.is_content, range(len(self)))) <= 1
        first = at[0] == self.lead or (self.verb >= 0 and at[0] == self.verb + 1)
        return at[0] if few or first else -1

    def _is_pronoun(self, at: int) -> bool:
        word = self.folded[at]
        if word not in self.pronouns or (at > 0 and self.tokens[at].text[0].isupper()):
            return False
        of_a_noun = self.info.behind and self.pronouns[word] == "{}" and at + 1 < len(self) and self.is_content(at + 1)
        return not of_a_noun  # "this chapter"

    @property
    def pronouns(self) -> dict[str, str]:
        """How each pronoun is replaced, by its folded form."""
        return {fold(word): form for word, form in self.info.pronouns.items()}


MAX_THING_WORDS = 6  # its name; chosen


def thing_meant(old: Said, pronoun: str) -> tuple[Span, bool]:
    """The thing that a pronoun stands for: the only name, the subject, or what was asked about."""
    subjects = [one for one in old.names if one.start == old.verb + 1]
    if len(old.names) == 1 or subjects:
        return _whole(old, (subjects or list(old.names))[0]), True
    if old.names:
        return old.names[0], False
    nowhere = Span(0, 0)
    if old.asking is None:
        return nowhere, False
    if old.info.behind:
        end = min([old.asking.start, *(one.start for one in old.periods)])
        return Span(old.lead, end), 0 < end - old.lead <= 3 and not old.group(end - 1)
    if grammar(old.language).nouns_capitalised:
        return _german_thing(old, pronoun)
    start = old.verb + 1
    if old.verb < 0 or start >= len(old) or old.folded[start] not in old.info.articles:
        return nowhere, False
    end = next((at for at in range(start + 1, len(old)) if _ends_thing(old, at)), len(old))
    if old.folded[old.verb] in old.info.copulas:
        return Span(start, end), end - start <= MAX_THING_WORDS and end == _last(old) and asks_of_thing(old)
    behind = old.folded[end] if end < len(old) else ""
    last = end if behind in old.info.auxiliaries else end - 1  # its verb stands before
    heads = [at for at in range(start + 1, last) if old.folded[at] not in old.info.articles]
    plain = len(heads) == 1 or bool(old.info.linked & set(old.folded[start:last])) or behind in old.info.auxiliaries
    return (Span(start, last) if last > start + 1 else nowhere), plain and 1 < last - start <= MAX_THING_WORDS


def _whole(old: Said, name: Span) -> Span:
    """The name with its noun before a verb: "the X.Org board" of "does the X.Org board have"."""
    end = name.end
    while end + 1 < len(old) and old.is_content(end) and old.folded[end + 1] in old.info.auxiliaries:
        end += 1
    return Span(name.start, end)


def _german_thing(old: Said, pronoun: str) -> tuple[Span, bool]:
    """An article with adjectives, noun and a genitive; it tells what the pronoun stands for."""
    articles = {fold(one): set(map(fold, words)) for one, words in old.info.agreeing.items()}.get(pronoun, set())
    found = []
    for at in range(len(old)):
        end = at + 1
        while end < len(old) and not old.tokens[end].text[0].isupper() and old.is_content(end):
            end += 1
        if old.folded[at] in old.info.articles and end < len(old) and old.tokens[end].text[0].isupper():
            end += 1
            if end + 1 < len(old) and old.folded[end] in ("des", "der") and old.tokens[end + 1].text[0].isupper():
                end += 2
            found.append(Span(at, end))
    fits = [one for one in found if old.folded[one.start] in articles and not (one.start and old.group(one.start - 1))]
    return (fits[0], len(fits) == 1) if fits else (Span(0, 0), False)


def _ends_thing(old: Said, at: int) -> bool:
    word = old.folded[at]
    parts = (old.group(at) and word not in old.info.linked) or word in old.info.auxiliaries
    return bool(
        parts or (word in old.info.articles and old.folded[at - 1] not in old.info.linked) or old.asks(at)
    ) or any(one.bound == at for one in old.periods)


def _last(old: Said) -> int:
    """Where the words end, without a period behind them."""
    return old.periods[-1].bound if old.periods and old.periods[-1].end == len(old) else len(old)


def asks_of_thing(old: Said) -> bool:
    """Whether the question is of one thing ("What is the notice period"), so that its name ends it."""
    if old.asking is None or old.asking.kind != "other":
        return False
    end = old.asking.end
    return old.verb == end and old.folded[end] in old.info.copulas

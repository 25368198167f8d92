"""Finds acts that have another doer: the source has "the client's approval", and in the claim the supplier approves.

A noun names its doer beside it, a verb has a subject, a passive an agent. Who seeks an act from others is not who does it. A claim is
wrong where its doer is named in the evidence, and the evidence has the act done by somebody else, or has him ask for it. Acts, people and
the small words around them are listed per language; what cannot be read says nothing, and nothing follows from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

import regex

from rag_core.facts.differences.align import Sentence, read
from rag_core.language import LANGUAGES, fold, lemma
from rag_core.language.statement_words import ActRows

_MAX_TOKENS = 80  # words of a sentence; longer ones are tables or lists
_BEHIND = 4  # words from a noun to what joins its doer to it, as in "approval in writing from"
_BEFORE = 4  # words from a doer to its noun, as in "client's prior written approval"
_JOINED = 3  # words from a preposition to its noun
_NEAR = 6  # words between an act's noun and the verb that governs it
_BOUNDARY = regex.compile(r"[,;:|()\n–—]")


class Role(NamedTuple):
    """A part in an act: somebody does it, or (`does` is false) asks others for it."""

    act: str
    who: str
    does: bool


class Person(NamedTuple):
    """Somebody where he is named: words `start` to `end` of a sentence, half-open."""

    who: str
    start: int
    end: int


@dataclass(frozen=True)
class _Reading:
    """A sentence as it is read for its acts."""

    text: str
    sentence: Sentence
    rows: ActRows
    lang: str

    @cached_property
    def words(self) -> list[str]:
        return [token.folded for token in self.sentence.tokens]

    @cached_property
    def segments(self) -> list[int]:
        """The statement that each word is in: between commas, or behind an "and" or "when" that somebody follows."""
        found, tokens = [0], self.sentence.tokens
        for place, (token, after) in enumerate(pairwise(tokens), 1):
            begins = self._leads(place, self.rows.clauses) or (self._leads(place, self.rows.joins) and place not in self.lists)
            found.append(found[-1] + bool(_BOUNDARY.search(self.text, token.end, after.start) or begins))
        return found

    @cached_property
    def lists(self) -> set[int]:
        """Where an "and" joins two people: whose act it is, is not read then."""
        return {one.end for one in self.people if self._leads(one.end, self.rows.joins)}

    def _leads(self, place: int, words: Collection[str]) -> bool:
        """Whether one of some words stands at a place, and somebody close behind it."""
        said = place < len(self.words) and self.words[place] in words
        return said and any(place < one.start <= place + _JOINED for one in self.people)

    @cached_property
    def people(self) -> list[Person]:
        parties = [Person(one.level, one.start, one.end) for one in self.sentence.markers if one.kind == "party"]
        taken = {place for one in parties for place in range(one.start, one.end)}
        named = ((place, _person(word, self.lang)) for place, word in enumerate(self.words) if place not in taken)
        return sorted([*parties, *(Person(who, place, place + 1) for place, who in named if who)], key=lambda one: one.start)

    @cached_property
    def roles(self) -> tuple[tuple[Role, int], ...]:
        """The roles that it states, each with the place of the act."""
        return tuple(self._roles())

    def _roles(self) -> Iterator[tuple[Role, int]]:
        listed = {self.segments[at] for at in self.lists}
        for place, word in enumerate(self.words):
            if self.segments[place] in listed:
                continue
            if act := _act(self.rows.nouns, word):
                found = list(self._of_noun(place))
                yield from ((Role(act, who, does), place) for who, does in found)
                if found:
                    continue
            elif (act := _act(self.rows.deeds, word)) and (doer := self._of_deed(place)):
                yield Role(act, doer.who, True), place
                continue
            if (act := _act(self.rows.verbs, word)) and (doer := self._of_verb(place)):
                yield Role(act, doer.who, True), place

    def _of_noun(self, place: int) -> Iterator[tuple[str, bool]]:
        """Those who have to do with an act that is named by a noun, and whether they do it."""
        if self._any(self.rows.done_for):
            return
        doer = self._behind(place, self.rows.by) or self._behind(place, self.rows.of, beside=self.rows.beside) or self._before(place)
        if doer:
            yield doer.who, True
        if (verb := self._near(self.rows.sought, place)) is not None:
            asks = self._agent(verb) or self._subject(verb, doer)
            if asks and (not doer or asks.who != doer.who):
                yield asks.who, False
        elif not doer and (verb := self._governs(place)) is not None and (gives := self._agent(verb) or self._subject(verb, None)):
            yield gives.who, True

    def _of_deed(self, place: int) -> Person | None:
        """Who does an act that is named by a noun, where only "by" tells."""
        return self._behind(place, self.rows.by) or (self._agent(place) if self.rows.by_after else None)

    def _of_verb(self, place: int) -> Person | None:
        """Who does an act that is named by a verb, if that is certain."""
        if agent := self._agent(place):
            return agent
        passive = self._is_participle(place) and self._near(self.rows.passives, place) is not None
        doer = None if passive else self._subject(place, None)
        return None if doer and self._is_asked(place, doer) else doer

    def _agent(self, place: int) -> Person | None:
        """Who does it in a passive: behind "by", or in a form that needs none."""
        for one in self.people:
            if self.segments[one.start] != self.segments[place]:
                continue
            before = self.words[max(0, one.start - _JOINED + 1) : one.start]
            named = not self.rows.by.isdisjoint(before) or (one.end < len(self.words) and self.words[one.end] in self.rows.by_after)
            bare = self.rows.instrumental.fullmatch(self.words[one.end - 1]) and self.rows.not_subject.isdisjoint(before[-2:])
            if (named or bare) and (self._is_participle(place) or self._any(self.rows.asked)):
                return one
        return None

    def _subject(self, place: int, other: Person | None) -> Person | None:
        """The subject of a verb: in its part of the sentence, or in the one before."""
        able = [one for one in self.people if one is not other and self._can_be_subject(one)]
        if not able and self._any(self.rows.due):
            able = [one for one in self.people if one is not other and self._follows(one, self.rows.subject_if_due)]
        for segment in range(self.segments[place], -1, -1):
            here = [one for one in able if self.segments[one.start] == segment and (not self.rows.nearest or one.start < place)]
            if here:
                return here[-1] if self.rows.nearest else here[0]
        return None

    def _can_be_subject(self, one: Person) -> bool:
        before = [self.words[at] for at in (one.start - 1, one.start - 2) if at >= 0]
        article = bool(before) and before[0] in self.rows.articles
        joined = any(word in self.rows.not_subject for word in before[: 1 + article])
        belongs = len(before) > 1 and before[0] in self.rows.attributes and self.sentence.tokens[one.start - 2].text[0].isupper()
        after = self._follows(one, self.rows.not_subject_after) or self._follows(one, self.rows.subject_if_due)
        return not joined and not belongs and not after and self._nominative(one)

    def _nominative(self, one: Person) -> bool:
        """Whether somebody's name has a form that a subject may have."""
        token = self.sentence.tokens[one.end - 1]
        if self.rows.oblique.fullmatch(token.folded):
            return False
        return not self.rows.cased or lemma(token.text, self.lang) == token.folded or bool(self.rows.subjects.fullmatch(token.folded))

    def _behind(self, place: int, joints: Collection[str], *, beside: bool = False) -> Person | None:
        """Who stands behind a noun, joined to it by one of some words, or right beside it."""
        for one in self.people:
            between = self.words[place + 1 : one.start]
            if one.start <= place or self.segments[one.start] != self.segments[place] or len(between) >= _BEHIND + _JOINED:
                continue
            at = max((n for n, word in enumerate(between) if word in joints), default=None)
            if at is not None and at < _BEHIND and len(between) - at <= _JOINED:
                return one
            near = len(between) <= 1 and self.rows.not_subject.isdisjoint(between)
            return one if beside and near and not self.rows.recipients.fullmatch(self.words[one.end - 1]) else None
        return None

    def _before(self, place: int) -> Person | None:
        """Who stands before a noun and is joined to it: "the client's written approval"."""
        for one in reversed(self.people):
            if one.end <= place and place - one.end <= _BEFORE:
                compound = self.rows.compounds and one.end == place
                return one if compound or self._follows(one, self.rows.of_before) else None
        return None

    def _governs(self, place: int) -> int | None:
        """The place of the verb that says that somebody does the act of a noun: "gives its consent"."""
        follows = place + 1 < len(self.words) and self.rows.given_next.fullmatch(self.words[place + 1])
        return place + 1 if follows else self._near(self.rows.given, place)

    def _near(self, pattern: regex.Pattern[str], place: int) -> int | None:
        """The place of the nearest word of a pattern, in the same part of the sentence."""
        at = [n for n in range(max(0, place - _NEAR), min(len(self.words), place + _NEAR + 1)) if n != place]
        at = [n for n in at if self.segments[n] == self.segments[place] and pattern.fullmatch(self.words[n])]
        return min(at, key=lambda n: abs(n - place), default=None)

    def _is_participle(self, place: int) -> bool:
        return bool(self.rows.participles.fullmatch(self.words[place]))

    def _is_asked(self, place: int, subject: Person) -> bool:
        """Whether somebody else than the subject is made to do it: "has each step approved", but not "has approved"."""
        alone = self.segments[subject.start] == self.segments[place]
        for at, word in enumerate(self.words):
            if not self.rows.asked.fullmatch(word) or (alone and self.segments[at] != self.segments[place]):
                continue
            between = any(self._says(n) for n in range(min(at, place) + 1, max(at, place)))
            if self.rows.nearest:
                if at < place and between and self._is_participle(place):
                    return True
            elif between or not self._is_participle(place):
                return True
        return False

    def _follows(self, one: Person, words: Collection[str]) -> bool:
        return one.end < len(self.words) and self.words[one.end] in words

    def _says(self, place: int) -> bool:
        return self.sentence.says(place)

    def _any(self, pattern: regex.Pattern[str]) -> bool:
        return any(pattern.fullmatch(word) for word in self.words)


def changed_doers(claim: str, evidence: str, lang: str) -> Iterator[str]:
    """The acts of a claim, with those who do or ask for them, that the evidence has otherwise, as "Supplier … approve". Reading forms."""
    mine = _readings(claim, lang)
    said = {role for one in mine for role, _ in one.roles}
    if not said:
        return
    theirs = _readings(evidence, lang)
    named = {person.who for one in theirs for person in one.people}
    for one in mine:
        for role, place in one.roles:
            told = {other for their in theirs if _is_about(one, their) for other, _ in their.roles if other.act == role.act}
            if role.who in named and role not in told and _is_otherwise(role, told):
                who = next(person for person in one.people if person.who == role.who)
                tokens = one.sentence.tokens
                yield " … ".join(tokens[at].text for at in sorted((who.start, place)))


def _is_otherwise(role: Role, told: Collection[Role]) -> bool:
    """Whether the evidence turns a role round, or gives the act to somebody else."""
    turned = role._replace(does=not role.does) in told
    others = any(other.does and other.who != role.who for other in told)
    return turned or others if role.does else turned and not others


def _is_about(mine: _Reading, theirs: _Reading) -> bool:
    """Whether two sentences share more than people and acts; one that says nothing else is about anything."""
    apart = {place for person in mine.people for place in range(person.start, person.end)} | {place for _, place in mine.roles}
    said = {token.stem for place, token in enumerate(mine.sentence.tokens) if mine.sentence.says(place) and place not in apart}
    return not said or not said.isdisjoint(theirs.sentence.terms)


@lru_cache(maxsize=256)
def _readings(text: str, lang: str) -> tuple[_Reading, ...]:
    rows = LANGUAGES[lang].acts if lang in LANGUAGES else None
    if rows is None:
        return ()
    return tuple(_Reading(text, sentence, rows, lang) for sentence in read(text, lang) if len(sentence.tokens) <= _MAX_TOKENS)


def _act(acts: Mapping[str, regex.Pattern[str]], word: str) -> str:
    return next((act for act, forms in acts.items() if forms.fullmatch(word)), "")


@lru_cache(maxsize=1 << 14)
def _person(word: str, lang: str) -> str:
    """The one of the people of a language that a folded word means, or empty."""
    return next((who for who, forms in _people(lang) if forms.fullmatch(word)), "")


@cache
def _people(lang: str) -> tuple[tuple[str, regex.Pattern[str]], ...]:
    rows = LANGUAGES[lang].acts
    groups = rows.people if rows else ()
    return tuple((group[0], regex.compile("|".join(regex.escape(fold(word)).replace(r"\*", ".*") for word in group))) for group in groups)

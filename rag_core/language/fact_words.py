"""The sections of a language file that facts are read with: numbers, dates, names, values, times."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_core.language.values import (
    NEVER,
    Flag,
    FoldedNumbers,
    FoldedSet,
    FoldedWords,
    Groups,
    Numbers,
    Phrases,
    SpacedPhrases,
    Spellings,
    StarPattern,
    Table,
    Text,
    Words,
)


@dataclass(frozen=True, slots=True)
class FactWords:
    """Words that carry facts. With these alone questions are read too: a calibrated score rests on them."""

    months: Groups  # twelve groups of spellings, from January
    months_capitalised: Flag  # whether a month needs its capital ("may" is a verb)
    numbers: FoldedNumbers  # words for whole numbers; one is left out where it is mostly an article
    scales: FoldedNumbers  # multipliers behind a number
    negative_prefixes: FoldedWords  # beginnings that negate a word; `not_prefixed`: words that only look like that
    not_prefixed: FoldedSet
    negated_words: Groups  # pairs of a word and its positive
    # known names of people; `titles` stand before one, `auxiliaries` behind a verb: where capitals do not tell
    names: FoldedSet = frozenset()
    titles: FoldedSet = frozenset()
    auxiliaries: FoldedSet = frozenset()


@dataclass(frozen=True, slots=True)
class ValueRows:
    """Further words for values, where a sentence is held against its evidence. A question is read without them."""

    numbers: FoldedNumbers = field(default_factory=dict)  # further ones, as `scales`
    scales: FoldedNumbers = field(default_factory=dict)
    ones: FoldedSet = frozenset()  # words for one, counted within a longer number only
    join: FoldedSet = frozenset()  # between number words
    tens_joint: Text = ""  # between units and tens where units come first
    compound: Flag = False  # whether all is one word
    ordinals: Numbers = field(default_factory=dict)  # with `ordinal_endings`
    ordinal_endings: Words = ()
    cardinal_endings: Words = ()  # with which a cardinal becomes an ordinal
    ordinal_suffixes: Words = ()  # behind digits
    relations: FoldedSet = frozenset()  # between a value and what it is counted from or is a part of
    possessives: FoldedSet = frozenset()  # before what it is counted from, without saying what that is ("its")
    relations_before: Flag = False  # whether such a word stands before the value
    weekdays: Groups = ()  # seven groups of spellings, from Monday, as they are written
    units: Spellings = field(default_factory=dict)  # further spellings
    units_before: Words = ()  # units in words that stand before their number
    parted_units: Phrases = ()  # patterns of those of two words
    qualifiers: Spellings = field(default_factory=dict)  # words between number and unit that make it another unit
    fillers: FoldedSet = frozenset()  # words there that change nothing
    # beginnings of a compound with a unit, each with the qualifier that it is, or ""
    prefixes: Table = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimeWords:
    """Words of times of day."""

    # before the hour, each with the hours in which it may lie: "morning 0 12"; `joint`: may stand behind them
    parts_of_day: Groups = ()
    joint: Text = ""
    bells: Words = ()  # behind an hour that may be of either half of the day
    behind: Words = ()  # behind an hour of the whole day; `behind_minutes`: only where minutes are stated
    behind_minutes: Words = ()
    before: Words = ()  # before a time whose parts a full stop joins ("um 14.30")


@dataclass(frozen=True, slots=True)
class DatedWords:
    """Words that say which date of a first page is its own; English ones without a list."""

    # whole labels of its own date ("date of report", "last updated"); `after`: those behind the date
    labels: SpacedPhrases
    after: SpacedPhrases = ()
    amended: SpacedPhrases = ()  # labels of the day of a change, which counts before that of the first version
    editions: SpacedPhrases = ()  # what has a number, and then its date ("Edition 3, June 2024")
    periods: SpacedPhrases = ()  # labels of the last day of the period that it is about ("for the year ended")
    joins: SpacedPhrases = ()  # what may open a row that holds a date and nothing else ("vom", "dated")
    within: Phrases = ()  # between the parts of any date ("1st day of July"); `behind`: what may end one ("2024 г.")
    behind: SpacedPhrases = ()
    # says, right above or below a date, that it is the date of something else ("deadline", "meeting")
    others: StarPattern = NEVER
    # says in a title that a date in it may be that of a document that is amended, cited or enclosed
    amends: StarPattern = NEVER

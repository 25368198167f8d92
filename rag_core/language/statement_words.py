"""The sections of a language file by which two statements are compared: what limits one, what may differ."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.language.values import NEVER, FoldedSet, PhrasePattern, Phrases, StarPattern, Text, Words


@dataclass(frozen=True, slots=True)
class OrderRows:
    """How a sentence gives orders to a language model, or is one's own speech; a language without them has none of its
    own.

    `<models>` in a pattern stands for `models`. Patterns meet folded words joined by single spaces.
    """

    models: Text  # pattern of the names of language models and their kin
    patterns: Phrases  # found anywhere in a sentence, each an order or an address
    # all that stands before a colon ("note to the AI:"); `openers`: before a comma or a colon ("if anyone asks,")
    heads: Text
    openers: Text
    # who speaks, before a colon, where what follows is a sentence: where it holds a word of `talk` ("Assistant: it is
    # free.", and not "Assistant: Jane Doe, room 4")
    speakers: Text
    talk: FoldedSet


@dataclass(frozen=True, slots=True)
class LimitRows:
    """Words that limit a statement; a star stands for the rest of a word, a comma for a stop or the beginning."""

    # before a condition or exception; `behind`: behind it; `kept`: what else says that there is one
    conditions: PhrasePattern
    behind: PhrasePattern
    kept: PhrasePattern
    bounded: PhrasePattern  # by which a text says anywhere that a value is a bound
    states: Phrases  # what a row of a table needs to be a sentence ("the", "is")
    # among the first words of a sentence, speak of somebody or something that the sentence before names ("it", "their")
    back: FoldedSet = frozenset()
    # endings of the dictionary form of a verb, where a sentence may begin with its verb and leave its subject to the
    # one before
    infinitives: FoldedSet = frozenset()
    # words of a sentence that may bear on the one before it: take it back, tell who says so, when, for whom, at what
    # price
    bears: PhrasePattern = NEVER


@dataclass(frozen=True, slots=True)
class BesideRows:
    """By what words a sentence is not to be shown without the one beside it; a language without them sees none.

    Patterns begin where a sentence begins and end where a word ends; they meet its folded words, joined by single
    spaces. `<verb>` in one stands for `verb`.
    """

    # it holds in some case of the sentence before it, so that it opens no answer ("in that case", "if so")
    hangs: Phrases
    announces: Phrases  # it says what the next sentence is ("the council rejected the following motion")
    # it takes the sentence before it back, limits it, or tells who says so ("not on weekdays", "or so they say")
    takes_back: Phrases
    # it speaks of all that the sentence before says ("this is"); where it denies, bounds or dates, it takes that back
    statement: Phrases
    # it begins with a noun that is of something, and nothing behind the noun says of what ("the fee is")
    takes_up: Phrases
    # words of a heading by which nothing below it holds ("repealed", "myths"); a star stands for the rest of one
    void: StarPattern
    verb: Text = ""  # pattern of verbs behind such a noun


@dataclass(frozen=True, slots=True)
class ComparedWords:
    """Words by which two statements are compared; a language without them is not compared."""

    light: FoldedSet  # may differ without changing what is said
    same: Phrases  # wordings of one thing, parted by commas; the first stands for all
    # mark a figure of a period (what was), as against a rule (what is); `periods`: a length of time behind them is a
    # figure's
    figures: FoldedSet
    periods: FoldedSet
    reports: FoldedSet  # in a title, say that the document tells of its period
    # in a table's cell, say that it sets a limit, a price or a right; `accounts`: mark a figure of a period too
    rules: FoldedSet
    accounts: FoldedSet
    own: FoldedSet  # speak of a document's own parties
    labels: FoldedSet  # the number behind them names a thing and counts none
    # words of a heading that name no subject; `columns`: of a table's header that say nothing of its cells
    headings: FoldedSet
    columns: FoldedSet
    about: FoldedSet  # the number behind them is not exact, or is one of a row that goes on ("the last two quarters")
    examples: FoldedSet  # the sentence tells of a case that is made up
    deadlines: FoldedSet  # a day of these, with its year, is a rule
    links: FoldedSet  # between a unit and what it is of; `endings`: units that end a compound
    endings: Words = ()
    either: Words = ()  # between two values of which neither is meant

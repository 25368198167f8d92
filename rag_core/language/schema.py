"""A language file, `data/languages/<code>.toml`, as a whole: its own keys and its sections, and
`data/any_language.toml`.

The sections stand beside it, by who reads them: `question_words`, `fact_words`, `statement_words`; `values` says how a
key is read. Keys without a default are required where their section stands; a section that may be missing is None then,
and what needs it does without: numbers in words, say, are not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from rag_core.language.fact_words import DatedWords, FactWords, TimeWords, ValueRows
from rag_core.language.question_words import AskedWords, FollowUpWords, Replies, SmallTalk
from rag_core.language.statement_words import BesideRows, ComparedWords, LimitRows, OrderRows
from rag_core.language.values import (
    Flag,
    FoldedSet,
    Groups,
    Levels,
    Numbers,
    Phrases,
    SearchPattern,
    SpacedPhrases,
    Spellings,
    Table,
    Text,
    Words,
    WordSet,
)


@dataclass(frozen=True, slots=True)
class Grammar:
    """How a language is written, as far as programs have to know, also one without a file."""

    script: Text = "Latin"  # Unicode script
    names_script: Flag = False  # whether text in the script is likelier in this language than in any other
    stemmer: Text = ""  # name of its Snowball algorithm, empty for none
    cased: Flag = False  # whether endings, in whatever order, say who does what
    ordinal_dot: Flag = False  # whether a full stop makes an ordinal of a number: "3. března"
    nouns_capitalised: Flag = False  # whether every noun has a capital, so that capitals do not tell names
    month_first: Flag = False  # whether 3/12/2024 may also be the 12th of March
    groups_by_space: Flag = False  # whether "12 300" is one number


@dataclass(frozen=True, slots=True)
class LanguageInfo:
    """All that is written down about one language.

    `question_words` and `stop_words` are lower case, not folded. They hold no negation and no modal of obligation or
    permission, because these decide what a clause says; `function_words` is both together. Patterns meet folded words
    joined by single spaces, and user text never becomes part of one. In `markers` a star is the rest of a word or its
    beginning, the longest of phrases that overlap counts, levels with plus and minus are two directions of one scale,
    and "none" only looks like a marker.
    """

    code: str
    function_words: frozenset[str]
    name: Text
    grammar: Grammar
    question_words: WordSet
    stop_words: WordSet
    refusal: Text  # the sentence that refuses, and says that nothing is there; `refusal_phrases`: what else does
    unsure: Text  # the sentence that refuses where something may be there
    nowhere: Text  # that no document speaks of "{names}"
    nowhere_chosen: Text  # that none of the chosen ones does
    nowhere_joint: Text  # before the last of several names
    conjunctions: Words  # between two questions in one
    refusal_phrases: SpacedPhrases
    indicator_phrases: Phrases  # by which an answer claims knowledge from elsewhere
    greetings: SpacedPhrases  # begin texts that greet
    conditionals: FoldedSet = frozenset()  # first words of a rule, which is no refusal
    comparative: SearchPattern = None  # a pattern of what a question asks for, as the next three
    procedural: SearchPattern = None
    time_sensitive: SearchPattern = None
    present: SearchPattern = None  # words for the present moment
    changed: SearchPattern = None  # by which a question asks for what became different
    abbreviations: WordSet = frozenset()  # whose full stop ends no sentence
    number_abbreviations: WordSet = frozenset()  # before a number only
    ordinal_followers: WordSet = frozenset()  # words behind an ordinal
    synonym_groups: Groups = ()  # words that may stand for each other in a search
    negations: Words = ()  # words for "not" and "no"; in brackets they leave open which is meant
    asking: FoldedSet = frozenset()  # verbs by which a question asks ("explain"): no keywords as its first content word
    asking_last: Flag = False  # whether they are none as its last one either
    # pairs of words by which a question asks for a measure ("how long"): the second is no keyword
    measures: SpacedPhrases = ()
    # words that no sentence ends with: what ends so goes on in another column or on another page
    unfinished: WordSet = frozenset()
    yes: Words = ()  # how a table of labelled questions may say so, as `no`
    no: Words = ()
    # spellings by canonical unit, known to questions too; an underscore stands for a space
    units: Spellings = field(default_factory=dict)
    replies: Replies | None = None
    facts: FactWords | None = None
    values: ValueRows | None = None
    times: TimeWords | None = None
    # by kind and level, phrases whose change changes what a sentence says
    markers: Levels = field(default_factory=dict)
    orders: OrderRows | None = None
    limits: LimitRows | None = None
    beside: BesideRows | None = None
    contradictions: ComparedWords | None = None
    asked: AskedWords | None = None
    small_talk: SmallTalk | None = None
    follow_ups: FollowUpWords | None = None
    dated: DatedWords | None = None


@dataclass(frozen=True, slots=True)
class AnyLanguage:
    """Facts that hold in every language, and how languages without a file are written: `data/any_language.toml`."""

    units: Spellings  # spellings by canonical unit, known to questions; `value_units`: further ones
    value_units: Spellings
    symbols: Table  # units whose case counts
    # letters before a currency that multiply an amount ("5 T€"); `money_scales_behind`: behind one with a currency
    # ("€5m")
    money_scales: Numbers
    money_scales_behind: Numbers
    qualified: Table  # a unit with a qualifier that has a name of its own
    dimensions: Spellings  # units that may stand in each other's place
    exact: Table  # a unit as a multiple of another, where it is exactly that
    # currencies that may stand before their amount; `value_currencies_before`: further ones, unknown to questions
    currencies_before: Words
    value_currencies_before: Words
    number_locales: Words  # whose notations of numbers are tried, in this order, after the text's own
    numbered: WordSet  # short for "number" before a number, where it is no negation
    connectors: WordSet  # small words within a name; `company_joint` is one before a `legal_forms` only
    company_joint: Text
    legal_forms: Words
    unit_heads: WordSet  # over a column that holds the unit of the one before it
    captions: Words  # before the number of a figure or table; a document in any language may have them
    # words for a part of a contract, before its number; `sections`: for one with a heading; `articles`: for one whose
    # heading has such a word too; `page_words`: before the number of a page; `says`: by which a question asks for the
    # whole of it; `clause_leads`: before it, such as "under"; `documents`: behind it, words for what it is a part of
    clauses: Words
    sections: Words
    articles: Words
    page_words: Words
    says: Words
    documents: Words
    clause_leads: Words
    indefinite: Words  # articles before what is one of a kind: "a section 8 voucher" is no section
    # for thousands and more besides those of the languages, as patterns; `scale_openers`, `scale_each` and `scale_in`:
    # what a note on the scale of a table opens with ("all amounts in"); `scale_money`: currencies that it may name
    scale_words: Text
    scale_openers: Text
    scale_each: Text
    scale_in: Text
    scale_money: Text
    grammars: Annotated[Mapping[str, Grammar], dict]  # languages without a file

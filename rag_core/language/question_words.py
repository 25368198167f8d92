"""The sections of a language file that questions are read with: what they ask for, small talk, follow-ups, replies
without a document.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_core.language.values import (
    NEVER,
    Flag,
    FoldedSet,
    Groups,
    SearchPattern,
    SearchPatterns,
    SpacedPhrases,
    Spellings,
    StarPattern,
    StarPatterns,
    Table,
    Text,
    WholePattern,
)


@dataclass(frozen=True, slots=True)
class Replies:
    """Answers that need no document: to a greeting; what the library holds; that it is empty."""

    greeting: Text
    holds: Text
    nothing: Text


@dataclass(frozen=True, slots=True)
class SmallTalkReplies:
    """Answers to thanks, goodbye, a wish for a summary, a follow-up without its question."""

    thanks: Text
    goodbye: Text
    summary: Text
    follow_up: Text


@dataclass(frozen=True, slots=True)
class SmallTalk:
    """Replies to what is no question, and the pattern of a text that leans on one ("And how many?")."""

    follow_up: WholePattern
    replies: SmallTalkReplies


@dataclass(frozen=True, slots=True)
class FollowUpWords:
    """Words by which a question leans on the one before it, and the parts of a question that it can take over from
    there.

    Patterns meet folded words joined by single spaces; words are folded. What decides or scores reads none of them.
    """

    leads: SpacedPhrases  # open a follow-up and ask nothing ("and then")
    # before the new thing of a follow-up that only names it ("what about Italy"); `about_behind`: behind it
    about: SpacedPhrases
    prepositions: Groups  # groups of one meaning; `behind`: whether they stand behind their words
    adverbs: SpacedPhrases  # question phrases that can take each other's place before a verb ("when", "how often")
    counted: SpacedPhrases  # question phrases that can take each other's place before a noun ("how many", "which")
    auxiliaries: FoldedSet  # verbs that a subject follows; `copulas`: those that may be a question's only verb
    copulas: FoldedSet
    pronouns: Table  # stand for something named before, each with how that is put in its place ("its": "{}'s")
    # words of a period ("second", "last"); `period_heads`: parts of a year ("quarter"); `years`: name a year
    periods: FoldedSet
    period_heads: FoldedSet
    years: FoldedSet
    period: Text  # how a period is put into a question that has none ("in {}")
    about_behind: SpacedPhrases = ()
    behind: Flag = False
    no_noun: SpacedPhrases = ()  # those of `counted` that can also stand for their noun ("how many did it open")
    # open the name of a thing; `inflected_articles`: those that only stand behind a preposition ("dem")
    articles: FoldedSet = frozenset()
    inflected_articles: FoldedSet = frozenset()
    linked: FoldedSet = frozenset()  # prepositions within a name ("the date of delivery")
    # articles of what a pronoun can stand for, where that is told by them
    agreeing: Spellings = field(default_factory=dict)
    counted_pronouns: FoldedSet = frozenset()  # for the noun that is counted ("jich")
    empty_pronouns: SearchPattern = None  # pattern of those that stand for nothing ("is it allowed")
    # pattern of a folded word that is the verb of its question, where it tells its subject by itself
    finite_verbs: WholePattern = None
    verb_last: Flag = False  # whether what is added stands behind the subject, since a verb ends the question


@dataclass(frozen=True, slots=True)
class AskedWords:
    """Words that tell what a question asks for, and what such an answer looks like.

    Patterns meet `spaced` text, like those of questions.

    Types are those of `rag_core.gating.asked.AnswerType`. A star stands for the rest of a word or its beginning.
    """

    # by type, how a question asks for it in so many words. The earliest phrase counts, then the longest
    phrases: SearchPatterns
    # by type, what may follow one of `takes_noun` ("which city"); `stops`: words that end the search for it; `neutral`:
    # nouns that it goes on behind ("the name of the city")
    nouns: StarPatterns
    takes_noun: FoldedSet
    stops: FoldedSet
    neutral: FoldedSet = frozenset()
    # by type (reason, procedure, definition), what a sentence says that gives one
    markers: SearchPatterns = field(default_factory=dict)
    # words of a highest or lowest degree; `not_superlative`: words that only look like one
    superlatives: StarPattern = NEVER
    not_superlative: FoldedSet = frozenset()
    # what names a period: year, half, quarter, and q1 to q4, h1, h2
    periods: SearchPatterns = field(default_factory=dict)
    # words before a year that say that something is of that year, and not since, until or before it
    in_year: FoldedSet = frozenset()
    # one or two words behind a number that say that it is a time of the day ("o'clock" is "o clock")
    clock: WholePattern = None
    flows: StarPattern = NEVER  # words for figures that add up over a period, so that a quarter's is not a year's
    # words that a row's label may begin or end with and mean the same ("Total revenue")
    totals: FoldedSet = frozenset()
    # how a heading says that its figures are of a part only ("... for Obligor Group"), looked for in its `spaced` text
    scopes: SearchPattern = None
    # words by which a question asks for a figure and that no label repeats ("the amount", "did it generate")
    figure_words: FoldedSet = frozenset()
    # what opens an aside behind the comma of a row's label: "Cost of revenue, exclusive of depreciation"
    aside_words: FoldedSet = frozenset()
    share_words: FoldedSet = frozenset()  # by which a question may ask for a share: "the rate", "the growth"
    manner: SearchPattern = None  # how a question asks how something is done, and not for a figure
    # how a heading says that what stands below are changes of amounts, looked for in its `spaced` text
    changes: SearchPattern = None
    # how a sentence or bracket of a question says how to write the answer ("round to one decimal"), in `spaced` text
    instructions: SearchPattern = None
    # how a clause of a question only says where to look ("using the income statement"); it may hold no condition
    sources: SearchPattern = None
    # how a sentence sets a task instead of stating something ("Find the sum of ..."), looked for in its `spaced` text
    tasks: SearchPattern = None
    # by kind (`rag_core.gating.asked.COMPUTED`), how a question asks for more than finding; `results`: how a sentence
    # states such a result itself
    computes: SearchPatterns = field(default_factory=dict)
    results: SearchPatterns = field(default_factory=dict)

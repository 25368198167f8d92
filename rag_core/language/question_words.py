"""The sections of a language file that questions are read with: what they ask for, small talk, follow-ups, replies
without a document.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_core.language.values import (
    Flag,
    FoldedSet,
    Groups,
    SearchPattern,
    SearchPatterns,
    SpacedPhrases,
    Spellings,
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
    """Words that tell what a question asks for besides a fact that a document states.

    Patterns meet `spaced` text, like those of questions.
    """

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

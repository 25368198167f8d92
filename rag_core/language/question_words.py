"""The sections of a language file that questions are read with: what they ask for, small talk, follow-ups, replies
without a document.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_core.language.values import (
    Flag,
    FoldedSet,
    SearchPattern,
    SearchPatterns,
    SpacedPhrases,
    Text,
    WholePattern,
)


@dataclass(frozen=True, slots=True)
class Replies:
    """Answers that need no document: to a greeting; what the library holds, and each document; that it is empty."""

    greeting: Text
    holds: Text
    pages: Text
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
    """Words by which a question leans on the one before it; folded. What decides or scores reads none of them."""

    leads: SpacedPhrases  # open a follow-up and ask nothing ("and then", "what about")
    pronouns: FoldedSet  # stand for something named before
    auxiliaries: FoldedSet  # verbs that open a question without a question word ("may I")
    behind: Flag = False  # whether a question word may stand anywhere in its question


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

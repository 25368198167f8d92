"""The section of a language file by which a sentence says which part a noun has in it, and what an "only" is about."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_core.language.values import Flag, FoldedSet, StarPatterns, Table


@dataclass(frozen=True, slots=True)
class PlaceRows:
    """How a sentence says which part a noun has in it, and which word an "only" is about; words and patterns meet folded words.

    Args:
        before: prepositions, right before a noun or its article; `behind`: postpositions, right behind it.
        doers: those of them that name who does what a passive says; `passives`: words without which they do not, none where they always do.
        articles: words that begin a noun, each with the cases that it may show, as gender and case: "mN fD"; without cases where the
            language has none. Genders are m, f, n and p (plural), cases N, G, D, A and I.
        endings: of nouns, by case, where no article shows it; what has none of them counts as a nominative.
        nouns_capitalised: whether a capital tells a noun from other words.
        joins: words between the items of a list.
        mutual: prepositions that say the same of two things whichever comes first ("near").
        only_behind: words for "only" that stand behind the word they are about.
        clauses: by what they say ("cause", "first"), words that begin a clause or a step; a star for the rest of a word.
        clause_ends: words that end such a clause where no stop does ("so", "then" behind "if").
        by_how_much, to_how_much: right before a value, how far something changed and where to.
        only_floats: words behind which "only" may be about anything that follows ("may only be opened by staff"), as it may there behind a
            word that says something; none where it is always about what stands next.
    """

    before: FoldedSet = frozenset()
    behind: FoldedSet = frozenset()
    doers: FoldedSet = frozenset()
    passives: FoldedSet = frozenset()
    articles: Table = field(default_factory=dict)
    endings: StarPatterns = field(default_factory=dict)
    nouns_capitalised: Flag = False
    joins: FoldedSet = frozenset()
    mutual: FoldedSet = frozenset()
    only_behind: FoldedSet = frozenset()
    only_floats: FoldedSet = frozenset()
    clauses: StarPatterns = field(default_factory=dict)
    clause_ends: FoldedSet = frozenset()
    by_how_much: FoldedSet = frozenset()
    to_how_much: FoldedSet = frozenset()

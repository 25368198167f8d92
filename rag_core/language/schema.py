"""The keys of a language file, `data/languages/<code>.toml`, by section, and how each is read.

Keys without a default are required where their section stands; a section that may be missing is None then, and what needs it does
without: numbers in words, say, are not read. Words are parted by white space, phrases by bars or as an array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import regex

from rag_core.language.words import fold, words


def spaced(text: str) -> str:
    """The folded words of a text joined by single spaces: what phrases and patterns are compared with."""
    return " ".join(fold(word.text) for word in words(text))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is needed, not {value!r}")
    return " ".join(value.split())


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"true or false is needed, not {value!r}")
    return value


def _words(value: Any) -> tuple[str, ...]:
    return tuple(_text(value).split())


def _phrases(value: Any) -> tuple[str, ...]:
    found = map(_text, value if isinstance(value, list) else _text(value).split("|"))
    return tuple(phrase for phrase in map(str.strip, found) if phrase)


def _groups(value: Any) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.split()) for phrase in _phrases(value))


def _numbers(value: Any) -> Mapping[str, int]:
    parts = _words(value)
    return {word: int(number) for word, number in zip(parts[::2], parts[1::2], strict=True)}


def _table(value: Any) -> Mapping[str, str]:
    return {name: _text(text) for name, text in value.items()}


def _spellings(value: Any) -> Mapping[str, tuple[str, ...]]:
    return {name: tuple(word.replace("_", " ") for word in _words(row)) for name, row in value.items()}


def _levels(value: Any) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    return {kind: {level: _phrases(row) for level, row in levels.items()} for kind, levels in value.items()}


def _search_pattern(value: Any) -> regex.Pattern[str] | None:
    return regex.compile(rf"(?:^| )(?:{fold(_text(value))})(?: |$)") if value else None


def _whole_pattern(value: Any) -> regex.Pattern[str] | None:
    return regex.compile("|".join(f"(?:{fold(source)})" for source in _phrases(value))) if value else None


def _star_pattern(value: Any) -> regex.Pattern[str]:
    """Matches a whole folded word; a star stands for the rest of one or its beginning."""
    ways = (regex.escape(fold(word)).replace(r"\*", "[^ ]*") for word in _words(value))
    return regex.compile("|".join(ways) or _NEVER.pattern)


def _search_patterns(value: Any) -> Mapping[str, regex.Pattern[str]]:
    return {name: pattern for name, source in value.items() if (pattern := _search_pattern(source))}


def _star_patterns(value: Any) -> Mapping[str, regex.Pattern[str]]:
    return {name: _star_pattern(row) for name, row in value.items()}


def _plain_pattern(value: Any) -> regex.Pattern[str] | None:
    return regex.compile(_text(value)) if value else None


Text = Annotated[str, _text]
Flag = Annotated[bool, _flag]
Words = Annotated[tuple[str, ...], _words]
WordSet = Annotated[frozenset[str], lambda value: frozenset(_words(value))]
FoldedSet = Annotated[frozenset[str], lambda value: frozenset(map(fold, _words(value)))]
Phrases = Annotated[tuple[str, ...], _phrases]
SpacedPhrases = Annotated[tuple[str, ...], lambda value: tuple(map(spaced, _phrases(value)))]
Groups = Annotated[tuple[tuple[str, ...], ...], _groups]
Numbers = Annotated[Mapping[str, int], _numbers]
Table = Annotated[Mapping[str, str], _table]
Spellings = Annotated[Mapping[str, tuple[str, ...]], _spellings]
Levels = Annotated[Mapping[str, Mapping[str, tuple[str, ...]]], _levels]
SearchPattern = Annotated[regex.Pattern[str] | None, _search_pattern]
WholePattern = Annotated[regex.Pattern[str] | None, _whole_pattern]
PlainPattern = Annotated[regex.Pattern[str] | None, _plain_pattern]
StarPattern = Annotated[regex.Pattern[str], _star_pattern]
_NEVER = regex.compile("(?!)")  # a pattern that nothing matches
SearchPatterns = Annotated[Mapping[str, regex.Pattern[str]], _search_patterns]
StarPatterns = Annotated[Mapping[str, regex.Pattern[str]], _star_patterns]


@dataclass(frozen=True, slots=True)
class Grammar:
    """How a language is written, as far as programs have to know; a language without a file may have one in `any_language.toml`.

    Args:
        script: Unicode script.
        names_script: whether text that is mostly in the script counts as this language, whatever else uses it.
        stemmer: name of its Snowball algorithm, empty for none.
        ordinal_dot: whether a full stop makes an ordinal of a number: "3. března".
        nouns_capitalised: whether every noun has a capital, so that capitals do not tell names.
        noun_companion: pattern of a word that stands before a noun but hardly before a name.
        month_first: whether 3/12/2024 may also be the 12th of March.
        groups_by_space: whether "12 300" is one number.
    """

    script: Text = "Latin"
    names_script: Flag = False
    stemmer: Text = ""
    ordinal_dot: Flag = False
    nouns_capitalised: Flag = False
    noun_companion: PlainPattern = None
    month_first: Flag = False
    groups_by_space: Flag = False


@dataclass(frozen=True, slots=True)
class Replies:
    """Answers that need no document: to a greeting; what the library holds ("{documents}", "{pages}"); that it is empty."""

    greeting: Text
    holds: Text
    nothing: Text


@dataclass(frozen=True, slots=True)
class SmallTalkReplies:
    """Answers to what is no question to the documents: thanks, goodbye, a wish for a summary, a follow-up without its question."""

    thanks: Text
    goodbye: Text
    summary: Text
    follow_up: Text


@dataclass(frozen=True, slots=True)
class SmallTalk:
    """Patterns of whole texts that are no question to the documents, and the `replies` to them.

    Args:
        thanks, goodbye: polite words alone.
        summary: a wish that a whole document be summarized.
        follow_up: what leans on a question before ("And how many?"), so that it asks nothing by itself.
    """

    thanks: WholePattern
    goodbye: WholePattern
    summary: WholePattern
    follow_up: WholePattern
    replies: SmallTalkReplies


@dataclass(frozen=True, slots=True)
class FollowUpWords:
    """Words by which a question leans on the one before it, and the parts of a question that it can take over from there.

    Patterns meet folded words joined by single spaces; words are folded. What decides or scores reads none of them.

    Args:
        leads: what opens a follow-up and asks nothing ("and then").
        about, about_behind: what stands before and behind the new thing of a follow-up that only names it ("what about Italy").
        prepositions: groups of one meaning; `behind`: whether they stand behind their words.
        adverbs: question phrases that can take each other's place before a verb ("when", "how often").
        counted: question phrases that can take each other's place before a noun ("how many", "which").
        no_noun: those of them that can also stand for their noun ("how many did it open").
        auxiliaries: verbs that a subject follows; `copulas`: those that may be a question's only verb.
        articles: words that open the name of a thing; `inflected_articles`: those that only stand behind a preposition ("dem");
            `linked`: prepositions within a name ("the date of delivery").
        pronouns: what stands for something named before, and how that is put in its place ("its": "{}'s"); `agreeing`: the articles of
            what a pronoun can stand for, where that is told by them.
        counted_pronouns: pronouns for the noun that is counted ("jich").
        empty_pronouns: pattern of pronouns that stand for nothing ("is it allowed").
        periods: words of a period ("second", "last"); `period_heads`: what names a part of a year ("quarter"); `years`: what names a year.
        period: how a period is put into a question that has none ("in {}").
        finite_verbs: pattern of a folded word that is the verb of its question, where it tells its subject by itself.
        verb_last: whether what is added stands behind the subject, since a verb ends the question.
    """

    leads: SpacedPhrases
    about: SpacedPhrases
    prepositions: Groups
    adverbs: SpacedPhrases
    counted: SpacedPhrases
    auxiliaries: FoldedSet
    copulas: FoldedSet
    pronouns: Table
    periods: FoldedSet
    period_heads: FoldedSet
    years: FoldedSet
    period: Text
    about_behind: SpacedPhrases = ()
    behind: Flag = False
    no_noun: SpacedPhrases = ()
    articles: FoldedSet = frozenset()
    inflected_articles: FoldedSet = frozenset()
    linked: FoldedSet = frozenset()
    agreeing: Spellings = field(default_factory=dict)
    counted_pronouns: FoldedSet = frozenset()
    empty_pronouns: SearchPattern = None
    finite_verbs: WholePattern = None
    verb_last: Flag = False


@dataclass(frozen=True, slots=True)
class FactWords:
    """Words that carry facts. With these alone questions are read too: a calibrated score rests on them.

    Args:
        months: twelve groups of spellings, from January.
        months_capitalised: whether a month needs its capital ("may" is a verb).
        numbers: words for whole numbers; one is left out where it is mostly an article.
        scales: multipliers behind a number.
        negative_prefixes: beginnings that negate a word; `not_prefixed`: words that only look like that.
        negated_words: pairs of a word and its positive.
        at_least, at_most: what makes a number a bound; `bounds_follow`: whether it may stand behind the number.
        names, titles, auxiliaries: of people, before a name, behind a verb: where capitals do not tell a name.
        date_joins: words before the month of a date ("3rd of March"); `year_joins`: before its year.
    """

    months: Groups
    months_capitalised: Flag
    numbers: Numbers
    scales: Numbers
    negative_prefixes: Words
    not_prefixed: Words
    negated_words: Groups
    at_least: Phrases
    at_most: Phrases
    bounds_follow: Flag = False
    names: Words = ()
    titles: Words = ()
    auxiliaries: Words = ()
    date_joins: Words = ()
    year_joins: Words = ()


@dataclass(frozen=True, slots=True)
class ValueRows:
    """Further words for values, where a sentence is held against its evidence. A question is read without them.

    Args:
        numbers, scales: further ones; `ones`: words for one, counted within a longer number only.
        join: between number words; `tens_joint`: between units and tens where units come first; `compound`: whether all is one word.
        ordinals: with `ordinal_endings`; `cardinal_endings`: with which a cardinal becomes an ordinal; `ordinal_suffixes`: behind digits.
        range: between two values; `between`: before two that `join` joins.
        relations: between a value and what it is counted from or is a part of; `relations_before`: that stands before the value.
        possessives: words before what it is counted from that do not say what that is ("its").
        weekdays: seven groups of spellings, from Monday, as they are written.
        units: further spellings; `units_before`: units in words that stand before their number; `parted_units`: patterns of those of two
            words.
        qualifiers: words between number and unit that make it another unit; `fillers`: that change nothing.
        prefixes: beginnings of a compound with a unit, each with the qualifier that it is, or "".
    """

    numbers: Numbers = field(default_factory=dict)
    scales: Numbers = field(default_factory=dict)
    ones: Words = ()
    join: Words = ()
    tens_joint: Text = ""
    compound: Flag = False
    ordinals: Numbers = field(default_factory=dict)
    ordinal_endings: Words = ()
    cardinal_endings: Words = ()
    ordinal_suffixes: Words = ()
    range: Words = ()
    between: Text = ""
    relations: Words = ()
    possessives: FoldedSet = frozenset()
    relations_before: Flag = False
    weekdays: Groups = ()
    units: Spellings = field(default_factory=dict)
    units_before: Words = ()
    parted_units: Phrases = ()
    qualifiers: Spellings = field(default_factory=dict)
    fillers: Words = ()
    prefixes: Table = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimeWords:
    """Words of times of day.

    Args:
        parts_of_day: before the hour, each with the hours in which it may lie: "morning 0 12"; `joint`: may stand behind them.
        bells: behind an hour that may be of either half of the day.
        behind: behind an hour of the whole day; `behind_minutes`: only where minutes are stated.
        before: before a time whose parts a full stop joins ("um 14.30").
    """

    parts_of_day: Groups = ()
    joint: Text = ""
    bells: Words = ()
    behind: Words = ()
    behind_minutes: Words = ()
    before: Words = ()


@dataclass(frozen=True, slots=True)
class LawRows:
    """Words of references to laws and clauses, as a document in any language may cite them.

    Args:
        section, article, annex, rule: spellings of what is numbered; `plurals`: of several.
        levels: parts below; `lone`: those that stand by themselves too.
        joints: between the numbers of a list; `of`: before what a part is of; `number`: before the number ("no.").
    """

    section: Words = ()
    article: Words = ()
    annex: Words = ()
    rule: Words = ()
    plurals: Words = ()
    levels: Words = ()
    lone: Words = ()
    joints: Words = ()
    of: Words = ()
    number: Words = ()


@dataclass(frozen=True, slots=True)
class WordOrder:
    """For a language in which the order of words alone says who does what: articles, words of lists, what precedes a passive's doer."""

    articles: WordSet
    list_joints: Words
    doer: Text


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


@dataclass(frozen=True, slots=True)
class ActRows:
    """Acts by which people bind one another, and how a sentence says whose act it is; a language without them is not read for it.

    A star stands for the rest of a word or its beginning. Words and patterns meet folded words.

    Args:
        verbs: by act, forms of its verbs; `participles`: those of the passive; `passives`: what stands beside one and makes it a passive.
        nouns: by act, forms of its nouns beside which the doer stands ("the client's approval"); `deeds`: of those beside which only
            `by` names a doer ("payment by the client").
        people: nouns of people and bodies that act, beside the parties of the markers; the spellings of one are parted by blanks.
        by: before the doer of a passive or of a deed; `by_after`: behind the doer; `instrumental`: forms of a doer that need neither.
        of: between a noun and its doer; `of_before`: between a doer and its noun; `beside`: whether a doer may stand right behind its noun;
            `compounds`: right before; `recipients`: forms of those to whom and not by whom something is done.
        not_subject: before somebody who is not the subject; `not_subject_after`: behind; `oblique`: forms of one. `articles`: may stand
            between; `attributes`: those that say right behind a noun whom it belongs to.
        joins, clauses: "and" and "when": a statement of its own begins with them where somebody follows; between two people an "and" is
            a list.
        cased: whether a subject has the form that a dictionary has; `subjects`: other forms of one.
        subject_if_due: behind a subject where something of `due` stands in the sentence.
        nearest: whether the subject is the last one before its verb, and not the first of its part of the sentence.
        sought: says that the act is another's, who is asked for it; `given`: that it is the subject's own; `given_next`: right behind the
            noun only.
        done_for: says that a noun's neighbour may be whom the act is about; `asked`: that somebody else is to do it.
    """

    verbs: StarPatterns
    nouns: StarPatterns
    deeds: StarPatterns
    people: Groups
    by: FoldedSet
    sought: StarPattern
    given: StarPattern
    done_for: StarPattern
    asked: StarPattern
    participles: StarPattern
    passives: StarPattern
    not_subject: FoldedSet = frozenset()
    by_after: FoldedSet = frozenset()
    instrumental: StarPattern = _NEVER
    of: FoldedSet = frozenset()
    of_before: FoldedSet = frozenset()
    beside: Flag = False
    compounds: Flag = False
    nearest: Flag = False
    joins: FoldedSet = frozenset()
    clauses: FoldedSet = frozenset()
    articles: FoldedSet = frozenset()
    attributes: FoldedSet = frozenset()
    given_next: StarPattern = _NEVER
    recipients: StarPattern = _NEVER
    not_subject_after: FoldedSet = frozenset()
    oblique: StarPattern = _NEVER
    cased: Flag = False
    subjects: StarPattern = _NEVER
    subject_if_due: FoldedSet = frozenset()
    due: StarPattern = _NEVER


@dataclass(frozen=True, slots=True)
class LimitRows:
    """Words that limit a statement. A star stands for the rest of a word or its beginning, a comma before one for a stop or the beginning.

    Args:
        conditions: before a condition or exception; `behind`: behind it; `then`: between it and what it leads to; `kept`: what else says
            in a compression that there is one.
        joins: between statements of one sentence; `relative`: words that are it behind a comma only.
        modals: markers of permission, possibility or advice that govern a verb; `modal`: what else says so in a compression;
            `modal_before_verb`: whether one stands right before its verb.
        bounds: right before a value; `bounds_after`: right behind it; `restricts`: further ones that limit what a noun means; `within`:
            bounds that often go without saying; `bounded`: words by which a compression says one anywhere.
        points: right before a date, time or place in a row from or until which something holds; `points_after`: right behind it;
            `points_kept`: what else says so in a compression; `eras`: what an ordinal counts that is no such place.
        all: before a noun that is meant without exception; `who`: right behind a noun, before what restricts it; `on`: before a noun that a
            rule is about; `joining`: between such a noun and its bound; `of`: between a bound and the noun behind it.
        states: what a row of a table needs to be a sentence ("the", "is").
        openers: before a comma, restrict nothing ("in fact").
        titles: before the name of a person, besides those of the lexicon.
        see: in brackets that only point elsewhere; `places`: the other words that may stand there ("the map").
        refers: may refer to what was just stated ("this", "it").
        bears: words of a sentence that may bear on the one before it: take it back, tell who says so, when, for whom, at what price.
        besides: before what is excepted where the rest speaks of all or none ("every day apart from Monday"), and is an addition elsewhere;
            `besides_behind`: behind it.
        rates: before what a value is counted by ("per night"); `rates_of_unit`: before a unit only ("a day"); `rate_words`: say it by
            themselves ("monthly"); `no_rates`: phrases that only look like one ("as per").
        exclusive: before the only condition on which something holds ("only if").
        together: of a value, that it is of several things as a whole; `each`: that it is of every one of them.
        coming: that something is still to come or is wished for ("will", "wants to"); `past`: that it has been.
        reporting: of what follows, that somebody says or believes it ("claims that"); `source`: before who says it ("according to"), and
            `source_behind`: behind him; `binding`: texts that bind, whose name need not be told with what they say.
    """

    then: Phrases
    conditions: Phrases
    behind: Phrases
    kept: Phrases
    joins: Phrases
    relative: Phrases
    modal: Phrases
    modals: Phrases
    bounds: Phrases
    bounds_after: Phrases
    restricts: Phrases
    within: Phrases
    bounded: Phrases
    points: Phrases
    points_after: Phrases
    points_kept: Phrases
    eras: Phrases
    who: Phrases
    all: Phrases
    on: Phrases
    joining: Phrases
    of: Phrases
    states: Phrases
    modal_before_verb: Flag = False
    openers: Phrases = ()
    titles: Phrases = ()
    see: Phrases = ()
    places: Phrases = ()
    refers: Phrases = ()
    bears: Phrases = ()
    besides: Phrases = ()
    besides_behind: Phrases = ()
    rates: Phrases = ()
    rates_of_unit: Phrases = ()
    rate_words: Phrases = ()
    no_rates: Phrases = ()
    exclusive: Phrases = ()
    together: Phrases = ()
    each: Phrases = ()
    coming: Phrases = ()
    past: Phrases = ()
    reporting: Phrases = ()
    source: Phrases = ()
    source_behind: Phrases = ()
    binding: Phrases = ()


@dataclass(frozen=True, slots=True)
class ComparedWords:
    """Words by which two statements are compared; a language without them is not compared.

    Args:
        light: may differ without changing what is said.
        same: wordings of one thing, parted by commas; the first stands for all.
        figures: mark a figure of a period (what was), as against a rule (what is); `periods`: a length of time behind them is a figure's.
        reports: in a title, say that the document tells of its period.
        rules: of a table's cell, say that it sets a limit, a price or a right; `accounts`: mark a figure of a period too.
        own: speak of a document's own parties.
        labels: the number behind them names a thing and counts none.
        headings: words of a heading that name no subject; `columns`: of a table's header that say nothing of its cells.
        about: the number behind them is not exact, or is one of a row that goes on ("the last two quarters").
        examples: the sentence tells of a case that is made up.
        deadlines: a day of these, with its year, is a rule.
        links: between a unit and what it is of; `endings`: units that end a compound.
        either: between two values of which neither is meant.
    """

    light: FoldedSet
    same: Phrases
    figures: FoldedSet
    periods: FoldedSet
    reports: FoldedSet
    rules: FoldedSet
    accounts: FoldedSet
    own: FoldedSet
    labels: FoldedSet
    headings: FoldedSet
    columns: FoldedSet
    about: FoldedSet
    examples: FoldedSet
    deadlines: FoldedSet
    links: FoldedSet
    endings: Words = ()
    either: Words = ()


@dataclass(frozen=True, slots=True)
class AskedWords:
    """Words that tell what a question asks for, and what such an answer looks like. Patterns meet `spaced` text, like those of questions.

    Types are those of `rag_core.gating.asked.AnswerType`. A star stands for the rest of a word or its beginning.

    Args:
        phrases: by type, how a question asks for it in so many words. The earliest phrase counts, then the longest.
        nouns: by type, what may follow one of `takes_noun` ("which city"); `stops`: words that end the search for it; `neutral`: nouns
            that it goes on behind ("the name of the city").
        markers: by type (reason, procedure, definition), what a sentence says that gives one.
        places: words before a place; `organisations`: words that a name of one often holds.
        superlatives: words of a highest or lowest degree; `not_superlative`: words that only look like one.
        periods: what names a period: year, half, quarter, and q1 to q4, h1, h2.
        in_year: words before a year that say that something is of that year, and not since, until or before it.
        flows: words for figures that add up over a period, so that a quarter's is not a year's.
        totals: words that a row's label may begin or end with and mean the same ("Total revenue").
        tasks: how a sentence sets a task instead of stating something ("Find the sum of ..."), looked for in its `spaced` text.
        computes: by kind (`rag_core.gating.computed.COMPUTED`), how a question asks for more than finding; `results`: how a sentence states
            such a result itself.
    """

    phrases: SearchPatterns
    nouns: StarPatterns
    takes_noun: FoldedSet
    stops: FoldedSet
    neutral: FoldedSet = frozenset()
    markers: SearchPatterns = field(default_factory=dict)
    places: FoldedSet = frozenset()
    organisations: StarPattern = _NEVER
    superlatives: StarPattern = _NEVER
    not_superlative: FoldedSet = frozenset()
    periods: SearchPatterns = field(default_factory=dict)
    in_year: FoldedSet = frozenset()
    flows: StarPattern = _NEVER
    totals: FoldedSet = frozenset()
    tasks: SearchPattern = None
    computes: SearchPatterns = field(default_factory=dict)
    results: SearchPatterns = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LanguageInfo:
    """All that is written down about one language.

    `question_words` and `stop_words` are lower case, not folded. They hold no negation and no modal of obligation or permission, because
    these decide what a clause says; `function_words` is both together.

    Args:
        refusal: the sentence that refuses; `refusal_phrases`: what else does.
        nowhere: that no document speaks of "{names}"; `nowhere_chosen`: that none of the chosen ones does; `nowhere_joint`: before the last
            of several names.
        conditionals: first words of a rule, which is no refusal.
        indicator_phrases: by which an answer claims knowledge from elsewhere.
        orders: pattern of orders to a language model.
        greetings, greeting_fillers: all that a greeting is made of.
        about_library: patterns of whole questions about the library.
        comparative, procedural, asks_number, time_sensitive: patterns of what a question asks for. Patterns meet folded words joined by
            single spaces, so they need neither case nor punctuation, and user text never becomes part of one.
        abbreviations: whose full stop ends no sentence; `number_abbreviations`: before a number only; `ordinal_followers`: words behind
            an ordinal.
        synonym_groups: words that may stand for each other in a search.
        negations: words for "not" and "no"; in brackets they leave open which is meant.
        yes, no: how a table of labelled questions may say so.
        units: spellings by canonical unit, known in every text and to questions too; an underscore stands for a space.
        markers: by kind and level, phrases whose change changes what a sentence says. Folded words; a star for the rest of a word
            ("increas*") or its beginning; of phrases that overlap the longest counts. Levels with plus and minus are two directions of one
            scale; "none" only looks like a marker.
    """

    code: str
    function_words: frozenset[str]
    name: Text
    grammar: Grammar
    question_words: WordSet
    stop_words: WordSet
    refusal: Text
    nowhere: Text
    nowhere_chosen: Text
    nowhere_joint: Text
    refusal_phrases: SpacedPhrases
    indicator_phrases: Phrases
    greetings: SpacedPhrases
    greeting_fillers: SpacedPhrases
    about_library: WholePattern
    conditionals: FoldedSet = frozenset()
    orders: SearchPattern = None
    comparative: SearchPattern = None
    procedural: SearchPattern = None
    asks_number: SearchPattern = None
    time_sensitive: SearchPattern = None
    abbreviations: WordSet = frozenset()
    number_abbreviations: WordSet = frozenset()
    ordinal_followers: WordSet = frozenset()
    synonym_groups: Groups = ()
    negations: Words = ()
    yes: Words = ()
    no: Words = ()
    units: Spellings = field(default_factory=dict)
    replies: Replies | None = None
    facts: FactWords | None = None
    values: ValueRows | None = None
    times: TimeWords | None = None
    laws: LawRows | None = None
    word_order: WordOrder | None = None
    places: PlaceRows | None = None
    markers: Levels = field(default_factory=dict)
    acts: ActRows | None = None
    limits: LimitRows | None = None
    contradictions: ComparedWords | None = None
    asked: AskedWords | None = None
    small_talk: SmallTalk | None = None
    follow_ups: FollowUpWords | None = None


@dataclass(frozen=True, slots=True)
class AnyLanguage:
    """Facts that hold in every language, and how languages without a file are written: `data/any_language.toml`.

    Args:
        units: spellings by canonical unit, known to questions; `value_units`: further ones.
        symbols: units that are a letter, with its case.
        qualified: a unit with a qualifier that has a name of its own.
        dimensions: units that may stand in each other's place.
        exact: a unit as a multiple of another, where it is exactly that.
        currencies_before: currencies that may stand before their amount.
        number_locales: whose notations of numbers are tried, in this order, after the text's own.
        numbered: short for "number" before a number, where it is no negation.
        connectors: small words within a name; `company_joint` is one before a `legal_forms` only.
        unit_heads: over a column that holds the unit of the one before it.
        captions: before the number of a figure or table; a document in any language may have them.
        grammars: of languages without a file.
    """

    units: Spellings
    value_units: Spellings
    symbols: Table
    qualified: Table
    dimensions: Spellings
    exact: Table
    currencies_before: Words
    number_locales: Words
    numbered: WordSet
    connectors: WordSet
    company_joint: Text
    legal_forms: Words
    unit_heads: WordSet
    captions: Words
    grammars: Annotated[Mapping[str, Grammar], dict]

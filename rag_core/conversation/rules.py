"""Rewrites a follow-up by rules: each puts words of one question into the place of words of the other, and adds none
but function words.

A rule that is not sure says so: its question is a suggestion, to be read by a person before it is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rag_core.conversation.reading import MAX_WORDS, Asking, Said, Span, asks_of_thing, thing_meant
from rag_core.language import LANGUAGES, fold, grammar, leans

MAX_TOPIC_WORDS = 4  # the new thing in "what about ..."; a longer one asks something by itself; chosen


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A question made of two, and whether that is certain; `text` is empty where it only leans on the other."""

    text: str = ""
    sure: bool = False


def rewritten(question: str, earlier: str, language: str) -> Rewritten | None:
    """The question with what it takes over from the earlier one; None where it stands alone.

    Args:
        question: as typed.
        earlier: the question before it, which stands alone.
        language: of the earlier one. In one without rules only a text that is a follow-up by itself is known to lean on
            another.
    """
    unclear = Rewritten() if leans(question, language) else None
    info = LANGUAGES[language].follow_ups if language in LANGUAGES else None
    if info is None:
        return unclear
    new, old = Said(question, language, info), Said(earlier, language, info)
    if not (0 < len(new) <= MAX_WORDS and 0 < len(old) <= MAX_WORDS):
        return unclear
    for rule in _RULES:
        if (found := rule(new, old)) is not None:
            return found
    return unclear


def _topic(new: Said) -> tuple[Span, bool] | None:
    """The words of a follow-up that names something, and whether it says so ("what about"); None for more."""
    start, end = new.lead, len(new)
    before = new.phrase(start, new.info.about)
    behind = max(
        (len(one.split()) for one in new.info.about_behind if new.folded[-len(one.split()) :] == tuple(one.split())),
        default=0,
    )
    if before == 1 and start + 1 < end and not (new.group(start + 1) or new.is_capital(start + 1) or new.periods):
        before = 0  # "co" also asks
    start, end = start + before, end - behind
    plain = start < end and not any(new.folded[at] in new.info.auxiliaries or new.asks(at) for at in range(start, end))
    return (Span(start, end), bool(before or behind)) if plain else None


def _another_period(new: Said, old: Said) -> Rewritten | None:
    """Another time: "and in Q3?" after "... in Q2 FY24?"."""
    topic = _topic(new)
    if topic is None or len(new.periods) != 1:
        return None
    period, (span, _) = new.periods[0], topic
    if period.bound != span.start and not (
        new.folded[span.start] in new.info.articles and period.bound == span.start + 1
    ):
        return None
    if any(new.is_content(at) for at in range(period.end, span.end)) or new.info.behind < bool(period.end < span.end):
        return None
    if not old.periods:
        bare = period.bound == period.start and not new.info.behind
        words = new.info.period.format(new.said(period.start, period.end)) if bare else new.inner(span.start, span.end)
        return Rewritten(_with(old, words), sure=True)
    if len(old.periods) > 1:
        return Rewritten(old.put(old.periods[-1], new.said(period.start, period.end)), sure=False)
    past = old.periods[0]
    said = new.said(period.start, period.end)
    if past.inside:  # "under the 2024 policies": only a year can take its place
        fits = period.end - period.start == 1 and past.end - past.start == 1
        return Rewritten(old.put(past, said), sure=fits)
    if period.year == period.end and past.start < past.year < past.end:  # "in Q3": of the year that was asked about
        said += old.text[old.tokens[past.year - 1].end : old.tokens[past.end - 1].end]
    if period.bound < period.start:
        return Rewritten(
            old.put(Span(past.bound, past.end), f"{new.inner(period.bound, period.start)} {said}"), sure=True
        )
    before = f"{old.said(past.bound, past.bound + 1)} " if past.bound < past.start else ""
    return Rewritten(old.put(Span(past.bound, past.end), f"{before}{said}"), sure=True)


def _another_place(new: Said, old: Said) -> Rewritten | None:
    """Another place or case, "and in Italy?": a phrase for the one that has the same preposition, or a further one."""
    topic = _topic(new)
    if topic is None:
        return None
    span, _ = topic
    words = Span(span.start, span.end)
    group = new.group(span.end - 1 if new.info.behind else span.start)
    if not group or not 2 <= span.end - span.start <= MAX_TOPIC_WORDS + 1 or new.periods:
        return None
    said = new.inner(words.start, words.end)
    if all(new.is_part_of_period(at) for at in range(span.start + (not new.info.behind), span.end - new.info.behind)):
        return Rewritten()  # "and in the third?"
    name, article = new.is_capital(span.start + 1), new.folded[span.start + 1] in new.info.articles
    if new.info.behind:
        return Rewritten(_with(old, said), sure=False)
    alike = [
        one
        for one in _bound(old, group)
        if (old.folded[one.start + 1] in old.info.articles, old.is_capital(one.start + 1)) == (article, name)
    ]
    if len(alike) == 1:
        ends = alike[0].end == len(old) or old.is_capital(alike[0].start + 1)
        return Rewritten(old.put(alike[0], said), sure=ends)
    certain = not alike and not _bound(old, group) and (name or asks_of_thing(old))
    return Rewritten(_with(old, said), sure=certain)


def _bound(old: Said, group: tuple[str, ...]) -> list[Span]:
    """The phrases that such a preposition binds: of a name that name, else all words to the next preposition."""
    taken = {at for period in old.periods for at in range(period.bound, period.end)}
    found = []
    for at in range(len(old) - 1):
        if at in taken or old.folded[at] not in map(fold, group):
            continue
        first = at + 1 + (old.folded[at + 1] in old.info.articles)
        end = first
        while (
            end < len(old)
            and end not in taken
            and not old.group(end)
            and (end == first or not old.is_capital(first) or old.is_capital(end))
        ):
            end += 1
        if first < end:
            found.append(Span(at, end))
    return found


def _another_thing(new: Said, old: Said) -> Rewritten | None:
    """Another name, "what about Target?", for the one name."""
    topic = _topic(new)
    if topic is None or not (topic[1] or new.lead) or not 0 < topic[0].end - topic[0].start <= MAX_TOPIC_WORDS:
        return None
    span = topic[0]
    bare = span.start + (new.folded[span.start] in new.info.articles)
    if bare == span.end or not new.is_capital(bare) or not old.names:
        return Rewritten()
    if grammar(new.language).nouns_capitalised and not new.names:
        return Rewritten()  # a capital makes no name there: "Und die Auflösung?"
    places = [Span(one.start + (old.folded[one.start] in old.info.articles), one.end) for one in old.names]
    return Rewritten(old.put(places[-1], new.said(bare, span.end)), sure=len(places) == 1)


def _another_question(new: Said, old: Said) -> Rewritten | None:
    """Another question phrase: "and where?" after "When did ... open?"."""
    asking = new.asking
    if asking is None or (asking.start, asking.end) != (new.lead, len(new)) or asking.kind == "other":
        return None
    was = old.asking
    if was is None:
        return Rewritten()
    said = new.said(asking.start, asking.end)
    follows = old.folded[was.end] if was.end < len(old) else ""
    by_adverb = asking.kind == was.kind == "adverb" and follows not in old.info.copulas and follows
    counts = new.phrase(asking.start, new.info.counted) == asking.end - asking.start
    by_count = asking.kind == "counted" == was.kind and was.noun.start < was.noun.end and counts
    if not (by_adverb or by_count) or old.said(was.start, was.end).casefold() == said.casefold():
        return Rewritten()
    text = old.put(Span(was.start, was.end), said)
    return Rewritten(capital(text) if old.text[:1].isupper() else text, sure=True)


def _with_its_thing(new: Said, old: Said) -> Rewritten | None:
    """A question with a pronoun, "and how many did it open?": what it stands for, what is counted, and the period."""
    pronoun, asking = new.pronoun, new.asking
    elided = asking is not None and _lacks_its_noun(new, asking)
    if pronoun < 0 and not elided:
        return None
    edits: list[tuple[Span, str]] = []
    sure, thing = True, Span(0, 0)
    if pronoun >= 0:
        thing, sure = thing_meant(old, new.folded[pronoun])
        if thing.start == thing.end:
            return Rewritten()
        edits.append(
            (Span(pronoun, pronoun + 1), new.pronouns[new.folded[pronoun]].format(old.said(thing.start, thing.end)))
        )
    if elided and asking is not None:
        was = old.asking
        if was is None or was.kind != "counted" or was.noun.start == was.noun.end:
            return Rewritten()
        counted = new.folded[asking.end] in new.info.counted_pronouns
        noun = old.said(was.noun.start, was.noun.end)
        edits.append(
            (Span(asking.end, asking.end + 1), noun)
            if counted
            else (Span(asking.start, asking.end), f"{new.said(asking.start, asking.end)} {noun}")
        )
    carries = (
        (new.lead or elided)
        and not new.periods
        and len(old.periods) == 1
        and (asking is None or asking.kind != "adverb")
    )
    period = old.periods[0] if carries else None
    if period is not None and not period.inside and not thing.start <= period.start < thing.end:
        said = old.said(
            period.bound, period.end + (old.info.behind and period.end < len(old) and bool(old.group(period.end)))
        )
        if new.info.verb_last and pronoun >= 0:
            edits[0] = (edits[0][0], f"{edits[0][1]} {said}")
        else:
            last = Span(len(new) - 1, len(new))
            at = Span(new.lead, new.lead + 1) if new.info.behind else last
            mine = next((one for one in edits if one[0] == at), None)
            text = mine[1] if mine else new.said(at.start, at.end)
            edits = [one for one in edits if one is not mine]
            edits.append((at, f"{said} {text}" if new.info.behind else f"{text} {said}"))
    if elided and pronoun < 0 and not new.names and not _has_subject(new, asking):
        return Rewritten()
    return Rewritten(_edited(new, edits), sure)


def _lacks_its_noun(new: Said, asking: Asking) -> bool:
    """Whether a verb follows at once, "how many did it open", and not one that may be the only one."""
    if asking.kind != "counted" or asking.end >= len(new) or new.info.behind:
        return False
    word = new.folded[asking.end]
    return word in new.info.counted_pronouns or (word in new.info.auxiliaries and word not in new.info.copulas)


def _has_subject(new: Said, asking: Asking | None) -> bool:
    """Whether two words of meaning follow: a subject and its verb."""
    return asking is not None and sum(new.is_content(at) for at in range(asking.end, len(new))) >= 2


def _with_its_verb(new: Said, old: Said) -> Rewritten | None:
    """Another verb, "a kdy končí?": its question phrase and verb before the same subject."""
    finite, asking, was = new.info.finite_verbs, new.asking, old.asking
    if finite is None or asking is None or asking.start != new.lead or asking.kind == "other":
        return None
    skipped = asking.end < len(new) and new.folded[asking.end] in new.info.counted_pronouns
    rest = range(asking.end + skipped, len(new))
    if len(rest) != 1 or not new.is_content(rest[0]) or new.is_capital(rest[0]):
        return None
    if was is None or was.start != old.lead:
        return Rewritten()
    counted = was.kind == "counted" and was.noun.start < was.noun.end
    verb = was.noun.end if counted else was.end
    if verb + 1 >= len(old) or (asking.kind == "counted") > counted:
        return Rewritten()
    plain = old.folded[verb] not in old.info.auxiliaries or (
        was.kind == "other" and old.folded[verb] in old.info.copulas
    )
    subject = not counted or asking.kind == "counted"
    head = new.said(asking.start, asking.end)
    noun = f" {old.said(was.noun.start, was.noun.end)}" if asking.kind == "counted" else ""
    tail = old.text[old.tokens[verb].end :]
    return Rewritten(capital(f"{head}{noun} {new.said(rest[0], rest[0] + 1)}{tail}"), sure=plain and subject)


_RULES: tuple[Callable[[Said, Said], Rewritten | None], ...] = (
    _another_period,
    _another_place,
    _another_thing,
    _another_question,
    _with_its_verb,
    _with_its_thing,
)


def _with(old: Said, words: str) -> str:
    """The question with further words: behind it, or in front where prepositions stand behind theirs."""
    if old.info.behind:
        return f"{words} {old.text}"
    end = old.tokens[-1].end
    return f"{old.text[:end]} {words}{old.text[end:]}"


def _edited(new: Said, edits: list[tuple[Span, str]]) -> str:
    text = new.text
    for span, words in sorted(edits, key=lambda one: -one[0].start):
        text = text[: new.tokens[span.start].start] + words + text[new.tokens[span.end - 1].end :]
    return capital(text[new.tokens[new.lead].start :]) + ("" if new.mark else "?")


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]

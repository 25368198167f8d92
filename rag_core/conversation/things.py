"""Finds the thing that a pronoun stands for in the question before."""

from __future__ import annotations

from rag_core.conversation.reading import Said, Span
from rag_core.language import fold, grammar

MAX_THING_WORDS = 6  # its name; chosen


def thing_meant(old: Said, pronoun: str) -> tuple[Span, bool]:
    """The thing that a pronoun stands for: the only name, the name that is the subject, or the named thing that was
    asked about.
    """
    subjects = [one for one in old.names if one.start == old.verb + 1]
    if len(old.names) == 1 or subjects:
        return _whole(old, (subjects or list(old.names))[0]), True
    if old.names:
        return old.names[0], False
    nowhere = Span(0, 0)
    if old.asking is None:
        return nowhere, False
    if old.info.behind:
        end = min([old.asking.start, *(one.start for one in old.periods)])
        return Span(old.lead, end), 0 < end - old.lead <= 3 and not old.group(end - 1)
    if grammar(old.language).nouns_capitalised:
        return _german_thing(old, pronoun)
    start = old.verb + 1
    if old.verb < 0 or start >= len(old) or old.folded[start] not in old.info.articles:
        return nowhere, False
    end = next((at for at in range(start + 1, len(old)) if _ends_thing(old, at)), len(old))
    if old.folded[old.verb] in old.info.copulas:
        return Span(start, end), end - start <= MAX_THING_WORDS and end == _last(old) and asks_of_thing(old)
    behind = old.folded[end] if end < len(old) else ""
    last = end if behind in old.info.auxiliaries else end - 1  # its verb stands before
    heads = [at for at in range(start + 1, last) if old.folded[at] not in old.info.articles]
    plain = len(heads) == 1 or bool(old.info.linked & set(old.folded[start:last])) or behind in old.info.auxiliaries
    return (Span(start, last) if last > start + 1 else nowhere), plain and 1 < last - start <= MAX_THING_WORDS


def _whole(old: Said, name: Span) -> Span:
    """The name with the noun that it belongs to, which stands between it and a verb: "the X.Org board" of "does the
    X.Org board have".
    """
    end = name.end
    while end + 1 < len(old) and old.is_content(end) and old.folded[end + 1] in old.info.auxiliaries:
        end += 1
    return Span(name.start, end)


def _german_thing(old: Said, pronoun: str) -> tuple[Span, bool]:
    """An article with its adjectives and its noun, and a further one in the genitive; the article tells what the
    pronoun stands for.
    """
    articles = {fold(one): set(map(fold, words)) for one, words in old.info.agreeing.items()}.get(pronoun, set())
    found = []
    for at in range(len(old)):
        end = at + 1
        while end < len(old) and not old.tokens[end].text[0].isupper() and old.is_content(end):
            end += 1
        if old.folded[at] in old.info.articles and end < len(old) and old.tokens[end].text[0].isupper():
            end += 1
            if end + 1 < len(old) and old.folded[end] in ("des", "der") and old.tokens[end + 1].text[0].isupper():
                end += 2
            found.append(Span(at, end))
    fits = [one for one in found if old.folded[one.start] in articles and not (one.start and old.group(one.start - 1))]
    return (fits[0], len(fits) == 1) if fits else (Span(0, 0), False)


def _ends_thing(old: Said, at: int) -> bool:
    word = old.folded[at]
    parts = (old.group(at) and word not in old.info.linked) or word in old.info.auxiliaries
    return bool(
        parts or (word in old.info.articles and old.folded[at - 1] not in old.info.linked) or old.asks(at)
    ) or any(one.bound == at for one in old.periods)


def _last(old: Said) -> int:
    """Where the words end, without a period behind them."""
    return old.periods[-1].bound if old.periods and old.periods[-1].end == len(old) else len(old)


def asks_of_thing(old: Said) -> bool:
    """Whether the question is of one thing ("What is the notice period"), so that its name ends it."""
    if old.asking is None or old.asking.kind != "other":
        return False
    end = old.asking.end
    return old.verb == end and old.folded[end] in old.info.copulas

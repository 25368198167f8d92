"""The record of a question: its measurements as JSON in which texts are hashes, stretches of other texts, or ids.

Each text is hidden in its row, and shown again before the row is read. A claim is made of the texts of its passages and
evidence: it is hidden before them, and shown after them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rag_core.domain.claims import BREAK
from rag_core.domain.documents import Span
from rag_core.domain.drafts import Draft, taken_of
from rag_core.domain.measurements import Measurements
from rag_core.domain.ports import PageText
from rag_core.errors import InvalidInput
from rag_core.ingest.normalise import cells
from rag_core.library.stored.typed_json import reader, to_row
from rag_core.records.texts import (
    DELETED,
    OwnWords,
    PassageOf,
    Texts,
    hash_of,
    hash_own,
    joined,
    parts,
    parts_or_hash,
    quoted,
    same,
    sources,
    stated,
)

Row = dict[str, Any]
Again = Mapping[str, Callable[[Row, Texts, str], str]]  # how each text of a row is read from a page, by its hash
# hash digits that stand for a cited id that a model made up, where its text is gone: two of them stay two
_REF_DIGITS = 8
# facts by document, of which only those are kept that a decision can name
_NAMED = ("names", "titles", "page_counts", "dates", "date_sources", "authors", "authority")
_PASSAGE: Again = {
    "text": lambda row, texts, wanted: texts.reading(row["document"], _spans(row["spans"]), wanted),
    "section": lambda row, texts, wanted: texts.section(row["document"], row["id"], wanted),
    "header_text": lambda row, texts, wanted: texts.reading(row["document"], _spans(row["header"]), wanted),
}
_EVIDENCE: Again = {"quote": lambda row, texts, wanted: texts.quote(row["document"], _spans(row["spans"]), wanted)}
_CITATION: Again = {
    "excerpt": lambda row, texts, wanted: texts.quote(row["document_id"], _spans(row["spans"]), wanted),
    "heading": lambda row, texts, wanted: texts.section(row["document_id"], row["chunk_id"], wanted),
}
_UNSURE: Again = {"text": lambda row, texts, wanted: texts.quote(row["document"], _spans([row["span"]]), wanted)}


@dataclass(frozen=True, slots=True)
class Writing:
    """The context of writing: passages of all rounds by id, documents that can be named, and where a model's own words
    go, those of the `rejected` attempts apart.
    """

    passages: Mapping[str, Row]
    named: Collection[str]
    rejected: Collection[int]
    own: OwnWords
    of_rejected: OwnWords


def _spans(rows: Any) -> list[Span]:
    return [Span(*one) for one in rows]


def _halves(row: Row) -> Iterator[Row]:
    """A question, and the other half of it where it asks two things."""
    yield row
    if row["other"]:
        yield from _halves(row["other"])


def _passages(row: Row) -> list[Row]:
    rounds = [row["hits"], *(row["llm_trace"]["expanded"] if row["llm_trace"] else ())]
    return [hit["passage"] for hits in rounds for hit in hits]


def _drafts(row: Row) -> list[Row]:
    trace = row["llm_trace"] or {"judgements": (), "attempts": ()}
    sides = [one["sides"] for one in trace["judgements"] if one["sides"]]
    return [row["draft"], *sides, *(one["draft"] for one in trace["attempts"])]


def _of_pages(row: Row) -> Iterator[tuple[Row, Again]]:
    """The rows of a question whose texts stand on pages."""
    yield from ((one, _PASSAGE) for one in _passages(row))
    for draft in _drafts(row):
        yield from ((one, _EVIDENCE) for claim in draft["claims"] for one in claim["evidence"])
        for citation in draft["citations"].values():
            yield citation, _CITATION
            yield from ((one, _UNSURE) for one in citation["unsure"] or ())


def _around(row: Row) -> Iterator[tuple[str, Row]]:
    """The texts beside quotes, with the document that each is of."""
    for draft in _drafts(row):
        for one in draft["citations"].values():
            yield from ((one["document_id"], one[side]) for side in ("before", "after"))


def _change(row: Row, name: str, change: Callable[[Any], Any]) -> None:
    """Change each of the values in a field by itself; None stays, where nothing was measured."""
    values = row[name]
    if values is not None and type(values) is not list:
        raise ValueError(f"wanted a list of {name}, got {type(values).__name__}")
    row[name] = values and [change(one) for one in values]


def _known(claim: Row, passages: Mapping[str, Row]) -> list[str]:
    evidence = claim["evidence"]
    return sources([passages[one["passage"]] for one in evidence if one["passage"] in passages], evidence)


def _hide(row: Row, to: Writing) -> None:
    """Hide the texts of a question that are made of others."""
    facts = row["library"]
    for name in _NAMED:
        facts[name] = {id: fact for id, fact in facts[name].items() if id in to.named}
    _hide_conflicts(row["conflicts"], row["draft"])
    _hide_draft(row["draft"], replace(to, own={}))
    if trace := row["llm_trace"]:
        for one in trace["judgements"]:
            _change(one, "missing", lambda text: hash_own(text, to.own))
            one["reasoning"] = hash_own(one["reasoning"], to.own)
            one["conflict"] = one["conflict"] if one["sides"] else None
            if one["sides"]:
                _hide_conflicts([one["conflict"]] if one["conflict"] else [], one["sides"])
                _hide_draft(one["sides"], to)
        for number, one in enumerate(trace["attempts"]):
            mine = replace(to, own=to.of_rejected) if number in to.rejected else to
            one["refusal"] = hash_own(one["refusal"], mine.own)
            _hide_draft(one["draft"], mine)


def _hide_draft(draft: Row, to: Writing) -> None:
    draft["stored_chars"] = _chars(draft) if draft["stored_chars"] is None else draft["stored_chars"]
    for claim, measured in zip(draft["claims"], draft["measured"], strict=True):
        _hide_claim(claim, measured, to)
    draft["text"] = hash_own(draft["text"], to.own)


def _hide_claim(claim: Row, measured: Row, to: Writing) -> None:
    words, facts, own = quoted(claim), stated(claim), to.own
    text, made_of = claim["text"], parts(claim["text"], _known(claim, to.passages))
    hidden = [made_of, hash_own(text, own) if made_of is None else hash_of(text)]
    _change(measured, "quotes_missing", lambda one: parts_or_hash(one, words, own))
    _change(measured, "quotes_elsewhere", lambda one: parts_or_hash(one, words, own))
    _change(measured, "fabricated", lambda one: _hide_ref(one, claim, to))
    _change(measured, "changed_facts", lambda one: [one[0], parts_or_hash(one[1], facts, own)])
    _change(claim, "cited", lambda one: _hide_ref(one, claim, to))
    claim["text"] = hidden


def _hide_ref(ref: str, claim: Row, to: Writing) -> Any:
    """A cited id: a passage's and a number as they are; any other is what a model wrote."""
    known = ref in to.passages or any(ref == one["passage"] for one in claim["evidence"])
    return ref if known or (ref.isdecimal() and len(ref) < _REF_DIGITS) else {"hash": hash_own(ref, to.own)}


def _hide_conflicts(conflicts: list[Row], draft: Row) -> None:
    """Two texts each, and two more, that are made of the two claims."""
    for one in conflicts:
        both = [draft["claims"][one[which]]["text"] for which in ("claim", "other")]
        for name in ("values", "statements"):
            one[name] = [parts(text, both) for text in one[name]]


def _show(row: Row, texts: Texts, passages: Mapping[str, Row]) -> None:
    """Show the texts of a question that are made of others."""
    _show_draft(row["draft"], texts, passages)
    _show_conflicts(row["conflicts"], row["draft"])
    if trace := row["llm_trace"]:
        for one in trace["judgements"]:
            _change(one, "missing", texts.own)
            one["reasoning"] = texts.own(one["reasoning"])
            if one["sides"]:
                _show_draft(one["sides"], texts, passages)
                _show_conflicts([one["conflict"]] if one["conflict"] else [], one["sides"])
        for one in trace["attempts"]:
            one["refusal"] = texts.own(one["refusal"])
            _show_draft(one["draft"], texts, passages)


def _show_draft(draft: Row, texts: Texts, passages: Mapping[str, Row]) -> None:
    draft["text"] = texts.own(draft["text"])
    for claim, measured in zip(draft["claims"], draft["measured"], strict=True):
        _show_claim(claim, measured, texts, passages)
    # how long the draft was, where its text is gone: it cannot be counted any more
    if draft["text"] != DELETED and draft["stored_chars"] == _chars(draft):
        draft["stored_chars"] = None


def _show_claim(claim: Row, measured: Row, texts: Texts, passages: Mapping[str, Row]) -> None:
    made_of, wanted = claim["text"]
    claim["text"] = same(joined(made_of, _known(claim, passages)), wanted)
    # a claim does not outlive what it rests on
    if claim["text"] == DELETED and not any(one["quote"] == DELETED for one in claim["evidence"]):
        claim["text"] = texts.own(wanted)
    _change(claim, "cited", lambda one: _show_ref(one, texts))
    words, facts = quoted(claim), stated(claim)
    _change(measured, "quotes_missing", lambda one: texts.parts(one, words))
    _change(measured, "quotes_elsewhere", lambda one: texts.parts(one, words))
    _change(measured, "fabricated", lambda one: _show_ref(one, texts))
    _change(measured, "changed_facts", lambda one: [one[0], texts.parts(one[1], facts)])


def _chars(draft: Row) -> int:
    return len(draft["text"] or " ".join(claim["text"] for claim in draft["claims"]))


def _show_ref(row: Any, texts: Texts) -> str:
    if isinstance(row, str):
        return row
    text = texts.own(row["hash"])
    return f"{DELETED} {row['hash'][:_REF_DIGITS]}" if text == DELETED else text


def _show_conflicts(conflicts: list[Row], draft: Row) -> None:
    for one in conflicts:
        both = [draft["claims"][one[which]]["text"] for which in ("claim", "other")]
        for name in ("values", "statements"):
            one[name] = [joined(made_of, both) for made_of in one[name]]


def _show_around(document: str, around: Row, texts: Texts) -> None:
    """Text as it is read with its breaks, or a row by its cells."""
    wanted, breaks = around["text"]
    spans = _spans(around["spans"])
    text = texts.reading(document, spans, wanted)
    if text == DELETED:
        around["text"] = same(cells(texts.raw(document, spans)), wanted)
    else:
        around["text"] = "".join(BREAK if n in breaks else sign for n, sign in enumerate(text))


SCHEMA_VERSION = 16  # the form of a record
_VERSION = "schema_version"


@dataclass(frozen=True, slots=True)
class Written:
    """A record, and by hash a model's own words, `rejected` apart, which may come from these `documents`."""

    record: dict[str, Any]
    own: OwnWords
    rejected: OwnWords
    documents: tuple[str, ...]


def to_record(measurements: Measurements) -> dict[str, Any]:
    """The record of a question as JSON values; about 8 KB for ten passages, and a third of that compressed."""
    return write(measurements).record


def write(measurements: Measurements, rejected: Collection[int] = ()) -> Written:
    """The record with the words of a model beside it; `rejected` are the indexes of the attempts that were."""
    record = to_row(measurements)
    halves = list(_halves(record))
    passages = {one["id"]: one for half in halves for one in _passages(half)}
    cited = {one["document"] for half in halves for claim in half["draft"]["claims"] for one in claim["evidence"]}
    torn = {id for half in halves for one in half["conflicts"] for id in one["documents"]}
    partly = {id for half in halves for id in half["library"]["partly"]}  # a refusal names them
    named = {one["document"] for one in passages.values()} | cited | torn | partly
    to = Writing(passages, named, rejected, own={}, of_rejected={})
    for half in halves:
        _hide(half, to)
    for half in halves:
        for one, texts in _of_pages(half):
            one.update({name: hash_of(one[name]) for name in texts})
        for _, one in _around(half):
            breaks = [n for n, sign in enumerate(one["text"]) if sign == BREAK]
            one["text"] = [hash_of(one["text"].replace(BREAK, " ")), breaks]
    return Written({_VERSION: SCHEMA_VERSION, **record}, to.own, to.of_rejected, tuple(sorted(named)))


def from_record(
    row: Mapping[str, Any],
    page_text: PageText | None = None,
    passage_of: PassageOf | None = None,
    own: Mapping[str, str] | None = None,
) -> Measurements:
    """The measurements of a record; replay on them equals replay on those it was made of.

    Args:
        row: as `to_record` made it, also after a trip through JSON.
        page_text: reads the texts again; without it, and where it has no such page any more, they are `DELETED`.
        passage_of: the library's passages, for their section titles, which are on no known place of a page.
        own: what is still kept of a model's own words, as `write` gave them; the others are `DELETED`.

    Raises:
        InvalidInput: another version's record, or one that is not whole.
    """
    return restored(row, Texts(page_text, passage_of, own))


def restored(row: Mapping[str, Any], texts: Texts) -> Measurements:
    """The same for one of many records, which share what was read; raises as `from_record` does."""
    version = row.get(_VERSION)
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise InvalidInput(
            f"A stored question has the record version {version!r}; version {SCHEMA_VERSION} is known here.",
            remedy="Use the version of Plumbline that stored it, or ask the question again.",
        )
    try:
        rest: Row = to_row({name: value for name, value in row.items() if name != _VERSION})
        halves = list(_halves(rest))
        for half in halves:
            for one, again in _of_pages(half):
                one.update({name: read(one, texts, one[name]) for name, read in again.items()})
            for document, around in _around(half):
                _show_around(document, around, texts)
        passages = {one["id"]: one for half in halves for one in _passages(half)}
        for half in halves:
            _show(half, texts, passages)
        return _whole(reader(Measurements)(rest))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InvalidInput(
            f"A stored question cannot be read: its record is not whole ({type(error).__name__}).",
            remedy="Ask the question again.",
        ) from error


def _bound(draft: Draft) -> Draft:
    """Its measurements are of its claims again."""
    measured = zip(draft.claims, draft.measured, strict=True)
    return replace(draft, measured=tuple(taken_of(claim, one) for claim, one in measured))


def _whole(found: Measurements) -> Measurements:
    trace = found.llm_trace
    if trace is not None:
        judgements = (replace(one, sides=_bound(one.sides)) if one.sides else one for one in trace.judgements)
        attempts = (replace(one, draft=_bound(one.draft)) for one in trace.attempts)
        trace = replace(trace, judgements=tuple(judgements), attempts=tuple(attempts))
    other = _whole(found.other) if found.other is not None else None
    return replace(found, draft=_bound(found.draft), llm_trace=trace, other=other)

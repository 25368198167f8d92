"""The fields of a record that are no plain values, type by type: texts become hashes, spans of other texts, or ids.

All other fields follow from their declarations in `domain`. What a row is made of besides is in `Writing` and
`Reading`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

from rag_core.domain.claims import BREAK, Around, Citation, Claim, Conflict, Evidence
from rag_core.domain.documents import Box, DateSource, Span
from rag_core.domain.drafts import ClaimMeasurement, Draft, taken_of
from rag_core.domain.llm_trace import Attempt, LlmTrace, Sufficiency
from rag_core.domain.measurements import LibraryFacts, Measurements
from rag_core.domain.passages import Hit, Passage
from rag_core.domain.ports import PageText
from rag_core.domain.scanned import Unsure
from rag_core.errors import InvalidInput
from rag_core.ingest.normalise import cells
from rag_core.records.codec import Codec, Custom, Form, Row
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
from rag_core.settings import Settings

# hash digits that stand for a cited id that a model made up, where its text is gone: two of them stay two
_REF_DIGITS = 8
_NO_CLAIM = Claim("")


@dataclass(slots=True)
class Writing:
    """The context of writing a value: the passages of all rounds by id, and where a model's own words go.

    `named` are the documents that a decision can name; `rejected` the numbers of the attempts whose words go into
    `of_rejected`. `described` are passages that have a row already. `claim` and `claims` are those around the value.
    """

    passages: Mapping[str, Passage]
    named: Collection[str]
    rejected: Collection[int]
    own: OwnWords
    of_rejected: OwnWords
    described: set[str] = field(default_factory=set)
    claim: Claim = _NO_CLAIM
    claims: Sequence[Claim] = ()


@dataclass(slots=True)
class Reading:
    """The context of reading a row: a reader of texts, the passages read so far, and the claims around the row."""

    texts: Texts
    passages: dict[str, Passage] = field(default_factory=dict)
    claim: Claim = _NO_CLAIM
    claims: Sequence[Claim] = ()


def _text_of(name: str, read: Callable[[str, Row, Texts], str]) -> Custom:
    """A text of a page: its hash, and from the fields read before the text again."""
    return Custom(lambda value, to: hash_of(getattr(value, name)), lambda row, got, of: read(row, got, of.texts))


def _own_text(name: str) -> Custom:
    return Custom(lambda value, to: hash_own(getattr(value, name), to.own), lambda row, got, of: of.texts.own(row))


def _known(evidence: Sequence[Evidence], passages: Mapping[str, Passage]) -> list[str]:
    return sources([passages[one.passage] for one in evidence if one.passage in passages], evidence)


def _write_claim(claim: Claim, to: Writing) -> list[Any]:
    made_of = parts(claim.text, _known(claim.evidence, to.passages))
    return [made_of, hash_own(claim.text, to.own) if made_of is None else hash_of(claim.text)]


def _read_claim(row: Any, got: Row, of: Reading) -> str:
    made_of, hashed = row
    text = same(joined(made_of, _known(got["evidence"], of.passages)), hashed)
    # a claim does not outlive what it rests on
    if text == DELETED and not any(one.quote == DELETED for one in got["evidence"]):
        text = of.texts.own(hashed)
    return text


def _write_ref(ref: str, claim: Claim, to: Writing) -> Any:
    """A cited id: a passage's and a number as they are; any other is what a model wrote."""
    known = ref in to.passages or any(ref == one.passage for one in claim.evidence)
    return ref if known or (ref.isdecimal() and len(ref) < _REF_DIGITS) else {"hash": hash_own(ref, to.own)}


def _read_ref(row: Any, of: Reading) -> str:
    if isinstance(row, str):
        return row
    text = of.texts.own(row["hash"])
    return f"{DELETED} {row['hash'][:_REF_DIGITS]}" if text == DELETED else text


def _findings(name: str, write: Callable[[Any, Writing], Any], read: Callable[[Any, Reading], Any]) -> Custom:
    """The findings on a claim, each by itself; None where nothing was measured."""

    def to_row(value: Any, to: Writing) -> list[Any] | None:
        found = getattr(value, name)
        return None if found is None else [write(one, to) for one in found]

    return Custom(to_row, lambda row, got, of: None if row is None else tuple([read(one, of) for one in row]))


def _quotes(name: str) -> Custom:
    return _findings(
        name,
        lambda one, to: parts_or_hash(one, quoted(to.claim), to.own),
        lambda row, of: of.texts.parts(row, quoted(of.claim)),
    )


def _write_measured(draft: Draft, to: Writing) -> list[Any]:
    rows = []
    for to.claim, measured in zip(draft.claims, draft.measured, strict=True):
        rows.append(CODEC.write(measured, to))
    return rows


def _read_measured(rows: Any, got: Row, of: Reading) -> tuple[ClaimMeasurement, ...]:
    found = []
    for of.claim, row in zip(got["claims"], rows, strict=True):
        found.append(taken_of(of.claim, _MEASURED.read(row, of)))
    return tuple(found)


def _read_chars(row: Any, got: Row, of: Reading) -> int | None:
    """How long the draft was, where its text is gone: it cannot be counted any more."""
    counted = Draft(claims=got["claims"], text=got["text"]).chars
    return None if counted == row and got["text"] != DELETED else int(row)


def _write_passage(hit: Hit, to: Writing) -> Any:
    """A passage where it is found first, later its id."""
    if hit.passage.id in to.described:
        return hit.passage.id
    to.described.add(hit.passage.id)
    return CODEC.write(hit.passage, to)


def _read_passage(row: Any, got: Row, of: Reading) -> Passage:
    if isinstance(row, str):
        return of.passages[row]
    passage: Passage = _PASSAGE.read(row, of)
    of.passages[passage.id] = passage
    return passage


def _stated(name: str) -> Custom:
    """Two texts that are made of the two claims of a conflict."""

    def pair(claims: Sequence[Claim], claim: int, other: int) -> list[str]:
        return [claims[claim].text, claims[other].text]

    return Custom(
        lambda value, to: [parts(text, pair(to.claims, value.claim, value.other)) for text in getattr(value, name)],
        lambda row, got, of: tuple([joined(one, pair(of.claims, got["claim"], got["other"])) for one in _two(row)]),
    )


def _write_around(around: Around) -> list[Any]:
    breaks = [n for n, sign in enumerate(around.text) if sign == BREAK]
    return [CODEC.write(around.spans, None), hash_of(around.text.replace(BREAK, " ")), breaks]


def _read_around(row: Any, got: Row, of: Reading) -> Around:
    """Text as it is read with its breaks, or a row by its cells."""
    places, wanted, breaks = row
    spans = _SPANS.read(places, of)
    text = of.texts.reading(got["document_id"], spans, wanted)
    if text == DELETED:
        return Around(spans, same(cells(of.texts.raw(got["document_id"], spans)), wanted))
    return Around(spans, "".join(BREAK if n in breaks else sign for n, sign in enumerate(text)))


def _two(row: Any) -> Any:
    if len(row) != 2:
        raise ValueError(f"wanted two, got {len(row)}")
    return row


def _write_conflict(conflict: Conflict, claims: Sequence[Claim], to: Writing) -> Any:
    to.claims = claims
    return CODEC.write(conflict, to)


def _read_conflict(row: Any, claims: Sequence[Claim], of: Reading) -> Conflict:
    of.claims = claims
    found: Conflict = _CONFLICT.read(row, of)
    return found


def _write_attempts(trace: LlmTrace, to: Writing) -> list[Any]:
    apart = replace(to, own=to.of_rejected)
    return [CODEC.write(one, apart if number in to.rejected else to) for number, one in enumerate(trace.attempts)]


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Ascending runs as [first, last]: a scan of 300 pages is one."""
    grouped = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    return [[run[0][1], run[-1][1]] for _, group in grouped if (run := list(group))]


def _of_named(name: str) -> Custom:
    """A fact by document, of those that a decision can name."""
    return Custom(
        lambda value, to: {id: fact for id, fact in getattr(value, name).items() if id in to.named},
        lambda row, got, of: dict(row.items()),
    )


def settings_of(values: Mapping[str, Any]) -> Settings:
    return _settings(tuple(values.items()))


@lru_cache(maxsize=64)
def _settings(values: tuple[tuple[str, Any], ...]) -> Settings:
    return Settings(**dict(values))


# Each type's fields that are no plain values, in the order in which they are read; None for those that only have their
# place in it.
CODEC: Codec = Codec(
    {
        Passage: {
            "text": _text_of("text", lambda row, got, texts: texts.reading(got["document"], got["spans"], row)),
            "section": _text_of("section", lambda row, got, texts: texts.section(got["document"], got["id"], row)),
            "header_text": _text_of(
                "header_text", lambda row, got, texts: texts.reading(got["document"], got["header"], row)
            ),
        },
        Hit: {"passage": Custom(_write_passage, _read_passage)},
        Evidence: {"quote": _text_of("quote", lambda row, got, texts: texts.quote(got["document"], got["spans"], row))},
        Claim: {
            "text": Custom(_write_claim, _read_claim),
            "cited": Custom(
                lambda claim, to: [_write_ref(ref, claim, to) for ref in claim.cited],
                lambda rows, got, of: tuple([_read_ref(row, of) for row in rows]),
            ),
        },
        ClaimMeasurement: {
            "quotes_missing": _quotes("quotes_missing"),
            "quotes_elsewhere": _quotes("quotes_elsewhere"),
            "fabricated": _findings("fabricated", lambda one, to: _write_ref(one, to.claim, to), _read_ref),
            "changed_facts": _findings(
                "changed_facts",
                lambda one, to: [one[0], parts_or_hash(one[1], stated(to.claim), to.own)],
                lambda row, of: (row[0], of.texts.parts(row[1], stated(of.claim))),
            ),
        },
        Citation: {
            "excerpt": _text_of("excerpt", lambda row, got, texts: texts.quote(got["document_id"], got["spans"], row)),
            "heading": _text_of(
                "heading", lambda row, got, texts: texts.section(got["document_id"], got["chunk_id"], row)
            ),
            "before": Custom(lambda citation, to: _write_around(citation.before), _read_around),
            "after": Custom(lambda citation, to: _write_around(citation.after), _read_around),
        },
        Unsure: {"text": _text_of("text", lambda row, got, texts: texts.quote(got["document"], (got["span"],), row))},
        Draft: {
            "measured": Custom(_write_measured, _read_measured),
            "text": _own_text("text"),
            "stored_chars": Custom(lambda draft, to: draft.chars, _read_chars),
        },
        Conflict: {"values": _stated("values"), "statements": _stated("statements")},
        Sufficiency: {
            "missing": _findings("missing", lambda one, to: hash_own(one, to.own), lambda row, of: of.texts.own(row)),
            "reasoning": _own_text("reasoning"),
            "conflict": Custom(
                lambda judgement, to: (
                    _write_conflict(judgement.conflict, judgement.sides.claims, to)
                    if judgement.sides and judgement.conflict
                    else None
                ),
                lambda row, got, of: _read_conflict(row, got["sides"].claims, of) if row else None,
            ),
        },
        Attempt: {"refusal": _own_text("refusal")},
        LlmTrace: {
            "expanded": None,
            "judgements": None,
            "attempts": Custom(_write_attempts, lambda rows, got, of: tuple([_ATTEMPT.read(row, of) for row in rows])),
        },
        LibraryFacts: {
            "unreadable": Custom(
                lambda facts, to: {id: _runs(pages) for id, pages in facts.unreadable.items()},
                lambda row, got, of: {
                    id: tuple(n for first, last in runs for n in range(first, last + 1)) for id, runs in row.items()
                },
            ),
            **{name: _of_named(name) for name in ("names", "titles", "dates", "authors", "authority")},
            "date_sources": Custom(
                lambda facts, to: {id: source.value for id, source in facts.date_sources.items() if id in to.named},
                lambda row, got, of: {id: DateSource(source) for id, source in row.items()},
            ),
        },
        Measurements: {
            "settings": Custom(
                lambda measurements, to: measurements.settings.model_dump(mode="json"),
                lambda row, got, of: settings_of(row),
            ),
            "hits": None,
            "draft": Custom(
                lambda measurements, to: CODEC.write(measurements.draft, replace(to, own={})),
                lambda row, got, of: _DRAFT.read(row, of),
            ),
            "conflicts": Custom(
                lambda measurements, to: [
                    _write_conflict(one, measurements.draft.claims, to) for one in measurements.conflicts
                ],
                lambda rows, got, of: tuple([_read_conflict(row, got["draft"].claims, of) for row in rows]),
            ),
            "llm_trace": None,
            "other": Custom(
                lambda measurements, to: CODEC.write(measurements.other, to) if measurements.other else None,
                lambda row, got, of: MEASUREMENTS.read(row, of) if row else None,
            ),
        },
    },
    positional=(Span, Box),
    names={"LlmTrace": LlmTrace},
)
MEASUREMENTS: Form = CODEC.form(Measurements)
_SPANS: Form = CODEC.form(tuple[Span, ...])
_MEASURED: Form = CODEC.form(ClaimMeasurement)
_PASSAGE: Form = CODEC.form(Passage)
_CONFLICT: Form = CODEC.form(Conflict)
_ATTEMPT: Form = CODEC.form(Attempt)
_DRAFT: Form = CODEC.form(Draft)


SCHEMA_VERSION = 15  # the form of a record
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
    passages = _retrieved(measurements)
    named = _documents(measurements, passages)
    to = Writing(passages, named, rejected, own={}, of_rejected={})
    record = {_VERSION: SCHEMA_VERSION, **CODEC.write(measurements, to)}
    return Written(record, to.own, to.of_rejected, tuple(sorted(named)))


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
        rest = {name: value for name, value in row.items() if name != _VERSION}
        found: Measurements = MEASUREMENTS.read(rest, Reading(texts))
        return found
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InvalidInput(
            f"A stored question cannot be read: its record is not whole ({type(error).__name__}).",
            remedy="Ask the question again.",
        ) from error


def _retrieved(measurements: Measurements) -> dict[str, Passage]:
    later = measurements.llm_trace.expanded if measurements.llm_trace else ()
    other = _retrieved(measurements.other) if measurements.other else {}
    return {hit.passage.id: hit.passage for hits in (measurements.hits, *later) for hit in hits} | other


def _documents(measurements: Measurements, passages: Mapping[str, Passage]) -> set[str]:
    both = (measurements, measurements.other) if measurements.other else (measurements,)
    cited = {evidence.document for one in both for claim in one.draft.claims for evidence in claim.evidence}
    torn = {id for half in both for one in half.conflicts for id in one.documents}
    return {passage.document for passage in passages.values()} | cited | torn

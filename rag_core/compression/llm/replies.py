"""Reads a model's answer: JSON in one of the forms below. Of other text only a refusal is read.

Whatever the text, what comes out is a reply within these bounds or a `MalformedReply`. Nothing in it is believed here:
ids may be invented and quotes may be wrong; the checks find out. An id that names no passage stays as written, so that
it is reported.

The forms are schemas that a server can write by. They bound lists and texts more tightly than what is read: a server
that writes by a grammar then comes to an end, and a reply of another server that is a little longer is read all the
same.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any, Literal, NoReturn, TypeVar

import regex
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from rag_core.domain.llm_trace import Completion, YesNo
from rag_core.ingest.normalise import normalise
from rag_core.language import is_refusal

MAX_CLAIMS = 20  # a draft is asked for about three sentences; chosen
MAX_SENTENCE_CHARS = 2_000  # as long as a quote may be
MAX_QUOTE_CHARS = 2_000  # a quote is a part of a passage of at most 512 tokens
MAX_MISSING = 10  # things that a model calls missing; chosen

# What the schemas bound besides; a grammar keeps a small model to it.
_ASKED_ID_CHARS = 12  # "1", or "[Source 1]" of a model that writes so
_ASKED_QUOTES = 3  # for one sentence
_ASKED_WORDS_CHARS = (
    200  # a reason, a thing that is missing, or why a claim does not hold: a sentence that nothing rests on
)
_ASKED_CHARS_OF_A_TOKEN = 6  # an answer of words that long is cut by its own length first, see `draft_facts`
_ASKED_PAIRS = 2  # contradictions: one is enough to answer with both sides


class Form(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",  # what nobody asked for is not read; the schema forbids it all the same, as strict mode wants
        coerce_numbers_to_str=True,
        json_schema_extra={"additionalProperties": False},
    )


def asked(**bounds: int) -> Any:
    """Bounds that stand in the schema, and that no reply is refused for."""
    return Field(json_schema_extra=dict(bounds))


Words = Annotated[str, asked(maxLength=_ASKED_WORDS_CHARS)]


class Quoted(Form):
    """A passage by its id, and words copied from it."""

    source: Annotated[str, asked(maxLength=_ASKED_ID_CHARS)]
    quote: Annotated[str, asked(maxLength=MAX_QUOTE_CHARS)]


class ClaimReply(Form):
    """One sentence of the answer and what it rests on."""

    # first, so that it is copied before the sentence is written
    evidence: Annotated[list[Quoted], asked(maxItems=_ASKED_QUOTES)]
    sentence: Annotated[str, asked(maxLength=MAX_SENTENCE_CHARS)]


class DraftReply(Form):
    """An answer, or why there is none."""

    answerable: bool
    reason: Words
    claims: Annotated[list[ClaimReply], asked(maxItems=MAX_CLAIMS)]


@cache
def draft_schema(sentences: int, tokens: int) -> type[DraftReply]:
    """The form of a draft of so many sentences, and tokens without its quotes; see `read_draft`."""
    chars = min(MAX_QUOTE_CHARS, _ASKED_CHARS_OF_A_TOKEN * tokens)
    text = Annotated[str, asked(maxLength=chars)]
    quoted = create_model("Quoted", __base__=Quoted, quote=(text, ...))
    quotes = Annotated[list[quoted], asked(maxItems=_ASKED_QUOTES)]  # type: ignore[valid-type]
    claim = create_model("ClaimReply", __base__=ClaimReply, evidence=(quotes, ...), sentence=(text, ...))
    claims = Annotated[list[claim], asked(maxItems=sentences)]  # type: ignore[valid-type]
    return create_model("DraftReply", __base__=DraftReply, claims=(claims, ...))


class Contradiction(Form):
    """Two quotes that cannot both hold."""

    first: Quoted
    second: Quoted


class SufficiencyReply(Form):
    """Whether the passages answer the question."""

    can_answer: Literal["yes", "no", "partial"]
    confidence: float
    missing: Annotated[list[Words], asked(maxItems=MAX_MISSING)]
    reasoning: Words
    contradictions: Annotated[list[Contradiction], asked(maxItems=_ASKED_PAIRS)]


class ClaimVerdict(Form):
    """Whether its passages say what a claim says; claims count from 1."""

    claim: int
    verdict: Literal["yes", "no", "unclear"]
    why: Words


class VerifyReply(Form):
    """One verdict for each claim."""

    verdicts: Annotated[list[ClaimVerdict], asked(maxItems=MAX_CLAIMS)]


MAX_CHARS = 200_000  # a longer answer of a server is refused unread
MAX_EVIDENCE = 10  # quotes of one claim
MAX_ID_CHARS = 200  # the ids of a prompt have a few; a model may make up longer ones
MAX_REASON_CHARS = 1_000  # a reason is cut, not refused: nothing rests on it
MAX_MISSING_CHARS = 200  # what a model calls missing is some words; the rest is cut
_THOUGHT = regex.compile(r"\s*<think(?:ing)?>", regex.IGNORECASE)
_THOUGHT_END = regex.compile(r"</think(?:ing)?>", regex.IGNORECASE)
_LIKE_JSON = regex.compile(r"(?:```\w*\s*)?(?:\{|\[\s*[\[{\"])")
_ID_WORD = regex.compile(r"(?:source|src|passage|id)\b[\s:#]*", regex.IGNORECASE)


class MalformedReply(ValueError):
    """A model's answer that cannot be read. The message is one sentence of ours and quotes nothing of the answer."""


class EmptyReply(MalformedReply):
    """An answer that says nothing."""


_Reply = TypeVar("_Reply", bound=BaseModel)


def read_draft(completion: Completion) -> DraftReply:
    """The draft of an answer; a refusal has no claims. Raises EmptyReply where it says nothing, or MalformedReply."""
    text = _read(completion)
    raw = _json(text)
    if raw is None and is_refusal(text):
        return DraftReply(answerable=False, reason=_short(text, MAX_REASON_CHARS), claims=[])
    reply = _checked(DraftReply, raw)
    if not reply.answerable:
        return DraftReply(answerable=False, reason=_short(reply.reason, MAX_REASON_CHARS), claims=[])
    if not reply.claims:
        raise EmptyReply("The model's answer makes no claim.")
    if len(reply.claims) > MAX_CLAIMS:
        raise MalformedReply(f"The model's answer makes more than {MAX_CLAIMS} claims.")
    claims = [_claim(claim) for claim in reply.claims]
    whole = " ".join(claim.sentence for claim in claims)
    if is_refusal(whole) and (len(claims) == 1 or not any(claim.evidence for claim in claims)):
        return DraftReply(answerable=False, reason=_short(whole, MAX_REASON_CHARS), claims=[])
    return DraftReply(answerable=True, reason="", claims=claims)


def read_sufficiency(completion: Completion) -> SufficiencyReply:
    """Whether the passages suffice, as the model says; raises MalformedReply, also beyond [0, 1]."""
    reply = _checked(SufficiencyReply, _json(_read(completion)))
    if not 0.0 <= reply.confidence <= 1.0:
        raise MalformedReply("The model's confidence is not between 0 and 1.")
    return SufficiencyReply(
        can_answer=reply.can_answer,
        confidence=reply.confidence,
        missing=[short for item in reply.missing[:MAX_MISSING] if (short := _short(item, MAX_MISSING_CHARS))],
        reasoning=_short(reply.reasoning, MAX_REASON_CHARS),
        contradictions=[
            Contradiction(first=_quoted(pair.first), second=_quoted(pair.second))
            for pair in reply.contradictions[:MAX_EVIDENCE]
        ],
    )


def read_yes_no(completion: Completion, count: int) -> tuple[YesNo, ...]:
    """The model's yes or no for each of `count` claims, in order; raises MalformedReply unless each has one."""
    reply = _checked(VerifyReply, _json(_read(completion)))
    found = {one.claim: one.verdict for one in reply.verdicts}
    if len(found) != len(reply.verdicts) or set(found) != set(range(1, count + 1)):
        raise MalformedReply("The model's answer does not give each claim exactly one verdict.")
    return tuple(found[number] for number in range(1, count + 1))


def source_id(written: str) -> str:
    """The id in `[Source 1]`, `[1]`, `source:1` or `1`: as written but for what stands around it; `?` for none."""
    bare = _whole(written[: 2 * MAX_ID_CHARS]).strip("[]()\"'`“”„ \t\r\n")
    bare = _ID_WORD.sub("", bare, count=1) if _ID_WORD.match(bare) else bare
    bare = bare.strip("[]()\"'`“”„.,;: \t\r\n")[:MAX_ID_CHARS]
    if bare.isdecimal():
        return str(int(bare))
    return normalise(bare or _whole(written[:MAX_ID_CHARS])).text or "?"


def _read(completion: Completion) -> str:
    if not completion.complete:
        raise MalformedReply("The model's answer was cut off at its longest length.")
    return _bare(completion.text)


def _bare(text: str) -> str:
    """The text without what some servers put before it: a byte-order mark, the model's thoughts."""
    if len(text) > MAX_CHARS:
        raise MalformedReply(f"The model's answer is longer than {MAX_CHARS:,} characters.")
    bare = _whole(text).lstrip("\ufeff \t\r\n")
    end = _THOUGHT_END.search(bare)
    if _THOUGHT.match(bare):
        bare = bare[end.end() :] if end else ""
    elif end and not _LIKE_JSON.match(bare):
        bare = bare[end.end() :]
    bare = bare.strip("\ufeff\u200b \t\r\n")
    if not bare:
        raise EmptyReply("The model's answer is empty.")
    return bare


def _whole(text: str) -> str:
    """The text with a question mark for each half of a character, which nothing could store or show."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _json(text: str) -> dict[str, Any] | None:
    """The one JSON object in a text, whatever is written around it; None where the text is not JSON."""
    start, end = text.find("{"), text.rfind("}") + 1
    problem = "The model's answer is not valid JSON."
    if 0 <= start < end:
        try:
            found = json.loads(text[start:end], parse_constant=_no_number, object_pairs_hook=_once)
        except RecursionError:
            raise MalformedReply("The model's answer is nested too deep.") from None
        except MalformedReply as error:
            problem = str(error)
        except ValueError:
            pass
        else:
            if not text.startswith("["):
                return dict(found)
            problem = "The model's answer has another form than was asked for."
    if _LIKE_JSON.match(text):
        raise MalformedReply(problem)
    return None


def _no_number(_: str) -> NoReturn:
    raise MalformedReply("The model's answer holds a value that is no number.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of which no key is given twice: two values for one thing are none."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise MalformedReply("The model's answer gives one key twice.")
    return found


def _checked(schema: type[_Reply], raw: dict[str, Any] | None) -> _Reply:
    if raw is None:
        raise MalformedReply("The model's answer is not valid JSON.")
    try:
        return schema.model_validate(raw)
    except (ValidationError, RecursionError) as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) if isinstance(error, ValidationError) else ""
        where = f", at {place}" if place else ""
        raise MalformedReply(f"The model's answer has another form than was asked for{where}.") from None


def _claim(claim: ClaimReply) -> ClaimReply:
    if len(claim.sentence) > MAX_SENTENCE_CHARS:
        raise MalformedReply(f"A sentence of the model's answer is longer than {MAX_SENTENCE_CHARS:,} characters.")
    if len(claim.evidence) > MAX_EVIDENCE:
        raise MalformedReply(f"A sentence of the model's answer has more than {MAX_EVIDENCE} quotes.")
    sentence = normalise(_whole(claim.sentence)).text
    if not sentence:
        raise MalformedReply("A claim of the model's answer has no sentence.")
    return ClaimReply(sentence=sentence, evidence=[_quoted(one) for one in claim.evidence])


def _quoted(one: Quoted) -> Quoted:
    if len(one.quote) > MAX_QUOTE_CHARS:
        raise MalformedReply(f"A quote of the model's answer is longer than {MAX_QUOTE_CHARS:,} characters.")
    return Quoted(source=source_id(one.source), quote=_whole(one.quote).strip())


def _short(text: str, most: int) -> str:
    """The reading form, cut after `most` characters."""
    bare = normalise(_whole(text[: 2 * most])).text
    return bare if len(bare) <= most else bare[: most - 1] + "…"

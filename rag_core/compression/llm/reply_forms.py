"""The forms that a model's answer must have, as schemas that a server can write by, and their bounds.

The schemas bound lists and texts more tightly than `replies` does, which reads them: a server that writes by a grammar
then comes to an end, and a reply of another server that is a little longer is read all the same.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

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
    """The form of a draft of at most so many sentences, and so many tokens without its quotes; read by `read_draft`
    like any other.
    """
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

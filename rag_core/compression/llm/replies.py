"""Reads a model's answer: JSON in one of the forms of `reply_forms`. Of other text only a refusal is read.

Whatever the text, what comes out is a reply within these bounds or a `MalformedReply`. Nothing in it is believed here:
ids may be invented and quotes may be wrong; the checks find out. An id that names no passage stays as written, so that
it is reported.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

import regex
from pydantic import BaseModel, ValidationError

from rag_core.compression.llm.reply_forms import (
    MAX_CLAIMS,
    MAX_MISSING,
    MAX_QUOTE_CHARS,
    MAX_SENTENCE_CHARS,
    ClaimReply,
    Contradiction,
    DraftReply,
    Quoted,
    SufficiencyReply,
    VerifyReply,
)
from rag_core.domain.llm_trace import Completion, YesNo
from rag_core.ingest.normalise import normalise
from rag_core.language import is_refusal

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
    """The draft of an answer; `answerable` is False for a refusal in any language, however it is dressed, and then it
    has no claims.

    Raises:
        EmptyReply: it says nothing, or claims nothing.
        MalformedReply: it cannot be read, or is past the bounds.
    """
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
    """Whether the passages suffice, as the model says it.

    Raises:
        MalformedReply: as for `read_draft`; also for a confidence out of [0, 1].
    """
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
    """The model's yes or no for each of `count` claims, in their order.

    Raises:
        MalformedReply: as for `read_draft`; also unless each claim has exactly one.
    """
    reply = _checked(VerifyReply, _json(_read(completion)))
    found = {one.claim: one.verdict for one in reply.verdicts}
    if len(found) != len(reply.verdicts) or set(found) != set(range(1, count + 1)):
        raise MalformedReply("The model's answer does not give each claim exactly one verdict.")
    return tuple(found[number] for number in range(1, count + 1))


def read_reply(completion: Completion, schema: type[_Reply]) -> _Reply:
    """A reply in this form.

    Raises:
        MalformedReply: as for `read_draft`.
    """
    return _checked(schema, _json(_read(completion)))


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

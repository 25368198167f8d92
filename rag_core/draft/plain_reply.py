"""A model's answer in plain text, for servers without structured outputs, read into the form that the JSON would have.

One claim a line: its sentence, then for each passage it rests on the id in brackets and the words it copied in quotation marks.
The reading is forgiving in how that is written and never in what it says: a line without a citation is a claim without one.
"""

from __future__ import annotations

from typing import Any

import regex

from rag_core.language import is_refusal

# [1], [1, 2], [Source 1], [source:abc#2]
_MARK = regex.compile(r"\[\s*(?P<ids>\d{1,4}(?:\s*[,;]\s*\d{1,4}){0,9}|(?:sources?|src)[\s:#]+[^\[\]\n]{1,200})\s*\]", regex.IGNORECASE)
_BULLET = regex.compile(r"\s*(?:[-*•–—+]\s+|\(?\d{1,2}[.)]\s+|#{1,6}\s+|>\s*)")
_HEAD = regex.compile(r"[*_#\s]*(?:answer|reply|response|claims?)[*_\s]*:[*_\s]*", regex.IGNORECASE)
_SOURCES_HEAD = regex.compile(r"[*_#\s]*(?:sources|references|citations)[*_\s]*:?[*_\s]*", regex.IGNORECASE)
_CLOSING = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "”": "”", "‟": "”"}
_BEFORE_QUOTE = " \t:–—-(,.;"
_FIRST_WORD = regex.compile(r"[\s*_\"'`]*(?:answer|can_answer|verdict)?[\s*_\"':]*(?P<word>yes|no|partial(?:ly)?)\b", regex.IGNORECASE)
_FIELD = regex.compile(
    r"[\s*_#>-]*(?P<name>confidence|missing|reasoning|reason|contradictions?)[*_\s]*:[*_\s]*(?P<value>.*)", regex.IGNORECASE
)
_NUMBER = regex.compile(r"(?P<number>\d{1,3}(?:\.\d{1,10})?)\s*(?P<percent>%)?")
_VERDICT = regex.compile(
    r"[\s*_\[(#>-]*(?:claim\s*)?(?P<claim>\d{1,4})[\s*_\])]*[.:)\-–—=]*[\s*_\"]*(?P<verdict>yes|no|unclear|cannot tell)\b(?P<why>.*)",
    regex.IGNORECASE,
)


def plain_draft(text: str) -> dict[str, Any]:
    """The claims of a text as `DraftReply` has them; a refusal has none, and its text as the reason."""
    if is_refusal(_MARK.sub(" ", text)):
        return {"answerable": False, "reason": text, "claims": []}
    claims: list[dict[str, Any]] = []
    for line in text.splitlines():
        if _SOURCES_HEAD.fullmatch(line):
            break
        if not line.startswith("```"):
            _read_line(_unheaded(line), claims)
    return {"answerable": True, "reason": "", "claims": [claim for claim in claims if claim["sentence"]]}


def plain_sufficiency(text: str) -> dict[str, Any]:
    """The verdict of a text as `SufficiencyReply` has it; without a stated confidence it is 0.5 where it says yes or partial, else 0."""
    first = _FIRST_WORD.match(text)
    if first is None:
        return {}
    verdict = "partial" if first["word"].lower().startswith("partial") else first["word"].lower()
    found: dict[str, Any] = {
        "can_answer": verdict, "confidence": 0.0 if verdict == "no" else 0.5, "missing": [], "reasoning": "", "contradictions": []
    }  # fmt: skip
    for line in text.splitlines():
        field = _FIELD.match(line)
        if field is not None:
            _read_field(field["name"].lower(), field["value"].strip(), found)
    return found


def plain_verdicts(text: str) -> dict[str, Any]:
    """The lines `1: yes` of a text as `VerifyReply` has them."""
    lines = [match for line in text.splitlines() if (match := _VERDICT.match(line))]
    return {
        "verdicts": [
            {
                "claim": int(one["claim"]),
                "verdict": "unclear" if one["verdict"].lower().startswith("c") else one["verdict"].lower(),
                "why": "",
            }
            for one in lines
        ]
    }


def _read_field(name: str, value: str, found: dict[str, Any]) -> None:
    if name == "confidence" and (number := _NUMBER.match(value)):
        found["confidence"] = float(number["number"]) / (100 if number["percent"] else 1)
    elif name == "missing":
        found["missing"] += [item.strip() for item in value.split(";") if item.strip().lower() not in ("", "-", "none", "nothing")]
    elif name.startswith("reason"):
        found["reasoning"] = value
    elif name.startswith("contradiction"):
        claims: list[dict[str, Any]] = []
        _read_line("x " + value, claims)
        quoted = claims[0]["evidence"] if claims else []
        if len(quoted) >= 2:
            found["contradictions"].append({"first": quoted[0], "second": quoted[1]})


def _unheaded(line: str) -> str:
    """A line without bullet, number or `Answer:` before it."""
    for head in (_BULLET, _HEAD, _BULLET):
        match = head.match(line)
        line = line[match.end() :] if match else line
    return line.strip()


def _read_line(line: str, claims: list[dict[str, Any]]) -> None:
    """Add what a line claims to `claims`. A line that begins with a citation or a quote goes on with the claim before it."""
    marks = list(_MARK.finditer(line))
    before = line[: marks[0].start()] if marks else line
    going_on = claims and not _says_something(before)
    if not marks:
        waiting = claims[-1]["evidence"][-1:] if claims else []
        quote, rest = _quote(line)
        if waiting and not waiting[0]["quote"] and quote and not _says_something(rest):
            waiting[0]["quote"] = quote
            return
    if not going_on:
        claims.append(_new(before))
    for mark, following in zip(marks, [*marks, None][1:], strict=True):
        quote, rest = _quote(line[mark.end() : following.start() if following else len(line)])
        if claims[-1]["sentence"] == "" and not quote and _says_something(rest):
            claims[-1]["sentence"], rest = _tidy(rest), ""
        claims[-1]["evidence"] += [{"source": source, "quote": quote} for source in regex.split(r"\s*[,;]\s*", mark["ids"])]
        if _says_something(rest):
            claims.append(_new(rest))


def _new(text: str) -> dict[str, Any]:
    return {"sentence": _tidy(text) if _says_something(text) else "", "evidence": []}


def _tidy(text: str) -> str:
    return text.strip(" \t*_").lstrip(".,;: ")


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _quote(text: str) -> tuple[str, str]:
    """The quotation that a text begins with, up to the last closing mark, and what follows it."""
    bare = text.lstrip(_BEFORE_QUOTE)
    closing = _CLOSING.get(bare[:1], "")
    end = max((bare.rfind(mark) for mark in closing), default=0)
    if end <= 0:
        return "", text
    return bare[1:end].replace('\\"', '"').strip(), bare[end + 1 :]

"""Reads a model's answer in plain text into the form that the JSON would have, for servers without structured outputs.

One claim a line: its sentence, then for each passage it rests on the id in brackets and the words it copied in quotation marks.
The reading is forgiving in how that is written and never in what it says: a sentence without a citation is a claim without one, and a
citation without a quote has an empty one. Every pattern is possessive: no text makes it slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import regex

# [1], [1, 2], [Source 1], [source:abc#2]
_MARK = regex.compile(
    r"\[\s*+(?P<ids>\d{1,4}+(?:\s*+[,;]\s*+\d{1,4}+){0,9}+|(?:sources?|src)[\s:#]++[^\[\]\n]{1,200}+)\s*+\]", regex.IGNORECASE
)
_BULLET = regex.compile(r"\s*+(?:[-*•–—+]\s++|\(?\d{1,2}[.)]\s++|#{1,6}\s++|>\s*+)")
_HEAD = regex.compile(r"[*_#\s]*+(?:answer|reply|response|claims?)[*_\s]*+:[*_\s]*+", regex.IGNORECASE)
_SOURCES_HEAD = regex.compile(r"[*_#\s]*+(?:sources|references|citations)[*_\s]*+:?[*_\s]*+", regex.IGNORECASE)
_CLOSING = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "”": "”"}
_BEFORE_QUOTE = " \t:–—-(,.;"
_TERMINATORS = (".", "!", "?", "…", "।", "。")
_FIRST_WORD = regex.compile(r"[\s*_\"'`]*+(?:answer|can_answer)?+[\s*_\"'`:]*+(?P<word>yes|no|partial(?:ly)?+)\b", regex.IGNORECASE)
_FIELD = regex.compile(
    r"[\s*_#>-]*+(?P<name>confidence|missing|reasoning|reason|contradictions?+)[*_\s]*+:[*_\s]*+(?P<value>.*+)", regex.IGNORECASE
)
_NUMBER = regex.compile(r"(?P<number>\d{1,3}+(?:\.\d{1,10}+)?+)\s*+(?P<percent>%)?+")
_ENOUGH = 100  # claims: as many as nobody accepts
_NOTHING = ("", "-", "none", "nothing", "n/a")
_YES_NO = regex.compile(
    r"[\s*_\[(#>-]*+(?:claim\s*+)?+(?P<claim>\d{1,4}+)[\s*_\])]*+[.:\-–—=]*+[\s*_\"]*+(?P<verdict>yes|no|unclear|cannot tell)\b",
    regex.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Cited:
    """A citation in a line: the ids in its brackets, the quote right after it, and what follows up to the next one."""

    ids: Sequence[str]
    quote: str
    rest: str

    @property
    def evidence(self) -> list[dict[str, str]]:
        return [{"source": id, "quote": self.quote} for id in self.ids]


def plain_draft(text: str) -> dict[str, Any]:
    """The claims of a text as `DraftReply` has them; what stands under a head such as `Sources:` is no claim."""
    claims: list[dict[str, Any]] = []
    for line in text.splitlines():
        if _SOURCES_HEAD.fullmatch(line) or len(claims) > _ENOUGH:
            break
        if not line.lstrip().startswith("```"):
            _read_line(_unheaded(line), claims)
    return {"answerable": True, "reason": "", "claims": [claim for claim in claims if claim["sentence"]]}


def plain_sufficiency(text: str) -> dict[str, Any]:
    """The judgement of a text as `SufficiencyReply` has it; where no confidence is stated it is 0.5 for a yes or a partial, else 0."""
    first = _FIRST_WORD.match(text)
    if first is None:
        return {}
    word = "partial" if len(first["word"]) > 3 else first["word"].lower()
    found: dict[str, Any] = {"can_answer": word, "confidence": 0.0 if word == "no" else 0.5, "missing": [], "reasoning": ""}
    found["contradictions"] = []
    for line in text.splitlines():
        field = _FIELD.match(line)
        if field is not None:
            _read_field(field["name"].lower(), field["value"].strip(), found)
    return found


def plain_yes_no(text: str) -> dict[str, Any]:
    """The lines `1: yes` of a text as `VerifyReply` has them."""
    lines = [match for line in text.splitlines() if (match := _YES_NO.match(line))]
    said = {"yes": "yes", "no": "no"}
    return {
        "verdicts": [{"claim": int(line["claim"]), "verdict": said.get(line["verdict"].lower(), "unclear"), "why": ""} for line in lines]
    }


def _read_field(name: str, value: str, found: dict[str, Any]) -> None:
    match name[:6]:
        case "confid":
            number = _NUMBER.match(value)
            found["confidence"] = float(number["number"]) / (100 if number["percent"] else 1) if number else -1.0
        case "missin":
            found["missing"] += [item.strip() for item in value.split(";") if item.strip().lower() not in _NOTHING]
        case "reason":
            found["reasoning"] = value
        case _:
            quoted = [one for cited in _cited(value)[1] for one in cited.evidence]
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
    before, cited = _cited(line)
    if not cited and _completes(line, claims):
        return
    if _says_something(before) or not claims:
        claims.append(_new(before))
    for one in cited:
        claims[-1]["evidence"] += one.evidence
        _go_on(one.rest, bool(one.quote), claims)


def _completes(line: str, claims: list[dict[str, Any]]) -> bool:
    """Whether a line is just the quote that the last citation lacked; then it is put there."""
    quote, rest = _quote(line)
    waiting = [one for claim in claims[-1:] for one in claim["evidence"][-1:] if not one["quote"]]
    if not quote or _says_something(rest) or not waiting:
        return False
    waiting[0]["quote"] = quote
    return True


def _go_on(rest: str, quoted: bool, claims: list[dict[str, Any]]) -> None:
    """Read what follows a citation: the rest of its sentence, or another claim.

    After a quote it is another one. `A is b [1] and c is d [2].` is one sentence; `A is b [1]. C is d [2].` and `A is b. [1] C is d. [2]`
    are two.
    """
    last, text = claims[-1], rest.strip()
    if last["sentence"] and not quoted and not last["sentence"].endswith(_TERMINATORS):
        if text.startswith(_TERMINATORS):
            last["sentence"], text = last["sentence"] + text[0], text[1:]
        elif _says_something(text):
            last["sentence"] += ("" if text[0] in ",;:)" else " ") + _tidy(text)
            return
    if _says_something(text) and last["sentence"]:
        claims.append(_new(text))
    elif _says_something(text):
        last["sentence"] = _tidy(text)


def _cited(line: str) -> tuple[str, list[_Cited]]:
    """The text before the first citation of a line, and the citations."""
    marks = list(_MARK.finditer(line))
    ends = [mark.start() for mark in marks] + [len(line)]
    found = []
    for mark, end in zip(marks, ends[1:], strict=True):
        quote, rest = _quote(line[mark.end() : end])
        found.append(_Cited(regex.split(r"\s*+[,;]\s*+", mark["ids"].strip()), quote, rest))
    return line[: ends[0]], found


def _quote(text: str) -> tuple[str, str]:
    """The quotation that a text begins with, up to the last closing mark, and what follows it."""
    bare = text.lstrip(_BEFORE_QUOTE)
    end = max((bare.rfind(mark) for mark in _CLOSING.get(bare[:1], "")), default=0)
    if end <= 0:
        return "", text
    return bare[1:end].replace('\\"', '"').strip(), bare[end + 1 :]


def _new(text: str) -> dict[str, Any]:
    return {"sentence": _tidy(text), "evidence": []}


def _tidy(text: str) -> str:
    """A sentence without the marks of emphasis around it; empty where there is no word in it."""
    return text.strip(" \t*_").lstrip(".;: ") if _says_something(text) else ""


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)

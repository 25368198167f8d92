"""Decisions, documents and settings in words, for a terminal. Untrusted text loses its control characters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import regex

from rag_core.domain.claims import Citation
from rag_core.domain.decision import Decision
from rag_core.domain.documents import Document
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, several
from rag_core.grounding.citations import heading_line, source_line, sources_list
from rag_core.library.indexing.documents import document_json
from rag_core.settings import Settings

# Zero-width joiners shape the letters of Arabic and of the scripts of India: between two of them, or after the sign
# that takes a letter's vowel (virama), with which a half letter may end a word (RFC 5892, A.1 and A.2).
_SHAPED = "Arab Syrc Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Mymr Khmr Mong"
_SCRIPTS = "".join(f"\\p{{{script}}}" for script in _SHAPED.split())
_JOINER = regex.compile(rf"(?<=[{_SCRIPTS}])[\u200c\u200d](?=[{_SCRIPTS}])|(?<=\p{{ccc=9}})[\u200c\u200d]")
# Controls (C1 and DEL; JSON escapes C0 itself), what turns the reading order or cannot be seen, halves of a character,
# breaks of lines and paragraphs. The two joiners stay: they steer nothing.
_STEERING = regex.compile(r"[\x7f\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}--[\n\u200c\u200d]]", regex.V1)


def show_decision(decision: Decision, values: Mapping[str, Mapping[str, str]] = MappingProxyType({})) -> str:
    """An answer with its sources, or a refusal with its reason; then the trace. `values` is metadata by document id."""
    lines = [printable(decision.answer), ""]
    if decision.answered and decision.citations:
        lines += [f"Value: {printable(decision.value['text'])}", ""] if decision.value else []
        lines += ["In its place:", *map(_in_its_place, decision.citations), ""]
        lines += ["Sources:", *(f"  {printable(row)}" for row in sources_list(decision.citations, values)), ""]
        level = f", level {decision.confidence_level}" if decision.metadata.get("levels", True) else ""
        lines.append(f"Confidence {decision.confidence:.2f} ({decision.confidence_basis}){level}.")
    elif not decision.answered:
        if decision.may_be is not None:
            place = decision.places[0]
            lines += [
                f"Not sure enough ({decision.may_be:.0%}). This may be it:",
                _in_its_place(place),
                f"  {printable(source_line(place))}",
                "",
            ]
        if decision.reason is Reason.SUMMARY:
            lines = [f"  - {printable(heading_line(one))}" for one in decision.places]
        lines += [printable(decision.explanation), *(f"  - {printable(row)}" for row in decision.suggestions)]
    lines += [printable(note) for note in decision.notes]
    lines += _drafted(decision)
    lines += ["", *map(_check, decision.trace.checks)] if decision.trace.checks else []
    return "\n".join(lines)


def _in_its_place(citation: Citation) -> str:
    """A quote between angle quotes, with what stands around it."""
    around = (citation.before.text, f"»{' '.join(citation.excerpt.split())}«", citation.after.text)
    return f"  {printable(' '.join(filter(None, around)))}"


def _drafted(decision: Decision) -> list[str]:
    """Who drafted, why not the model, and what became of each draft; no word of a draft."""
    about = decision.metadata
    if "model" not in about:
        return []
    lines = []
    told = any(note.startswith(about["drafter_note"]) for note in decision.notes)
    if about["drafter_note"] and not told:
        lines.append(f"Not drafted by a language model: {about['drafter_note']}")
    elif about["drafter"] == "model" and decision.answered:
        lines.append(
            f"Drafted by {about['model']} at {about['endpoint']}{' (from the cache)' if about['cached'] else ''}."
        )
    lines += [f"Asked before it: {sentence}" for sentence in about["tried"]]
    if about["calls"]:
        lines.append(
            f"Calls of the model: {about['calls']}, {about['total_tokens']} tokens, {about['generation_time_ms']:.0f} "
            f"ms."
        )
    for one in decision.attempts:
        blocked = ", ".join(check.stage.replace("_", " ") for check in one.checks if check.blocks)
        lines.append(f"  draft {one.number:<14} {one.outcome}{f': {blocked}' if blocked else ''}")
    return [printable(line) for line in lines]


def _check(check: CheckResult) -> str:
    return f"  {check.stage:20} {check.state:12} {check.mode:8} {printable(check.found or check.note)}"


def show_documents(documents: Sequence[Document], *, as_json: bool) -> str:
    """One line a document."""
    if as_json:
        return "\n".join(json_text(document_json(d)) for d in documents)
    if not documents:
        return "No documents. Add some: python -m rag_core index FILE.pdf"
    return "\n".join(
        f"{d.id[:19]}  {several(d.page_count, 'page'):>11}  {d.language:3}  {d.strategy:9}  "
        f"{printable(d.name)}{_flags(d)}"
        for d in documents
    )


def _flags(document: Document) -> str:
    flags = []
    if document.ocr_pages:
        by_rapidocr = f", {len(document.rapidocr_pages)} of them by RapidOCR" if document.rapidocr_pages else ""
        flags.append(f"{several(len(document.ocr_pages), 'page')} by OCR{by_rapidocr}")
    if document.unreadable_pages:
        flags.append(f"{several(len(document.unreadable_pages), 'page')} unreadable")
    if document.hidden_chars:
        flags.append(f"{document.hidden_chars} hidden characters")
    return f"  ({', '.join(flags)})" if flags else ""


def show_settings(settings: Settings, *, as_json: bool) -> str:
    """Every setting with its value, range, scale, cost and help."""
    if as_json:
        return json_text(settings.model_dump(mode="json"), indent=2)
    lines = [f"preset {settings.preset}, settings hash {settings.hash()}"]
    stage = ""
    for knob in Settings.knobs():
        if knob.stage != stage:
            stage = knob.stage
            lines += ["", f"{stage}:"]
        limits = (
            f"{knob.low:g} to {knob.high:g} {knob.scale}"
            if knob.low is not None
            else " | ".join(knob.options) or "text or switch"
        )
        lines.append(f"  {knob.name} = {getattr(settings, knob.name)!s}  ({limits}; changing it costs: {knob.cost})")
        lines.append(f"      {knob.help}")
    return "\n".join(lines)


def printable(text: str) -> str:
    """Text for a terminal: control characters of untrusted text cannot move the cursor, colour or turn the text.

    The joiners of Hindi, Persian and their like stay where they shape letters; other invisible characters become
    U+FFFD.
    """
    if text.isprintable():
        return text
    joiners = {match.start() for match in _JOINER.finditer(text)}
    return "".join(c if c.isprintable() or c in "\t\n" or at in joiners else "\ufffd" for at, c in enumerate(text))


def json_text(value: object, indent: int | None = None) -> str:
    """JSON for a terminal, equal to `value` when it is read: what could steer the screen is written in ASCII."""
    body: str = json.dumps(value, ensure_ascii=False, indent=indent)
    return body if body.isprintable() else _STEERING.sub(lambda match: json.dumps(match[0])[1:-1], body)

"""A certificate in words: one line, what it promises and what not, why it no longer holds, and the sheet to
send.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

from rag_core.evaluation.certificate import Certificate
from ui.app import sheets
from ui.app.downloads import download
from ui.app.sheets import Block, block
from ui.app.texts import LANGUAGE, say, speaking, tell
from ui.settings.wording import setting_name, value_in_words


def percent(share: float) -> float:
    """A share in percent, as many digits as it has: .05 is 5."""
    return round(share * 100, 6)


def in_a_line(certificate: Certificate) -> str:
    """Bounds, confidence, number of questions and date."""
    bounds = ", ".join(say(f"presets.bound_{one.kind}", at_most=percent(one.at_most)) for one in certificate.bounds)
    sure, date = percent(certificate.confidence), certificate.date[:10]
    return tell("presets.line", bounds=bounds, confidence=sure, n=certificate.questions, date=date)


def promise(certificate: Certificate) -> str:
    """The guarantee, in one or two sentences."""
    bounds = [say(f"lab_certify.promise_{one.kind}", at_most=percent(one.at_most)) for one in certificate.bounds]
    return tell(
        "lab_certify.promise",
        confidence=percent(certificate.confidence),
        bounds="; ".join(bounds),
        n=certificate.questions,
        set=certificate.set_name,
        answerable=certificate.answerable,
        unanswerable=certificate.questions - certificate.answerable,
    )


def thresholds(certificate: Certificate) -> list[tuple[str, str]]:
    """The chosen thresholds: label and value."""
    return [(setting_name(name), value_in_words(name, value)) for name, value in certificate.thresholds.items()]


@speaking(LANGUAGE)
def blocks(certificate: Certificate, name: str) -> list[Block]:
    """The sheet of a certificate; `name` of its preset, empty where it has none yet."""
    basis = certificate.basis
    counted = {"n": certificate.questions, "left": certificate.left_out, "failed": certificate.failed}
    facts = [
        ("date", certificate.date),
        ("collection", basis.collection),
        ("library", tell("lab_certify.fact_library_value", version=basis.version, documents=basis.documents)),
        ("set", tell("lab_certify.fact_set_value", name=certificate.set_name, hash=certificate.set_hash)),
        ("questions", tell("lab_certify.fact_questions_value", **counted)),
        ("model", basis.model),
        ("calibration", basis.calibration or "–"),
        ("settings", certificate.settings_hash),
    ]
    return [
        block("title", say("lab_certify.sheet_title")),
        block("lead", name or say("lab_certify.unnamed")),
        block("head", say("lab_certify.promise_title")),
        block("text", promise(certificate)),
        block("head", say("lab_certify.not_title")),
        block("text", say("lab_certify.not")),
        *_found(certificate),
        block("head", say("lab_certify.facts")),
        *(block("text", f"{say(f'lab_certify.fact_{fact}')}: {value}") for fact, value in facts),
        block("small", say("lab_certify.sheet_foot")),
    ]


def _found(certificate: Certificate) -> Iterator[Block]:
    yield block("head", say("lab_certify.fact_thresholds"))
    yield from (block("text", f"{label}: {value}") for label, value in thresholds(certificate))
    n = certificate.questions
    answered = {"answered": certificate.answered, "n": n, "share": 100 * certificate.answered / n}
    yield block("text", f"{say('lab_certify.fact_answered')}: {tell('lab_certify.fact_answered_value', **answered)}")
    for bound in certificate.bounds:
        found = {"at_most": percent(bound.at_most), "errors": bound.errors, "of": bound.of, "upper": 100 * bound.upper}
        said = tell("lab_certify.fact_bound_value", **found)
        yield block("text", f"{say(f'lab_certify.line_{bound.kind}')}: {said}")


def offer(certificate: Certificate, name: str, key: str) -> None:
    """Buttons that download a certificate, as a sheet and as JSON."""
    sheets.offer(lambda: blocks(certificate, name), "certificate", key)
    written = partial(json.dumps, certificate.to_json(), ensure_ascii=False, indent=1)
    download("lab_certify.download_json", written, "certificate.json", f"{key}_json")

"""A certificate in words: one line, what it promises and what not, why it no longer holds, and the sheet that is
printed.
"""

from __future__ import annotations

import json
from functools import partial

from rag_core.evaluation.certificate import Bound, Certificate, Part
from rag_core.evaluation.guarantee import Kind
from rag_core.wiring import Line, Plot, Sheet, require, to_pdf
from ui.app.elements import download, shown_error
from ui.app.texts import LANGUAGE, say, speaking, tell
from ui.settings.wording import setting_name, value_in_words


def percent(share: float) -> float:
    """A share in percent, as many digits as it has: .05 is 5."""
    return round(share * 100, 6)


def in_a_line(certificate: Certificate) -> str:
    """Bounds, confidence, number of questions and date."""
    kinds = dict.fromkeys(bound.kind for part in certificate.parts for bound in part.bounds)
    first = {bound.kind: bound.at_most for bound in certificate.parts[0].bounds}
    bounds = ", ".join(say(f"presets.bound_{kind}", at_most=percent(first[kind])) for kind in kinds)
    sure, date = percent(certificate.confidence), certificate.date[:10]
    return tell("presets.line", bounds=bounds, confidence=sure, n=f"{certificate.questions:,}", date=date)


def promise(certificate: Certificate) -> str:
    """The guarantee, in one or two sentences."""
    bounds = [
        say(f"lab_certify.promise_{bound.kind}", at_most=percent(bound.at_most))
        for bound in certificate.parts[0].bounds
    ]
    answerable = sum(part.answerable for part in certificate.parts)
    return tell(
        "lab_certify.promise",
        confidence=percent(certificate.confidence),
        bounds="; ".join(bounds),
        n=certificate.questions,
        set=certificate.set_name,
        answerable=answerable,
        unanswerable=certificate.questions - answerable,
    )


def thresholds(part: Part) -> list[tuple[str, str]]:
    """The chosen thresholds of a part: label and value."""
    return [(setting_name(name), value_in_words(name, value)) for name, value in part.thresholds.items()]


def part_name(part: str) -> str:
    """The name of a part of the questions; empty for all of them."""
    return say(f"lab_certify.part_{part}") if part else ""


@speaking(LANGUAGE)
def sheet(certificate: Certificate, name: str) -> Sheet:
    """The printed page of a certificate; `name` of its preset, empty where it has none yet."""
    basis = certificate.basis
    library = tell("lab_certify.fact_library_value", version=basis.version, documents=basis.documents)
    n, left, failed = certificate.questions, certificate.left_out, certificate.failed
    counted = tell("lab_certify.fact_questions_value", n=n, left=left, failed=failed)
    from_set = tell("lab_certify.fact_set_value", name=certificate.set_name, hash=certificate.set_hash)
    facts = [
        (say("lab_certify.fact_date"), certificate.date),
        (say("lab_certify.fact_collection"), basis.collection),
        (say("lab_certify.fact_library"), library),
        (say("lab_certify.fact_set"), from_set),
        (say("lab_certify.fact_questions"), counted),
        *(fact for part in certificate.parts for fact in _part_facts(part)),
        (say("lab_certify.fact_model"), basis.model),
        (say("lab_certify.fact_calibration"), basis.calibration or "–"),
        (say("lab_certify.fact_settings"), certificate.settings_hash),
    ]
    return Sheet(
        say("lab_certify.sheet_title"),
        name or say("lab_certify.unnamed"),
        [
            (say("lab_certify.promise_title"), promise(certificate)),
            (say("lab_certify.not_title"), say("lab_certify.not")),
        ],
        facts,
        [_plot(part) for part in certificate.parts],
        setting_name(next(iter(certificate.parts[0].thresholds))),
        say("lab_certify.axis_share_plain"),
        say("lab_certify.certified_range"),
        say("lab_certify.sheet_foot"),
    )


def offer(certificate: Certificate, name: str, key: str) -> None:
    """Two buttons that download a certificate, as a printed page and as JSON; the page is drawn when it is wanted."""
    with shown_error():
        require("certificate", "A printed certificate")
        download(
            "lab_certify.download_pdf",
            lambda: to_pdf(sheet(certificate, name)),
            "certificate.pdf",
            f"{key}_pdf",
            icon="picture_as_pdf",
        )
    written = partial(json.dumps, certificate.to_json(), ensure_ascii=False, indent=1)
    download("lab_certify.download_json", written, "certificate.json", f"{key}_json")


def _part_facts(part: Part) -> list[tuple[str, str]]:
    chosen = ", ".join(f"{label}: {value}" for label, value in thresholds(part))
    share = 100 * part.answered / part.questions
    answered = tell("lab_certify.fact_answered_value", answered=part.answered, n=part.questions, share=share)
    where = f"{part_name(part.type)}: " if part.type else ""
    return [
        (say("lab_certify.fact_thresholds"), where + chosen),
        (say("lab_certify.fact_answered"), answered),
        *((say(f"lab_certify.line_{bound.kind}"), _bound(bound)) for bound in part.bounds),
    ]


def _bound(bound: Bound) -> str:
    found = {"errors": bound.errors, "of": bound.of, "upper": 100 * bound.upper}
    return tell("lab_certify.fact_bound_value", at_most=percent(bound.at_most), **found)


def _plot(part: Part) -> Plot:
    curve, limits = part.curve, {bound.kind: bound.at_most for bound in part.bounds}
    lines = [Line(say("lab_certify.line_coverage"), curve.coverage)]
    lines += [Line(say(f"lab_certify.line_{kind}"), curve.risks[kind], limits.get(kind)) for kind in Kind]
    return Plot(part_name(part.type), curve.threshold, lines, curve.certified, next(iter(part.thresholds.values())))

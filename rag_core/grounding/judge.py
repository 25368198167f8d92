"""Is this answer supported by this context? The judgement of `judge`, sentence by sentence, without a language model.

A sentence with a changed fact is not supported, however likely it looks: the rule of the check `facts`, under its mode.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from rag_core.domain.ports import Embedder, EntailmentModel
from rag_core.errors import InvalidInput
from rag_core.grounding.entailment import Assessment, assess
from rag_core.language import detect, is_refusal, sentences
from rag_core.settings import Mode, Settings


class _Row(NamedTuple):
    id: str
    context: str
    answer: str
    lang: str
    refuses: bool


def judge_claims(
    rows: Sequence[Mapping[str, Any]],
    settings: Settings,
    embedder: Embedder,
    entailment_model: EntailmentModel | None = None,
) -> list[dict[str, Any]]:
    """The judgements of claims `{id, lang, question, context, answer}`; those of one language are read together.

    For each `{id, supported, support, sentences: [{text, supported, support, evidence, flags}]}`; supports in [0, 1],
    the answer's as `combine` says. An empty answer and a refusal, flagged `refusal`, have support 0. A sentence in a
    language that no entailment model reads has the flag `facts_only`. A changed fact leaves the support, an estimate,
    and takes `supported` from its sentence and from the whole answer; its flag says which kind.

    Raises:
        InvalidInput: id, context or answer is missing or no text.
        ModelUnavailable: the entailment model cannot be asked.
    """
    read = [_fields(row) for row in rows]
    said = [
        [] if row.refuses else [row.answer[start:end] for start, end in sentences(row.answer, row.lang)] for row in read
    ]
    found: dict[int, list[Assessment]] = {}
    for lang in dict.fromkeys(row.lang for row in read):
        of = [at for at, row in enumerate(read) if row.lang == lang]
        claims, cited = [text for at in of for text in said[at]], [read[at].context for at in of for _ in said[at]]
        assessed = iter(assess(claims, cited, lang, embedder, entailment_model, settings.min_support, strict=True))
        found |= {at: list(islice(assessed, len(said[at]))) for at in of}
    return [_judgement(row, said[at], found[at], settings) for at, row in enumerate(read)]


def _judgement(row: _Row, texts: Sequence[str], found: Sequence[Assessment], settings: Settings) -> dict[str, Any]:
    if row.refuses:
        sentence = {
            "text": row.answer.strip(),
            "supported": False,
            "support": 0.0,
            "evidence": "",
            "flags": ["refusal"],
        }
        return {"id": row.id, "supported": False, "support": 0.0, "sentences": [sentence]}
    claimed = [one.support or 0.0 for one in found if "no_words" not in one.flags]
    total = combine(claimed)
    return {
        "id": row.id,
        "supported": bool(claimed)
        and total >= settings.min_support
        and not any(_is_changed(one, settings) for one in found),
        "support": round(total, 6),
        "sentences": [_sentence(text, one, settings) for text, one in zip(texts, found, strict=True)],
    }


def _sentence(text: str, one: Assessment, settings: Settings) -> dict[str, Any]:
    support = one.support or 0.0
    low = one.evidence and one.overlap < settings.min_sentence_overlap
    return {
        "text": text,
        "supported": support >= settings.min_support and not _is_changed(one, settings),
        "support": round(support, 6),
        "evidence": one.evidence,
        "flags": [*one.flags, *["low_overlap"] * bool(low), *["facts_only"] * bool(one.evidence and not one.read)],
    }


def _is_changed(one: Assessment, settings: Settings) -> bool:
    """Whether a claim states a fact otherwise than its evidence: any kind counts, as in a draft of the pipeline."""
    return settings.facts_mode is Mode.ENFORCE and bool(one.changed)


def combine(supports: Sequence[float]) -> float:
    """The support of several sentences together, in [0, 1]; 0 for none.

    Half the mean of their log odds and half the least, as a probability: the model was fitted on means, and one
    invented sentence must not drown in a long answer.
    """
    if not supports:
        return 0.0
    clipped = [min(max(support, 1e-6), 1 - 1e-6) for support in supports]
    odds = [math.log(support / (1 - support)) for support in clipped]
    return 1.0 / (1.0 + math.exp(-(sum(odds) / len(odds) + min(odds)) / 2))


def _fields(row: Mapping[str, Any]) -> _Row:
    missing = [name for name in ("id", "context", "answer") if not isinstance(row.get(name), str)]
    if missing:
        raise InvalidInput(
            f"A claim needs {', '.join(missing)} as text.",
            remedy="Give each claim id, lang, question, context and answer.",
        )
    answer, lang = row["answer"], row.get("lang")
    return _Row(
        row["id"],
        row["context"],
        answer,
        lang if isinstance(lang, str) and lang else detect(answer),
        is_refusal(answer),
    )

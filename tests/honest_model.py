"""A model that does what it is told: `honest` answers each of the product's three prompts from the passages in it, for
`ModelServer`.

It reads the prompt as a real model does, by its data lines, and knows nothing of the product's code for prompts:
passages are lines of JSON with "source" and "text". It drafts the sentences that share most of the question's words,
word for word, says yes where the sources hold a claim's words. Where its server knows no schemas it writes the JSON
that the rules ask for all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from model_server import Asked

from rag_core.language import content_terms, detect, sentences, terms

WORDS_OF_A_DRAFT = 70  # about 110 tokens, below the 150 of the default settings


def data_lines(asked: Asked) -> list[dict[str, Any]]:
    """Every line of the prompt that is an object of JSON, in order."""

    def read(text: str) -> Iterator[dict[str, Any]]:
        for line in text.splitlines():
            if line.lstrip().startswith("{"):
                try:
                    found = json.loads(line)
                except ValueError:
                    continue
                if isinstance(found, dict):
                    yield found

    return list(read(asked.user))


def passages(asked: Asked) -> dict[str, str]:
    """The text of each source in the prompt, by its id."""
    return {str(row["source"]): str(row["text"]) for row in data_lines(asked) if "source" in row and "text" in row}


def question(asked: Asked) -> str:
    found = [str(row["question"]) for row in data_lines(asked) if "question" in row]
    return found[-1] if found else asked.user.rstrip().splitlines()[-1]


def kind(asked: Asked) -> str:
    """Which of the three prompts it is: draft, sufficiency or verify; by the form of the answer that its rules ask
    for.
    """
    return next(
        (name for name, mark in (("verify", '"verdicts"'), ("sufficiency", '"can_answer"')) if mark in asked.system),
        "draft",
    )


def best_sentences(asked: Asked, most: int = 2) -> list[tuple[str, str]]:
    """The (source, sentence) pairs that share most of the question's words, best first, together short enough; may be
    empty.
    """
    asks = question(asked)
    language = detect(asks)
    wanted = set(content_terms(asks, language))
    scored = []
    for source, text in passages(asked).items():
        for start, end in sentences(text, language):
            shared = len(wanted & set(terms(text[start:end], language)))
            if shared and len(text[start:end].split()) >= 4:
                scored.append((-shared, len(scored), source, text[start:end]))
    chosen: list[tuple[str, str]] = []
    room = WORDS_OF_A_DRAFT
    for shared, _, source, sentence in sorted(scored):
        length = len(sentence.split())
        good = not chosen or -shared > len(wanted) / 2
        if good and length <= room and sentence not in [one for _, one in chosen]:
            chosen.append((source, sentence))
            room -= length
        if len(chosen) == most:
            break
    return chosen


def draft(*claims: tuple[str, str, str]) -> dict[str, Any]:
    """A structured draft of (sentence, source, quote)."""
    rows = [
        {"sentence": sentence, "evidence": [{"source": source, "quote": quote}]} for sentence, source, quote in claims
    ]
    return {"answerable": True, "reason": "", "claims": rows}


def refusal(reason: str = "The passages do not say it.") -> dict[str, Any]:
    return {"answerable": False, "reason": reason, "claims": []}


def sufficient(
    can_answer: str = "yes", confidence: float = 0.9, missing: tuple[str, ...] = (), **more: Any
) -> dict[str, Any]:
    """A structured verdict on the passages."""
    return {
        "can_answer": can_answer,
        "confidence": confidence,
        "missing": list(missing),
        "reasoning": "As the passages say.",
        "contradictions": [],
        **more,
    }


def verdicts(*said: str) -> dict[str, Any]:
    """Structured verdicts on the claims, in their order."""
    return {"verdicts": [{"claim": number, "verdict": one, "why": ""} for number, one in enumerate(said, 1)]}


def honest(asked: Asked) -> dict[str, Any]:
    """What a careful model says to this prompt."""
    if kind(asked) == "verify":
        return _verified(asked)
    found = best_sentences(asked)
    if kind(asked) == "sufficiency":
        return sufficient() if found else sufficient("no", 0.8, (question(asked),))
    return draft(*((sentence, source, sentence) for source, sentence in found)) if found else refusal()


def _verified(asked: Asked) -> dict[str, Any]:
    rows = [row for row in data_lines(asked) if "sentence" in row]
    texts = passages(asked)
    said = []
    for row in rows:
        cited = row.get("sources") or list(texts)
        held = {term for source in cited for term in terms(texts.get(str(source), ""), "en")}
        wanted = set(terms(str(row["sentence"]), "en"))
        said.append("yes" if len(wanted & held) >= 0.8 * len(wanted) else "no")
    return verdicts(*said)

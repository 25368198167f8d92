"""How likely a text supports a claim: facts, shared words, similarity of meaning and what the entailment model reads,
in one probability.

Each measurement is a feature of a small logistic regression; `training/fit_support.py` fits it and `data/support.json`
holds it with what it was fitted on. There are three: with the entailment model, for the languages that it reads
(`read`); on facts and words, for English (`words`); and on what holds in any language (`anywhere`): the fit knows
English alone, whose words hardly change their endings.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

from rag_core.domain.ports import Embedder, EntailmentModel
from rag_core.errors import InvalidInput, ModelUnavailable
from rag_core.facts import absent_facts, changed_facts, replaced_facts
from rag_core.facts.sentence.citation_marks import strip_marks
from rag_core.grounding.additions import indicators
from rag_core.grounding.overlap import overlap, word_set
from rag_core.grounding.windows import Window, best_windows, readings
from rag_core.grounding.wording import flag_of
from rag_core.language import fold, word_texts
from rag_core.settings import DATA, Settings

_NEAR = 3  # windows that together count as the evidence of a claim
_VALUES = ("number", "unit", "date", "code", "year")
_WORDS = ("negation", "modality", "comparison", "quantifier", "operator", "role")
WORDS = (
    "lexical",
    "cosine",
    "overlap",
    "pairs",
    "number_absent",
    "name_absent",
    "number_far",
    "name_far",
    "changed",
    "indicator",
    "words",
)
READ = ("entailment",)
FEATURES = (*WORDS, *READ)
ANYWHERE = tuple(name for name in WORDS if name not in ("cosine", "overlap", "pairs", "words"))

DECISIVE = frozenset({"number_changed", "unit_changed", "date_changed"})
CEILING = 0.15  # chosen so that no overlap can outweigh a decisive flag
# for callers that judge under no settings of their own
MIN_SUPPORT: float = Settings.model_fields["min_support"].default
SAME_SENTENCE = 0.6  # share of a claim's words from which a sentence that differs in a fact contradicts it


@dataclass(frozen=True, slots=True)
class Assessment:
    """The findings on one claim."""

    support: float | None  # probability in [0, 1] that people would call the claim supported; None where not measured
    flags: tuple[str, ...] = ()  # what is wrong with it: names of `wording.FLAGS`
    read: bool = False  # whether an entailment model read it; else only facts and overlap were compared
    evidence: str = ""  # the text that is nearest to the claim, verbatim; empty where there is none
    overlap: float = 0.0  # share of the claim's words that this evidence holds, in [0, 1]
    # (kind, text) of facts that the evidence states otherwise, and of values that stand nowhere in it; of no name that
    # merely stands nowhere, since a text may call its subject "it"
    changed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of one claim; `values`, as `FEATURES`, finite; "entailment" is 0.0 where not read."""

    evidence: str
    values: tuple[float, ...]
    flags: tuple[str, ...]
    lang: str
    read: bool = False
    changed: tuple[tuple[str, str], ...] = ()

    def value(self, name: str) -> float:
        """One of the `FEATURES`."""
        return self.values[FEATURES.index(name)]


@dataclass(frozen=True, slots=True)
class SupportRegression:
    """Logistic regression over the named features, standardised by `mean` and `scale`."""

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    coefficients: tuple[float, ...]
    intercept: float

    def probability(self, measured: Measured) -> float:
        values = [measured.value(name) for name in self.features]
        parts = zip(values, self.mean, self.scale, self.coefficients, strict=True)
        logit = self.intercept + sum(weight * (value - mean) / scale for value, mean, scale, weight in parts)
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


@cache
def support_models() -> dict[str, SupportRegression]:
    """The fitted regressions of `data/support.json`, by name."""
    found = {name: _card()[name] for name in ("read", "words", "anywhere")}
    unknown = {name for one in found.values() for name in one["features"]} - set(FEATURES)
    if unknown:
        raise InvalidInput(
            f"data/support.json was fitted on other measurements: {sorted(unknown)}.",
            remedy="Run training/fit_support.py again.",
        )
    lists = ("features", "mean", "scale", "coefficients")
    return {
        name: SupportRegression(**{key: tuple(one[key]) for key in lists}, intercept=one["intercept"])
        for name, one in found.items()
    }


@cache
def fitted_languages() -> frozenset[str]:
    return frozenset(_card()["provenance"]["languages"])


@cache
def _card() -> Mapping[str, Any]:
    card: dict[str, Any] = json.loads((DATA / "support.json").read_text(encoding="utf-8"))
    return card


def assess(
    claims: Sequence[str],
    cited: Sequence[str],
    lang: str,
    embedder: Embedder,
    entailment_model: EntailmentModel | None,
    supported_from: float = MIN_SUPPORT,
    *,
    strict: bool = False,
) -> list[Assessment]:
    """How well each claim is supported by the text that it cites, as one assessment a claim, in order.

    Args:
        claims: sentences, with or without citation marks.
        cited: for each claim the text of the passages that it cites.
        lang: of the claims, ISO 639-1.
        embedder: for the similarity of meaning.
        entailment_model: None where none is wanted.
        supported_from: `min_support` of the settings, in [0, 1].
        strict: raise where the entailment model fails; otherwise supports that it was to read are None.

    Raises:
        ModelUnavailable: the entailment model cannot be asked, and `strict`.
    """
    try:
        found = measure(claims, cited, lang, embedder, entailment_model)
    except ModelUnavailable:
        if strict:
            raise
        unread = measure(claims, cited, lang, embedder, None)
        return [replace(judged(one, supported_from), support=None) for one in unread]
    return [judged(one, supported_from) for one in found]


def measure(
    claims: Sequence[str],
    contexts: Sequence[str],
    lang: str,
    embedder: Embedder,
    entailment_model: EntailmentModel | None,
) -> list[Measured]:
    """Each claim measured against its context, in one batch a model; raises ModelUnavailable."""
    bare = [strip_marks(claim) for claim in claims]
    windows = best_windows(bare, contexts, lang, embedder)
    reads = entailment_model is not None and lang in entailment_model.languages
    asked = [at for at, claim in enumerate(bare) if reads and windows[at] and word_set(claim)]
    texts = {at: readings(bare[at], contexts[at], lang) for at in asked}
    pairs = [(text, bare[at]) for at in asked for text in texts[at]]
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(entailment_model.supports, pairs) if entailment_model is not None and pairs else None
        found = [_measured(*one, lang) for one in zip(bare, contexts, windows, strict=True)]
        odds = iter(reading.result() if reading else ())
    for at in asked:
        entailment = max(next(odds) for _ in texts[at])
        found[at] = replace(found[at], values=(*found[at].values[:-1], entailment), read=True)
    return found


def _measured(claim: str, context: str, windows: tuple[Window, ...], lang: str) -> Measured:
    mine, pairs = word_set(claim), _pairs(claim)
    if not mine or not windows:
        return Measured("", (0.0,) * len(FEATURES), ("no_words",) if not mine else ("no_evidence",), lang)
    near = "\n".join(window.text for window in windows[:_NEAR])
    absent = absent_facts(claim, context, lang)
    changed = changed_facts(claim, near, lang)
    phrases = indicators(claim, context, (lang,))
    best = windows[0]
    values = (
        best.lexical,
        best.cosine,
        overlap(claim, best.text) or 0.0,
        len(pairs & _pairs(near)) / len(pairs) if pairs else 1.0,
        _count(absent, _VALUES),
        _count(absent, ("name",)),
        _count(changed, _VALUES),
        _count(changed, ("name",)),
        _count(changed, _WORDS),
        float(bool(phrases)),
        math.log(len(mine)),
        0.0,  # entailment: nobody has read it yet
    )
    replaced = replaced_facts(claim, near, lang)
    kinds = (
        [kind for kind, _ in absent] + [kind for kind, _ in changed if kind in _WORDS] + [kind for kind, _ in replaced]
    )
    flags = dict.fromkeys([flag_of(kind) for kind in kinds] + ["indicator"] * bool(phrases))
    decisive = dict.fromkeys([*(fact for fact in absent if fact[0] != "name"), *replaced])
    return Measured(best.text, values, tuple(flags), lang, changed=tuple(decisive))


def judged(one: Measured, supported_from: float = MIN_SUPPORT) -> Assessment:
    """The fitted support, with the flags it earns; see `assess`.

    It is at most `CEILING` where a number, unit or date stands nowhere in the context: an absent name caps nothing.
    """
    if not one.evidence:
        return Assessment(0.0, one.flags)
    name = "read" if one.read else "words" if one.lang in fitted_languages() else "anywhere"
    fitted = support_models()[name].probability(one)
    support = min(fitted, CEILING) if DECISIVE.intersection(one.flags) else fitted
    flags = list(one.flags)
    if one.read and one.value("entailment") < 0.0:
        flags.append("not_entailed")
    if (
        support < supported_from
        and one.value("overlap") >= SAME_SENTENCE
        and any(flag.endswith("_changed") for flag in flags)
    ):
        flags.append("contradicted")
    return Assessment(support, tuple(flags), one.read, one.evidence, one.value("overlap"), one.changed)


def _count(facts: Collection[tuple[str, str]], kinds: Sequence[str]) -> float:
    return float(min(2, sum(kind in kinds for kind, _ in facts)))


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    return frozenset(pairwise(map(fold, word_texts(strip_marks(text)))))

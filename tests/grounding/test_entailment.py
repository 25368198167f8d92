"""The support of a claim: what it rests on, what is flagged, and what happens when nothing can be asked."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hash_embedder import HashEmbedder

from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.adapters.embedding.support import SupportModel
from rag_core.domain.ports import Embedder, EntailmentModel
from rag_core.errors import InvalidInput
from rag_core.grounding import entailment
from rag_core.grounding.entailment import CEILING, FEATURES, MIN_SUPPORT, assess, judged, measure, support_models
from rag_core.grounding.windows import readings
from rag_core.settings import DATA

CONTRACT = (
    "The supplier delivers the goods to the warehouse in Brno. The notice period is 30 days and starts on the first "
    "day of a month. "
    "The supplier is not liable for damage caused by the customer."
)
OFFICE = "The office in Ostrava opens at eight in the morning. Visitors report to the reception on the ground floor."


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return EmbeddedModel("float32")


@pytest.fixture(scope="module")
def verifier() -> EntailmentModel:
    return SupportModel("float32")


class Asked:
    """Passes every question on, and keeps it."""

    def __init__(self, verifier: EntailmentModel) -> None:
        self._verifier, self.pairs = verifier, list[tuple[str, str]]()
        self.version, self.languages = verifier.version, verifier.languages

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.pairs += pairs
        return self._verifier.supports(pairs)


def test_given_a_paraphrase_and_an_invention_then_the_support_parts_them(
    embedder: Embedder, verifier: EntailmentModel
) -> None:
    claims = ["The goods are brought to a warehouse in Brno.", "The customer pays for the transport insurance."]
    right, wrong = assess(claims, [CONTRACT] * 2, "en", embedder, verifier)

    assert right.support > MIN_SUPPORT > wrong.support
    assert right.read
    assert wrong.read
    assert right.flags == ()
    assert "not_entailed" in wrong.flags
    assert right.evidence in CONTRACT


def test_given_nearly_the_same_sentence_with_another_fact_then_it_is_contradicted(
    embedder: Embedder, verifier: EntailmentModel
) -> None:
    """S2-17: although nearly all of its words stand there."""
    (found,) = assess(
        ["The notice period is 90 days and starts on the first day of a month."],
        [CONTRACT],
        "en",
        embedder,
        verifier,
    )

    assert found.support <= CEILING
    assert {"number_changed", "contradicted"} <= set(found.flags)


def test_given_many_claims_of_several_texts_then_each_is_judged_as_if_alone(
    embedder: Embedder, verifier: EntailmentModel
) -> None:
    claims = ["The notice period is 30 days.", "The office opens at eight.", "***", "Sharks swim far out at sea."]
    cited = [CONTRACT, OFFICE, OFFICE, CONTRACT]
    together = assess(claims, cited, "en", embedder, verifier)
    alone = [assess([claim], [text], "en", embedder, verifier)[0] for claim, text in zip(claims, cited, strict=True)]

    assert [one.flags for one in together] == [one.flags for one in alone]
    assert [one.support for one in together] == pytest.approx([one.support for one in alone], abs=1e-4)
    assert together[2].flags == ("no_words",)
    assert assess([], [], "en", embedder, verifier) == []


def test_given_the_fitted_regressions_then_no_common_word_lowers_the_support() -> None:
    """Each signal speaks in its own direction, in both regressions."""
    for model in support_models().values():
        weights = dict(zip(model.features, model.coefficients, strict=True))
        assert set(weights) <= set(FEATURES)
        assert all(weights.get(name, 0.0) >= 0 for name in ("lexical", "cosine", "overlap", "pairs", "entailment"))
        assert all(
            weights.get(name, 0.0) <= 0
            for name in ("number_absent", "number_far", "name_absent", "name_far", "changed", "indicator")
        )


def test_given_a_long_text_then_the_likeliest_of_its_readings_counts(
    embedder: Embedder, verifier: EntailmentModel
) -> None:
    filler = " ".join(f"Section {number} tells of the old garden behind the brick house." for number in range(25))
    claim, context = "The notice period is 30 days.", f"{CONTRACT} {filler} The office keeps a notice board. {filler}"
    asked = Asked(verifier)
    (one,) = measure([claim], [context], "en", embedder, asked)
    odds = verifier.supports(asked.pairs)

    assert [text for text, _ in asked.pairs] == list(readings(claim, context, "en"))
    assert max(odds) - min(odds) > 1.0
    assert one.value("entailment") == pytest.approx(max(odds), abs=1e-3)


def test_given_log_odds_below_zero_then_it_is_not_entailed() -> None:
    embedder = HashEmbedder()
    (one,) = measure(["The notice period is 30 days."], [CONTRACT], "en", embedder, None)

    for odds, flags in ((0.0, ()), (-0.01, ("not_entailed",))):
        read = replace(
            one, values=tuple(odds if name == "entailment" else one.value(name) for name in FEATURES), read=True
        )
        assert judged(read).flags == flags, odds


def test_given_regressions_of_other_measurements_then_they_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "support.json").write_text((DATA / "support.json").read_text().replace('"overlap"', '"made_up"'))
    monkeypatch.setattr(entailment, "DATA", tmp_path)
    monkeypatch.setattr(entailment, "_card", entailment._card.__wrapped__)  # not what was read before

    with pytest.raises(InvalidInput, match="made_up"):
        support_models.__wrapped__()

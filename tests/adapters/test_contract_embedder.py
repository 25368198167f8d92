"""The contract of an `Embedder`, and that of a `Reranker`.

The first is run over the embedded model and one loaded by folder: in this process, in a child, and behind the cache.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from builders import HashEmbedder
from tiny_models import LETTERS, MAX_TOKENS, cross_encoder, embedding_model

from rag_core import wiring
from rag_core.adapters.embedding import by_name as adapter
from rag_core.adapters.embedding.by_name import EMBEDDED, CrossEncoderReranker, SentenceTransformerEmbedder
from rag_core.adapters.embedding.cache import CachedEmbedder
from rag_core.domain.ports import Embedder, TextKind
from rag_core.errors import ModelUnavailable

# a new adapter adds one line
NAMES = ("embedded", "folder", "apart embedded", "apart folder", "cached embedded", "cached folder")
TEXTS = ["The notice period is 30 days.", "", "Lhůta činí třicet dní.", "नोटिस की अवधि", "the cat", "the cat"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return embedding_model(tmp_path_factory.mktemp("model"), dim=3072)


@pytest.fixture(scope="module", params=NAMES)
def embedder(request: pytest.FixtureRequest, folder: Path) -> Embedder:
    if request.param.startswith("apart"):
        return wiring.embedder_apart(*((EMBEDDED, "auto") if "embedded" in request.param else (str(folder), "float32")))
    inner = (
        wiring.embedder(EMBEDDED, "auto")
        if "embedded" in request.param
        else SentenceTransformerEmbedder(str(folder), "float32")
    )
    return CachedEmbedder(inner, size=3) if request.param.startswith("cached") else inner


def test_given_any_texts_then_their_vectors_are_finite_unit_float32_and_nobody_else_changes_them(embedder):
    """A vector depends a little on its batch, in bfloat16 more than in float32. A model that reads questions otherwise
    says so by other vectors.
    """
    passages, questions = embedder.embed(TEXTS), embedder.embed(TEXTS, "query")
    for vectors in (passages, questions):
        assert (vectors.dtype, vectors.shape) == (np.float32, (len(TEXTS), passages.shape[1]))
        assert np.isfinite(vectors).all()
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    own = embedder.name.startswith(EMBEDDED)
    assert ((questions * passages).sum(axis=1).min() < 0.99) == own
    assert embedder.embed([]).shape == embedder.embed([], "query").shape == (0, passages.shape[1])

    kept = passages.copy()
    passages[:] = 0
    # to the last digits: what a cache has forgotten is read in another batch
    assert embedder.embed(TEXTS) == pytest.approx(kept, abs=2e-2 if embedder.name.endswith("bfloat16") else 1e-6)
    assert kept[4] == pytest.approx(kept[5], abs=2e-2)
    assert float(embedder.embed([*TEXTS, "a much longer text " * 4])[0] @ embedder.embed(TEXTS[:1])[0]) > 0.99

    # with special tokens, and what stands before each text
    assert embedder.count_tokens(["", "a"]) == ([4, 5] if own else [2, 3])
    assert embedder.count_tokens([]) == []
    model, precision = embedder.name.rsplit("@", 1)
    assert model
    assert precision in ("float32", "bfloat16")


def test_given_a_model_then_its_tokenizer_has_the_same_hash_wherever_it_runs(embedder):
    own = "1571fc982750" if embedder.name.startswith(EMBEDDED) else adapter.vocabulary_hash({"a": 0})

    assert (embedder.tokenizer == own) == embedder.name.startswith(EMBEDDED)
    assert len(embedder.tokenizer) == 12
    assert (
        adapter.vocabulary_hash({"a": 0, "b": 1})
        == adapter.vocabulary_hash({"b": 1, "a": 0})
        != adapter.vocabulary_hash({"a": 1, "b": 0})
    )


def test_given_text_up_to_the_limit_then_the_model_reads_it_and_what_is_beyond_it_does_not_see(embedder):
    """Text that a model would silently cut off is found by counting its own tokens."""
    limit = embedder.max_tokens
    words = ["a", "b", "c"] * limit
    counts = embedder.count_tokens([" ".join(words[:n]) for n in range(1, limit + 5)])
    fits = max(n for n, count in enumerate(counts, 1) if count <= limit)
    whole, cut = " ".join(words[:fits]), " ".join(words[: fits + 40])

    assert counts == sorted(counts)
    assert embedder.count_tokens([whole]) == [limit]
    assert np.allclose(embedder.embed([whole]), embedder.embed([cut]), atol=2e-2)
    assert not np.allclose(embedder.embed([whole]), embedder.embed([" ".join(words[: fits - 1]) + " z"]), atol=1e-4)


def test_given_a_model_with_a_prompt_for_questions_then_they_are_read_with_it_and_passages_without(tmp_path):
    folder = embedding_model(tmp_path, dim=8)
    plain = SentenceTransformerEmbedder(str(folder), "float32").embed(["abc", "zzz abc"])
    said = folder / "config_sentence_transformers.json"
    config = json.loads(said.read_text(encoding="utf-8"))
    said.write_text(json.dumps({**config, "prompts": {"query": "zzz ", "document": ""}}), encoding="utf-8")

    model = SentenceTransformerEmbedder(str(folder), "float32")

    assert model.embed(["abc"]) == pytest.approx(plain[:1], abs=1e-6)
    assert model.embed(["abc"], "query") == pytest.approx(plain[1:], abs=1e-6)


def test_given_a_model_of_3072_dimensions_by_folder_then_it_works_through_the_same_port(folder: Path) -> None:
    """S3-5: 3,072 dimensions."""
    model = SentenceTransformerEmbedder(str(folder), "float32")

    assert model.embed(["abc"]).shape == (1, 3072)
    assert model.embed([]).shape == (0, 3072)
    assert (model.max_tokens, model.name) == (MAX_TOKENS, f"{folder}@float32")


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_given_a_precision_then_it_is_used_named_and_the_vectors_agree(precision: str, folder: Path) -> None:
    exact = SentenceTransformerEmbedder(str(folder), "float32").embed([LETTERS])
    model = SentenceTransformerEmbedder(str(folder), precision)

    assert (model.precision, model.name.endswith(precision)) == (precision, True)
    assert float(model.embed([LETTERS])[0] @ exact[0]) > 0.99


@pytest.mark.parametrize(("hardware", "expected"), [(True, "bfloat16"), (False, "float32")])
def test_given_auto_then_the_processor_decides(hardware, expected, folder, monkeypatch):
    monkeypatch.setattr(adapter, "has_bfloat16", lambda: hardware)

    assert SentenceTransformerEmbedder(str(folder), "auto").precision == expected


@pytest.mark.parametrize("make", [SentenceTransformerEmbedder, CrossEncoderReranker])
def test_given_a_folder_without_a_model_then_it_is_a_typed_problem_that_names_it(make: type, tmp_path: Path) -> None:
    (tmp_path / "no-such-model").mkdir()

    with pytest.raises(ModelUnavailable, match="could not be loaded") as caught:
        make(str(tmp_path / "no-such-model"))

    assert "no-such-model" in caught.value.problem
    assert caught.value.remedy


def broken(folder: Path) -> None:
    """Make every weight a NaN, as a damaged download can."""
    from safetensors.torch import load_file, save_file

    for path in folder.rglob("*.safetensors"):
        save_file(
            {name: tensor * float("nan") for name, tensor in load_file(path).items()}, path, metadata={"format": "pt"}
        )


def test_given_a_model_that_returns_no_numbers_then_it_is_a_typed_problem_and_no_score(tmp_path: Path) -> None:
    model, cross = embedding_model(tmp_path, dim=8), cross_encoder(tmp_path)
    broken(tmp_path)

    with pytest.raises(ModelUnavailable, match="embedding model returned no numbers"):
        SentenceTransformerEmbedder(str(model), "float32").embed(["abc"])
    with pytest.raises(ModelUnavailable, match="reranker returned no numbers"):
        CrossEncoderReranker(str(cross)).score("abc", ["abc"])


def test_given_a_cross_encoder_then_its_scores_are_in_range_repeat_and_do_not_depend_on_the_order(tmp_path):
    """S3-7: a cross-encoder by name or folder."""
    model = CrossEncoderReranker(str(cross_encoder(tmp_path)))
    texts = ["abc", "the cat", "", "zzz" * 40]

    scores = model.score("abc", texts)

    assert len(scores) == 4
    assert all(0 <= score <= 1 for score in scores)
    assert len({round(score, 6) for score in scores}) > 1
    assert model.score("abc", texts) == pytest.approx(scores, abs=1e-6)
    assert model.score("abc", texts[::-1]) == pytest.approx(scores[::-1], abs=1e-5)
    assert model.score("abc", []) == []


class CountingEmbedder(HashEmbedder):
    """Of its texts, those of questions are told from others by their sign."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> np.ndarray:
        self.asked.append(list(texts))
        return super().embed(texts, kind) * (1 if kind == "passage" else -1)


def test_given_a_text_that_is_a_question_and_a_passage_then_the_cache_keeps_both_apart() -> None:
    """How many are kept, and which go first: test_recent."""
    inner = CountingEmbedder()
    cache = CachedEmbedder(inner)

    for _ in range(2):
        assert np.array_equal(cache.embed(["a", "b"], "query"), -HashEmbedder().embed(["a", "b"]))
        assert np.array_equal(cache.embed(["b"]), HashEmbedder().embed(["b"]))
    assert inner.asked == [["a", "b"], ["b"]]

    few = CachedEmbedder(inner, size=1)
    for texts in (["a", "b"], ["a"]):
        few.embed(texts)
    assert inner.asked[2:] == [["a", "b"], ["a"]]

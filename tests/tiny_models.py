"""Real models small enough to be made in a test: random weights, saved to a folder, loaded through the adapters by that
folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MAX_TOKENS = 24


def _bert(folder: Path, *, classifier: bool, outputs: Sequence[str] = ("score",)) -> Path:
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(20261120)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        id2label=dict(enumerate(outputs)),
        initializer_range=1.0,
    )
    (BertForSequenceClassification if classifier else BertModel)(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    return folder


def embedding_model(folder: Path, dim: int, tokens: int = MAX_TOKENS) -> Path:
    """A sentence-transformers model of any dimension that reads so many tokens, 64 at most."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer

    bert = _bert(folder / "bert", classifier=False)
    modules = [Transformer(str(bert), max_seq_length=tokens), Pooling(16), Dense(16, dim)]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder / "model"))
    return folder / "model"


def cross_encoder(folder: Path, *outputs: str) -> Path:
    """A cross-encoder with one output, or with these."""
    return _bert(folder / "cross", classifier=True, outputs=outputs or ("score",))


def without_head(folder: Path) -> Path:
    """The same network without the layer that classifies."""
    return _bert(folder / "bert", classifier=False)


def multilingual(folder: Path, *outputs: str) -> Path:
    """Like a model of inference on XLM-RoBERTa, whose tokenizer knows "</s>" as a word, too."""
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification, XLMRobertaTokenizer

    words = [(word, 0.0) for word in ("<s>", "<pad>", "</s>", "<unk>")] + [
        ("▁", -2.0),
        *((letter, -3.0) for letter in LETTERS),
    ]
    torch.manual_seed(20261124)
    config = XLMRobertaConfig(
        vocab_size=len(words) + 1,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=66,
        type_vocab_size=1,
        id2label=dict(enumerate(outputs)),
        initializer_range=1.0,
    )
    XLMRobertaForSequenceClassification(config).save_pretrained(folder / "xlm")
    XLMRobertaTokenizer(vocab=[*words, ("<mask>", 0.0)]).save_pretrained(folder / "xlm")
    return folder / "xlm"

"""Real models small enough to be made in a test: random weights, saved to a folder, loaded through the adapters by that
folder.
"""

from __future__ import annotations

from pathlib import Path

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MAX_TOKENS = 24


def _bert(folder: Path, *, classifier: bool) -> Path:
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
        num_labels=1,
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


def cross_encoder(folder: Path) -> Path:
    return _bert(folder / "cross", classifier=True)

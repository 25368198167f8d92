"""The public face of the core: what it exports is there, documented, and all that the examples need."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rag_core

ROOT = Path(__file__).resolve().parents[1]
USAGE = ("quickstart.py", "generation_usage.py")  # the other examples are reports on the insides


def test_given_the_public_names_then_each_is_there_and_documented() -> None:
    assert {*rag_core._PLACES, "errors", "__version__"} == set(rag_core.__all__)
    for name in rag_core.__all__:
        exported = getattr(rag_core, name)
        assert isinstance(exported, str) or exported.__doc__, name
    with pytest.raises(AttributeError, match="no public name"):
        rag_core.chunk  # noqa: B018


def test_given_the_examples_of_use_then_they_import_from_the_public_face_alone() -> None:
    for name in USAGE:
        tree = ast.parse((ROOT / "examples" / name).read_text(encoding="utf-8"))
        modules = {
            node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rag_core")
        }
        assert modules == {"rag_core"}, name


def test_given_an_import_of_the_core_then_nothing_heavy_comes_with_it() -> None:
    """The page starts its model's process first; the public names are imported when they are used."""
    program = "import rag_core, sys; print(sorted({'numpy', 'torch', 'faiss', 'streamlit'} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert said.strip() == "[]"
    assert (ROOT / "rag_core" / "py.typed").is_file()

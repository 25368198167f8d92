"""The public face of the core: what it exports is there, documented, and all that the examples need."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rag_core

ROOT = Path(__file__).resolve().parents[1]


def test_given_the_public_names_then_each_is_there_and_documented() -> None:
    assert {*rag_core._PLACES, "__version__"} == set(rag_core.__all__)
    assert typed_imports() == {
        name: f"rag_core.{place}" if place else "rag_core" for name, place in rag_core._PLACES.items()
    }
    for name in rag_core.__all__:
        exported = getattr(rag_core, name)
        assert isinstance(exported, str) or exported.__doc__, name
    with pytest.raises(AttributeError, match="no public name"):
        rag_core.chunk  # noqa: B018


def typed_imports() -> dict[str, str]:
    """What the face imports for type checkers and readers: each name with its module."""
    tree = ast.parse((ROOT / "rag_core" / "__init__.py").read_text(encoding="utf-8"))
    (checked,) = [node for node in tree.body if isinstance(node, ast.If)]
    return {
        name.asname or name.name: node.module or ""
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }


def test_given_the_examples_then_they_import_from_the_public_face_alone() -> None:
    for path in sorted((ROOT / "examples").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        modules |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        inside = {
            name for name in modules if name.partition(".")[0] in ("rag_core", "ui", "pages", "training", "reports")
        } - {"rag_core"}
        assert not inside, path.name


def test_given_the_pages_then_they_ask_through_the_engine_and_decide_no_question_themselves() -> None:
    """Measuring, deciding and logging a question are one call, for whoever asks."""
    for path in [*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        text = path.read_text(encoding="utf-8")
        assert "engine.measure(" not in text, path
        assert "log_decision" not in text, path


def test_given_an_import_of_the_core_then_nothing_heavy_comes_with_it() -> None:
    """The page starts its model's process first; the public names are imported when they are used."""
    program = "import rag_core, sys; print(sorted({'numpy', 'torch', 'faiss', 'streamlit'} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert said.strip() == "[]"
    assert (ROOT / "rag_core" / "py.typed").is_file()

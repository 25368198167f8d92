"""What the product does without the packages of its extras: answers as before, and says what is missing where one is
needed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from rag_core.adapters.optional import APART, EXTRAS, REMEDY, REMEDY_APART

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = sorted(module for modules in EXTRAS.values() for module in modules)

USES = """
import json, sys
from rag_core.adapters.embedding.choose import load_embedder
from rag_core.adapters.embedding.by_name import CrossEncoderReranker
from rag_core.adapters.index.choose import vector_store
from rag_core.adapters.llm.chain import endpoint_model
from rag_core.adapters.workers.ray_workers import workers_of
from rag_core.errors import RagError
from rag_core.ingest.reading.ocr_engines import weights_of
from rag_core.settings import Settings
from rag_core.settings.endpoints import Endpoint

uses = {
    "pgvector": lambda: vector_store("pgvector"),
    "milvus": lambda: vector_store("milvus"),
    "ray": lambda: workers_of(Settings.load().changed(workers="ray")),
    "rapidocr": lambda: weights_of("rapidocr"),
    "litellm": lambda: endpoint_model(Endpoint("litellm://bedrock", "", "m"), "auto"),
    "embedder": lambda: load_embedder("another", "auto"),
    "reranker": lambda: CrossEncoderReranker("another"),
}
found = {}
for name, use in uses.items():
    try:
        use()
    except RagError as error:
        found[name] = [type(error).__name__, error.problem, error.remedy]
print(json.dumps(found))
"""


def without(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python as if the packages of all extras were not installed, in its children too."""
    (tmp_path / "sitecustomize.py").write_text(
        f"import sys\nsys.modules.update(dict.fromkeys({LEFT_OUT}))\n", encoding="utf-8"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    return subprocess.run(
        [sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )


def test_the_extras_are_those_of_the_project_in_the_versions_of_the_requirements() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    pinned = [
        line
        for name in (
            "requirements.txt",
            *(f"supply/{one}.txt" for one in ("stores", "ray", "folders", "rapidocr", "litellm")),
        )
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
    ]

    assert declared.keys() == EXTRAS.keys()
    for name, requirements in declared.items():
        assert set(requirements) <= set(pinned), name
        # its name has no case, and dashes where the module has dots or underscores
        project = requirements[0].partition("==")[0]
        assert project.replace("-", "_").lower() == EXTRAS[name][0].replace(".", "_")


def test_without_the_extras_each_use_says_what_is_missing_and_the_command(tmp_path: Path) -> None:
    run = without(tmp_path, "-c", USES)

    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    needs = {
        "embedder": "An embedding model by name needs the package sentence-transformers, which is",
        "reranker": "A reranker needs the package sentence-transformers, which is",
        "pgvector": "The vector store 'pgvector' needs the package pgvector, which is",
        "milvus": "The vector store 'milvus' needs the package pymilvus, which is",
        "ray": "Indexing by workers of Ray needs the package ray, which is",
        "litellm": "A language model of a provider needs the package litellm, which is",
        "rapidocr": "Reading scans by RapidOCR needs the packages rapidocr and opencv-python-headless, which are",
    }
    problems = {name: ("MissingDependency", f"{need} not installed.") for name, need in needs.items()}
    assert {name: tuple(row[:2]) for name, row in found.items()} == problems
    assert {row[2] for name, row in found.items() if name not in APART} == {REMEDY}
    apart = {name: REMEDY_APART.format(extra=name, lock=lock) for name, lock in APART.items()}
    command, installed = apart.pop("rapidocr").split("Run: ")[1].split(". Where")
    remedy = found.pop("rapidocr")[2]
    assert command in remedy
    assert installed in remedy
    assert "set ocr_engine to tesseract" in remedy
    assert {name: row[2] for name, row in found.items() if name in APART} == apart
    assert (ROOT / "requirements.lock").is_file()


def test_without_the_extras_a_question_is_answered_as_with_them(tmp_path: Path) -> None:
    text = "The warranty period is 24 months from delivery. Payment is due within 30 days of the date of the invoice."
    (tmp_path / "notes.jsonl").write_text(
        json.dumps({"id": "notes", "title": "Terms", "lang": "en", "text": text}) + "\n", encoding="utf-8"
    )
    row = {"id": "q", "lang": "en", "question": "How long is the warranty period?"}
    (tmp_path / "questions.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    files = ("--documents", "notes.jsonl", "--questions", "questions.jsonl", "--out", "out.jsonl")
    run = without(tmp_path, "-m", "rag_core", "ask", *files)

    assert run.returncode == 0, run.stderr
    decision = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    assert (decision["status"], "24 months" in decision["answer"]) == ("success", True)

"""The wheel: what it carries, what it says of itself, and that its command answers where nothing of the repository is
at hand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from email.parser import HeaderParser
from pathlib import Path

import pytest

from rag_core import __version__
from rag_core.entrypoints.cli import parser
from supply.environment import PRODUCT, ROOT, read_lock

PAGE_ONLY = ("data/brand/", "data/screens/", "data/samples/", "data/questions.jsonl")
PIP = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "--quiet"]
NAME = f"plumbline-{__version__}"


def run(*command: object, cwd: Path, **environment: str) -> str:
    """What a program printed; it must end well. It inherits nothing that points at the repository."""
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "RAG_LIBRARY")
    }
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=inherited | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder: Path) -> None:
    """A wheel of this repository, without network; then that wheel as installed."""
    run(
        *PIP,
        "wheel",
        ROOT,
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        "--no-cache-dir",
        "--wheel-dir",
        folder,
        cwd=folder,
    )
    (wheel,) = folder.glob("*.whl")
    run(*PIP, "install", wheel, "--no-deps", "--no-index", "--no-compile", "--target", folder / "site", cwd=folder)


@pytest.fixture(scope="session")
def built(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """A folder with the wheel, and its content installed under `site`."""
    return made_once("wheel", build)


def carried(folder: Path) -> set[str]:
    with zipfile.ZipFile(folder / f"{NAME}-py3-none-any.whl") as wheel:
        return set(wheel.namelist())


def test_the_wheel_carries_the_library_with_all_its_data_and_nothing_else(built: Path) -> None:
    try:
        listing = run(
            "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "rag_core", "data", cwd=ROOT
        )
    except (OSError, AssertionError):
        pytest.skip("unpacked from an archive: no repository to ask which files belong to it")
    files = {name for name in listing.split("\0") if name and (ROOT / name).is_file()}
    data = {f"rag_core/{name}" for name in files if name.startswith("data/") and not name.startswith(PAGE_ONLY)}
    library = {name for name in files if name.startswith("rag_core/")}

    assert {name for name in carried(built) if ".dist-info/" not in name} == library | data
    assert {"rag_core/py.typed", "rag_core/data/presets.yaml", "rag_core/data/languages/en.toml"} <= library | data
    assert {name for name in data if name.endswith(".safetensors")}
    assert not [
        name
        for name in carried(built)
        if name.endswith(".pyc") or name.split("/")[0] not in ("rag_core", f"{NAME}.dist-info")
    ]


def test_the_wheel_says_what_it_is_what_it_needs_and_brings_its_licence(built: Path) -> None:
    info = built / "site" / f"{NAME}.dist-info"
    said = HeaderParser().parsestr((info / "METADATA").read_text(encoding="utf-8"))
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").split("# extras")[0].splitlines()
    needs = [line for line in said.get_all("Requires-Dist", []) if "extra ==" not in line]

    assert (said["Name"], said["Version"]) == ("plumbline", __version__)
    assert (said["License-Expression"], said["Requires-Python"]) == ("AGPL-3.0-or-later", "<3.15,>=3.11")
    assert (info / "licenses" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert needs == [line for line in lines if line and not line.startswith("#")]
    assert len(needs) > 20
    assert said.get_all("Provides-Extra") == [
        "models",
        "service",
        "login",
        "traces",
        "pgvector",
        "milvus",
        "ray",
        "s3",
        "webdav",
        "rapidocr",
        "litellm",
    ]


def test_what_builds_the_wheel_is_what_the_lock_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    versions = {each.name: each.version for each in read_lock((ROOT / PRODUCT).read_text(encoding="utf-8"))}

    assert project["build-system"]["requires"] == [f"setuptools=={versions['setuptools']}"]


@pytest.mark.longest
def test_the_installed_command_answers_with_a_citation_in_another_folder(built: Path, tmp_path: Path) -> None:
    """The folder holds a text, a PDF, and no Plumbline; the models are those of the wheel, in child processes too."""
    site = built / "site"
    (tmp_path / "notes.md").write_text(
        "The warranty period is 24 months from delivery.\n\nBills are due in a month.\n", encoding="utf-8"
    )
    (tmp_path / "policies.pdf").write_bytes((ROOT / "data" / "samples" / "company-policies.pdf").read_bytes())

    def python(*arguments: object) -> str:
        return run(sys.executable, "-B", *arguments, cwd=tmp_path, PYTHONPATH=str(site))

    def command(*arguments: object) -> str:
        return python(site / "bin" / "plumbline", *arguments, "--library", "mine")

    places = python(
        "-c", "import rag_core.settings as s, rag_core as r, sys; print(r.__file__, s.DATA, *sys.path, sep='\\n')"
    ).splitlines()
    assert places[:2] == [str(site / "rag_core" / "__init__.py"), str(site / "rag_core" / "data")]
    assert str(ROOT) not in places

    rows = (
        ("How long is the warranty period?", "notes.md", "24 months"),
        ("How do I request vacation?", "policies.pdf", "vacation"),
    )
    questions = [json.dumps({"id": document, "lang": "en", "question": question}) for question, document, _ in rows]
    (tmp_path / "questions.jsonl").write_text("\n".join(questions), encoding="utf-8")
    command("index", "notes.md", "policies.pdf")
    decisions = [json.loads(line) for line in command("ask", "--questions", "questions.jsonl").splitlines()]

    assert [each["status"] for each in decisions] == ["success", "success"], decisions
    for decision, (_, document, word) in zip(decisions, rows, strict=True):
        citation = decision["citations"][0]
        assert (citation["document"], word in citation["excerpt"]) == (document, True), citation


def test_the_command_is_called_by_the_name_it_was_started_by(monkeypatch: pytest.MonkeyPatch) -> None:
    for started, program in (("/usr/bin/plumbline", "plumbline"), ("/x/rag_core/__main__.py", "python -m rag_core")):
        monkeypatch.setattr(sys, "argv", [started])
        text = parser().format_help()
        assert text.startswith(f"usage: {program} ")
        assert f"\n  {program} doctor\n" in text

"""The promises of the house: safe configuration, pinned packages, pages that match the tree, import rules that bite."""

from __future__ import annotations

import ast
import hashlib
import re
import socket
import subprocess
import sys
import tomllib
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from folding import each
from streamlit import config as streamlit_config

ROOT = Path(__file__).resolve().parent.parent

SAFE = {
    "server.address": "127.0.0.1",
    "server.headless": True,
    "server.maxUploadSize": 50,
    "server.maxMessageSize": 50,
    "server.enableXsrfProtection": True,
    "server.enableCORS": True,
    "server.allowedHosts": ["127.0.0.1", "localhost", "::1"],
    "server.fileWatcherType": "none",
    "server.enableStaticServing": False,
    "client.showErrorDetails": "none",
    "client.showErrorLinks": False,
    "client.toolbarMode": "viewer",
    "client.disableDataExport": True,
    "client.allowedOrigins": [],
    "runner.postScriptGC": False,  # docs/decisions/21-vector-stores-and-growth.md says why
    "runner.fastReruns": False,  # tests/pages/test_page_touches.py says why
    "secrets.files": [],
    "browser.gatherUsageStats": False,
}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def tracked_and_new() -> list[str]:
    """Every file that is, or by its name would be, in the repository."""
    try:
        listing = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):  # unpacked from an archive: no repository to ask
        skipped = {".venv", ".git", "library", "build"}
        return [
            str(path.relative_to(ROOT))
            for path in ROOT.rglob("*")
            if path.is_file() and not skipped & set(path.relative_to(ROOT).parts)
        ]
    return [name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


@each(("option", "value"), SAFE.items())
def test_given_the_shipped_configuration_when_read_then_the_safe_value_stands(option: str, value: object) -> None:
    section, name = option.split(".")

    assert tomllib.loads(read(".streamlit/config.toml"))[section][name] == value


def test_given_streamlit_when_it_loads_the_configuration_then_every_safe_value_is_in_force(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A misspelt or renamed option is ignored by Streamlit, so the file alone proves nothing.
    monkeypatch.chdir(ROOT)
    for option in SAFE:
        monkeypatch.delenv("STREAMLIT_" + re.sub(r"(?<=[a-z])(?=[A-Z])|\.", "_", option).upper(), raising=False)
    loaded = streamlit_config.get_config_options(force_reparse=True)

    assert {option: loaded[option].value for option in SAFE} == SAFE


def test_given_the_requirements_when_read_then_every_line_is_pinned_and_torch_is_first() -> None:
    lines = [line for line in read("requirements.txt").splitlines() if line.strip() and not line.startswith("#")]

    assert [
        line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+(\[[a-z,]+\])?==[0-9][0-9A-Za-z.]*", line)
    ] == []
    assert lines[0] == "torch==2.13.0"


def test_given_the_license_when_read_then_it_is_the_whole_published_text() -> None:
    # SHA-256 of agpl-3.0.txt as the Free Software Foundation publishes it.
    published = "0d96a4ff68ad6d4b6f1f30f713b18d5184912ba8dd389f86aa7710db079abcb0"

    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == published


def test_given_the_readme_when_read_then_it_names_the_two_commands_and_each_target_exists() -> None:
    commands = set(re.findall(r"\bmake ([a-z]+)\b", read("README.md")))
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), flags=re.MULTILINE))

    assert {"app", "test"} <= commands
    assert commands <= targets


def test_given_the_tree_of_the_papers_when_compared_then_it_is_the_real_one() -> None:
    tree = read("docs/where.md").split("## The tree")[1].split("```")[1]
    listed: dict[str, set[str]] = {"": set()}
    folder = ""
    for line in (line for line in tree.splitlines() if line.strip()):
        name = line.split()[0].rstrip("/")
        if line.startswith("  "):
            listed.setdefault(folder, set()).add(name)
        else:
            folder = name
            listed[""].add(name)
    paths = [Path(name) for name in tracked_and_new()]
    real = {"": {path.parts[0] for path in paths}}
    for folder in ("rag_core", "ui"):
        real[folder] = (
            {path.parts[1] for path in paths if path.parts[0] == folder}
            - {"py.typed"}
            - ({"__init__.py"} if folder == "ui" else set())
        )

    assert listed == real


def test_given_the_house_when_counted_then_it_keeps_its_budgets() -> None:
    """A newcomer sees at most 26 rooms and six modules at the root of the core, and no room is a list of more than 18
    modules.
    """
    modules = [Path(name) for name in tracked_and_new() if name.endswith(".py")]
    crowded = Counter(
        path.parent
        for path in modules
        if path.parts[0] in ("rag_core", "ui", "training") and path.name != "__init__.py"
    )
    root = {path.name for path in modules if path.parent == Path("rag_core")}
    rooms = {path.parts[:2] for path in modules if path.parts[0] in ("rag_core", "ui") and len(path.parts) > 2}

    assert len(root) <= 6
    assert len(rooms) <= 26
    assert {str(room): count for room, count in crowded.items() if count > 18} == {}


def test_given_the_repository_when_searched_then_no_file_names_a_path_of_one_machine() -> None:
    # Folders that every machine has may be named, even where this checkout happens to stand in one of them.
    parent = str(ROOT.parent)
    here = (
        r"(?!)"
        if parent in {"/", "/app", "/etc", "/opt", "/srv", "/tmp", "/usr", "/var"}
        else rf"(?<![\w.]){re.escape(parent)}/"
    )
    pattern = re.compile(rf"{here}|/(?:home|Users)/\w|[A-Z]:\\Users\\")

    found = []
    for name in tracked_and_new():
        if name == "tests/test_house.py":  # holds the pattern
            continue
        text = (ROOT / name).read_bytes().decode("utf-8", errors="ignore")
        found += [f"{name}:{text.count(chr(10), 0, one.start()) + 1}" for one in pattern.finditer(text)]
    assert found == []


def test_given_the_code_when_read_then_no_constant_of_a_module_is_set_twice() -> None:
    """The second one would be in force for both: 10,000 visits that are remembered were 50 after a rename."""
    twice, set_at_the_margin = [], re.compile(r"^((?:[A-Z_][A-Z0-9_]*(?:, [A-Z_][A-Z0-9_]*)* = )+)", re.MULTILINE)
    for name in tracked_and_new():
        if name.endswith(".py"):
            constants = Counter(
                one for names in set_at_the_margin.findall(read(name)) for one in re.findall(r"\w+", names)
            )
            twice += [f"{name}: {one}" for one, count in constants.items() if count > 1]
    assert twice == []


def test_given_the_code_when_searched_then_no_package_reports_usage_home() -> None:
    reporters = (
        r"^\s*(?:import|from)\s+(sentry_sdk|posthog|segment|mixpanel|analytics|opentelemetry|datadog|newrelic)\b"
    )
    found = {
        name for name in tracked_and_new() if name.endswith(".py") and re.search(reporters, read(name), re.MULTILINE)
    }

    # the operator's own collector, which nothing is sent to unless RAG_TRACES names it
    assert found == {"rag_core/adapters/tracing.py", "tests/span_collector.py"}
    assert not re.search(r"sentry|posthog|mixpanel|datadog|newrelic", read("requirements.txt"))


ALLOWED = {
    "rag_core/settings/settings.py": "import rag_core.errors",
    "rag_core/domain/claims.py": "import rag_core.settings.settings",
    "rag_core/language/words.py": "import Stemmer",
    "rag_core/ingest/pdf_worker.py": "import pymupdf",
    "rag_core/gating/levels.py": "import rag_core.language.words, rag_core.domain.claims",
    "rag_core/decision/decide.py": "import rag_core.gating.levels",
    "rag_core/adapters/index/store.py": "import faiss",
    "rag_core/adapters/child/process.py": "",
    "rag_core/wiring/folder.py": "import rag_core.adapters.index.store, rag_core.decision.decide",
    "rag_core/entrypoints/server.py": "import fastapi, rag_core.wiring.folder",
    "rag_core/__main__.py": "import rag_core.entrypoints.server",
    "ui/app/state.py": "import streamlit, rag_core.wiring.folder",
    "ui/ask/answer.py": "import ui.app.state",
    "pages/ask.py": "import ui.ask.answer, rag_core.decision.decide",
    "pages/lab.py": "import streamlit",
    "training/files.py": "",
    "training/answer_rows.py": "import rag_core.wiring.folder, training.files",
    "training/measured.py": "import training.answer_rows",
    "ui/serve.py": "import rag_core.adapters.child.process, ui.ask.answer",
}
FORBIDDEN = {
    "layers": ("rag_core/domain/claims.py", "import rag_core.decision.decide"),
    "siblings": ("rag_core/adapters/embedding/model.py", "import rag_core.adapters.llm"),
    "frame": ("pages/ask.py", "import pages.lab"),
    "wiring": ("ui/ask/answer.py", "import rag_core.adapters.index.store"),
    "interface": ("rag_core/gating/levels.py", "import streamlit"),
    "pdf": ("rag_core/ingest/layout.py", "import pymupdf"),
    "vendors": ("rag_core/gating/levels.py", "import faiss"),
    "languages": ("rag_core/gating/levels.py", "import Stemmer"),
    "servers": ("rag_core/decision/decide.py", "import fastapi"),
    "training": ("rag_core/wiring/folder.py", "import training.files"),
    "fitting": ("training/files.py", "import training.answer_rows"),
    "pages": ("ui/app/state.py", "import ui.ask.answer"),
}


def broken_contracts(folder: Path, extra: tuple[str, str] | None = None) -> set[str]:
    """Write a miniature rag_core, ui, pages and training and return the ids of the contracts that import-linter finds
    broken in it.
    """
    core = (
        "",
        "adapters",
        "adapters/index",
        "adapters/embedding",
        "adapters/child",
        "adapters/llm",
        "adapters/records",
        "decision",
        "domain",
        "entrypoints",
        "gating",
        "ingest",
        "language",
        "settings",
        "wiring",
    )
    modules = {f"rag_core/{package}/__init__.py".replace("//", "/"): "" for package in core}
    modules |= {
        "ui/__init__.py": "",
        "ui/app/__init__.py": "",
        "ui/ask/__init__.py": "",
        "training/__init__.py": "",
        "reports/__init__.py": "",
        "rag_core/errors.py": "",
    } | ALLOWED
    if extra:
        modules[extra[0]] = f"{modules.get(extra[0], '')}\n{extra[1]}\n"
    for name, body in modules.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, encoding="utf-8")
    (folder / "pyproject.toml").write_text(read("pyproject.toml"), encoding="utf-8")

    lint = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command; lint_imports_command()",
        "--no-cache",
        "--no-logo",
    ]
    report = subprocess.run(lint, cwd=folder, capture_output=True, text=True, check=False).stdout
    names = {
        row["name"]: row["id"] for row in tomllib.loads(read("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    }
    verdicts = re.findall(r"^(.+?) (KEPT|BROKEN)\b", re.sub(r"\n(?!\n)(?=[a-z])", " ", report), flags=re.MULTILINE)
    assert {names[name] for name, _ in verdicts} == set(names.values()), report
    return {names[name] for name, verdict in verdicts if verdict == "BROKEN"}


def test_given_imports_that_the_design_allows_when_linted_then_no_contract_is_broken(tmp_path: Path) -> None:
    assert broken_contracts(tmp_path) == set()


@pytest.mark.parametrize("contract", FORBIDDEN)
def test_given_an_import_that_the_design_forbids_when_linted_then_its_contract_is_broken(
    contract: str, tmp_path: Path
) -> None:
    assert contract in broken_contracts(tmp_path, FORBIDDEN[contract])


def test_given_all_imports_when_followed_then_no_two_packages_need_each_other_and_app_names_no_adapter() -> None:
    """A module at the root of `rag_core`, `ui`, `training` or `reports` is a package of its own here; a circle has no
    first to read.
    """
    sources = {
        name: read(name)
        for name in tracked_and_new()
        if re.fullmatch(r"(?:(?:rag_core|ui|pages|training|reports)/.+|app)\.py", name)
    }
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): name for name in sources}
    needs: dict[str, set[str]] = {}
    for name, text in sources.items():
        named = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
        for target in (one for node in named for one in imported(node)):
            known = next((one for one in (target, target.rpartition(".")[0]) if one in modules), None)
            if known and package_of(modules[known]) != package_of(name):
                needs.setdefault(package_of(name), set()).add(package_of(modules[known]))

    TopologicalSorter(needs).prepare()  # a circle is a CycleError, which names it
    assert not any("adapters" in target for target in needs["app.py"])
    assert len(needs) > 40


def imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The full names that an import may mean: a module, or a name in one."""
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    return [f"{node.module}.{one.name}" for one in node.names]


def package_of(path: str) -> str:
    """The folder of a module; the module itself at the root of a layer."""
    folder, _, name = path.rpartition("/")
    return path if folder in ("", "rag_core", "ui", "training", "reports") and name != "__init__.py" else folder


def test_given_a_module_that_no_layer_names_when_linted_then_the_layers_are_broken(tmp_path: Path) -> None:
    assert broken_contracts(tmp_path, ("rag_core/utils.py", "")) == {"layers"}


def test_given_a_test_that_leaves_the_machine_when_it_connects_then_it_is_stopped() -> None:
    with socket.socket() as probe, pytest.raises(OSError, match="Tests use no network"):
        probe.connect(("192.0.2.1", 80))  # a documentation address: nothing is there


SKIPPED = """
@pytest.mark.{mark}
def test_{mark}():
    pytest.skip("nothing to run it with")
"""
STOPPED = """
def test_that_fails():
    assert "what went wrong" == ""

def test_that_never_ends():
    os._exit(3)
"""


@pytest.mark.parametrize("on_the_build_server", [True, False])
def test_given_a_run_that_is_stopped_from_outside_when_on_the_build_server_then_its_failures_and_skipped_tests_that_must_run_were_told(  # noqa: E501
    on_the_build_server: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There a skipped test that needs a browser, OCR or a tracer has failed; another one has not."""
    monkeypatch.delenv("PLUMBLINE_CI", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    if on_the_build_server:
        monkeypatch.setenv("PLUMBLINE_CI", "1")
    (tmp_path / "conftest.py").write_text(read("tests/conftest.py"), encoding="utf-8")
    skipped = (SKIPPED.format(mark=mark) for mark in ("browser", "ocr", "tracer", "slow"))
    (tmp_path / "test_one.py").write_text(
        "\n".join(("import os", "import pytest", *skipped, STOPPED)), encoding="utf-8"
    )
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n    unit\n    browser\n    ocr\n    tracer\n    slow\n", encoding="utf-8"
    )

    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    told = re.findall(r"FAILED test_one.py::test_(\w+)", run.stdout)
    assert run.returncode == 3
    assert (
        told == ["browser", "ocr", "tracer", "that_fails"] and "what went wrong" in run.stdout
    ) == on_the_build_server
    assert on_the_build_server or told == []


def test_given_the_rule_that_marks_tests_when_read_then_each_folder_and_file_is_there_and_make_unit_leaves_out_those_folders() -> (  # noqa: E501
    None
):
    here = ROOT / "tests"
    marked = {
        name for name in re.findall(r'"(\w+)"', read("tests/conftest.py").split("MARKERS = {")[1].split("\n}")[0])
    } - {
        "browser",
        "app",
        "slow",
    }
    folders = {name for name in marked if not name.startswith("test_")}

    assert [name for name in folders if not (here / name).is_dir()] == []
    assert [name for name in marked - folders if not list(here.rglob(f"{name}.py"))] == []
    assert folders == set(re.search(r"foreach folder,([a-z0-9 ]+),", read("Makefile"))[1].split())  # type: ignore[index]


def test_given_the_messages_of_the_program_when_they_name_a_limit_to_raise_then_there_is_a_setting_of_that_name() -> (
    None
):
    from rag_core.settings import Settings

    said = {
        str(path): path.read_text(encoding="utf-8")
        for folder in ("rag_core", "ui", "pages")
        for path in (ROOT / folder).rglob("*.py")
    }
    for name, source in said.items():
        assert "raise the limit on" not in source, name
        for setting in re.findall(r"(?:or raise|\"Raise) `?([a-z]+_[a-z_]+)", source):
            assert setting in Settings.model_fields, (name, setting)

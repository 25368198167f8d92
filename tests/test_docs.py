"""README, SECURITY.md and the pages of docs name only files, modules, make targets and pages that are there."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "data" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FILE = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|json|yaml|md|css|toml|svg|safetensors))`")
# folders that a page leaves out where it is plain which is meant
BASES = (
    "",
    "rag_core",
    "docs",
    "data",
    "ui",
    "tests",
)
MADE = {  # files that a user or a program makes
    "access.yaml",
    "calibration.json",
    "deleting.json",
    "sbom.json",
    "secrets.toml",
    "tokens.json",
    "utils.py",  # which there is none of, as the design says
}


def test_given_a_page_when_it_names_a_file_then_the_file_is_there() -> None:
    missing = [
        f"{page.name}: {name}"
        for page in PAGES
        for name in FILE.findall(page.read_text(encoding="utf-8"))
        if Path(name).name not in MADE and not any((ROOT / base / name).exists() for base in BASES)
    ]
    assert missing == []


def test_given_a_page_when_it_links_to_another_then_page_and_heading_are_there() -> None:
    missing = []
    for page in PAGES:
        for target, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
            linked = page.parent / target if target else page
            lines = (
                linked.read_text(encoding="utf-8").splitlines() if linked.suffix == ".md" and linked.exists() else []
            )
            headings = {
                re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-")
                for line in lines
                if line.startswith("#")
            }
            if not linked.exists() or (heading and heading not in headings):
                missing.append(f"{page.name}: {target}#{heading}")
    assert missing == []


def test_given_a_page_when_it_names_a_command_then_the_module_or_target_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    missing = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        missing += [
            f"{page.name}: make {name}"
            for name in re.findall(r"`make ([a-z-]+)|^    make ([a-z-]+)", text)
            for name in name
            if name and name not in targets
        ]
        missing += [
            f"{page.name}: python -m {name}"
            for name in re.findall(r"python -m ([\w.]+)", text)
            if importlib.util.find_spec(name.rstrip(".")) is None
        ]
    assert missing == []


def test_given_a_page_when_it_names_a_command_of_rag_core_then_the_command_is_there() -> None:
    from rag_core.entrypoints.cli import parser

    commands = {name for action in parser()._actions if action.dest == "command" for name in action.choices or ()}  # type: ignore[union-attr]
    found = {
        (page.name, name)
        for page in PAGES
        for name in re.findall(r"python -m rag_core ([a-z][a-z-]*)", page.read_text(encoding="utf-8"))
    }

    assert sorted(one for one in found if one[1] not in commands) == []

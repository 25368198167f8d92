"""Builds the wheel: `rag_core` with its data. The rest of its description stands in pyproject.toml.

`data/` becomes `rag_core/data`, without what the page or the tests alone read. Nothing is written into the repository:
what an earlier build had left there would go into the next wheel.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from setuptools import find_packages, setup

PAGE_ONLY = {"brand", "screens", "samples", "questions.jsonl"}

root = Path(__file__).resolve().parent
data = [
    path
    for path in sorted((root / "data").rglob("*"))
    if path.is_file() and path.relative_to(root / "data").parts[0] not in PAGE_ONLY
]
needs = (root / "requirements.txt").read_text(encoding="utf-8").split("\n# extras")[0].splitlines()

with TemporaryDirectory() as elsewhere:
    setup(
        packages=[*find_packages(include=["rag_core", "rag_core.*"]), "rag_core.data"],
        package_dir={"rag_core.data": "data"},
        package_data={
            "rag_core": ["py.typed"],
            "rag_core.data": [str(path.relative_to(root / "data")) for path in data],
        },
        include_package_data=False,
        install_requires=[line for line in needs if not line.startswith("#")],
        options={"build": {"build_base": elsewhere}, "egg_info": {"egg_base": elsewhere}},
    )

"""The engines that read pictures: which one the settings name, whether it is installed, and where its data are.

RapidOCR's weights come in its package; OpenCV runs them. Both are looked for and not imported: the process that reads a
picture does that. Of Tesseract the language data are looked for.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from rag_core.domain.scanned import RAPIDOCR
from rag_core.errors import MissingDependency
from rag_core.language import canonical

OCR_LANGUAGES = ("eng", "ces", "deu", "hin")  # those that are tried first where a page does not say its language
_CODE = re.compile(r"[a-z]{3}|chi_(?:sim|tra)")
TESSDATA_FOLDERS = (
    "usr/share/tesseract-ocr/*/tessdata",
    "usr/share/tessdata",
    "usr/local/share/tessdata",
    "opt/homebrew/share/tessdata",
)
WEIGHTS = "models"  # the folder in the package
PROCESS_BYTES = {RAPIDOCR: 1 << 30}  # memory of a process that reads a page: docs/scans.md has the measured 0.8 GB
REMEDY = (
    "Run: make rapidocr, or: .venv/bin/python -m pip install --no-deps -r supply/rapidocr.lock. Where Plumbline is an "
    "installed wheel, "
    "install that file again with [rapidocr] after its name. Or set ocr_engine to tesseract."
)
# Linux's own estimate of what can be taken without swapping
_MEMORY, _AVAILABLE = Path("/proc/meminfo"), "MemAvailable:"


def find_tessdata() -> tuple[tuple[str, ...], str]:
    """The installed languages, OCR_LANGUAGES first, and their folder ($TESSDATA_PREFIX wins); ((), "") for none."""
    given = os.environ.get("TESSDATA_PREFIX")
    folders = (
        [Path(given)]
        if given
        else [path for pattern in TESSDATA_FOLDERS for path in sorted(Path("/").glob(pattern), reverse=True)]
    )
    for folder in folders:
        codes = {path.stem for path in folder.glob("*.traineddata") if path.is_file() and _CODE.fullmatch(path.stem)}
        languages = sorted(code for code in codes.difference(OCR_LANGUAGES) if len(canonical(code)) == 2)
        if languages := [code for code in OCR_LANGUAGES if code in codes] + languages:
            return tuple(languages), str(folder)
    return (), ""


def find_weights() -> str:
    """The folder of RapidOCR's weights; "" where it, or OpenCV, is not installed."""
    package = find_spec("rapidocr")
    if package is None or package.origin is None or find_spec("cv2") is None:
        return ""
    return str(Path(package.origin).parent / WEIGHTS)


def weights_of(engine: str) -> str:
    """The folder of an engine's weights, "" for one that needs none; raises MissingDependency."""
    if engine != RAPIDOCR:
        return ""
    found = find_weights()
    if not found:
        raise MissingDependency(
            "Reading scans by RapidOCR needs the packages rapidocr and opencv-python-headless, which are not installed.",  # noqa: E501
            remedy=REMEDY,
        )
    return found


def can_read(engine: str) -> bool:
    """Whether pictures can be read on this machine; errors as `weights_of`."""
    return bool(weights_of(engine) or find_tessdata()[0])


def version_of(engine: str) -> str:
    """The version of the weights of an engine; "" for one that has none, or where they are not installed."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version("rapidocr") if engine == RAPIDOCR else ""
    return ""


def most_at_once(engine: str) -> int:
    """How many processes may read pictures at once by the memory that is free (Linux): one at least."""
    if engine not in PROCESS_BYTES:
        return os.cpu_count() or 1
    with suppress(OSError, ValueError, IndexError), _MEMORY.open(encoding="ascii") as lines:
        free = next((int(line.split()[1]) << 10 for line in lines if line.startswith(_AVAILABLE)), 1 << 60)  # in kB
        return max(1, free // PROCESS_BYTES[engine])
    return os.cpu_count() or 1

"""The engines that read pictures: which one the settings name, whether it is installed, and where its data are.

RapidOCR's weights come in its package; OpenCV runs them. Both are looked for and not imported: the process that reads a
picture does that. Of Tesseract the language data are looked for, and those that fit a page are chosen: several at once
mix their letters and their words. A page says its script, and some of its text its language.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from babel.core import Locale, get_global

from rag_core.domain.scanned import RAPIDOCR
from rag_core.errors import MissingDependency
from rag_core.language import canonical, certain_language, question_language
from rag_core.language.detection import script as script_of

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
LATIN, ENGLISH = "Latin", "eng"
MOST = 4  # languages that are read with at once, where it is not clear which one a page is in
ENOUGH_WORDS = 20  # that say a page's language; chosen
# CLDR's names of scripts, and those of writing styles, by Tesseract's
_ALIKE = {"Simplified Han": "Han", "Traditional Han": "Han", "Bangla": "Bengali", "Fraktur": LATIN}
# Debian's packages for a language of a script
_PACKAGES = {"Arabic": "ara, fas or urd", "Cyrillic": "rus, ukr or bul", "Devanagari": "hin", "Greek": "ell"}
_PACKAGES |= {"Han": "chi-sim or chi-tra", "Hebrew": "heb", "Japanese": "jpn", "Korean": "kor", "Thai": "tha"}
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


class Fitting(NamedTuple):
    """The languages to read a page with, joined by "+", or why none fits; `problem` is a sentence on the page."""

    languages: str
    unreadable: str = ""
    problem: str = ""


def by_script(installed: Sequence[str]) -> dict[str, list[str]]:
    """Installed languages by the name that Tesseract gives their script."""
    names, found = Locale("en").scripts, dict[str, list[str]]()
    for code in installed:
        _, written, *_ = *str(get_global("likely_subtags").get(canonical(code), "")).split("_"), ""
        name = names.get(written, "")
        found.setdefault(_ALIKE.get(name, name), []).append(code)
    return found


def tried(installed: Sequence[str], weights: object) -> dict[str, str]:
    """The languages to read some of a page with, by script ("" where not found); with RapidOCR for the script alone."""
    known = {} if weights else by_script(installed)
    return {"": "+".join(installed[:MOST]), **{name: codes[0] for name, codes in known.items()}}


def fitting(script: str, text: str, installed: Sequence[str]) -> Fitting:
    """The languages of those installed that fit a page, by its script as Tesseract names it, or else its `text`."""
    script = _ALIKE.get(script, script) or script_of(text) or LATIN
    known = by_script(installed).get(script, [])
    if not known:
        packages = f" (Debian: tesseract-ocr-{_PACKAGES[script]})" if script in _PACKAGES else ""
        return Fitting(
            "", f"in {script} script, and no language data of Tesseract that read it are installed{packages}."
        )
    problem, enough = "", len(text.split()) >= ENOUGH_WORDS
    language = certain_language(text) if enough else ""
    # where two languages are near, as Czech and Slovak without their accents, the one that is installed
    likely = question_language(text, [canonical(code) for code in known]) if enough else ""
    own = [code for code in known if canonical(code) == (language or likely)]
    if language and not own:
        name = Locale("en").languages.get(language, language)
        problem = (
            f"This page is a picture in {name}, and Tesseract's language data for {name} are not installed: letters "
            "with accents may be wrong."
        )
    own = own or known[: 1 if language else MOST]  # a foreign one by one alone: fewer foreign letters
    # words in Latin letters stand in texts of all scripts
    foreign = [ENGLISH] if script != LATIN and ENGLISH in installed else []
    return Fitting("+".join([*foreign, *own]), problem=problem)

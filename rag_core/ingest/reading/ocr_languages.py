"""Chooses the language data of Tesseract that fit a page: several at once mix their letters and their words.

A page says its script, and some of its text its language.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from babel.core import Locale, get_global

from rag_core.language import canonical, certain_language, question_language
from rag_core.language.detection import script as script_of

LATIN, ENGLISH = "Latin", "eng"
MOST = 4  # languages that are read with at once, where it is not clear which one a page is in
ENOUGH_WORDS = 20  # that say a page's language; chosen
# CLDR's names of scripts, and those of writing styles, by Tesseract's
_ALIKE = {"Simplified Han": "Han", "Traditional Han": "Han", "Bangla": "Bengali", "Fraktur": LATIN}
# Debian's packages for a language of a script
_PACKAGES = {
    "Arabic": "ara, fas or urd",
    "Cyrillic": "rus, ukr or bul",
    "Devanagari": "hin",
    "Greek": "ell",
    "Han": "chi-sim or chi-tra",
    "Hebrew": "heb",
    "Japanese": "jpn",
    "Korean": "kor",
    "Thai": "tha",
}


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

"""The language files: what every one holds, what a broken one says, and that a new one is all that a new language
needs.
"""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import regex

from rag_core.errors import InvalidSetting
from rag_core.language import FALLBACK, LANGUAGES, grammar
from rag_core.language.loader import Languages
from rag_core.settings import DATA

ROOT = Path(__file__).resolve().parents[2]
ENGLISH = DATA / "languages" / "en.toml"
NEVER_STOP_WORDS = """not no nor never must may shall should need unless without only
ne není nesmí nelze bez nikdy musí smí ani
nicht kein keine ohne darf muss müssen nie
नहीं बिना मत न चाहिए
no sin nunca debe не нет без нельзя должен ne pas sans non senza nie brez""".split()

ESPERANTO = """
name = 'Esperanto'
question_words = 'kiu kio kiam kie kiom kial kiel kiuj'
stop_words = 'la kaj de en al por kun estas ĝi ili'
refusal = 'La petita informo ne troviĝas en la dokumentoj.'
nowhere = 'Neniu dokumento ĉi tie mencias {names}.'
nowhere_chosen = 'Neniu el la elektitaj dokumentoj mencias {names}.'
nowhere_joint = 'aŭ'
conjunctions = 'kaj'
unsure = 'Neniu sufiĉe certa respondo troviĝis.'
refusal_phrases = 'la dokumentoj ne respondas | mi ne povas respondi'
indicator_phrases = 'kiel oni scias'
greetings = 'saluton | bonan tagon'
yes = 'jes'
no = 'ne'
synonym_groups = 'prezo kosto'
units = { day = 'tago tagoj tagojn', week = 'semajno semajnoj' }

[grammar]
groups_by_space = true

[replies]
greeting = 'Saluton. Demandu ion pri la dokumentoj.'
holds = 'Dokumentoj: {documents}, paĝoj: {pages}.'
pages = 'paĝoj: {pages}'
nothing = 'Ankoraŭ estas neniu dokumento.'

[facts]
months = 'januaro|februaro|marto|aprilo|majo|junio|julio|aŭgusto|septembro|oktobro|novembro|decembro'
months_capitalised = false
numbers = 'du 2 tri 3 kvar 4 kvin 5 dek 10 dudek 20'
scales = 'cent 100 mil 1000'
negative_prefixes = 'mal'
not_prefixed = ''
negated_words = ''

[markers.negation]
not = 'ne|neniam'
"""
# Run apart, before anything is read out of the other languages: as a program that starts with the new file in the
# folder.
WALK = """
import json, sys
from pathlib import Path
from rag_core.language import LANGUAGES
LANGUAGES.add(Path(sys.argv[1]))
from rag_core import language as l
from rag_core.domain.replies import reply
from rag_core.domain.measurements import LibraryFacts
from rag_core.evaluation.labelled_files import _no, _yes
from rag_core.facts import changed_facts, entities
from rag_core.grounding.additions import indicators
asked = "Kiom da tagoj daŭras la garantio kaj kiam ĝi komenciĝas?"
said = "La garantio daŭras dudek tagojn."
print(json.dumps({
    "detected": [l.question_language(asked, ()), l.detect(asked)],
    "keywords": l.keywords(asked, "eo"),
    "refusal": [l.refusal("eo"), l.is_refusal("Mi ne povas respondi."), l.is_refusal(said)],
    "greeting": [l.greeting_language("Saluton al ĉiuj!"), reply("greeting", "eo", LibraryFacts())],
    "synonyms": sorted(l.synonyms("eo").items()),
    "indicators": indicators("Kiel oni scias, la garantio daŭras.", "", ("eo",)),
    "facts": [
        changed_facts(said, "La garantio daŭras 20 tagojn.", "eo"),
        changed_facts("La garantio daŭras dek tagojn.", "La garantio daŭras 20 tagojn.", "eo"),
        changed_facts("Tio ne validas por la tuta lando.", "Tio validas por la tuta lando.", "eo"),
        changed_facts("Ĝi komenciĝas 3 majo 2024.", "Ĝi komenciĝas 2024-05-03.", "eo"),
    ],
    "entities": [(one.kind, one.text) for one in entities("Kio okazis 3 majo 2024?", "eo")],
    "labels": ["jes" in _yes(), "ne" in _no()],
}))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(ENGLISH, tmp_path)
    return tmp_path


def test_given_every_language_file_then_no_negation_or_modal_is_a_stop_word_and_no_list_is_empty() -> None:
    assert next(iter(LANGUAGES)) == FALLBACK
    assert len(LANGUAGES) == len([*(DATA / "languages").glob("*.toml")]) >= 10
    for code, info in LANGUAGES.items():
        assert info.code == code
        assert not info.function_words & set(NEVER_STOP_WORDS), code
        assert all(word == word.lower() for word in info.function_words), code
        for held in (
            info.question_words,
            info.stop_words,
            info.greetings,
            info.refusal_phrases,
            info.name,
        ):
            assert held, code


@pytest.mark.slow
def test_given_a_new_file_when_the_program_starts_then_the_language_is_detected_read_answered_and_compared(
    tmp_path: Path,
) -> None:
    """A new language is one file: no module, no list elsewhere."""
    path = tmp_path / "eo.toml"
    path.write_text(ESPERANTO, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", WALK, str(path)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)

    assert found["detected"] == ["eo", "eo"]
    assert found["keywords"] == ["tagoj", "daŭras", "garantio", "komenciĝas"]
    assert found["refusal"] == ["La petita informo ne troviĝas en la dokumentoj.", True, False]
    assert found["greeting"] == ["eo", "Saluton. Demandu ion pri la dokumentoj."]
    assert found["synonyms"] == [["kosto", ["prezo"]], ["prezo", ["kosto"]]]
    assert found["indicators"] == ["kiel oni scias"]
    assert found["facts"] == [[], [["number", "dek tagojn"]], [["negation", "ne"]], []]
    assert found["entities"] == [["date", "3 majo 2024"]]
    assert found["labels"] == [True, True]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("name = ", "nom = "), r"en\.toml.* the first part has unknown keys: nom"),
        (("months = ", "munths = "), r"\[facts\] has unknown keys: munths"),
        (("month_first = true", "month_first = 1"), r"grammar\.month_first: true or false is needed, not 1"),
        (("numbers = '''", "numbers = '''one "), r"facts\.numbers: "),
        (("[replies]", "[replies"), r"en\.toml cannot be used: TOMLDecodeError"),
    ],
)
def test_given_a_file_with_one_fault_when_read_then_one_error_names_file_key_and_remedy(
    folder: Path, change: tuple[str, str], problem: str
) -> None:
    path = folder / "en.toml"
    text = path.read_text(encoding="utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change, 1), encoding="utf-8")

    with pytest.raises(InvalidSetting, match=problem) as caught:
        Languages(folder)["en"]

    assert "data/languages" in caught.value.remedy


def test_given_a_folder_then_a_file_is_read_when_its_language_is_asked_for_and_once(folder: Path) -> None:
    """A start reads no list that it does not need."""
    (folder / "xx.toml").write_text("broken", encoding="utf-8")
    languages = Languages(folder)

    assert list(languages) == ["en", "xx"]
    assert "xx" in languages
    assert languages["en"] is languages.or_fallback("tlh") is languages["en"]
    with pytest.raises(InvalidSetting, match=r"xx\.toml"):
        languages["xx"]


def test_given_a_language_without_a_file_then_its_script_and_stemmer_are_known() -> None:
    assert (grammar("uk").script, grammar("uk").groups_by_space) == ("Cyrillic", True)
    assert grammar("nl").stemmer == "dutch"
    assert (grammar("tlh").script, grammar("tlh").stemmer) == ("Latin", "")


WITHOUT_WORDS = ("rag_core", "ui", "pages", "training/mutations")
# the loader's fallback, the language of the screens and of the support model, and names that only look like a code
ALLOWED = {
    ("rag_core/language/loader.py", "en"),
    ("ui/app/texts.py", "en"),
    ("rag_core/adapters/embedding/support.py", "en"),
    ("rag_core/ingest/reading/ocr_engines.py", "en"),
    ("rag_core/adapters/embedding/support.py", "pt"),
    ("rag_core/ingest/pdf_worker/render.py", "tr"),
    ("rag_core/ingest/pdf_worker/formats/cascade.py", "pt"),
    ("rag_core/ingest/pdf_worker/formats/documents.py", "tr"),
    ("rag_core/ingest/pdf_worker/formats/tables.py", "tr"),
    ("rag_core/ingest/pdf_worker/formats/equations.py", "pt"),
}


@cache
def constants(path: Path) -> frozenset[str]:
    """The string constants of a module, docstrings left out."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in documentation)
    return frozenset(node.value for node in texts if isinstance(node.value, str))


def test_no_module_names_a_language() -> None:
    """A difference between languages stands in their files: a module that compares codes is a file more to touch for
    the next language.
    """
    codes = {
        *LANGUAGES,
        "uk",
        "pt",
        "nl",
        "zh",
        "ja",
        "ar",
        "sv",
        "da",
        "hu",
        "ro",
        "tr",
        "bg",
        "mr",
        "ne",
        "ko",
        "el",
        "he",
    }
    named = {
        (str(path.relative_to(ROOT)), text)
        for folder in WITHOUT_WORDS
        for path in (ROOT / folder).rglob("*.py")
        for text in constants(path)
        if text in codes
    }

    assert named == ALLOWED


WORDS_OF_LAYOUT = ("rag_core/ingest/",)  # headings, contracts and tables are told by patterns over many languages


def test_no_module_holds_words_of_a_language() -> None:
    """Letters beyond English in a constant are words of some language."""
    held = {
        (str(path.relative_to(ROOT)), text[:60])
        for path in (ROOT / "rag_core").rglob("*.py")
        for text in constants(path)
        if regex.search(r"[^\P{L}a-zA-Z]{2}", text) and not str(path.relative_to(ROOT)).startswith(WORDS_OF_LAYOUT)
    }

    assert held == set()

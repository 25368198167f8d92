"""The language files: what every one holds, and what a broken one says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from folding import each

from rag_core.errors import InvalidSetting
from rag_core.language import LANGUAGES
from rag_core.language.profiles import load_languages

NEVER_STOP_WORDS = """not no nor never must may shall should need unless without only
ne není nesmí nelze bez nikdy musí smí ani
nicht kein keine ohne darf muss müssen nie
नहीं बिना मत न चाहिए
no sin nunca debe не нет без нельзя должен ne pas sans non senza nie brez""".split()


@each("lang", sorted(LANGUAGES))
def test_given_every_language_file_then_no_negation_or_modal_is_a_stop_word_and_no_list_is_empty(lang: str) -> None:
    info = LANGUAGES[lang]

    assert not info.function_words & set(NEVER_STOP_WORDS)
    assert all(word == word.lower() for word in info.function_words)
    assert info.question_words
    assert info.stop_words
    assert info.about_library
    assert info.greetings


@pytest.mark.parametrize("content", ["{", "[]", '{"code": "en"}', "\xff"])
def test_given_a_broken_language_file_when_loaded_then_the_error_names_it_and_a_remedy(tmp_path: Path, content: str) -> None:
    (tmp_path / "en.json").write_text(content, encoding="latin-1")

    with pytest.raises(InvalidSetting, match=r"en\.json") as caught:
        load_languages(tmp_path)

    assert "data/languages" in caught.value.remedy


def test_given_no_english_file_when_loaded_then_the_error_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="No English"):
        load_languages(tmp_path)


def test_given_a_broken_pattern_in_a_language_file_when_loaded_then_the_error_names_the_file(tmp_path: Path) -> None:
    record = {
        "code": "en",
        "name": "x",
        "script": "Latin",
        "refusal": "no",
        "refusal_phrases": [],
        "indicator_phrases": [],
        "greetings": ["hi"],
        "greeting_fillers": [],
        "about_library": ["("],
    }
    (tmp_path / "en.json").write_text(json.dumps(record), encoding="utf-8")

    with pytest.raises(InvalidSetting, match=r"en\.json"):
        load_languages(tmp_path)

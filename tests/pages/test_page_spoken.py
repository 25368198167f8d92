"""Each sentence of the core stands on the screen in the person's language, with the words of documents as they
are.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from folding import each
from hypothesis import given
from hypothesis import strategies as st
from page_kit import ask, settle
from streamlit.testing.v1 import AppTest

from ui.app.texts import LANGUAGE, SENTENCES, languages, speaking, spoken

ROOT = Path(__file__).resolve().parents[2]
OTHERS = sorted(set(languages()) - {LANGUAGE})
HOLES = re.compile(r"\{\}|\(s\)")


@cache
def sentences(code: str) -> dict[str, str]:
    return dict(yaml.load((SENTENCES / f"{code}.yaml").read_text(encoding="utf-8"), Loader=yaml.BaseLoader))


@cache
def said_by_the_core() -> str:
    """Every piece of text in the code of the core, one after the other."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "rag_core").rglob("*.py"))]
    texts = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return "\n".join(text for text in texts if isinstance(text, str))


@each("code", OTHERS)
def test_given_a_language_then_it_has_every_sentence_once_with_its_words_and_numbers(code: str) -> None:
    found = sentences(code)

    assert list(found) == list(sentences(OTHERS[0]))
    assert [said for said, words in found.items() if said.count("{}") != words.count("{}")] == []


def test_given_a_sentence_then_the_core_says_it() -> None:
    """A sentence that was changed there and not here would stand on the screen in English. Some are put together of
    parts, so that a few of its pairs of words are nowhere.
    """
    changed = []
    for said in sentences(OTHERS[0]):
        pieces = [piece.split() for piece in HOLES.split(said)]
        pairs = [" ".join(pair) for piece in pieces for pair in pairwise(piece)]
        if sum(pair not in said_by_the_core() for pair in pairs) > max(1, len(pairs) / 2):
            changed.append(said)

    assert changed == []


@given(words=st.lists(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=9), min_size=9))
def test_given_any_words_in_a_sentence_then_they_stand_in_the_translation_as_they_are(words: list[str]) -> None:
    word = "“" + words[0].replace(". ", "") + "”"
    for code in OTHERS:
        with speaking(code):
            told = spoken(
                f"Not found in the passages: {word}. Add a document that speaks of this, or search more sources."
            )
        assert word in told
        assert "Not found" not in told


@each("code", OTHERS)
def test_given_several_sentences_and_one_that_no_file_has_then_those_that_are_known_are_translated(code: str) -> None:
    with speaking(code):
        page, first = spoken("Page 3: This page made the reader crash."), spoken("Add it again. {Nobody} knows this.")
        unknown = spoken("Nobody knows this.")
        assert sentences(code)["Page {}:"].format("3") in page
        assert sentences(code)["This page made the reader crash."] in page
        assert first == f"{sentences(code)['Add it again.']} {{Nobody}} knows this."
    assert unknown == "Nobody knows this."
    assert spoken("Add it again.") == "Add it again."


@pytest.mark.parametrize("code", OTHERS)
def test_given_a_refusal_on_a_screen_in_another_language_then_what_to_do_is_said_in_it(
    app: AppTest, library: Path, code: str
) -> None:
    app.query_params["language"] = code
    app.run()
    with speaking(code):  # as the page does: a test says which option is chosen by its words
        settle(ask(app, "What is the capital of France?"))

    told = "\n".join(one.value for one in app.text)
    assert sentences(code)["Ask with words that the document uses, or add the document that holds the answer."] in told
    assert [said for said in sentences(code) if "{" not in said and said in told and len(said) > 20] == []

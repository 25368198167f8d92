import pytest
from folding import each

from rag_core.grounding.additions import indicators

ENGLISH = ["as we know", "in general", "typically", "usually", "it is well known", "common knowledge", "everyone knows"]


@each("phrase", ENGLISH)
def test_given_a_phrase_of_the_list_in_any_case_then_it_is_found(phrase: str) -> None:
    """S2-10: indicator phrases, case-insensitive."""
    assert indicators(f"{phrase.upper()}, plants need light.", "Plants need light.", ("en",)) == (phrase,)
    assert indicators("But " + phrase.replace(" ", "\n  ") + " they need light.", "", ("en",)) == (phrase,)


@each("phrase", ENGLISH)
def test_given_a_phrase_that_the_evidence_itself_holds_then_it_does_not_count(phrase: str) -> None:
    """S2-18: an indicator phrase quoted from the source is no hallucination."""
    assert indicators(f"{phrase} plants need light.", f"{phrase.title()} plants need light.", ("en",)) == ()


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Jak víme, rostliny potřebují světlo.", "cs"),
        ("Wie wir wissen, brauchen Pflanzen Licht.", "de"),
        ("जैसा कि हम जानते हैं, पौधों को प्रकाश चाहिए।", "hi"),
    ],
)
def test_given_another_language_then_its_own_list_is_used_and_the_english_one_too(text: str, lang: str) -> None:
    assert len(indicators(text, "", (lang,))) == 1
    assert indicators("As we know, this is so.", "", (lang,)) == ("as we know",)
    assert indicators(text, "", ("en",)) == ()

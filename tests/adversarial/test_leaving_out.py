"""A model that may only leave out: of 456 lies about sentences none passes, and whole sentences always do.

The sentences and lies are in four languages, in `leaving_out/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml
from builders import passage
from folding import each
from honest_model import draft, passages
from leaving_out_kit import FOLDER, LANGUAGES, Case, engine_over, engine_with, honest, lies, run
from model_server import Asked, ModelServer

from rag_core.engine import Engine
from rag_core.grounding.own_words import leaves_out_only
from rag_core.grounding.units import units
from rag_core.language import sentences as split
from rag_core.settings import Settings

TRUE = ("no answer", "planted order")  # stand in the document word for word: other checks have to find them
LEAST = {"en": 0.16, "cs": 0.25, "de": 0.26, "hi": 0.28}  # of the careful compressions at the first draft, as measured


def leaves_out(case: Case) -> bool:
    of = passage(1, case.source, language=case.language)

    def page_text(document: str, page: int) -> str:
        return case.source

    return any(leaves_out_only(case.drafts[0], unit, page_text, case.language) for unit in units(of, page_text))


@each("language", LANGUAGES)
def test_given_a_lie_about_a_sentence_then_it_is_more_than_leaving_out(language: str) -> None:
    found = lies(language)

    assert [(case.behaviour, case.drafts[0]) for case in found if leaves_out(case) and case.behaviour not in TRUE] == []
    assert len({case.behaviour for case in found}) >= 28
    assert len(found) >= 113


@each("language", LANGUAGES)
def test_given_what_a_careful_person_leaves_out_then_some_of_it_is_a_whole_sentence_which_always_passes(
    language: str,
) -> None:
    found = honest(language)

    assert sum(map(leaves_out, found)) >= LEAST[language] * len(found)
    each_sentence = [
        text for case in found for text in (case.source[start:end] for start, end in split(case.source, language))
    ]
    assert [text for text in each_sentence if not leaves_out(Case(language, "", "", text, (text,)))] == []


def test_given_a_sentence_cut_short_then_it_is_more_than_leaving_out_and_what_passes_is_known() -> None:
    """A list's end, one of two, "up to", who says so, "draft", "(void)", a footnote's mark, a stop inside the
    sentence.
    """
    rows = yaml.safe_load((FOLDER / "cut_short.yaml").read_text(encoding="utf-8"))

    assert len(rows["stays"]) >= 90
    assert {row[0] for row in rows["stays"]} == set(LANGUAGES)
    assert [
        text for language, source, text in rows["stays"] if leaves_out(Case(language, "", "", source, (text,)))
    ] == []
    assert [
        text for language, source, text, _ in rows["goes"] if not leaves_out(Case(language, "", "", source, (text,)))
    ] == []
    assert len(rows["goes"]) <= 4


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture(scope="module")
def engine(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with engine_with(server, tmp_path_factory.mktemp("leaving-out"), LANGUAGES) as engine:
        yield engine


def test_given_true_words_that_are_no_answer_or_a_planted_order_when_asked_then_they_are_never_shown(
    engine: Engine, server: ModelServer
) -> None:
    """What is copied word for word passes every comparison with its source."""
    cases = [case for language in LANGUAGES for case in lies(language) if case.behaviour in TRUE]

    found = run(cases, engine, server)

    assert [(one.case.behaviour, one.case.drafts[0]) for one in found if one.draft] == []


def test_given_a_careful_model_when_asked_then_its_first_or_second_draft_is_shown(
    engine: Engine, server: ModelServer
) -> None:
    cases = [case for language in LANGUAGES for case in honest(language)[4:8]]

    found = run(cases, engine, server)

    assert [(one.case.drafts[0], one.why) for one in found if not one.draft] == []
    assert {one.draft for one in found} == {1, 2}


def test_given_whole_sentences_put_behind_others_when_asked_then_what_no_document_says_is_not_shown(
    server: ModelServer, tmp_path: Path
) -> None:
    """Both are word for word and cited: "The north gate is guarded." and "It is locked at nine.", which speaks of the
    south gate.
    """
    stated = (
        "The north gate is guarded.",
        "The south gate is not.",
        "Visitors may use the south gate.",
        "It is locked at nine.",
    )
    torn, whole = (stated[0], stated[3]), (stated[2], stated[3])

    def drafting(asked: Asked, said: tuple[str, ...]) -> dict[str, object]:
        of = next(id for id, text in passages(asked).items() if stated[3] in " ".join(text.split()))
        return draft(*((one, of, one) for one in said))

    with engine_over(server, tmp_path, {"en": stated}) as engine:
        # what is asked stands in two sentences, and neither answers alone
        lenient = {
            "min_correctness": 0.2,
            "min_answerability": 0.2,
        }
        values = {"drafter": "model", "model": "scripted", "short_context_words": 10, **lenient}
        settings = Settings.load(values=values)
        server.play([partial(drafting, said=torn), partial(drafting, said=whole)])

        decision = engine.ask("When is the gate locked?", settings)

        assert [view.outcome for view in decision.attempts] == ["rejected", "shown"]
        assert stated[0] not in decision.answer
        assert "put that sentence right before it" in server.asked[1].user

"""The sources' own questions, over their own passages as far as they give them, asked of the embedded models through
the public face.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from folding import each
from honest_model import draft, honest, kind, passages
from model_server import Asked, ModelServer

from rag_core import Decision, Measurements, ReadyPassage, decide_over, load_settings, replay
from rag_core.domain.status import AnswerStatus, ConfidenceLevel, Reason
from rag_core.domain.trace import State
from rag_core.evaluation import judged_under
from rag_core.settings import presets
from rag_core.wiring import language_model, ready_tools

NOT_THERE = "Diese Information ist nicht in der Wissensdatenbank verfügbar."
OMNITRACKER = (
    "OMNITRACKER ist eine Software für das IT-Service-Management. Tickets werden im Incident Management erfasst und "
    "zugewiesen.",
    "Das OMNITRACKER Request Fulfillment verwaltet Anfragen der Benutzer. Jede Anfrage hat einen Status und eine "
    "Priorität.",
    "Im OMNITRACKER Client werden Ordner und Felder konfiguriert. Berechtigungen vergibt der Administrator.",
)
PROGRESSIONS = (
    ReadyPassage(
        "An arithmetic progression (AP) is a sequence of numbers where each term after the first is obtained by adding "
        "a fixed number to "
        "the preceding term. This fixed number is called the common difference and is denoted by d.",
        "NCERT_Class10_Mathematics.pdf",
        95,
    ),
    ReadyPassage(
        "The nth term of an arithmetic progression with first term a and common difference d is given by the formula: "
        "an = a + (n-1)d.",
        "NCERT_Class10_Mathematics.pdf",
        97,
    ),
)
POLICY = (
    "Company policy. Every employee is entitled to 25 vacation days per year.",
    "Vacation must be requested two weeks in advance from the manager.",
    "Expenses are reimbursed within thirty days.",
)
API = (
    "To configure the API, set the base URL and the key in the file config.yaml, then restart the service.",
    "The API answers with JSON. Errors have a code and a message.",
    "Logs are kept for 30 days.",
)
BANK = (
    "The bank charges 2 % interest on loans.",
    "Accounts are closed after a year without movement.",
    "Transfers abroad cost 5 EUR.",
)
SCOPING = ("scoping-strict", "scoping", "scoping-lenient")


def over(preset: str, question: str, passages: tuple[str | ReadyPassage, ...]) -> Decision:
    return decide_over(question, passages, load_settings(preset, environment={}))


@each(
    ("question", "passages"),
    [
        ("Was ist ein Knowledge Graph?", OMNITRACKER),
        ("Was ist ein Knowledge Graph?", OMNITRACKER[:1]),
        ("Erkläre mir das Konzept von RAG", OMNITRACKER),
    ],
)
def test_given_passages_about_others_then_every_preset_refuses(question: str, passages: tuple[str, ...]) -> None:
    """S1-1, S1-2, S1-3: one passage or three, with no model that could refuse; `open` alone shows every draft, and says
    so.
    """
    found: list[Measurements] = []
    assert decide_over(question, passages, load_settings("open", environment={}), on_measured=found.append).answered

    for preset in sorted(set(presets()) - {"open"}):
        settings = load_settings(preset, environment={})
        asks_a_model = settings.drafter == "model"
        decision = (
            over(preset, question, passages)
            if asks_a_model
            else replay(found[0], judged_under(found[0].settings, settings))
        )

        assert (decision.answer, decision.citations) == (NOT_THERE, ()), (preset, decision.reason)
        assert not decision.answered
        assert (
            not asks_a_model
            or "No language model is configured" in decision.explanation
            or decision.reason is Reason.RELEVANCE
        )


@each("preset", SCOPING)
@each(
    ("question", "passages"),
    [
        ("What is the capital of France?", POLICY),
        ("What are the company's vacation policies?", BANK),
        ("Tell me about quantum computing", POLICY),
    ],
)
def test_given_questions_out_of_scope_then_it_refuses(preset: str, question: str, passages: tuple[str, ...]) -> None:
    """S4-16: the three questions of the source, the lenient cut included."""
    decision = over(preset, question, passages)

    assert (decision.answered, decision.confidence_level) == (False, ConfidenceLevel.INSUFFICIENT), decision.answer


@each(
    ("question", "passages", "said"),
    [
        ("What are the vacation days?", POLICY, "25 vacation days"),
        ("What are the vacation policies?", POLICY, "25 vacation days"),
        ("How do I configure the API?", API, "set the base URL and the key"),
    ],
)
def test_given_questions_in_scope_then_scoping_answers(question: str, passages: tuple[str, ...], said: str) -> None:
    """S4-17: the level as the source counts it, the distance of the closest passage at most 0.5."""
    decision = over("scoping", question, passages)

    assert said in decision.answer
    assert decision.citations
    assert decision.confidence_level is ConfidenceLevel.HIGH


def test_given_one_uploaded_passage_then_the_minimum_of_two_asks_for_all_that_there_is() -> None:
    """S4-6, S4-17: "Upload document about company policies, what are the vacation days?" is answered though nothing
    else was uploaded.
    """
    for preset in SCOPING:
        assert "25 vacation days" in over(preset, "How many vacation days per year?", POLICY[:1]).answer, preset
    asked = decide_over("How many vacation days per year?", POLICY, load_settings("scoping-strict", environment={}))
    # of three passages one is near enough
    assert (asked.reason, asked.metadata["filtered_count"]) == (
        Reason.MIN_DOCUMENTS,
        1,
    )


@each("preset", ["tutor", "tutor-development", "tutor-maximum-safety"])
def test_given_the_tutor_s_question_then_it_is_answered_with_sources_and_the_mean(preset: str) -> None:
    """S2-2, S2-4: an arithmetic progression is defined on page 95; the confidence is the mean of the passages that were
    found.
    """
    decision = over(preset, "What is an arithmetic progression?", PROGRESSIONS)

    assert decision.status is AnswerStatus.SUCCESS
    assert [one.page for one in decision.citations] == [95]
    assert "[Source 1]" in decision.answer
    assert decision.confidence == pytest.approx(decision.scores["mean_cosine"], abs=0.001)
    assert decision.confidence_basis == "mean"


@each("preset", [name for name in presets() if name.startswith("tutor")])
@each(
    ("drafted", "found"),
    [
        (
            "As we know, an arithmetic progression is a common mathematical sequence used in many real-world "
            "applications like calculating interest rates.",
            Reason.INDICATORS,
        ),
        (PROGRESSIONS[1].text.replace("n-1", "n+1"), Reason.FACTS),
    ],
)
def test_given_the_tutor_s_hallucinations_then_no_preset_shows_one(preset: str, drafted: str, found: Reason) -> None:
    """S2-10, S2-17, S2-24: for development the source skips the verification of an answer; its detection stays on."""

    def hallucinating(one: Asked) -> object:
        if kind(one) != "draft":
            return honest(one)
        source, text = next((id, text) for id, text in passages(one).items() if "nth term" in text)
        return draft((drafted, source, text))

    with ModelServer(hallucinating) as server:
        wanted = load_settings(preset, None, {"fallback_extract": False}, {"RAG_MODEL": "scripted"})
        environment = {"OPENAI_BASE_URL": server.base_url, "RAG_MODEL": "scripted"}
        tools = replace(ready_tools(wanted), model=lambda settings: language_model(settings, environment=environment))

        decision = decide_over("What is an arithmetic progression?", PROGRESSIONS, wanted, tools=tools)

    assert (decision.status, decision.is_safe()) == (AnswerStatus.HALLUCINATION_DETECTED, False)
    assert found in decision.reasons
    assert drafted not in decision.answer


def test_given_the_tutor_when_asked_about_another_subject_then_it_does_not_know() -> None:
    """S2-6: mathematics was retrieved, biology is asked; weak passages give low confidence."""
    decision = over("tutor", "Explain photosynthesis in plants", PROGRESSIONS)

    assert (decision.status, decision.citations) == (AnswerStatus.LOW_CONFIDENCE, ())
    # and not "Explain"
    assert any("Not found in the passages: photosynthesis, plants." in one for one in decision.suggestions)
    assert decision.trace["availability"].found == "2 passages retrieved from 1 document"


@each(
    ("question", "page"),
    [
        ("What is the formula for the nth term of an arithmetic progression?", 97),
        ("What is an arithmetic progression?", 95),
    ],
)
def test_given_the_tutor_when_asked_for_a_formula_then_it_is_the_answer(question: str, page: int) -> None:
    """S2-26: of two passages of one subject the one that answers; without it the mean, the source's only gate, lets the
    other through.
    """
    decision = over("tutor", question, PROGRESSIONS)

    assert [one.page for one in decision.citations] == [page]
    assert over("tutor", question, PROGRESSIONS[:1]).answered


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="by itself the definition passes for the formula: .56")
def test_given_the_tutor_when_asked_for_a_formula_that_is_not_there_then_correctness_says_so() -> None:
    """S2-26: the mean lets the definition through; the score of the answer does not."""
    without = over("tutor", "What is the formula for the nth term of an arithmetic progression?", PROGRESSIONS[:1])

    assert without.trace["correctness"].state is State.FAILED


def test_given_documents_that_do_not_speak_of_it_then_the_refusal_says_which_document_would_help() -> None:
    """S3-20, S2-26: as in the source, what no passage tells of is named, and what to add; nothing of it is an
    answer.
    """
    passages = (
        "Quantum computing uses quantum bits, called qubits.",
        "Qubits can exist in superposition, unlike classical bits.",
    )

    decision = over("balanced", "Which applications does quantum entanglement have in cryptography?", passages)

    assert (decision.answered, decision.citations) == (False, ())
    (said,) = (one for one in decision.suggestions if "Add a document" in one)
    assert "entanglement" in said
    assert "cryptography" in said
    assert "quantum" not in said.casefold()  # that the passages do speak of
    assert "search more sources" in said
    assert (
        over("rag-engine", "Which applications does quantum entanglement have in cryptography?", passages).confidence
        == 0.0
    )


def test_given_a_question_half_of_whose_words_are_missing_then_scoping_answers_at_a_low_level_at_most() -> None:
    """S3-20, S4-18: the passages speak of qubits, and of no entanglement; the distance alone called that high."""
    passages = (
        "Qubits leverage superposition, existing as both 0 and 1 simultaneously.",
        "Parallel processing of quantum states allows a quantum computer to evaluate many inputs in one step.",
    )
    for question, level in (
        ("How is quantum entanglement used in cryptography?", ConfidenceLevel.LOW),
        ("What is quantum entanglement?", ConfidenceLevel.LOW),
        ("What do qubits leverage?", ConfidenceLevel.HIGH),
    ):
        for preset in SCOPING:
            decision = over(preset, question, passages)
            assert not decision.answered or decision.confidence_level is level, (preset, question, decision.answer)
        assert over("scoping-lenient", question, passages).answered

"""The worked example of the first source, through the real client under its preset: its good sentences are shown, its
bad one is not.
"""

from __future__ import annotations

from typing import Any

import pytest
from folding import each
from honest_model import passages
from model_server import Asked, ModelServer
from scripted_engine import scripted_engine

from rag_core.domain.decision import Decision
from rag_core.domain.status import AnswerStatus
from rag_core.engine import Engine
from rag_core.settings import Mode, Settings, presets
from rag_core.settings.configuration import load_settings

TERM = "Doba plnění je 30 dní od podpisu smlouvy mezi Objednatelem a Dodavatelem."
DAYS = "Plnění se musí uskutečnit v pracovních dnech."
APPROVAL = "Dodavatel je povinen hledat schválení Objednatele za každou akci během plnění."
FINE = "Pokud je plnění zpožděno, je Dodavatel povinen zaplatit smluvní pokutu 30 Kč za každý den zpoždění."

GOOD = [
    ("Doba plnění je 30 dní od podpisu smlouvy v pracovních dnech.", (TERM, DAYS)),
    ("V případě zpoždění hrozí smluvní pokuta 30 Kč/den.", (FINE,)),
]
BAD = ("Dodavatel je povinen schválit každou akci s Objednatelem.", (APPROVAL,))
RIGHT = ("Dodavatel musí hledat schválení Objednatele za každou akci.", (APPROVAL,))

Drafted = list[tuple[str, tuple[str, ...]]]


@pytest.fixture(scope="module")
def engine(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return scripted_engine(
        tmp_path_factory.mktemp("compression"), server, {"smlouva": " ".join((TERM, DAYS, APPROVAL, FINE))}
    )


def asked(engine: Engine, server: ModelServer, drafted: Drafted, **settings: object) -> Decision:
    """The decision on these sentences, each with its quotes, whatever was asked; contexts of few words are compressed
    too.
    """

    def reply(one: Asked) -> dict[str, Any]:
        source = next(iter(passages(one)))
        rows = [
            {"sentence": said, "evidence": [{"source": source, "quote": quote} for quote in quotes]}
            for said, quotes in drafted
        ]
        return {"answerable": True, "reason": "", "claims": rows}

    server.play(reply)
    changed = {
        "return_short_context": False,
        "short_context_words": 10,
        "min_top_cosine": 0.0,
        "fallback_extract": False,
        **settings,
    }
    return engine.ask(
        "Jaká je doba plnění a co hrozí při zpoždění?",
        load_settings("compliance", None, changed, {"RAG_MODEL": "scripted"}),
    )


@each("drafted", [GOOD, [GOOD[0], RIGHT, GOOD[1]]])
def test_given_the_good_compression_then_it_is_shown(drafted: Drafted, engine: Engine, server: ModelServer) -> None:
    """S0-25: numbers kept, 30 days and 30 Kč a day; "pracovních" is no name."""
    decision = asked(engine, server, drafted)

    found = [check.found for view in decision.attempts for check in view.checks if check.blocks]
    assert (decision.status, decision.metadata["drafter"]) == (AnswerStatus.SUCCESS, "model"), (
        decision.explanation,
        found,
    )
    assert [claim.text for claim in decision.claims] == [said for said, _ in drafted]
    assert [view.outcome for view in decision.attempts] == ["shown"]


@each("drafted", [GOOD, [BAD]])
def test_given_a_model_that_rewords_then_the_own_words(drafted: Drafted, engine: Engine, server: ModelServer) -> None:
    """S0-25, S0-26: by default no wording of a model's own is shown, good or bad."""
    decision = asked(engine, server, drafted, rewording="none", fallback_extract=True)

    assert decision.metadata["drafter"] == "extract"
    assert all(audit.word_for_word for audit in decision.measured)
    assert all(view.attempt.reworded == (True,) * len(drafted) for view in decision.attempts)
    assert "shown" not in [view.outcome for view in decision.attempts]


@each("drafted", [[BAD], [GOOD[0], BAD, GOOD[1]]])
def test_given_a_compression_that_changes_who_approves(drafted: Drafted, engine: Engine, server: ModelServer) -> None:
    """S0-26: the source's own output."""
    decision = asked(engine, server, drafted)

    assert decision.status is AnswerStatus.HALLUCINATION_DETECTED
    assert BAD[0] not in decision.answer
    assert all(view.outcome == "rejected" for view in decision.attempts)
    assert any("hledat" in check.found for view in decision.attempts for check in view.checks if check.blocks)


def test_given_the_presets_then_a_changed_fact_refuses_under_all_but_the_one_that_only_shows_what_fails() -> None:
    """S0-26: the exception that the page of requirements names."""
    assert {name for name in presets() if Settings.load(name).facts_mode is not Mode.ENFORCE} == {"open"}

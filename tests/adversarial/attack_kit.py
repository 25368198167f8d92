"""What the adversarial tests share: how a lying model is scripted, and how one proves that nothing it said has reached
the reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from honest_model import passages
from model_server import Asked, ModelServer, Reply

from rag_core.decision.decide import decide, replay
from rag_core.domain.claims import Evidence
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import Measurements
from rag_core.domain.rows import in_words
from rag_core.domain.status import AnswerStatus, ConfidenceLevel, Reason
from rag_core.engine import Engine, log_decision
from rag_core.entrypoints.commands.terminal import show_decision
from rag_core.ingest.normalise import normalise
from rag_core.language import refusal, unsure
from rag_core.settings import Mode, Settings

KEY = "sk-never-shown-0123456789abcdef"
POLICIES = "company-policies.pdf"
SICK = "How many days of sick leave are paid in full?"
SICK_PAID = "Sick leave is paid in full for 30 days in a calendar year."
SICK_DAY = "An employee who is ill informs the manager before 9:30 on the first day."

# (sentence, quote) with the id of the passage that has the quote; (sentence, quote, id); or the bare sentence, without
# a citation
Said = tuple[str, str] | tuple[str, str, str] | str


def source_with(asked: Asked, quote: str, otherwise: str = "1") -> str:
    """The id of the first passage of a prompt that has a quote."""
    wanted = normalise(quote).text
    return next((source for source, text in passages(asked).items() if wanted in normalise(text).text), otherwise)


def source_without(asked: Asked, quote: str) -> str:
    """The id of the first passage of a prompt that does not have a quote."""
    wanted = normalise(quote).text
    return next(source for source, text in passages(asked).items() if wanted not in normalise(text).text)


def saying(*claims: Said) -> Callable[[Asked], Reply]:
    """A model that drafts these claims, whatever it is asked."""

    def reply(asked: Asked) -> Reply:
        rows = []
        for one in claims:
            sentence, *cited = (one,) if isinstance(one, str) else one
            evidence = (
                [{"source": cited[1] if len(cited) > 1 else source_with(asked, cited[0]), "quote": cited[0]}]
                if cited
                else []
            )
            rows.append({"sentence": sentence, "evidence": evidence})
        return {"answerable": True, "reason": "", "claims": rows}

    return reply


@dataclass(frozen=True)
class Attack:
    """A model that misbehaves.

    Args:
        name: of the attack.
        reply: what the model says.
        reasons: which of these must be among the reasons of the refusal, the first as its headline; any where empty.
        bad: texts that must reach nobody; that no document has them is tested too.
    """

    name: str
    reply: Reply
    reasons: tuple[Reason, ...] = ()
    bad: tuple[str, ...] = ()
    question: str = SICK
    documents: tuple[str, ...] = (POLICIES,)
    changed: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def lie(
    name: str,
    sentence: str,
    quote: str,
    *reasons: Reason,
    bad: str,
    question: str = SICK,
    document: str = POLICIES,
    **changed: Any,
) -> Attack:
    """A draft of one claim with one quote, cited to the passage that has it, or to the first."""
    return Attack(name, saying((sentence, quote)), reasons, (bad,), question, (document,), changed)


def ids(attacks: Sequence[Attack]) -> dict[str, Any]:
    """Arguments of `parametrize` that run each attack under its own name."""
    assert len({attack.name for attack in attacks}) == len(attacks), "two attacks have one name"
    return {"argvalues": attacks, "ids": [attack.name for attack in attacks]}


@dataclass(frozen=True)
class Arena:
    """A real library, the real client as the product wires it, and the server that plays the model under a name of its
    own.
    """

    engine: Engine
    server: ModelServer
    model: str

    def settings(self, **values: Any) -> Settings:
        """The default preset with a model that drafts; without the extract behind it, unless told otherwise.

        What is attacked is the audits of the draft: no gate before it saves them from being asked, and the model may
        use words of its own. A model that may only leave out has tests of its own (`test_leaving_out`): there nearly
        all of these would fail at their first word. Whole passages are sent: a liar here cites any of them, and no
        citation may fail merely because its passage was not sent.
        """
        own = {
            "drafter": "model",
            "model": self.model,
            "fallback_extract": False,
            "correctness_mode": Mode.OBSERVE,
        }
        own |= {"rewording": "audited"}
        return Settings.load(values={**own, **values})

    def measure(self, attack: Attack, cancelled: Callable[[], bool] = lambda: False) -> Measurements:
        """Everything measured for the attack's question while the model attacks, under settings without the extract
        behind it.
        """
        self.server.play(attack.reply)
        return self.engine.measure(
            attack.question, self.settings(**attack.changed), attack.documents, cancelled=cancelled
        )

    def ends(self, attack: Attack, cancelled: Callable[[], bool] = lambda: False) -> tuple[Decision, Decision]:
        """What the question ends with: without the extract behind the model, and with it.

        Measured once, judged twice, as a slider does.
        """
        measurements = self.measure(attack, cancelled)
        decisions = decide(measurements), replay(measurements, measurements.settings.changed(fallback_extract=True))
        for decision in decisions:
            log_decision(decision)
        return decisions


def shown(decision: Decision) -> str:
    """All of a decision that a reader may see as its answer: its JSON without the drafts in its trace, and the words in
    a terminal.
    """
    body = decision.to_json()
    del body["attempts"]
    return json.dumps(body, ensure_ascii=False) + "\n" + show_decision(decision)


def assert_unseen(bad: Collection[str], decision: Decision, log: str) -> None:
    """None of these texts stands in the answer, its explanation, its notes, its trace, the words on a terminal, or the
    log.
    """
    visible = normalise(shown(decision)).text.casefold()
    for text in bad:
        wanted = normalise(text).text.casefold()
        assert wanted
        assert json.dumps(wanted, ensure_ascii=False)[1:-1] not in visible, f"shown: {text[:200]!r}"
        assert wanted not in normalise(log).text.casefold(), f"logged: {text[:200]!r}"


def assert_audited(decision: Decision, engine: Engine) -> None:
    """The end of a question is an answer whose every claim rests on words that stand on their page, or a refusal
    without claims.
    """
    if not decision.answered:
        assert decision.claims == decision.citations == ()
        assert decision.explanation
        assert decision.answer in (refusal(decision.language), unsure(decision.language), "")
        return
    assert decision.claims
    retrieved = {hit.passage.id for _, hit in decision.retrieved}
    for claim, audit in zip(decision.claims, decision.measured, strict=True):
        assert claim.evidence, claim.text
        assert in_words(claim.text) in decision.answer
        assert not audit.quotes_missing
        assert not audit.fabricated
        for piece in claim.evidence:
            assert piece.passage in retrieved
            assert _stands(piece, engine), claim.text
        assert numbers(claim.text) <= numbers(" ".join(_page(piece, engine) for piece in claim.evidence)), claim.text
    assert not any(check.blocks for check in decision.trace.checks)


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))


def _page(piece: Evidence, engine: Engine) -> str:
    """The raw text at the places of a quote."""
    page_text = engine.library.snapshot.page_text
    return "\n".join(page_text(piece.document, span.page)[span.start : span.end] for span in piece.spans)


def _stands(piece: Evidence, engine: Engine) -> bool:
    """Whether a quote is what stands on its page at its place, character for character."""
    span = piece.spans[0]
    stood = engine.library.snapshot.page_text(piece.document, span.page)[span.start : span.end]
    return bool(stood.strip()) and piece.quote == stood


def assert_refused(decision: Decision, reasons: tuple[Reason, ...]) -> None:
    """A refusal with these reasons, the first of them as its headline, and the status that goes with it."""
    assert not decision.answered
    assert set(reasons) <= set(decision.reasons), f"{decision.reasons}: {decision.explanation}"
    if reasons:
        assert decision.status is decision.reason.status
        assert decision.status is reasons[0].status, f"{decision.reasons}: {decision.explanation}"
    assert decision.status is not AnswerStatus.SUCCESS


def assert_extract_stands(decision: Decision, engine: Engine) -> None:
    """The documents' own words are shown, none of them the model's, since their score is high; the level is medium at
    most.
    """
    assert decision.answered
    assert (decision.metadata["drafter"], decision.confidence_level) == ("extract", ConfidenceLevel.MEDIUM)
    assert decision.scores["correctness"] >= Settings().high_answerability
    assert_audited(decision, engine)


def attack_with_drafts(arena: Arena, attack: Attack, caplog: pytest.LogCaptureFixture) -> None:
    """Run an attack whose drafts can be read, and prove that each was rejected and none shown."""
    refused, extract = arena.ends(attack)

    for decision in (refused, extract):
        assert_audited(decision, arena.engine)
        assert_unseen(attack.bad, decision, caplog.text)
        assert [view.outcome for view in decision.attempts] == ["rejected"] * 4
    assert arena.server.calls == 4, "a first draft and three more"
    assert_refused(refused, attack.reasons)
    assert refused.status is AnswerStatus.HALLUCINATION_DETECTED
    assert_extract(extract)


def assert_extract(decision: Decision) -> None:
    """The extract stands in, and says why."""
    assert decision.answered
    assert decision.metadata["drafter"] == "extract"
    assert decision.metadata["drafter_note"]
    assert all(audit.word_for_word for audit in decision.measured)

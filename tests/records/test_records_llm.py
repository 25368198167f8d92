"""Records of questions that a language model was asked about: all that is measured in the record, its words apart from
it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from any_generation import asked_measurements, stepped_measurements
from any_measurements import REPLAYED, values_of
from builders import citation, claim, draft, measurements, passage, settings
from builders import measured as measured_claim
from folding import each
from hypothesis import given
from hypothesis import strategies as st
from test_records import page_text, sentence

from rag_core.decision.decide import replay
from rag_core.domain.answer import evidence_key
from rag_core.domain.decision import Decision
from rag_core.domain.documents import Span
from rag_core.domain.drafts import Draft, taken_of
from rag_core.domain.llm_trace import Attempt, Call, LlmTrace, Step, Sufficiency, Verification
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Hit, Passage
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult
from rag_core.records import DELETED, from_record, to_record, write

OWN = "Notice is to be given a month ahead."


def on_pages(drawn: Measurements) -> Measurements:
    """The same measurements with texts that stand on pages, each passage on its own: what was drawn has none."""
    asked = drawn.llm_trace
    new = {one.passage.id: _on_page(one.passage) for hits in (drawn.hits, *asked.expanded) for one in hits}

    def moved(hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        return tuple(replace(one, passage=new[one.passage.id]) for one in hits)

    def quoting(drafted: Draft) -> Draft:
        claims = []
        for one in drafted.claims:
            evidence = tuple(replace(e, quote=new[e.passage].text, spans=new[e.passage].spans) for e in one.evidence)
            copied = evidence and (drafted.drafter == "extract" or one.text == one.evidence[0].quote)
            claims.append(replace(one, text=evidence[0].quote if copied else one.text, evidence=evidence))
        citations = {evidence_key(e): citation(e) for one in claims for e in one.evidence}
        measured = [
            one if one.of is None else taken_of(own, one) for own, one in zip(claims, drafted.measured, strict=False)
        ]
        return replace(
            drafted, claims=tuple(claims), measured=(*measured, *drafted.measured[len(claims) :]), citations=citations
        )

    def settled(judgement: Sufficiency) -> Sufficiency:
        if judgement.sides is None or judgement.conflict is None:
            return judgement
        sides = quoting(judgement.sides)
        return replace(
            judgement,
            sides=sides,
            conflict=replace(judgement.conflict, values=(sides.claims[0].text, sides.claims[1].text)),
        )

    return replace(
        drawn,
        hits=moved(drawn.hits),
        draft=quoting(drawn.draft),
        conflicts=tuple(replace(one, values=("30 days", "31 days")) for one in drawn.conflicts),
        llm_trace=replace(
            asked,
            judgements=tuple(map(settled, asked.judgements)),
            expanded=tuple(map(moved, asked.expanded)),
            attempts=tuple(replace(one, draft=quoting(one.draft)) for one in asked.attempts),
        ),
    )


def _on_page(one: Passage) -> Passage:
    number = int(one.id.split("#")[1])
    text = sentence(number)
    return replace(one, text=text, spans=(Span(number, 0, len(text)),))


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


@given(drawn=asked_measurements())
def test_given_anything_a_model_left_when_restored_then_all_of_it_is_there_again(drawn: Measurements) -> None:
    original = on_pages(drawn)
    written = write(original, rejected=[0, 2])

    restored = from_record(through_json(written.record), page_text, own=through_json(written.own | written.rejected))

    assert "was lost" not in json.dumps(written.record), "no text of a page"
    assert restored.llm_trace == original.llm_trace
    assert restored.draft == original.draft
    assert restored.hits == original.hits


@given(drawn=asked_measurements())
def test_given_anything_a_model_left_when_its_words_are_gone_then_numbers_stay(drawn: Measurements) -> None:
    original = on_pages(drawn)

    restored = from_record(through_json(to_record(original)))

    assert restored.llm_trace is not None
    assert original.llm_trace is not None
    assert numbers(restored.llm_trace) == numbers(original.llm_trace)


@given(data=st.data())
def test_given_a_question_of_a_model_without_any_text_then_its_numbers_replay_alike(data: st.DataObject) -> None:
    """Under its own settings and any others: no next step needs a text that may have been deleted."""
    original = on_pages(data.draw(stepped_measurements()))
    names = data.draw(st.lists(st.sampled_from(sorted(REPLAYED)), max_size=3, unique=True))
    other = original.settings.changed(**{name: data.draw(values_of(REPLAYED[name])) for name in names})
    written = write(original)

    whole = from_record(through_json(written.record), page_text, own=written.own)
    bare = from_record(through_json(written.record))

    for target in (original.settings, other):
        assert replay(whole, target) == replay(original, target)
        assert judged(replay(bare, target)) == judged(replay(original, target))


def judged(decision: Decision) -> object:
    """Everything of a decision that is no text of a document or a model."""

    def checked(checks: Sequence[CheckResult]) -> list[object]:
        return [(one.stage, one.state, one.mode, one.value, one.threshold) for one in checks]

    attempts = [
        (one.number, one.outcome, one.attempt.asked, one.attempt.call, checked(one.checks)) for one in decision.attempts
    ]
    shown = [(one.document, one.page, one.spans) for one in decision.citations]
    ended = (
        decision.status,
        decision.reason,
        decision.reasons,
        decision.confidence,
        decision.confidence_level,
        decision.scores,
    )
    return (
        ended,
        checked(decision.trace.checks),
        attempts,
        decision.metadata,
        shown,
        len(decision.claims),
        len(decision.conflicts),
    )


def numbers(of: LlmTrace) -> object:
    """Everything but texts."""
    return (
        of.context_words,
        of.calls,
        [
            (v.passages, v.can_answer, v.confidence, len(v.missing), v.contradicts, v.sides and counted(v.sides))
            for v in of.judgements
        ],
        [
            [(h.passage.id, h.passage.spans, h.score, h.cosine, h.lexical, h.rerank) for h in hits]
            for hits in of.expanded
        ],
        [
            (
                a.asked,
                counted(a.draft),
                a.problem,
                bool(a.refusal),
                a.language,
                a.sentences,
                a.tokens,
                a.added,
                a.verification,
            )
            for a in of.attempts
        ],
    )


def counted(of: Draft) -> object:
    claims = [
        ([(e.passage, e.spans) for e in c.evidence], len(c.cited), len(set(c.cited)), c.relevance) for c in of.claims
    ]
    audits = [
        (
            len(a.quotes_missing),
            len(a.quotes_elsewhere),
            len(set(a.fabricated)),
            a.indicators,
            a.overlap,
            [kind for kind, _ in a.changed_facts],
            a.similarity,
            a.support,
            a.flags,
            a.read,
            a.word_for_word,
        )
        for a in of.measured
    ]
    return of.drafter, claims, audits, list(of.citations), of.context_chars, of.chars


def attempted(text: str = OWN, **of_audit: Any) -> Attempt:
    of = _on_page(passage(1))
    said = claim(of, text)
    audit = measured_claim(overlap=0.5, similarity=0.6, support=0.7, **of_audit)
    return Attempt(
        ("low", "0"),
        Call(Step.DRAFT, "compress/1 0a"),
        replace(draft([said], [audit]), drafter="model"),
        sentences=1,
        tokens=9,
    )


def asked(*attempts: Attempt, **of: Any) -> Measurements:
    return replace(measurements(0.9, of=settings(drafter="model")), llm_trace=LlmTrace(attempts=attempts, **of))


def test_given_a_model_when_recorded_then_no_word_of_it_stands_in_the_record_and_all_do_beside_it() -> None:
    """What a model writes may hold any text of a document: it can be deleted apart from the record."""
    words = {
        "claim": OWN,
        "quote": "quoted nowhere at all",
        "fact": "ninety weeks",
        "id": "invented source",
        "refusal": "Nothing fits this.",
        "missing": "date of signing",
        "reasoning": "No passage says so.",
    }
    bad = attempted(
        quotes_missing=(words["quote"],), changed_facts=(("number", words["fact"]),), fabricated=(words["id"],)
    )
    claims = (replace(bad.draft.claims[0], cited=(words["id"],)),)
    judgement = Sufficiency(Call(Step.SUFFICIENCY), 1, "no", 0.5, (words["missing"],), words["reasoning"])
    one = asked(
        replace(bad, draft=replace(bad.draft, claims=claims)),
        Attempt(("x",), Call(Step.DRAFT), problem=Reason.MODEL_REFUSED, refusal=words["refusal"]),
        judgements=(judgement,),
    )

    written = write(one, rejected=[0])

    assert not [text for text in words.values() if text in json.dumps(written.record)]
    assert set(written.own.values()) == {words["missing"], words["reasoning"], words["refusal"]}
    assert set(written.rejected.values()) == {words["claim"], words["quote"], words["fact"], words["id"]}
    assert written.documents == ("d1",)


def test_given_a_model_that_copies_its_source_then_the_text_is_read_from_the_page_and_kept_nowhere() -> None:
    one = on_pages(asked(attempted(passage(1).text)))

    written = write(one)

    assert written.own == written.rejected == {}
    assert from_record(through_json(written.record), page_text).llm_trace == one.llm_trace


def test_given_two_invented_ids_when_their_words_are_gone_then_they_are_still_two() -> None:
    bad = attempted(fabricated=("one of them", "another"))
    one = asked(
        replace(bad, draft=replace(bad.draft, claims=(replace(bad.draft.claims[0], cited=("one of them", "another")),)))
    )

    restored = from_record(through_json(to_record(one))).llm_trace

    assert len(set(restored.attempts[0].draft.measured[0].fabricated)) == 2
    assert all(ref.startswith(DELETED) for ref in restored.attempts[0].draft.claims[0].cited)


def test_given_a_finding_that_names_an_invented_id_when_its_words_are_gone_then_it_is_deleted() -> None:
    bad = attempted(quotes_missing=("no quote from a made up source",), fabricated=("a made up source",))
    one = asked(
        replace(bad, draft=replace(bad.draft, claims=(replace(bad.draft.claims[0], cited=("a made up source",)),)))
    )
    written = write(one)

    whole = from_record(through_json(written.record), page_text, own=written.own).llm_trace
    gone = from_record(through_json(written.record)).llm_trace

    assert whole.attempts[0].draft.measured[0].quotes_missing == ("no quote from a made up source",)
    assert gone.attempts[0].draft.measured[0].quotes_missing == (DELETED,)


def test_given_a_claim_whose_page_is_gone_then_the_models_words_for_it_go_too() -> None:
    """A model's sentence may hold the deleted document's."""
    one = on_pages(asked(attempted()))
    written = write(one)

    kept = from_record(through_json(written.record), page_text, own=written.own).llm_trace
    gone = from_record(through_json(written.record), lambda *_: "", own=written.own).llm_trace

    assert kept.attempts[0].draft.claims[0].text == OWN
    assert gone.attempts[0].draft.claims[0].text == DELETED


def test_given_kept_words_that_were_changed_then_they_count_as_deleted() -> None:
    one = on_pages(asked(attempted()))
    written = write(one)

    restored = from_record(
        through_json(written.record), page_text, own=dict.fromkeys(written.own, "Another text.")
    ).llm_trace

    assert restored.attempts[0].draft.claims[0].text == DELETED


@each("of", [Call, Sufficiency, Verification, Attempt, LlmTrace])
def test_given_a_field_of_what_is_asked_then_the_record_has_it(of: type) -> None:
    verified = replace(attempted(), verification=Verification(Call(Step.VERIFY), ("yes",)))
    sides = draft([claim(passage(1)), claim(passage(2))])
    row = to_record(asked(verified, judgements=(Sufficiency(Call(Step.SUFFICIENCY), sides=sides),)))["llm_trace"]
    rows = {
        LlmTrace: row,
        Sufficiency: row["judgements"][0],
        Attempt: row["attempts"][0],
        Verification: row["attempts"][0]["verification"],
        Call: row["attempts"][0]["call"],
    }

    assert set(rows[of]) == {field.name for field in fields(of)}

"""Anything that a language model could leave behind in measurements: what the property tests of records and of judging
share.
"""

from __future__ import annotations

from dataclasses import replace

from any_measurements import any_measurements, audits, chosen_settings, cosines, ratios
from builders import GOOD_AUDIT, claim, draft, hit, passage, settings
from hypothesis import strategies as st

from rag_core.decision.progress import next_step
from rag_core.domain.claims import Claim, Conflict
from rag_core.domain.drafts import Draft
from rag_core.domain.llm_trace import Attempt, Call, LlmTrace, Step, Sufficiency, Verification
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Hit
from rag_core.domain.status import Reason
from rag_core.settings import Mode, Settings

PROBLEMS = (
    *(Reason.NONE,) * 9,
    Reason.MODEL_REFUSED,
    Reason.EMPTY_DRAFT,
    Reason.MALFORMED_DRAFT,
    Reason.OFF_QUESTION,
    Reason.ONE_SIDED,
)
STRANGERS = ("9", "made up", "no such source ✂", "1" * 40)  # ids that were never given to the model


def calls(step: Step) -> st.SearchStrategy[Call]:
    return st.builds(
        Call,
        step=st.just(step),
        prompt=st.sampled_from(["compress/1 0a1b2c3d4e5f", "verify/2 ffffffffffff"]),
        model=st.just("small"),
        endpoint=st.just("127.0.0.1:11434"),
        tokens_in=st.integers(0, 5000),
        tokens_out=st.integers(0, 600),
        ms=st.floats(0, 1e5),
        structured=st.booleans(),
        tried=st.sampled_from([(), ("127.0.0.1:8080 did not answer.",)]),
        failure=st.sampled_from([*[""] * 9, "No model answered."]),
    )


@st.composite
def model_claims(draw: st.DrawFn, found: tuple[Hit, ...], number: int) -> Claim:
    """In the model's words or its source's; it may name a source that there is not, and rest on nothing."""
    of = draw(st.sampled_from(found)).passage if found else None
    strange = (draw(st.sampled_from(STRANGERS)),) if draw(st.integers(0, 6)) == 0 else ()
    said = draw(st.sampled_from(["As the model puts it", "Es gilt", "30 days"])) + f" ({number})"
    if of is None or draw(st.integers(0, 6)) == 0:
        return Claim(said, (), strange, 0.0)
    rests = claim(of, of.text if draw(st.booleans()) else said)
    return replace(rests, cited=(*rests.cited, *strange))


@st.composite
def model_drafts(draw: st.DrawFn, found: tuple[Hit, ...]) -> Draft:
    claims = [draw(model_claims(found, number)) for number in range(draw(st.integers(0, 3)) or draw(st.integers(0, 3)))]
    measured = []
    for one in claims:
        if draw(st.integers(0, 3)):  # most are good
            fabricated = tuple(ref for ref in one.cited if ref in STRANGERS)
            measured.append(replace(GOOD_AUDIT, support=draw(ratios), word_for_word=False, fabricated=fabricated))
            continue
        missing = draw(st.sampled_from([(), (), (), ("thirty of them",), ("30 days", "lost words")]))
        elsewhere = missing[: draw(st.integers(0, 1))]
        fabricated = tuple(ref for ref in one.cited if ref in STRANGERS)
        changed = draw(st.sampled_from([(), (), (), (("number", "90 weeks"),)]))
        measured.append(
            replace(
                draw(audits),
                quotes_missing=missing,
                quotes_elsewhere=elsewhere,
                fabricated=fabricated,
                changed_facts=changed,
            )
        )
    return replace(draft(claims, measured, draw(st.sampled_from([0, 10, 1000]))), drafter="model")


@st.composite
def attempts(draw: st.DrawFn, found: tuple[Hit, ...], asked: tuple[str, ...]) -> Attempt:
    """One draft that was asked for so, verified or not."""
    call = draw(calls(Step.DRAFT))
    problem = draw(st.sampled_from(PROBLEMS))
    if call.failure or problem is not Reason.NONE:
        refusal = (
            draw(st.sampled_from(["", "The passages say nothing of it."])) if problem is Reason.MODEL_REFUSED else ""
        )
        return Attempt(asked, call, problem=Reason.NONE if call.failure else problem, refusal=refusal)
    drafted = draw(model_drafts(found))
    verified = draw(verifications(len(drafted.claims))) if draw(st.integers(0, 3)) == 0 else None
    language = draw(st.sampled_from(["", "en", "en", "en", "en", "cs"]))
    reworded = draw(st.none() | st.just(tuple(draw(st.sampled_from([False, False, True])) for _ in drafted.claims)))
    return Attempt(
        asked,
        call,
        drafted,
        Reason.NONE if drafted.claims else Reason.EMPTY_DRAFT,
        "",
        language,
        draw(st.sampled_from([1, 2, 3, 5])),
        draw(st.sampled_from([9, 150, 300])),
        tuple(draw(st.sampled_from([0, 0, 0, 5])) for _ in drafted.claims),
        verified,
        reworded,
    )


@st.composite
def verifications(draw: st.DrawFn, claims: int) -> Verification:
    call = draw(calls(Step.VERIFY))
    said = st.sampled_from(["yes", "yes", "yes", "no", "unclear"])
    return Verification(call, () if call.failure else tuple(draw(said) for _ in range(claims)))


@st.composite
def judgements(draw: st.DrawFn, found: tuple[Hit, ...]) -> Sufficiency:
    """What the model says of these passages; of two that contradict each other it may have named both."""
    call = draw(calls(Step.SUFFICIENCY))
    if call.failure:
        return Sufficiency(call, passages=len(found))
    contradicts = draw(st.booleans())
    apart = contradicts and len(found) > 1 and draw(st.booleans())
    sides = (
        replace(draft([claim(one.passage, one.passage.text) for one in found[:2]]), drafter="extract")
        if apart
        else None
    )
    pages = (found[0].passage.page, found[1].passage.page) if apart else (1, 1)
    documents = (found[0].passage.document, found[1].passage.document) if apart else ("", "")
    return Sufficiency(
        call=call,
        passages=len(found),
        can_answer=draw(st.sampled_from(["yes", "yes", "no", "partial"])),
        confidence=draw(ratios),
        missing=draw(st.sampled_from([(), ("the date of the contract",), ("a price", "a name")])),
        reasoning=draw(st.sampled_from(["", "The passages do not say when."])),
        contradicts=contradicts,
        sides=sides,
        conflict=Conflict(0, 1, (sides.claims[0].text, sides.claims[1].text), documents, pages, added=False)
        if sides
        else None,
    )


@st.composite
def found_later(draw: st.DrawFn, first: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """The hits of a further search: some of the first ones, and new ones."""
    start = 1 + max((int(one.passage.id.split("#")[1]) for one in first), default=0)
    kept = tuple(one for one in first if draw(st.booleans()))
    new = tuple(
        hit(draw(cosines), n, of=passage(n, document=f"d{n % 2}"), rerank=draw(st.none() | ratios))
        for n in range(start, start + draw(st.integers(0, 2)))
    )
    return (*new, *kept)


@st.composite
def model_settings(draw: st.DrawFn) -> Settings:
    """Settings under which a model drafts: most gates let a question pass, so that it comes to that."""
    names = (
        "support_mode",
        "overlap_mode",
        "facts_mode",
        "answer_length_mode",
        "verification_mode",
        "sufficiency_mode",
        "distance_mode",
    )
    of = settings(drafter="model", **{name: draw(st.sampled_from(Mode)) for name in names})
    loose = {
        "min_support": draw(ratios),
        "max_retries": draw(st.integers(0, 3)),
        "fallback_extract": draw(st.booleans()),
    }
    cut = draw(st.sampled_from([0.3, 1.2, 2.0]))
    partial = {"refuse_partial": draw(st.booleans()), "min_sufficiency": draw(st.sampled_from([0.0, 0.0, 0.5]))}
    partial["rewording"] = draw(st.sampled_from(["none", "audited", "audited"]))
    return of.changed(**loose, **partial, max_distance=cut, expand_searches=draw(st.integers(0, 2)))


@st.composite
def stepped_measurements(draw: st.DrawFn, of: Settings | None = None) -> Measurements:
    """Measurements that a model was asked about as the loop asks: each step is what the record asked for next, whatever
    came of it.
    """
    one = draw(any_measurements(of or draw(st.one_of(model_settings(), model_settings(), chosen_settings))))
    found = one.hits or (hit(1.0), hit(0.8, 2))
    one = replace(
        one,
        settings=one.settings.changed(drafter="model"),
        conflicts=draw(st.sampled_from([(), (), (), one.conflicts])),
        hits=found,
        failure="",
    )
    one = replace(one, llm_trace=LlmTrace(context_words=draw(st.sampled_from([0, 500, 500, 500, 500]))))
    while (ask := next_step(one)) is not None:
        asked = one.llm_trace
        match ask.step:
            case Step.SUFFICIENCY:
                asked = replace(asked, judgements=(*asked.judgements, draw(judgements(ask.hits))))
            case Step.EXPAND:
                asked = replace(asked, expanded=(*asked.expanded, draw(found_later(ask.hits))))
            case Step.DRAFT:
                asked = replace(asked, attempts=(*asked.attempts, draw(attempts(ask.hits, ask.asked))))
            case Step.VERIFY:
                *others, last = asked.attempts
                verified = replace(last, verification=draw(verifications(len(last.draft.claims))))
                asked = replace(asked, attempts=(*others, verified))
        one = replace(one, llm_trace=asked)
    return one


@st.composite
def asked_measurements(draw: st.DrawFn, of: Settings | None = None) -> Measurements:
    """Any measurements that asked a language model something, whatever; what it was asked fits nothing in
    particular.
    """
    one = draw(any_measurements(of or draw(chosen_settings)))
    rounds = [one.hits]
    for _ in range(draw(st.integers(0, 2))):
        rounds.append(draw(found_later(rounds[-1])))
    found = tuple(rounds[-1])
    keys = st.lists(st.sampled_from(["low", "0", "facts:0", "verbatim:-", "d0#1"]), max_size=3).map(tuple)
    asked = LlmTrace(
        context_words=draw(st.integers(0, 3000)),
        judgements=tuple(draw(judgements(hits)) for hits in rounds[: draw(st.integers(0, 3))]),
        expanded=tuple(rounds[1:]),
        attempts=tuple(draw(attempts(found, draw(keys))) for _ in range(draw(st.integers(0, 4)))),
    )
    return replace(one, settings=one.settings.changed(drafter="model"), llm_trace=asked)

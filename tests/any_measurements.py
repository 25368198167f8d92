"""Any measurements that measuring could leave behind, under any judging settings: what the property tests of judging
share.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import compress

from builders import claim, draft, hit, matched, passage
from hypothesis import strategies as st

from rag_core.decision.batch import Outcomes, every_claim
from rag_core.domain.claims import Conflict
from rag_core.domain.decision import Decision
from rag_core.domain.documents import DateSource, Span
from rag_core.domain.drafts import ClaimMeasurement, Draft
from rag_core.domain.measurements import LibraryFacts, Measurements, Understanding
from rag_core.settings import Cost, Settings, presets
from rag_core.settings.knobs import Knob

REPLAYED = {knob.name: knob for knob in Settings.knobs() if knob.cost is Cost.REPLAY}
THRESHOLDS = {name: knob for name, knob in REPLAYED.items() if knob.stricter}

cosines = st.one_of(st.sampled_from([-1.0, 0.2, 0.5, 0.6, 0.72, 1.0]), st.floats(-1, 1))
sources = st.sampled_from(list(DateSource))
ratios = st.one_of(st.sampled_from([0.0, 0.5, 0.7, 1.0]), st.floats(0, 1))


def values_of(knob: Knob) -> st.SearchStrategy[object]:
    if knob.options:
        return st.sampled_from(knob.options)
    if knob.low is None or knob.high is None:
        return st.sampled_from(["", "No."]) if isinstance(knob.default, str) else st.booleans()
    if isinstance(knob.default, int):
        return st.integers(int(knob.low), int(knob.high))
    return st.one_of(st.just(knob.default), st.floats(knob.low, knob.high))


chosen_settings = st.builds(
    lambda preset, values: Settings.load(preset, values),
    st.sampled_from(list(presets())),
    st.fixed_dictionaries({}, optional={name: values_of(knob) for name, knob in REPLAYED.items()}),
)

audits = st.builds(
    ClaimMeasurement,
    quotes_missing=st.sampled_from([(), (), (), ("lost",)]),
    fabricated=st.sampled_from([(), (), (), ("9",)]),
    indicators=st.sampled_from([(), (), ("usually",)]),
    overlap=st.none() | ratios,
    changed_facts=st.sampled_from([(), (), (("number", "31"),)]),
    similarity=st.none() | cosines,
    support=st.none() | ratios,
    flags=st.sampled_from([(), (), ("number_changed", "not_entailed")]),
    read=st.sampled_from([True, True, False]),
    word_for_word=st.booleans(),
)

values = st.just({}) | st.fixed_dictionaries({"value": st.just(Span(1, 4, 10)), "value_probability": ratios})


@st.composite
def conflicts_between(draw: st.DrawFn, claims: int) -> tuple[Conflict, ...]:
    """None, or one between two of the claims, of which the second may be there for it only."""
    if claims < 2 or draw(st.booleans()):
        return ()
    first = draw(st.integers(0, claims - 2))
    return (
        Conflict(
            first,
            first + 1,
            ("30 days", "31 days"),
            ("d0", "d1"),
            (1, 2),
            ("2024", "2025"),
            added=draw(st.booleans()),
            date_sources=(draw(sources), draw(sources)),
        ),
    )


@st.composite
def any_measurements(draw: st.DrawFn, of: Settings | None = None, *, two: bool = True) -> Measurements:
    """Any measurements that measuring could leave behind: hits, drafts, refusals, abstentions, things that could not be
    measured.

    With `two` now and then of a question that asks two things.
    """
    of = of or draw(chosen_settings)
    found = tuple(
        hit(
            draw(cosines),
            n,
            of=passage(n, document=f"d{n % 2}"),
            lexical=draw(st.floats(0, 9)),
            dense_rank=draw(st.integers(0, 3)),
            lexical_rank=draw(st.integers(0, 3)),
        )
        for n in range(1, draw(st.integers(0, 4)) + 1)
    )
    cited = [draw(st.sampled_from(found)).passage for _ in range(draw(st.integers(0, 3)))] if found else []
    drafted = draft(
        [replace(claim(one, f"Claim {n}."), **draw(values)) for n, one in enumerate(cited)],
        [draw(audits) for _ in cited],
        draw(st.sampled_from([0, 10, 1000])),
    )
    apart = draw(conflicts_between(len(cited)))
    missing = draw(st.integers(0, 3))
    return Measurements(
        question="What is the notice period?",
        settings=of,
        understanding=Understanding("en", entities=draw(st.sampled_from([(), ("Brno",)]))),
        library=LibraryFacts(
            documents=2,
            passages=4,
            pages=5,
            names={"d0": "a.pdf"},
            dates={"d0": "2024"},
            date_sources={"d0": draw(sources)},
            authority={"d1": 0.4},
        ),
        hits=found,
        correctness=draw(st.none() | ratios),
        answerability=draw(st.none() | ratios),
        relevance=draw(st.none() | cosines),
        keywords=replace(
            matched(draw(st.integers(0, 3)), missing), abstain=draw(st.sampled_from(["", "", "another language"]))
        ),
        missing_entities=("Brno",) * draw(st.integers(0, 2)),
        nowhere=draw(st.sampled_from([(), ("Brno",)])),
        draft=drafted if drafted.claims else Draft(),
        conflicts=apart,
        failure=draw(st.sampled_from(["", "", "", "", "The model failed."])),
        metadata={"asked_on": "2026-11-20"},
        other=draw(st.none() | st.none() | any_measurements(of, two=False)) if two else None,
    )


def assert_shown(outcomes: Outcomes, row: int, one: Measurements, decision: Decision) -> None:
    """The claims that are shown are the decision's; of two halves, whichever comes first."""
    claims = every_claim(one)
    shown = tuple(compress(claims, outcomes.shown[row]))
    assert shown == decision.claims if one.other is None else {*shown} == {*decision.claims}
    assert not outcomes.shown[row, len(claims) :].any()

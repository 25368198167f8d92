"""The sentences of a draft, what each rests on, and what was found on each.

Sentences and their parts come from documents or a model: they are shown as inert text only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from rag_core.decision.checks import GATING, SUFFICIENCY
from rag_core.domain.answer import is_scanned
from rag_core.domain.claims import Citation, Claim
from rag_core.domain.decision import Decision
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.measurements import Measurements
from rag_core.domain.rows import in_words
from rag_core.grounding.wording import flag_of
from ui.app.texts import say, tell

MAX_FLAGGED = 3  # parts that a refusal names; the trace has them all
PART_CHARS = 120  # a part that is quoted is cut there
BEFORE = frozenset([*(check.name for check in GATING), SUFFICIENCY.name])  # checks before anything is drafted
# what the headline of a refusal is about, where there is any
_FIRST = (
    "fabricated",
    "quote_missing",
    "quote_elsewhere",
    "indicator",
)

# the part of a sentence that something is wrong with, empty for the whole, and the flag that says what
Finding = tuple[str, str]


def show_checked(decision: Decision) -> None:
    """Whether the sentences of an answer are quotes, in one line."""
    quoted, count = sum(measured.word_for_word for measured in decision.measured), len(decision.claims)
    scanned = any(citation.ocr for citation in decision.citations)
    how = "as_read" if scanned else "word_for_word"
    if quoted == count:
        row = count == 1 and in_words(decision.claims[0].text) != decision.claims[0].text
        if row:
            st.caption(say(f"sentences.row_{how}"))
        else:
            st.caption(say(f"sentences.one_{how}") if count == 1 else say(f"sentences.all_{how}", n=count))
        return
    st.caption(say(f"sentences.some_{how}", n=quoted, of=count) if quoted else say("sentences.none_word_for_word"))


def show_answered(decision: Decision) -> None:
    """The sentences of an answer with what each has for it and against it."""
    st.caption(say("sentences.open_about"))
    show_sentences("answer", decision.claims, decision.measured, decision.citations)


def show_rejected(decision: Decision, measurements: Measurements) -> None:
    """The draft of a refusal by its checks, every part that something is wrong with marked by what is wrong with it."""
    if not is_rejected(decision):
        return
    with st.container(key="rejected", gap="small"):
        st.subheader(say("sentences.rejected"), anchor=False)
        st.caption(say("sentences.rejected_about"))
        show_sentences(
            "draft", measurements.draft.claims, measurements.draft.measured, measurements.draft.citations.values()
        )


def is_rejected(decision: Decision) -> bool:
    """Whether it was the extract that was refused: neither the question nor a draft of a language model, which its
    attempts show.
    """
    return any(check.blocks and check.stage not in BEFORE for check in decision.trace.checks)


def flagged(decision: Decision, measurements: Measurements) -> list[str]:
    """The first parts of a rejected draft that something is wrong with, and what, in words; empty where no draft was
    refused.
    """
    if not is_rejected(decision):
        return []
    pairs = zip(measurements.draft.claims, measurements.draft.measured, strict=True)
    found = [(part or claim.text, flag) for claim, measured in pairs for part, flag in findings(claim, measured)]
    found.sort(key=lambda one: _FIRST.index(one[1]) if one[1] in _FIRST else len(_FIRST))
    return [_in_words(*one) for one in dict.fromkeys(found)][:MAX_FLAGGED]


def findings(claim: Claim, measured: ClaimMeasurement) -> list[Finding]:
    """The findings on a sentence, in the order of the checks, each once.

    A flag that a named part explains already is not said of the whole sentence too.
    """
    found: list[Finding] = [(ref, "fabricated") for ref in measured.fabricated or ()]
    found += [
        (quote, "quote_elsewhere" if quote in measured.quotes_elsewhere else "quote_missing")
        for quote in measured.quotes_missing or ()
    ]
    found += [(phrase, "indicator") for phrase in measured.indicators or ()]
    found += [(text, flag_of(kind)) for kind, text in measured.changed_facts or ()]
    said = {flag for _, flag in found}
    found += [("", flag) for flag in measured.flags if flag not in said]
    return list(dict.fromkeys(found))


def show_sentences(
    of: str, claims: Sequence[Claim], of_claims: Sequence[ClaimMeasurement], citations: Iterable[Citation]
) -> None:
    """Sentences in order, each with what it has for it and against it; `of` names them among those of the page."""
    cited = tuple(citations)
    for number, (claim, measured) in enumerate(zip(claims, of_claims, strict=True), 1):
        wrong = [_in_words(part, flag) for part, flag in findings(claim, measured)]
        with st.container(key=f"sentence_{of}_{number}", gap="xsmall"):
            with st.container(key=f"said_{of}_{number}"):
                st.text(tell("sentences.text", number=number, text=in_words(claim.text)))
                for one in claim.evidence:
                    if where := next((place for place in cited if place.chunk_id == one.passage), None):
                        st.text(tell("evidence.place", title=where.title or where.document, page=where.page_in_words))
            with st.container(key=f"wrong_with_{of}_{number}" if wrong else f"right_with_{of}_{number}"):
                st.text("\n".join([_support(claim, measured, scanned=is_scanned(claim, cited)), *wrong]))


def _support(claim: Claim, measured: ClaimMeasurement, *, scanned: bool) -> str:
    if not claim.evidence:
        return tell("sentences.uncited")
    if measured.word_for_word:
        return tell("sentences.as_read" if scanned else "sentences.word_for_word")
    if measured.support is None:
        return tell("sentences.not_measured")
    shared = measured.overlap or 0.0
    return tell(
        "sentences.supported" if measured.read else "sentences.by_words",
        support=measured.support,
        shared=f"{shared:.0%}",
    )


def _in_words(part: str, flag: str) -> str:
    words = tell(f"sentences.flag_{flag}")
    if not part:
        return tell("sentences.whole", flag=words)
    return tell("sentences.part", part=part if len(part) <= PART_CHARS else f"{part[:PART_CHARS]}…", flag=words)

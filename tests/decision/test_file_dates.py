"""A date that only the file states is never used in silence: in notes, checks, numbers, and the order of passages."""

from __future__ import annotations

from dataclasses import replace

from builders import BY_PEOPLE, claim, contradicted, draft, hit, measurements, passage, settings
from builders import measured as measured_claim
from folding import each

from rag_core.decision.confidence import confidence, weighted_terms
from rag_core.decision.decide import decide
from rag_core.domain.documents import DateSource
from rag_core.domain.measurements import LibraryFacts, Measurements
from rag_core.settings import Mode

FILE, PAGE, GIVEN, NONE = DateSource.FILE, DateSource.FIRST_PAGE, DateSource.GIVEN, DateSource.NONE
NAMES = {"d1": "contract.pdf", "d2": "policy.pdf"}
DATES = {"d1": "2025-11-20", "d2": "2026-11-20"}


def facts(one: DateSource, other: DateSource, **fields: object) -> LibraryFacts:
    return LibraryFacts(documents=2, names=NAMES, dates=DATES, date_sources={"d1": one, "d2": other}, **fields)  # type: ignore[arg-type]


def opposed(one: DateSource, other: DateSource) -> Measurements:
    found = contradicted(settings(contradictions_mode=Mode.OBSERVE), library=facts(one, other))
    return replace(found, conflicts=(replace(found.conflicts[0], date_sources=(one, other)),))


@each(
    ("sources", "first", "second", "newer"),
    [
        (BY_PEOPLE, "2024-03-01", "2026-03-01", "Newer: policy.pdf."),
        ((PAGE, GIVEN), "2024-03-01", "2026-03-01", "Newer: policy.pdf."),
        ((GIVEN, FILE), "2024-03-01", "file date 2026-03-01", "Newer by the file date: policy.pdf."),
        ((FILE, GIVEN), "file date 2024-03-01", "2026-03-01", "Newer by the file date: policy.pdf."),
        ((FILE, FILE), "file date 2024-03-01", "file date 2026-03-01", "Newer by the file date: policy.pdf."),
    ],
)
def test_given_contradicting_documents_then_the_note_says_which_date_is_only_the_files(
    sources: tuple[DateSource, DateSource], first: str, second: str, newer: str
) -> None:
    """S4-21: which of them is newer is said with what it rests on."""
    decision = decide(opposed(*sources))

    (note,) = (note for note in decision.notes if "contradict" in note)
    assert note == (
        f'The documents contradict each other: "30 days" (contract.pdf, page 1, {first}) and "60 days" (policy.pdf, '
        f"page 1, {second}). " + newer
    )
    assert decision.to_json()["conflicts"][0]["newer_by_file_date"] is (FILE in sources)


def test_given_documents_whose_period_only_the_file_tells_then_the_check_of_contradictions_says_so() -> None:
    assert "Period by" not in decide(opposed(GIVEN, PAGE)).trace["contradictions"].found
    assert decide(opposed(FILE, PAGE)).trace["contradictions"].found.endswith(". Period by the file date: contract.pdf")
    titled = facts(FILE, FILE, titles={"d1": "Annual report 2024"})
    found = decide(replace(opposed(FILE, FILE), library=titled)).trace["contradictions"].found
    assert found.endswith(". Period by the file date: policy.pdf")  # the other has its year in its title


def test_given_no_contradiction_then_the_check_says_by_what_it_compared_too() -> None:
    """Two figures of different months are no contradiction; where only the file tells the month, that may hide one."""
    quiet = measurements(0.9, 0.8, of=settings(contradictions_mode=Mode.OBSERVE), library=facts(FILE, FILE))
    two = replace(
        quiet, hits=(quiet.hits[0], replace(quiet.hits[1], passage=replace(quiet.hits[1].passage, document="d2")))
    )

    assert decide(quiet).trace["contradictions"].found == "no contradiction found"  # one document
    assert (
        decide(two).trace["contradictions"].found
        == "no contradiction found. Period by the file date: contract.pdf, policy.pdf"
    )


def cited(one: DateSource, other: DateSource) -> Measurements:
    """An answer from two documents, of a year ago and of today."""
    found = (hit(0.9), hit(0.8, 2, of=passage(2, document="d2")))
    drafted = draft([claim(one.passage) for one in found], [measured_claim(support=0.8)] * 2)
    return measurements(of=settings(confidence="weighted"), hits=found, library=facts(one, other), draft=drafted)


@each(
    ("sources", "recency", "said"),
    [
        ((GIVEN, PAGE), 0.75, False),
        ((GIVEN, FILE), 0.5, False),  # the better one alone
        ((FILE, PAGE), 1.0, False),
        ((FILE, FILE), 0.75, True),
    ],
)
def test_given_dates_of_files_then_the_confidence_reads_them_only_where_no_better_one_is_known_and_says_so(
    sources: tuple[DateSource, DateSource], recency: float, said: bool
) -> None:
    answered = cited(*sources)

    assert weighted_terms(answered, answered.draft.claims)["recency"] == recency
    row = confidence(answered, answered.draft.claims)[2]
    assert ("recency by the dates of the files, for want of better ones" in row.found) is said

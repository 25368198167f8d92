"""Labelled questions: every shape of file, every row that cannot be used, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from folding import each
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.domain.bounds import MAX_QUESTION_CHARS
from rag_core.errors import InvalidInput
from rag_core.evaluation.labelled import LabelledQuestion, Place, csv_cell, holds_answer, to_csv, to_jsonl, to_row
from rag_core.evaluation.labelled_files import read_labelled, read_labelled_files, read_rows

DATA = Path(__file__).resolve().parents[2] / "data"
ONE = LabelledQuestion("a", "How long is the notice period?", True, ("30 days",))


def read(text: str | bytes, name: str = "set.csv") -> tuple[list[LabelledQuestion], list[str]]:
    """The questions of a file, and its problems in words."""
    questions, problems = read_labelled(text.encode() if isinstance(text, str) else text, name)
    return list(questions), [str(problem) for problem in problems]


# shapes


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_given_a_table_parted_by_any_sign_when_read_then_every_column_is_understood(sign: str) -> None:
    header = sign.join(["ID", "Question", " Answerable ", "Answers", "Documents", "Page", "Lang", "Kind"])
    row = sign.join(["q1", "How long?", "Yes", "30 days|one month", "contract.pdf", "4", "en", "fact"])

    questions, problems = read(f"{header}\r\n{row}\r\n")

    assert problems == []
    assert questions == [
        LabelledQuestion(
            "q1",
            "How long?",
            True,
            ("30 days", "one month"),
            ("contract.pdf",),
            (Place("contract.pdf", 4),),
            language="en",
            kind="fact",
        )
    ]


@each(
    ("said", "answerable"),
    [(word, True) for word in ("true", "YES", "1", "1.0", "Ano", "ja", "हाँ")]
    + [(word, False) for word in ("False", "no", "0", "ne", "NEIN", "नहीं", "unanswerable")],
)
def test_given_a_word_for_yes_or_no_in_any_language_when_read_then_it_is_understood(
    said: str, answerable: bool
) -> None:
    questions, problems = read(f"question,answerable\nHow long?,{said}\n")

    assert problems == []
    assert [one.answerable for one in questions] == [answerable]


def test_given_rows_that_cannot_be_used_when_read_then_each_is_told_with_its_row_and_the_others_are_kept() -> None:
    questions, problems = read(
        "question,answerable,answer,page\n"
        "Good one?,yes,30 days,\n"
        "Doubtful?,maybe,,\n"
        ",yes,x,\n"
        "\n"
        "Nothing said?,,,\n"
        "Contradiction?,no,30 days,\n"
        "Where?,yes,x,seven\n"
        "Too,many,cells,in,this,row\n"
        f"{'x' * (MAX_QUESTION_CHARS + 1)},yes,x,\n"
        "good  ONE?,yes,30 days,\n"
        '"Last?,yes,x,\n'
    )

    assert [one.question for one in questions] == ["Good one?"]
    assert problems == [
        "row 3: answerable is 'maybe', which is neither yes nor no",
        "row 4: the question is empty",
        "row 6: it says neither whether the question is answerable nor what the answer is",
        "row 7: it is labelled unanswerable, but has an answer or a place where it stands",
        "row 8: page is 'seven', which is no page number",
        "row 9: it has 6 columns, the header 4",
        "row 10: the question has 2,001 characters; 2,000 are allowed",
        "row 11: the same question stands in row 2 already",
        "row 12: a quotation mark is never closed; what follows it was not read",
    ]


@each("page", ["-1", "1.5", "x", "12345678", "²"])
def test_given_a_page_that_is_none_when_read_then_the_row_is_told(page: str) -> None:
    _, problems = read(f"question,answerable,document,page\nHow long?,yes,a.pdf,{page}\n")

    assert problems == [f"row 2: page is {page!r}, which is no page number"]


@each(
    ("encoding", "text", "note"),
    [
        ("utf-8", "Kolik je dní dovolené?", ""),
        ("utf-16", "Kolik je dní dovolené?", ""),
        ("utf-16-le", "Kolik je dní dovolené, a proč?", ""),
        ("cp1250", "Příliš žluťoučký kůň: kolik je dní dovolené?", "cp1250"),
        ("cp1252", "À quelle fréquence l'étalonnage est-il prévu, même à l'été?", "cp1252"),
    ],
)
def test_given_any_usual_encoding_when_read_then_the_letters_are_right_and_a_guess_is_told(
    encoding: str, text: str, note: str
) -> None:
    questions, problems = read(f"question;answerable\r\n{text};yes\r\n".encode(encoding))

    assert [one.question for one in questions] == [text]
    expected = [f"the file: it is not UTF-8 and was read as {note}; check letters with accents"] if note else []
    assert problems == expected


def test_given_the_samples_when_read_then_their_documents_are_places_and_not_where_to_search() -> None:
    questions, problems = read_labelled((DATA / "questions.jsonl").read_bytes(), "questions.jsonl")

    assert (len(questions), problems) == (193, ())
    assert questions[0].places == (Place("company-policies.pdf", 1), Place("company-policies-2024.pdf", 1))
    assert {one.documents for one in questions} == {()}
    assert sum(not one.places for one in questions) == sum(not one.answerable for one in questions) == 72


def test_given_json_lines_when_a_line_is_broken_then_it_is_told_with_its_number() -> None:
    questions, problems = read(
        '{"question": "A?", "answerable": true}\n{"question": \n\n[1]\n{"question": "B?", "answers": ["x"]}\n'
    )

    assert [one.question for one in questions] == ["A?", "B?"]
    assert problems == ["row 2: it is not JSON", "row 4: it is not an object"]


@each(
    "value",
    [
        [{"question": "A?", "answerable": True, "answers": ["x"]}],
        {"version": 1, "data": [{"question": "A?", "answerable": 1, "answers": "x"}]},
        {"question": ["A?"], "answerable": [True], "answers": [["x"]]},
        {"question": "A?", "answerable": "yes", "answers": {"text": ["x"], "answer_start": [3]}},
    ],
    ids=["list", "list in an object", "columns", "one row"],
)
def test_given_json_of_any_form_when_read_then_the_question_is_found(value: object) -> None:
    questions, problems = read(json.dumps(value, indent=1), "set.json")

    assert [(one.question, one.answerable, one.answers) for one in questions] == [("A?", True, ("x",))]
    assert problems == []


def test_given_questions_and_labels_in_two_files_when_read_then_they_are_joined_by_id() -> None:
    asked = (
        '{"id": "1", "lang": "en", "question": "A?", "documents": ["d1"]}\n{"id": '
        '"2", "lang": "en", "question": "B?"}\n'
    )
    gold = (
        '{"id": "2", "answerable": false, "answers": [], "kind": "other"}\n{"id": "1", '
        '"answerable": true, "answers": ["x"]}\n'
    )

    questions, problems = read_labelled_files([("questions.jsonl", asked.encode()), ("gold.jsonl", gold.encode())])

    assert problems == ()
    assert questions == (
        LabelledQuestion("1", "A?", True, ("x",), ("d1",), language="en"),
        LabelledQuestion("2", "B?", False, language="en", kind="other"),
    )


@each(
    ("row", "answerable", "answers", "noted"),
    [
        (
            {"question": "A?", "answer": "what a system said", "contexts": ["c"], "ground_truth": "30 days"},
            True,
            ("30 days",),
            True,
        ),
        ({"user_input": "A?", "reference_contexts": ["c"]}, True, (), False),
        ({"user_input": "A?", "reference": "The documents do not say.", "answerable": False}, False, (), True),
    ],
)
def test_given_a_ragas_row_when_read_then_the_reference_is_the_answer_and_not_what_a_system_said(
    row: dict[str, object], answerable: bool, answers: tuple[str, ...], noted: bool
) -> None:
    questions, problems = read(json.dumps(row))

    assert [(one.question, one.answerable, one.answers) for one in questions] == [("A?", answerable, answers)]
    assert [True for problem in problems if "word for word" in problem] == [True] * noted
    assert len(problems) == noted or not noted


@each(
    ("said", "places"),
    [
        ("contract.pdf#3 | lease.pdf#1", (Place("contract.pdf", 3), Place("lease.pdf", 1))),
        ("contract.pdf", (Place("contract.pdf"),)),
        ("issue #12", (Place("issue", 12),)),
        ('[{"document": "a|b.pdf", "page": 2}]', (Place("a|b.pdf", 2),)),
    ],
)
def test_given_places_in_a_cell_when_read_then_document_and_page_are_told_apart(
    said: str, places: tuple[Place, ...]
) -> None:
    questions, problems = read_rows([{"question": "A?", "answerable": True, "places": said}])

    assert problems == ()
    assert questions[0].places == places


# hostile and broken files


@each(
    ("data", "problem"),
    [
        (b"", "is empty"),
        (b"%PDF-1.4\n\xff\xfe\x01\x02\x03\x04", "is not a text file"),
        (bytes(range(256)) * 4, "is not a text file"),
        (b"question", "holds no rows"),
        (b"answer;answerable\nx;yes", "No column is named question; the columns are 'answer', 'answerable'"),
        (b"[" * 100_000, "holds no rows"),
        (b"question,answerable\n" + b"a" * 21_000_000, "more than 20 MB"),
        (b"question,answerable\n" + b"\n" * 1_000_001, "more than 1,000,000 lines"),
        (b"question,answerable\n" + b"".join(b"%d?,yes\n" % n for n in range(20_001)), "more than 20,000 questions"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_given_a_file_that_cannot_be_used_when_read_then_one_error_says_why_and_what_to_do(
    data: bytes, problem: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_labelled(data, "set.csv")

    assert problem in caught.value.problem
    assert caught.value.remedy


@settings(max_examples=30)
@given(data=st.binary(max_size=300))
def test_given_any_bytes_when_read_then_it_ends_in_questions_or_one_error(data: bytes) -> None:
    try:
        questions, _ = read_labelled(data, "set.csv")
    except InvalidInput:
        return
    assert all(one.question for one in questions)


# writing


@each("text", ["=cmd|' /C calc'!A0", "+1", "-5 °C", "@SUM(A1)", "'=1", "''-x", "＝1+1", "＠SUM(A1)"])
def test_given_a_formula_when_written_to_csv_then_no_spreadsheet_runs_it_and_it_reads_back_as_it_was(text: str) -> None:
    written = to_csv([LabelledQuestion(text, text, True, (text,), (text,), kind=text)])

    cells = written.decode("utf-8-sig").splitlines()[1]
    assert csv_cell(text).startswith("'")
    assert not any(cell.lstrip('"').startswith(("=", "+", "-", "@")) for cell in cells.split(","))
    (back,) = read_labelled(written, "set.csv")[0]
    assert (back.question, back.kind, back.documents) == (text, text, (text,))


plain = (
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30).map(str.strip).filter(bool)
)
listed = st.lists(plain, max_size=3, unique=True).map(tuple)


@st.composite
def labelled(draw: st.DrawFn) -> LabelledQuestion:
    answerable = draw(st.booleans())
    places = st.lists(st.builds(Place, plain, st.integers(0, 99)), max_size=2, unique=True).map(tuple)
    return LabelledQuestion(
        draw(plain),
        draw(plain),
        answerable,
        draw(listed) if answerable else (),
        draw(listed),
        draw(places) if answerable else (),
        draw(st.just("") | plain),
        draw(st.just("") | plain),
    )


sets = st.lists(
    labelled(),
    min_size=1,
    max_size=4,
    unique_by=(lambda one: one.id, lambda one: " ".join(one.question.casefold().split())),
)


@given(questions=sets)
def test_given_any_set_when_written_and_read_then_it_is_the_same(questions: list[LabelledQuestion]) -> None:
    assert read(to_jsonl(questions), "set.jsonl") == (questions, [])
    assert read(to_csv(questions)) == (questions, [])
    assert read_rows([to_row(one) for one in questions]) == (tuple(questions), ())
    assert [LabelledQuestion.from_json(json.loads(json.dumps(one.to_json()))) for one in questions] == questions


# answers


@each(
    ("text", "answers", "held"),
    [
        ("The notice period is 30 days.", ("30 days",), True),
        ("The notice period is 130 days.", ("30 days",), False),
        ("The notice period is thirty days.", ("30 days", "thirty days"), True),
        ("Lhůta je dvacet dní.", ("lhuta",), False),
        ("अवधि २४ माह है", ("माह",), True),
        ("अवधि २४ माह है", ("मा",), False),
        ("湖心区水深在30米以上,透明度7-8。", ("30米以上",), True),
        ("พายุทําให้เสาไฟฟ้ากว่า 8,000 ต้นหักล้ม", ("8,000 ต้น",), True),
        ("anything", (), False),
        ("anything", ("…",), False),
    ],
)
def test_given_a_text_when_an_answer_stands_in_it_as_whole_words_then_it_holds_it(
    text: str, answers: tuple[str, ...], held: bool
) -> None:
    assert holds_answer(text, answers) is held

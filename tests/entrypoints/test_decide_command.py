"""The command `decide`, run as a user runs it, with the embedded model on passages in JSON lines."""

from __future__ import annotations

import json

from test_cli import write_rows

PASSAGES = [
    {
        "text": "Every full-time employee has 25 days of paid vacation a year.",
        "document": "policy.pdf",
        "page": 3,
        "id": "a",
        "score": 0.9,
    },
    {"text": "The notice period is two months.", "document": "policy.pdf", "page": 4, "section": None},
]
ASKED = "How many days of vacation does an employee have?"


def test_given_a_question_and_passages_then_the_answer_is_shown_with_its_source_and_as_json(tmp_path, run):
    passages = write_rows(tmp_path / "p.jsonl", PASSAGES)

    code, out, err = run("decide", ASKED, "--passages", passages)
    assert (code, err) == (0, "")
    assert out.startswith("Every full-time employee has 25 days of paid vacation a year. [1]")
    assert "policy.pdf, Page 3" in out
    assert "given_scores" in out

    code, out, err = run("decide", ASKED, "--passages", passages, "--json")
    row = json.loads(out)
    assert (code, err, row["status"]) == (0, "", "success")
    assert (row["citations"][0]["chunk_id"], row["citations"][0]["page"]) == ("a", 3)


def test_given_a_file_of_rows_when_decided_then_each_is_a_line_and_a_bad_one_an_error(tmp_path, run):
    rows = write_rows(
        tmp_path / "rows.jsonl",
        [
            {"id": "1", "question": ASKED, "passages": PASSAGES},
            {
                "id": "2",
                "question": "Who won the football world cup in 1998?",
                "passages": [row["text"] for row in PASSAGES],
            },
            {"id": "3", "question": ASKED, "passages": []},
            {"id": "4", "question": ASKED},
            "no JSON",
        ],
    )

    code, out, err = run("decide", "--input", rows, "--out", tmp_path / "out" / "d.jsonl")
    found = [json.loads(line) for line in (tmp_path / "out" / "d.jsonl").read_text(encoding="utf-8").splitlines()]

    assert (code, out) == (1, "")
    assert [row["status"] for row in found] == ["success", "low_confidence", "insufficient_context", "error"]
    assert [row["id"] for row in found] == ["1", "2", "3", "4"]
    assert "question '4': Passages are a list, got NoneType." in err
    assert "rows.jsonl, line 5: not JSON" in err


def test_given_a_passage_that_cannot_be_read_then_nothing_is_decided_from_the_others(tmp_path, run):
    for rows, said in (
        ([PASSAGES[0], {"page": 3}], "p.jsonl, line 2: needs text in text."),
        ([PASSAGES[0], {"text": "a", "pages": 3}], "Passage 2: there is no field 'pages'."),
    ):
        code, out, err = run("decide", ASKED, "--passages", write_rows(tmp_path / "p.jsonl", rows))

        assert (code, out) == (1, "")
        assert err.startswith(said)


def test_given_neither_or_both_forms_then_it_says_which_to_give(tmp_path, run):
    for args in (
        (),
        (ASKED,),
        ("--passages", "p"),
        (ASKED, "--passages", "p", "--input", "i"),
        (ASKED, "--input", "i"),
    ):
        code, _, err = run("decide", *args)

        assert code == 1
        assert err.startswith("Give either a question and --passages FILE, or --input FILE.")

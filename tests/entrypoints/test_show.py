"""What a terminal is sent: nothing of an untrusted text can steer it, and its words stay readable."""

from __future__ import annotations

import json
import re

from rag_core.entrypoints.cli import main
from rag_core.entrypoints.commands.terminal import json_text, printable

STEERING = [chr(code) for code in (0x1B, 0x7F, *range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))]
STEERING += ["\u200e", "\u200f", "\u061c", "\u2028", "\u2029", "\ufeff", "\u00ad", "\u200b", "\U000e0041", "\ud800"]
HINDI = ["क्\u200dष", "पक्\u200d", "पद\u200cनाम", "की\u200dप", "می\u200cخواهم", "ಕರ್\u200cನಾಟಕ"]


def test_given_what_steers_a_terminal_when_written_as_json_then_it_is_escaped_and_the_value_is_equal() -> None:
    for one in STEERING:
        value = {f"a{one}": [f"30{one} days", {"deep": one * 3}]}
        for indent in (None, 2):
            written = json_text(value, indent)
            assert one not in written, ascii(one)
            assert json.loads(written) == value, ascii(one)
    assert json_text({"text": "Größe \u00a0 क्\u200dष “30”"}) == '{"text": "Größe \u00a0 क्\u200dष “30”"}', (
        "what is harmless stays readable"
    )


def test_given_joiners_that_shape_letters_when_shown_then_they_stay_and_any_other_invisible_sign_does_not() -> None:
    for word in HINDI:
        assert printable(word) == word, ascii(word)
        assert json.loads(json_text(word)) == word
    for one in STEERING:
        assert printable(f"क{one}ष") == "क\ufffdष", ascii(one)
    for text in ("a\u200db", "\u200dक", "क\u200d", "3\u200c0", "क \u200dष", "b\u200cक"):
        assert printable(text) == re.sub("[\u200c\u200d]", "\ufffd", text), ascii(text)
    assert printable("क्\u200d\u200d\u202eष") == "क्\u200d\ufffd\ufffdष"
    assert printable("two\nlines\tand a tab") == "two\nlines\tand a tab"


def test_given_a_file_that_would_steer_the_terminal_when_commands_speak_of_it_then_nothing_of_it_does(tmp_path, capsys):
    paper = tmp_path / "leave\x9b31m\u202efdp.txt"
    paper.write_text("Every employee has 25\u2066 days\x85 of paid\u200f vacation a year.", encoding="utf-8")
    place = ("--library", str(tmp_path / "library"))
    questions = tmp_path / "q.jsonl"
    questions.write_text(
        json.dumps({"id": "\u202e1", "question": "How many days of paid vacation?\x9b"}), encoding="utf-8"
    )
    claims = tmp_path / "claims.jsonl"
    claims.write_text(
        json.dumps({"id": "1\x9b", "context": "Cats sleep.\u202e", "answer": "Cats sleep.\u2067"}), encoding="utf-8"
    )

    said = []
    for command in (
        ("index", str(paper), *place),
        ("documents", "--json", *place),
        ("documents", *place),
        ("ask", "How many days of paid vacation does an employee have?\u202e", "--json", *place),
        ("ask", "How many days of paid vacation does an employee have?\u202e", *place),
        ("ask", "--questions", str(questions), *place),
        ("judge", "--input", str(claims)),
        ("ask", "What?", "--set", "top_k=\x9b\u202e", *place),
    ):
        main(list(command))
        said.append(capsys.readouterr())
        for text in said[-1]:
            assert [ascii(one) for one in STEERING if one in text] == [], command

    assert json.loads(said[1].out)["name"].endswith("31m\u202efdp.txt")
    assert json.loads(said[3].out)["question" if "question" in json.loads(said[3].out) else "answer"]
    assert json.loads(said[5].out)["id"] == "\u202e1"
    assert json.loads(said[6].out)["id"] == "1\x9b"

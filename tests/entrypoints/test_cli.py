"""The command line, run as a user runs it, with the embedded model on small documents."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any

import pymupdf
import pytest
from folding import each
from office_files import Cell, Sheet, Slide, deck, table, words, workbook

from rag_core.engine import Engine
from rag_core.entrypoints.commands import library as commands
from rag_core.errors import ModelUnavailable
from rag_core.library.stored.sources import text_source
from rag_core.service import models
from rag_core.settings import Settings
from rag_core.wiring import open_engine

TEXTS = [
    {
        "id": "policy",
        "title": "Leave policy",
        "lang": "en",
        "text": "Every full-time employee has 25 days of paid vacation a year. Unused days are lost on 31 March.\n\n"
        "The notice period is two months.",
    },
    {
        "id": "smlouva",
        "title": "Smlouva",
        "lang": "cs",
        "text": "Doba plnění je 30 dní od podpisu smlouvy. Smluvní pokuta činí 30 Kč za den.",
    },
]


def write_rows(path: Path, rows: list[Any]) -> Path:
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows),
        encoding="utf-8",
    )
    return path


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "documents.jsonl", TEXTS)


def test_given_a_file_of_questions_when_asked_then_every_line_keeps_the_contract(documents, tmp_path, run) -> None:
    """S3-19: answer, confidence, citations and metadata of every question, refused ones too."""
    questions = write_rows(
        tmp_path / "q.jsonl",
        [
            {"id": "1", "lang": "en", "question": "How many days of vacation does an employee have?"},
            {"id": "2", "lang": "en", "question": "Who won the football world cup in 1998?", "documents": ["policy"]},
            {"id": "3", "lang": "cs", "question": "Jaká je doba plnění?", "documents": ["smlouva"]},
            {"id": "4", "lang": "en", "question": "Hello"},
        ],
    )

    code, out, err = run("ask", "--documents", documents, "--questions", questions, "--out", tmp_path / "d.jsonl")
    rows = {row["id"]: row for row in read_rows(tmp_path / "d.jsonl")}

    assert (code, out) == (0, "")
    assert err == "", "progress belongs on a terminal only"
    assert list(rows) == ["1", "2", "3", "4"]
    for row in rows.values():
        models.Decision.model_validate_json(json.dumps(row), strict=True)
        assert {"correctness", "answerability"} <= row["scores"].keys()
    assert rows["1"]["status"] == "success"
    assert "25 days" in rows["1"]["answer"]
    assert {c["document"] for c in rows["1"]["citations"]} == {"policy"}
    assert rows["2"]["status"] != "success"
    assert rows["2"]["citations"] == []
    assert {hit["document"] for hit in rows["2"]["retrieved"]} == {"policy"}
    assert "30 dní" in rows["3"]["answer"]


def test_given_an_answer_when_its_excerpts_are_looked_up_then_they_stand_in_the_document_verbatim(documents, run):
    """S2-26: traceable to the exact text."""
    code, out, _ = run("ask", "What is the notice period?", "--documents", documents, "--json")
    decision = json.loads(out)

    assert code == 0
    assert decision["citations"]
    text = {row["id"]: row["text"] for row in TEXTS}
    for citation in decision["citations"]:
        span = citation["spans"][0]
        assert text[citation["document"]][span["start"] : span["end"]] == citation["excerpt"]
        assert citation["page"] == 1


def test_given_bad_lines_when_a_batch_is_asked_then_they_are_named_and_the_others_go_on(documents, tmp_path, run):
    questions = write_rows(
        tmp_path / "q.jsonl",
        [
            "{not json",
            {"id": "no question"},
            "[]",
            {"id": "ok", "question": "What is the notice period?"},
            {"id": "gone", "question": "What is the notice period?", "documents": ["nowhere"]},
            {"id": "empty", "question": "   "},
        ],
    )

    code, out, err = run("ask", "--documents", documents, "--questions", questions)
    rows = {row["id"]: row for row in map(json.loads, out.splitlines())}

    assert code == 1
    assert [f"line {n}" in err for n in (1, 2, 3)] == [True, True, True]
    assert rows["ok"]["status"] == "success"
    assert rows["gone"]["status"] == rows["empty"]["status"] == "error"
    assert "nowhere" in rows["gone"]["explanation"]


def test_given_subject_class_and_chapter_when_asked_then_the_source_is_named_with_them(tmp_path, run) -> None:
    """S2-21: "NCERT Mathematics, Class 10, Chapter 5 (…), Page 95", from what `index --meta` was given."""
    book, place = tmp_path / "book.txt", ("--library", tmp_path / "lib")
    book.write_text("The common difference of a progression is the second term less the first term.", encoding="utf-8")
    given = ("title=NCERT", "subject=Mathematics", "class=10", "chapter=5")
    assert run("index", book, *(part for one in given for part in ("--meta", one)), *place)[0] == 0

    code, out, _ = run("ask", "What is the common difference of a progression?", "--preset", "open", *place)

    assert code == 0
    assert "  NCERT Mathematics, Class 10, Chapter 5, Page 1" in out.splitlines()


def test_given_a_library_then_each_command_sees_what_the_others_did(documents, tmp_path, run):
    """S2-27, S3-25: kept on disk between calls, collections apart."""
    place = ("--library", tmp_path / "lib")

    assert run("index", documents, "--meta", "class=10", *place)[0] == 0
    listed = [json.loads(line) for line in run("documents", "--json", *place)[1].splitlines()]
    answered = run("ask", "What is the notice period?", "--filter", "class=10", *place)
    elsewhere = run("ask", "What is the notice period?", "--collection", "other", *place)
    earlier = run("ask", "What is the notice period?", "--namespace", "other", *place)  # the option's first name
    deleted = run("delete", "policy", *place)
    after = run("documents", *place)[1]
    again = run("delete", "policy", *place)

    assert [row["name"] for row in listed] == ["policy", "smlouva"]
    assert listed[0]["metadata"]["class"] == "10"
    assert "two months" in answered[1]
    assert "Leave policy" in answered[1]
    assert earlier == elsewhere
    assert "nothing" in elsewhere[1].casefold() or "0 passages" in elsewhere[1]
    assert deleted[0] == 0
    assert "policy" not in after
    assert again[0] == 1
    assert "policy" in again[2]


def test_given_a_library_when_asked_then_its_languages_are_loaded_early(documents, tmp_path, run, monkeypatch):
    library = tmp_path / "library"
    run("index", documents, "--library", library)
    order: list[object] = []
    opening = Event()
    open_engine, asks = commands.open_engine, Engine.ask

    def load(codes: Sequence[str]) -> None:
        assert opening.wait(60)  # or the two are not beside each other
        order.append(codes)

    def opened(*given: Any) -> Engine:
        opening.set()
        return open_engine(*given)

    monkeypatch.setattr(commands, "load_early", load)
    monkeypatch.setattr(commands, "open_engine", opened)
    monkeypatch.setattr(Engine, "ask", lambda *given, **more: order.append("asked") or asks(*given, **more))  # type: ignore[func-returns-value]
    code, out, _ = run("ask", "What is the notice period?", "--library", library)

    assert (code, bool(out)) == (0, True)
    assert order == [("en", "cs"), "asked"]


def test_given_an_encrypted_pdf_when_indexed_with_its_password_file_then_it_opens_and_without_it_says_so(tmp_path, run):
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "The secret code of the vault is 4711.")
    file = tmp_path / "vault.pdf"
    document.save(file, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="sesame", owner_pw="owner")
    (tmp_path / "pw").write_text("sesame\n", encoding="utf-8")

    locked = run("index", file, "--library", tmp_path / "a")
    opened = run("index", file, "--password-file", tmp_path / "pw", "--library", tmp_path / "b")
    answer = run("ask", "What is the secret code of the vault?", "--library", tmp_path / "b")

    assert locked[0] == 1
    assert "password" in locked[2].casefold()
    assert opened[0] == 0
    assert "4711" in answer[1]
    assert "sesame" not in locked[2] + opened[1] + opened[2]


def test_given_claims_when_judged_then_each_has_a_verdict_of_the_contract(tmp_path, run) -> None:
    context = "The warranty lasts 24 months. It does not cover damage by water."
    claims = write_rows(
        tmp_path / "c.jsonl",
        [
            {"id": "a", "lang": "en", "question": "", "context": context, "answer": "The warranty lasts 24 months."},
            {"id": "b", "lang": "en", "question": "", "context": context, "answer": "The warranty lasts 36 months."},
            "nonsense",
        ],
    )

    code, out, err = run("judge", "--input", claims)
    rows = {row["id"]: row for row in map(json.loads, out.splitlines())}

    assert code == 1
    assert "line 3" in err
    assert re.search(r"2 rows, 2 claims: [0-9.]+ rows/s, [0-9.]+ claims/s", err)
    assert rows["a"]["supported"] is True
    assert rows["b"]["supported"] is False
    assert rows["b"]["sentences"][0]["flags"]
    for row in rows.values():
        assert 0 <= row["support"] <= 1
        assert all(set(s) >= {"text", "supported", "support", "evidence", "flags"} for s in row["sentences"])


CLAIM = {"lang": "en", "context": "The gate opens at 8 o'clock.", "answer": "It opens at 8."}


class Failing:
    """A verifier that can be asked twice: when it is loaded, and of the first rows."""

    version, languages = "failing", frozenset({"en"})

    def __init__(self) -> None:
        self.asked = 0

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.asked += 1
        if self.asked > 2:
            raise ModelUnavailable("The verifier is gone.", remedy="Start it again.")
        return [1.0] * len(pairs)


def test_given_more_rows_than_are_read_together_then_all_are_judged_in_order(tmp_path, run, monkeypatch):
    monkeypatch.setattr(commands, "JUDGED", 4)
    rows: list[Any] = [{"id": str(number), **CLAIM, "lang": ("en", "cs")[number % 2]} for number in range(10)]
    rows[3:3] = ['{"id": "h", "context": "half \\ud800", "answer": "a"}', {"id": "", "context": "", "answer": ""}, "[]"]
    claims = write_rows(tmp_path / "c.jsonl", rows)

    code, out, err = run("judge", "--input", claims, "--out", tmp_path / "v.jsonl")

    assert (code, out) == (1, "")
    assert [row["id"] for row in read_rows(tmp_path / "v.jsonl")] == [str(number) for number in range(10)]
    assert [f"line {number}: " in err for number in range(1, 8)] == [False, False, False, True, True, True, False]
    assert "half a character in context" in err
    assert "10 rows, 10 claims" in err


def test_given_a_verifier_that_fails_on_the_way_then_what_was_judged_before_is_kept(tmp_path, run, monkeypatch) -> None:
    monkeypatch.setattr(commands, "JUDGED", 2)
    monkeypatch.setattr(commands, "entailment_model", lambda _: Failing())
    claims = write_rows(tmp_path / "c.jsonl", [{"id": str(number), **CLAIM} for number in range(5)])

    code, _, err = run("judge", "--input", claims, "--out", tmp_path / "v.jsonl")

    assert code == 1
    assert err == "The verifier is gone. Start it again.\n"
    assert [row["id"] for row in read_rows(tmp_path / "v.jsonl")] == ["0", "1"]


@each(
    ("args", "said"),
    [
        (["--set", "top_k=0"], "top_k"),
        (["--set", "min_correctnes=0.5"], "min_correctnes"),
        (["--set", "top_k"], "KEY=VALUE"),
        (["--preset", "nonsense"], "nonsense"),
    ],
)
def test_given_a_setting_that_cannot_be_when_called_then_it_says_which_and_what_to_do(args, said, run) -> None:
    code, _, err = run("settings", *args)

    assert code == 2
    assert said in err


def test_given_settings_of_a_file_and_of_the_call_when_shown_then_the_call_wins(tmp_path, run) -> None:
    """S3-29: settings from a YAML file."""
    config = tmp_path / "settings.yaml"
    config.write_text("preset: scoping\ntop_k: 7\nmin_documents: 3\n", encoding="utf-8")

    shown = json.loads(run("settings", "--config", config, "--set", "top_k=4", "--json")[1])

    assert (shown["preset"], shown["top_k"], shown["min_documents"], shown["max_distance"]) == ("scoping", 4, 3, 0.8)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a system without a disk that is always full")
def test_given_a_full_disk_behind_the_output_then_one_line_says_so(documents, tmp_path, run, monkeypatch):
    questions = write_rows(tmp_path / "q.jsonl", [{"id": "1", "question": "Hello"}])
    code, _, err = run("ask", "--documents", documents, "--questions", questions, "--out", "/dev/full")
    assert (code, err) == (
        1,
        "The system refused to read or write: No space left on device. Free disk space, or name another place.\n",
    )

    full = open("/dev/full", "w", encoding="utf-8")
    monkeypatch.setattr("sys.stdout", full)
    code, _, err = run("settings")
    assert (code, err.count("\n")) == (1, 1)
    with suppress(OSError):
        full.close()


def test_given_unfinished_files_when_documents_are_listed_then_it_says_how_many_and_what_to_do(tmp_path, run):
    library = open_engine(tmp_path / "library", "default").library
    library.add([text_source("one", "The first.")], Settings.load(), cancelled=lambda: True)

    said = run("documents", "--library", tmp_path / "library")[2]

    assert said.startswith("1 file is not finished.")
    assert said.endswith("run: python -m rag_core index --resume\n")


def test_given_a_workbook_and_a_presentation_then_the_row_is_quoted_below_its_heads(tmp_path, run):
    rows = [["Zone", 2025, 2026], *([f"Zone {n}", Cell(n * 4, "0.00 €"), Cell(n * 5, "0.00 €")] for n in range(1, 6))]
    (tmp_path / "fees.xlsx").write_bytes(workbook(Sheet(name="Old", state="hidden"), Sheet(rows, name="Ferry")))
    slides = Slide(words("Fees", kind="title") + table(["Zone", "2025", "2026"], ["Zone 3", "12 €", "15 €"]))
    (tmp_path / "fees.pptx").write_bytes(deck(Slide(words("Draft"), hidden=True), slides))

    for name, place, answer in (
        ("fees.xlsx", "1 (labelled Ferry A1:C6)", "Zone 3: 12.00 € (2025); 15.00 € (2026)"),
        ("fees.pptx", "1 (labelled 2)", "Zone 3: 12 € (2025); 15 € (2026)"),
    ):
        code, out, _ = run("ask", "What does zone 3 cost in 2026?", "--documents", tmp_path / name)
        assert code == 0
        assert answer in out
        assert f"Page {place}" in out

"""The page of the library: what was found while reading, metadata, deletion, and files that were interrupted."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from folding import each
from hostile import make
from page_kit import by_key, captions, choose_document, settle, texts
from streamlit.testing.v1 import AppTest

from rag_core.domain.documents import DateSource, Document
from rag_core.errors import InvalidInput
from rag_core.ingest.reading.pdf_findings import struck_out
from rag_core.library.disk.lock import writing
from rag_core.library.stored.collection import Collection
from rag_core.library.stored.sources import Source, text_source
from rag_core.settings import Settings
from rag_core.wiring import act_log, hand_in, open_engine
from ui.app import state
from ui.app.first_run import SAMPLES
from ui.app.texts import say, screen
from ui.documents import catalogue, details
from ui.documents.details import free_values

INGEST = Path(__file__).resolve().parents[2] / "rag_core/ingest"
CONTRACT, METER = (
    "sha256:" + hashlib.sha256((SAMPLES / name).read_bytes()).hexdigest()
    for name in ("smlouva-o-dodavce.pdf", "flow-meter-manual.pdf")
)


def opened(app: AppTest) -> AppTest:
    settle(app)
    return app.switch_page("pages/documents.py").run()


def submit(page: AppTest, form: str) -> AppTest:
    return page.button(key=by_key(page, f"FormSubmitter:{form}")[0]).click().run()


def test_given_the_samples_when_listed_then_each_row_says_what_reading_it_found_and_each_page_has_its_passages(
    app: AppTest, library: Path
) -> None:
    page = opened(app)

    table = page.dataframe[0].value.set_index("name")
    assert len(table) == len(list(SAMPLES.glob("*.pdf")))
    contract = table.loc["smlouva-o-dodavce.pdf"]
    assert (contract["pages"], contract["language"], contract["cut"], contract["date"]) == (
        3,
        "Czech",
        "legal",
        "2026-01-15 (file date)",
    )
    assert list(table)[:2] == ["title", "date"]  # further right the mark of a file date is cut off at 1,280 pixels
    assert contract["passages"] > 10
    choose_document(page, CONTRACT)
    assert "Cut as legal: 11 numbered clauses" in texts(page)
    assert "Date: 2026-01-15, which is only the date of the file: when it was saved." in texts(page)
    # "In force from 1 March 2024." on its first page
    assert table.loc["company-policies-2024.pdf"]["date"] == "2024-03-01"

    snapshot, seen = state.engine().library.snapshot, []
    for number in range(1, snapshot.document(CONTRACT).page_count + 1):
        page.number_input(key=f"page_of_{CONTRACT}").set_value(number).run()
        seen += list(page.dataframe[1].value["text"])
    # every passage once, on the page where it begins
    assert seen == [passage.text for passage in snapshot.passages_of(CONTRACT)]


def test_given_metadata_when_edited_then_they_are_kept_and_a_file_date_comes_back_with_none_stated(
    app: AppTest, library: Path
) -> None:
    """S3-28, S2-27: title, date, authority, verified and free keys of a document."""
    page = opened(app)
    choose_document(page, CONTRACT)

    def kept() -> Document:
        return open_engine(library, "default").library.snapshot.document(CONTRACT)

    def dated(date: str) -> object:
        page.text_input(key=f"date_{CONTRACT}").set_value(date)
        submit(page, f"metadata_{CONTRACT}")
        return page.dataframe[0].value.set_index("name").loc["smlouva-o-dodavce.pdf"]["date"]

    assert page.text_input(key=f"date_{CONTRACT}").placeholder == "2026-01-15 (file date)"
    page.text_input(key=f"title_{CONTRACT}").set_value("Dodávka průtokoměrů")
    page.text_input(key=f"authority_{CONTRACT}").set_value("0.9")
    page.checkbox(key=f"verified_{CONTRACT}").set_value(True)
    page.text_area(key=f"free_{CONTRACT}").set_value("class = 10\nsubject=law")
    assert dated("") == "2026-01-15 (file date)"

    stated = kept().metadata
    assert (stated.title, stated.date, stated.authority, stated.verified) == ("Dodávka průtokoměrů", "", 0.9, True)
    assert dict(stated.values) == {"class": "10", "subject": "law"}
    assert "Dodávka průtokoměrů" in set(page.dataframe[0].value["title"])
    assert dated("last spring") == "2026-01-15 (file date)"
    assert "What to do: Give YYYY, YYYY-MM or YYYY-MM-DD." in texts(page)
    assert (kept().date, kept().date_source) == ("2026-01-15", DateSource.FILE)
    assert dated("2025-12") == "2025-12"
    assert "Date: 2025-12, as stated by people." in texts(page)
    assert dated("") == "2026-01-15 (file date)"


@each("line", ["no equals sign", "=value", "title=twice", "verified=true"])
def test_given_a_free_value_without_a_key_of_its_own_when_read_then_it_is_refused(line: str) -> None:
    with pytest.raises(InvalidInput):
        free_values(f"class=10\n{line}")


def test_given_a_document_when_deleted_then_it_is_asked_once_more_and_then_gone(app: AppTest, library: Path) -> None:
    page = opened(app)
    choose_document(page, CONTRACT)

    page.button(key=f"ask_delete_{CONTRACT}").click().run()
    page.button(key=f"keep_delete_{CONTRACT}").click().run()
    assert "smlouva-o-dodavce.pdf" in set(page.dataframe[0].value["name"])
    named = texts(page).count("smlouva-o-dodavce.pdf")
    page.button(key=f"ask_delete_{CONTRACT}").click().run()
    assert texts(page).count("smlouva-o-dodavce.pdf") == named + 1  # the question says which
    page.button(key=f"sure_delete_{CONTRACT}").click().run()

    assert "smlouva-o-dodavce.pdf" not in set(page.dataframe[0].value["name"])
    assert [toast.value for toast in page.toast] == ["Deleted: 1"]
    assert not page.run().toast
    assert page.session_state[f"delete_{CONTRACT}"] is False  # added again later, it is asked about again
    noted = list(act_log(library).entries())[-1]
    assert (noted.who, noted.action, noted.object) == ("page", "delete", CONTRACT)

    choose_document(page, METER)
    page.button(key=f"ask_delete_{METER}").click().run()
    page.button(key=f"everywhere_delete_{METER}").click().run()

    assert METER not in {document.id for document in state.engine().library.snapshot.documents}
    there = open_engine(library, "default").library
    assert not there.remembers(METER)
    assert list(act_log(library).entries())[-1].action == "erase"


def test_given_an_interrupted_encrypted_file_when_resumed_with_its_password_then_it_is_indexed(
    app: AppTest, library: Path
) -> None:
    locked = Source("locked.pdf", make.encrypted(), "pdf", password="open sesame")
    open_engine(library, "default").library.add([locked], Settings.load(), cancelled=lambda: True)
    page = opened(app)

    page.text_input(key=f"resume_password_sha256:{locked.digest}").set_value("open sesame")
    submit(page, "resume")
    settle(page)

    assert "locked.pdf" in set(page.dataframe[0].value["name"])


def select(page: AppTest, *rows: int) -> AppTest:
    """Tick these rows, with the switch to choose several on."""
    page.toggle(key="choose_several").set_value(True).run()
    page.session_state[page.dataframe[0].key] = {"selection": {"rows": list(rows), "columns": [], "cells": []}}
    return page.run()


def click(page: AppTest, row: int, column: str) -> AppTest:
    """Click a cell of the table."""
    page.session_state[page.dataframe[0].key] = {"selection": {"rows": [], "columns": [], "cells": [[row, column]]}}
    return page.run()


def test_given_cells_that_are_clicked_or_ticked_then_the_details_or_the_deletion_are_about_their_documents(
    app: AppTest, library: Path
) -> None:
    page = opened(app)
    names = list(page.dataframe[0].value["name"])
    assert f"File: {names[0]}" in texts(page)
    assert say("documents.click") in captions(page)

    for row, column in ((2, "name"), (1, "size")):
        click(page, row, column)
        assert f"File: {names[row]}" in texts(page)
    # beside the table
    page.session_state[page.dataframe[0].key] = {"selection": {"rows": [], "columns": [], "cells": []}}
    page.run()
    assert f"File: {names[1]}" in texts(page)

    choose_document(page, CONTRACT)
    page.run()
    assert "File: smlouva-o-dodavce.pdf" in texts(page)

    page.toggle(key="choose_several").set_value(True).run()
    assert say("documents.tick") in captions(page)
    assert by_key(page, "ask_delete_") == []

    select(page, 0, 2)
    assert f"{names[0]}\n{names[2]}" in texts(page)
    page.button(key="ask_delete_selection").click().run()
    page.button(key="sure_delete_selection").click().run()

    assert [toast.value for toast in page.toast] == ["Deleted: 2"]
    assert list(page.dataframe[0].value["name"]) == [names[1], *names[3:]]


def test_given_a_page_that_could_not_be_read_when_it_is_opened_then_its_picture_is_shown_with_its_passages_below(
    app: AppTest, library: Path
) -> None:
    data = make.scanned(stamp="Confidential copy number 7")
    id = (
        open_engine(library, "default")
        .library.add([Source("scan.pdf", data, "pdf")], Settings.load(values={"ocr": False}))
        .added[0]
        .id
    )
    page = opened(app)
    choose_document(page, id)
    assert "What to do: read it again with OCR switched on, below." in texts(page)
    assert not page.image

    page.button(key="whole_open").click().run()

    assert len(page.image) == 1
    assert page.number_input(key=f"page_of_{id}").value == 1
    assert list(page.dataframe[1].value["text"]) == ["Confidential copy number"]


def test_given_a_document_whose_page_cannot_be_drawn_when_it_is_wanted_then_its_text_is_shown_and_why(
    app: AppTest, library: Path
) -> None:
    page, writer = opened(app), open_engine(library, "default").library
    locked = Source("locked.pdf", make.encrypted(), "pdf", password="open sesame")
    for source, why, text in (
        (text_source("n.txt", "The bridge is 412 m long.", id="n"), "has no page to show", "The bridge is 412 m long."),
        (locked, "no password is stored", "The secret is 42."),
    ):
        choose_document(page, writer.add([source], Settings.load()).added[0].id)

        page.button(key="whole_open").click().run()

        assert why in page.info[0].value
        assert page.code[0].value == text
        assert not page.image


def test_given_other_settings_when_a_document_is_read_again_then_it_is_cut_by_them_and_the_others_are_not(
    app: AppTest, library: Path
) -> None:
    page = opened(app)
    choose_document(page, CONTRACT)
    others = {d.id: d.strategy for d in state.engine().library.snapshot.documents if d.id != CONTRACT}

    page.selectbox(key="reread_strategy").set_value("research")
    page.slider(key="reread_passage_tokens").set_value(64)
    submit(page, "reread_form")
    settle(page)

    documents = {d.id: d.strategy for d in state.engine().library.snapshot.documents}
    assert documents == {**others, CONTRACT: "research"}
    # and the context before it
    assert max(p.tokens for p in state.engine().library.snapshot.passages_of(CONTRACT)) <= 64 + 60
    assert "Cut as research: Chosen by the user. Each paragraph is a passage" in texts(page)


def test_given_interrupted_files_when_discarded_then_it_is_asked_once_more_and_they_are_gone(
    app: AppTest, library: Path
) -> None:
    source = Source("half.pdf", make.document("The bridge is 412 metres long.").tobytes(), "pdf")
    open_engine(library, "default").library.add([source], Settings.load(), cancelled=lambda: True)
    page = opened(app)

    page.button(key="ask_discarding").click().run()
    page.button(key="discard_keep").click().run()
    assert "half.pdf" in texts(page)
    page.button(key="ask_discarding").click().run()
    page.button(key="discard_sure").click().run()

    assert "half.pdf" not in texts(page)
    assert not (library / "default/sources" / source.digest).exists()
    assert page.session_state["discarding"] is False


def test_given_a_job_that_writes_when_other_changes_are_wanted_then_the_page_says_why_they_wait(
    app: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened(app)
    monkeypatch.setattr("ui.documents.keeping.writing", lambda: True)
    monkeypatch.setattr("ui.documents.details.writing", lambda: True)
    monkeypatch.setattr("ui.documents.rebuild.writing", lambda: True)

    page.run()

    assert page.button(key=by_key(page, "ask_delete_")[0]).disabled
    assert page.button(key=by_key(page, "FormSubmitter:metadata_")[0]).disabled
    assert by_key(page, "FormSubmitter:rebuild_form") == []


def test_given_another_process_that_writes_when_a_document_is_deleted_then_the_page_says_so_and_it_stays(
    app: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_core.library.library.CHANGE_SECONDS", 0.05)
    page = opened(app)
    choose_document(page, CONTRACT)
    page.button(key=f"ask_delete_{CONTRACT}").click().run()

    with Collection(library, "default").writing():
        page.button(key=f"sure_delete_{CONTRACT}").click().run()

    assert "are being written by another process" in texts(page)
    assert "smlouva-o-dodavce.pdf" in set(page.dataframe[0].value["name"])


def test_given_problems_of_every_kind_when_shown_then_each_has_its_own_remedy() -> None:
    """S3-20: what to do next; the sentences are the PDF reader's own."""
    sources = [
        *(INGEST / "reading" / f"{name}.py" for name in ("pdf", "pdf_findings", "pdf_process", "recognition")),
        INGEST / "reading" / "ocr_engines.py",
        *sorted((INGEST / "pdf_worker").rglob("*.py")),
    ]
    reader = "\n".join(path.read_text(encoding="utf-8") for path in sources)

    assert [
        words for words in details.REMEDIES if words not in reader and not words.startswith("hidden text were")
    ] == []
    struck = next(key for words, key in details.REMEDIES.items() if words in struck_out([(1, 40)]))
    assert struck in details.NO_PROBLEMS
    assert {f"documents.remedy_{key}" for key in [*details.REMEDIES.values(), "other"]} <= set(screen())


@each(
    ("size", "words"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (94_213, "94.2 KB"), (4_200_000, "4.2 MB"), (3e9, "3.0 GB")],
)
def test_given_bytes_when_put_into_words_then_they_have_their_unit(size: float, words: str) -> None:
    assert catalogue.size_in_words(int(size)) == words


def test_given_a_language_when_named_then_it_is_in_words_and_an_unknown_code_is_shown() -> None:
    assert [catalogue.language_name(code) for code in ("cs", "no", "und", "qq")] == [
        "Czech",
        "Norwegian",
        "not determined",
        "other (qq)",
    ]


def test_given_files_that_another_process_is_at_work_on_then_the_page_says_so_and_offers_to_resume_them_when_that_has_ended(  # noqa: E501
    app: AppTest, library: Path
) -> None:
    settle(app)
    hand_in(library, "default", [text_source("note", "A note that waits.")], {})

    with writing(library / "default", 1):
        page = app.switch_page("pages/documents.py").run()
        assert say("documents.in_work", n=1) in [one.value for one in page.info]
        assert "They may be in work: another process writes to this collection." in texts(page)
        assert "note" in texts(page)
        assert not by_key(page, "FormSubmitter:resume")
        assert not by_key(page, "ask_discarding")

    page.run()

    assert say("documents.in_work", n=1) not in [one.value for one in page.info]
    assert say("documents.unfinished", n=1) in [one.value for one in page.warning]
    assert by_key(page, "FormSubmitter:resume")

"""The page of the library: what was found while reading, metadata, deletion, and files that were interrupted."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hostile import make
from page_kit import by_key, settle, texts
from streamlit.testing.v1 import AppTest

from rag_core.errors import InvalidInput
from rag_core.ingest.sources import Source
from rag_core.settings import Settings
from rag_core.wiring import build_engine
from ui import state
from ui.first_run import SAMPLES
from ui.metadata import free_values

CONTRACT = "sha256:" + hashlib.sha256((SAMPLES / "smlouva-o-dodavce.pdf").read_bytes()).hexdigest()


def opened(app: AppTest) -> AppTest:
    settle(app)
    return app.switch_page("pages/documents.py").run()


def submit(page: AppTest, form: str) -> AppTest:
    return page.button(key=by_key(page, f"FormSubmitter:{form}")[0]).click().run()


def test_given_the_samples_when_listed_then_each_row_says_what_reading_it_found(app: AppTest, library: Path) -> None:
    page = opened(app)

    table = page.dataframe[0].value.set_index("name")
    assert len(table) == len(list(SAMPLES.glob("*.pdf")))
    contract = table.loc["smlouva-o-dodavce.pdf"]
    assert (contract["pages"], contract["language"], contract["cut"], contract["date"]) == (3, "⚠ Czech", "legal", "2026-01-15")
    assert contract["passages"] > 10
    page.selectbox(key="document").set_value(CONTRACT).run()
    assert "Cut as legal: 11 numbered clauses" in texts(page)


def test_given_metadata_when_edited_then_they_are_kept_and_the_title_is_shown(app: AppTest, library: Path) -> None:
    """S3-28, S2-27: title, date, authority, verified and free keys of a document."""
    page = opened(app)
    page.selectbox(key="document").set_value(CONTRACT).run()

    page.text_input(key=f"title_{CONTRACT}").set_value("Dodávka průtokoměrů")
    page.text_input(key=f"authority_{CONTRACT}").set_value("0.9")
    page.checkbox(key=f"verified_{CONTRACT}").set_value(True)
    page.text_area(key=f"free_{CONTRACT}").set_value("class = 10\nsubject=law")
    submit(page, f"metadata_{CONTRACT}")

    kept = build_engine(library, "default").library.snapshot.document(CONTRACT).metadata
    assert (kept.title, kept.date, kept.authority, kept.verified) == ("Dodávka průtokoměrů", "2026-01-15", 0.9, True)
    assert dict(kept.values) == {"class": "10", "subject": "law"}
    assert "Dodávka průtokoměrů" in set(page.dataframe[0].value["title"])


def test_given_a_date_that_is_none_when_saved_then_the_page_says_what_is_right_and_nothing_changes(app: AppTest, library: Path) -> None:
    page = opened(app)
    page.selectbox(key="document").set_value(CONTRACT).run()

    page.text_input(key=f"date_{CONTRACT}").set_value("last spring")
    submit(page, f"metadata_{CONTRACT}")

    assert "What to do: Give YYYY, YYYY-MM or YYYY-MM-DD." in texts(page)
    assert build_engine(library, "default").library.snapshot.document(CONTRACT).metadata.date == "2026-01-15"


@pytest.mark.parametrize("line", ["no equals sign", "=value", "title=twice", "verified=true"])
def test_given_a_free_value_without_a_key_of_its_own_when_read_then_it_is_refused(line: str) -> None:
    with pytest.raises(InvalidInput):
        free_values(f"class=10\n{line}")


def test_given_a_document_when_deleted_then_it_is_asked_once_more_and_then_gone(app: AppTest, library: Path) -> None:
    page = opened(app)
    page.selectbox(key="document").set_value(CONTRACT).run()

    page.button(key=f"ask_delete_{CONTRACT}").click().run()
    page.button(key=f"keep_delete_{CONTRACT}").click().run()
    assert "smlouva-o-dodavce.pdf" in set(page.dataframe[0].value["name"])
    page.button(key=f"ask_delete_{CONTRACT}").click().run()
    page.button(key=f"sure_delete_{CONTRACT}").click().run()

    assert not page.exception
    assert "smlouva-o-dodavce.pdf" not in set(page.dataframe[0].value["name"])
    assert page.session_state[f"delete_{CONTRACT}"] is False  # added again later, it is asked about again


def test_given_all_samples_deleted_when_started_again_then_they_do_not_come_back(app: AppTest, library: Path) -> None:
    kept = build_engine(library, "default").library
    for document in kept.snapshot.documents:
        kept.delete(document.id)

    page = opened(app)

    assert "There are no documents yet." in page.info[0].value
    assert build_engine(library, "default").library.snapshot.documents == ()


def test_given_an_interrupted_file_when_resumed_then_it_is_indexed(app: AppTest, library: Path) -> None:
    report = build_engine(library, "default").library.add(
        [Source("half.pdf", make.document("The bridge is 412 metres long.").tobytes(), "pdf")], Settings.load(), cancelled=lambda: True
    )
    assert report.cancelled
    page = opened(app)
    assert "half.pdf" in texts(page)

    submit(page, "resume")
    settle(page)

    assert "half.pdf" in set(page.dataframe[0].value["name"])
    assert not by_key(page, "FormSubmitter:resume")


def test_given_an_interrupted_encrypted_file_when_resumed_with_its_password_then_it_is_indexed(app: AppTest, library: Path) -> None:
    locked = Source("locked.pdf", make.encrypted(), "pdf", password="open sesame")
    build_engine(library, "default").library.add([locked], Settings.load(), cancelled=lambda: True)
    page = opened(app)

    page.text_input(key="resume_password_0").set_value("open sesame")
    submit(page, "resume")
    settle(page)

    assert "locked.pdf" in set(page.dataframe[0].value["name"])


def test_given_hidden_text_and_unreadable_pages_when_listed_then_both_are_counted_and_explained(app: AppTest, library: Path) -> None:
    settings = Settings.load(values={"ocr": False})
    sources = [
        Source("hidden.pdf", make.hidden_text(), "pdf"),
        Source("scan.pdf", make.scanned(stamp="Confidential copy number 7"), "pdf"),
    ]
    added = build_engine(library, "default").library.add(sources, settings).added
    page = opened(app)

    table = page.dataframe[0].value.set_index("name")

    assert table.loc["hidden.pdf", "hidden"] > 0
    assert table.loc["scan.pdf", "unreadable"] == 1
    page.selectbox(key="document").set_value(added[1].id).run()
    assert "Could not be read: Page 1." in texts(page)


def test_given_a_library_of_the_users_own_documents_when_opened_then_the_samples_are_not_added(app: AppTest, empty_library: Path) -> None:
    own = Source("own.pdf", make.document("The bridge is 412 metres long.").tobytes(), "pdf")
    build_engine(empty_library, "default").library.add([own], Settings.load())

    page = opened(app)

    assert list(page.dataframe[0].value["name"]) == ["own.pdf"]


def test_given_no_library_yet_when_opened_then_the_samples_are_indexed_once_and_progress_shows(app: AppTest, empty_library: Path) -> None:
    app.run()
    assert "Indexing the sample documents" in texts(app)

    page = opened(app)

    assert len(page.dataframe[0].value) == len(list(SAMPLES.glob("*.pdf")))
    generation = state.engine().library.snapshot.generation
    settle(page)
    assert state.engine().library.snapshot.generation == generation

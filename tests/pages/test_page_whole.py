"""The viewer over a whole document: what it opens at, what a search finds and marks, and the PDF for the browser's own
viewer.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from page_kit import ask, asked_of, captions
from streamlit.testing.v1 import AppTest

from rag_core.domain.acts import Action
from rag_core.domain.documents import Box
from rag_core.work import loading
from ui.app import state
from ui.app.texts import say
from ui.documents import original, whole
from ui.documents.place import Place

VACATION = "How many vacation days do employees have?"
SPEED = "How do I set the zero point of the meter?"  # two sentences of one page
MANUAL, POLICIES = "flow-meter-manual.pdf", "company-policies.pdf"


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, tuple[Box, ...]]]:
    """Page and marks of what was drawn whole; no picture is made."""
    calls: list[tuple[int, tuple[Box, ...]]] = []

    def kept(_: str, page: int, boxes: tuple[Box, ...]) -> bytes:
        calls.append((page, tuple(boxes)))
        return b""

    monkeypatch.setattr(whole, "picture", kept)
    return calls


def test_given_an_answer_when_its_document_is_opened_then_it_opens_at_the_page_with_all_that_is_cited_marked(
    page: AppTest, drawn: list[tuple[int, tuple[Box, ...]]]
) -> None:
    ask(page, SPEED)
    cited = asked_of(page).decision.citations
    here = [one for one in cited if one.document_id == cited[0].document_id]
    assert len(here) > 1

    page.button(key="whole_open").click().run()

    assert drawn == [(cited[0].page, tuple(box for one in here for at, box in one.boxes if at == cited[0].page))]
    assert say("whole.marked_cited") in captions(page)
    (link,) = page.get("link_button")
    assert link.proto.url == original.address(state.session().collection, cited[0].document_id, cited[0].page)
    page.run()
    assert len(drawn) == 1, "whoever closed it is not shown it again"


def test_given_words_when_looked_for_then_each_place_is_counted_and_marked(
    page: AppTest, drawn: list[tuple[int, tuple[Box, ...]]]
) -> None:
    ask(page, VACATION)
    place = Place.of(asked_of(page).decision.citations[0])
    page.session_state[f"whole_page_{place.document}_{place.page}_words"] = "full-time\n EMPLOYEE"

    page.button(key="whole_open").click().run()

    engine = state.engine()
    document = engine.library.snapshot.document(place.document)
    hits = whole.find(engine, document, "full-time employee")
    assert hits
    for hit in hits:
        said = engine.library.snapshot.page_text(document.id, hit.page)[hit.start : hit.end]
        assert " ".join(said.casefold().split()) == "full-time employee"
    here = [hit for hit in hits if hit.page == place.page]
    assert drawn == [(place.page, whole.marked(engine, document, here))]
    assert len(drawn[0][1]) >= len(here)
    assert say("whole.marked_hits", n=len(here)) in captions(page)
    pages = sorted({hit.page for hit in hits})
    assert say("whole.hits", n=len(hits), pages=len(pages)) in captions(page)
    there = [button.label for button in page.button if re.search(r"_page_\d+$", str(button.key))]
    assert there == ([say("whole.page_found", n=number) for number in pages] if len(pages) > 1 else [])
    assert whole.find(engine, document, "(.*") == ()
    assert whole.find(engine, document, "  ") == ()


def test_given_an_address_when_asked_then_the_pdf_comes_as_it_was_handed_in_and_is_noted_and_nothing_else_does(
    page: AppTest, library: Path
) -> None:
    document = state.engine().library.snapshot.find(MANUAL)[0]
    collection = state.session().collection

    sent = original._read(collection, document.id)

    assert (sent.status_code, sent.media_type) == (200, "application/pdf")
    assert sent.body == state.engine().library.source(document.id)
    loading.forget(library, collection)  # as when others opened so many collections that this one was closed
    assert original._read(collection, document.id).body == sent.body
    lines = [json.loads(line) for line in (library / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (lines[-1]["action"], lines[-1]["object"]) == (Action.EXPORT, document.id)
    assert original._read(collection, "sha256:none").status_code == 404
    assert original._read("../" + collection, document.id).status_code == 404
    assert original._read("never-opened", document.id).status_code == 404


def test_given_the_documents_page_when_a_document_is_read_then_it_opens_at_the_chosen_page_with_nothing_marked(
    page: AppTest, drawn: list[tuple[int, tuple[Box, ...]]]
) -> None:
    page.switch_page("pages/documents.py").run()
    number = next(field for field in page.number_input if (field.key or "").startswith("page_of_"))
    number.set_value(2).run()

    page.button(key="whole_open").click().run()

    assert drawn == [(2, ())]
    assert say("whole.marked_none") in captions(page)

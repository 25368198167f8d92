"""Deleting the whole collection on the Documents page: its name is typed, it goes with all of it, and the page goes on
in another one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from page_kit import ask, collection_field, session_of, settle, texts
from streamlit.testing.v1 import AppTest

from rag_core.domain import acts
from rag_core.domain.acts import acting
from rag_core.errors import LibraryBusy
from rag_core.library.disk.lock import writing
from rag_core.service.people import Person, Right
from rag_core.wiring import act_log, make_collection, records
from rag_core.work import runner as dropping
from rag_core.work.runner import Runner
from ui.app.people import visitor
from ui.app.texts import say
from ui.ask.waiting import EXAMPLES


def fields(app: AppTest) -> list[str]:
    """The field in which the name is typed, where it is there."""
    return [field.key for field in app.text_input if (field.key or "").startswith("drop_name_")]


def typed(app: AppTest, name: str) -> AppTest:
    """Type a name, and press the button."""
    app.text_input(key=fields(app)[0]).set_value(name)
    return next(button for button in app.button if button.label == say("dropping.sure")).click().run()


@pytest.fixture
def documents(page: AppTest, library: Path) -> AppTest:
    """The Documents page over the samples, after a question, with another collection beside them."""
    make_collection(library, "plans")
    ask(settle(page), EXAMPLES[0][0])
    return page.switch_page("pages/documents.py").run()


def test_given_another_name_when_it_is_typed_then_nothing_is_deleted(documents: AppTest, library: Path) -> None:
    for wrong in ("", "plans", "DEFAULT", "default x"):
        typed(documents, wrong)
        assert say("dropping.wrong") in [one.value for one in documents.warning], wrong
    assert (library / "default" / "collection.sqlite").exists()


def test_given_its_name_when_it_is_typed_then_the_collection_is_gone_and_the_page_goes_on(
    documents: AppTest, library: Path
) -> None:
    assert len(records(library, "default").decisions(9)) == 1

    typed(documents, say("collections.own"))

    assert say("dropping.done") in [one.value for one in documents.toast]
    assert not (library / "default").exists()
    assert not [path for path in library.iterdir() if path.name.startswith(".gone")]
    assert session_of(documents).history == []
    assert session_of(documents).asked is None
    assert (library / "plans").is_dir()
    assert ("delete_collection", "default") in [(row.action, row.collection) for row in act_log(library).entries()]
    assert records(library, "default").decisions(9) == ()
    documents.run()
    assert say("dropping.done") not in [one.value for one in documents.success]
    assert collection_field(documents).options == [say("collections.own"), "plans"]


def test_given_somebody_who_may_not_delete_then_it_is_not_offered_and_not_done(
    documents: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    eda = Person("user:eda@example.org", "", (), frozenset({Right.ASK, Right.UPLOAD})).actor
    assert fields(documents) == ["drop_name_default"]
    monkeypatch.setattr(visitor, "who", lambda: eda)
    monkeypatch.setattr(acts, "_process", [visitor.who])
    assert fields(documents.run()) == []
    with acting(eda):
        with pytest.raises(Exception, match="not open to you"):
            dropping.drop(library, "default", Runner())
    assert (library / "default" / "collection.sqlite").exists()


def test_given_another_process_that_writes_when_it_is_dropped_then_nothing_is_lost_and_the_page_says_who(
    documents: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dropping, "LOCK_SECONDS", 0.1)
    with writing(library / "default", 1):
        typed(documents, "default")
        with pytest.raises(LibraryBusy):
            dropping.drop(library, "default", Runner())

    assert "being written by another process" in texts(documents) + "".join(one.value for one in documents.error)
    assert (library / "default" / "collection.sqlite").exists()

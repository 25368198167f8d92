"""A question over several collections: ranked together, each document once, and never over a collection that was not
named.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from library_kit import HashEmbedder, library, text

from rag_core import Settings
from rag_core.adapters.index.flat import FaissStore
from rag_core.decision.tools import Tools
from rag_core.domain.decision import Decision
from rag_core.engine import decided, measured_on
from rag_core.entrypoints.cli import main
from rag_core.entrypoints.commands import library as commands
from rag_core.errors import InvalidInput
from rag_core.library.joined import Joined, joined
from rag_core.wiring import act_log, joined_corpus

SETTINGS = Settings.load("open")
NOTICE = "The notice period of the lease is 30 days."
MANUAL = "The pump is inspected every five years."
SECRET = "The notice period of the lease is a secret of the board."  # in a collection that nobody names


def filled(folder: Path) -> Path:
    contents = {
        "contracts": [text("lease", NOTICE, language="en"), text("both", "The canteen serves soup.", language="en")],
        "manuals": [text("pump", MANUAL, language="en"), text("both", "The canteen serves soup.", language="en")],
        "board": [text("minutes", SECRET, language="en")],
    }
    for name, sources in contents.items():
        assert not library(folder, name).add(sources, SETTINGS).problems
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("joined"))


def over(folder: Path, *names: str) -> Joined:
    return joined([library(folder, name).snapshot for name in names], FaissStore(16))


def ask(corpus: Joined, question: str, settings: Settings = SETTINGS, **only: object) -> Decision:
    return decided(measured_on(corpus, Tools(HashEmbedder()), question, settings, **only))  # type: ignore[arg-type]


def test_given_two_collections_then_each_question_is_answered_from_the_one_that_holds_it(folder: Path) -> None:
    """S4-4: one question over several collections, ranked together."""
    both = over(folder, "contracts", "manuals")

    for question, document, said in (
        ("What is the notice period?", "lease", NOTICE),
        ("When is the pump inspected?", "pump", MANUAL),
    ):
        decision = ask(both, question)
        assert decision.citations[0].document == document
        assert said.removesuffix(".") in decision.answer
        assert {name for name, _ in decision.retrieved} <= {"lease", "pump", "both"}


def test_given_a_word_of_one_passage_then_the_common_lexical_index_finds_that_passage_alone(folder: Path) -> None:
    """S4-4: words are looked for in the passages of all the collections, each with its own."""
    both = over(folder, "contracts", "manuals")

    for question, document in (
        ("What is the notice period?", "lease"),
        ("When is the pump inspected?", "pump"),
        ("Who serves soup?", "both"),
    ):
        lexical = {name: hit.lexical for name, hit in ask(both, question).retrieved}
        assert lexical[document] > 0
        assert [name for name, score in lexical.items() if score == max(lexical.values())] == [document]


def test_given_a_collection_that_was_not_named_then_nothing_of_it_is_found(folder: Path) -> None:
    """S4-4, S3-25: what it holds is no passage, no name and no word that counts."""
    decision = ask(over(folder, "manuals", "contracts"), "What is the notice period of the lease of the board?")

    assert "secret" not in str(decision.to_json())
    assert "minutes" not in {name for name, _ in decision.retrieved}
    assert "minutes" in {
        name for name, _ in ask(over(folder, "contracts", "board"), "What is a secret of the board?").retrieved
    }


def test_given_the_distance_cut_then_passages_of_all_the_collections_are_filtered_and_counted(folder: Path) -> None:
    """S4-4, S4-1: the counts are of both; a document that both hold is there once."""
    both = over(folder, "contracts", "manuals")

    near = ask(both, NOTICE, SETTINGS.changed(max_distance=0.1))
    whole = ask(both, NOTICE, SETTINGS.changed(max_distance=2.0))

    assert (near.metadata["filtered_count"], whole.metadata["filtered_count"], whole.metadata["raw_count"]) == (1, 3, 3)
    assert [document.name for document in both.documents] == ["lease", "both", "pump"]
    assert both.version == sum(library(folder, name).snapshot.version for name in ("contracts", "manuals"))


def test_given_documents_to_search_then_they_are_found_in_any_of_the_collections(folder: Path) -> None:
    both = over(folder, "contracts", "manuals")

    assert [both.passages[row].document for row in both.rows(["pump", "both"], {}) or ()] == [
        one.id for name in ("both", "pump") for one in both.documents if one.name == name
    ]
    assert both.rows(None, {"name": "pump"}) == [2]
    assert both.rows(None, {"name": "nothing"}) == []
    with pytest.raises(InvalidInput, match="minutes"):
        both.rows(["minutes"], {})


def test_given_a_collection_without_documents_when_joined_then_it_is_an_error_and_nothing_is_made(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="'nobody' has no documents"):
        joined_corpus(folder, ("nobody",), Tools(HashEmbedder()))
    assert not (folder / "nobody").exists()


def test_given_the_command_with_also_when_asked_then_both_are_searched_and_each_notes_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """S4-4: as a user asks, one question or a file; where a name is wrong nothing is asked and nothing noted."""
    monkeypatch.setattr(commands, "ready_tools", lambda settings: Tools(HashEmbedder()))
    ask = ["ask", "--library", str(folder), "--collection", "contracts", "--preset", "open"]

    assert main([*ask, "--also", "manuals", "--json", "When is the pump inspected?"]) == 0
    assert json.loads(capsys.readouterr().out)["citations"][0]["document"] == "pump"
    noted = [(one.action, one.collection) for one in act_log(folder).entries() if one.action == "ask"]
    assert noted == [("ask", "contracts"), ("ask", "manuals")]
    assert main([*ask, "--also", "nobody", "When?"]) == 1
    assert main([*ask, "--also", "manuals", "--documents", str(folder), "--", "When?"]) == 1
    assert sum(one.action == "ask" for one in act_log(folder).entries()) == 2

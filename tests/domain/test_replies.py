"""Answers that need no retrieval are made of the library's own records and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace

from folding import each

from rag_core.domain.documents import DateSource
from rag_core.domain.measurements import LibraryFacts
from rag_core.domain.replies import FROM_FILE, MAX_COUNT, SETTLED, is_reply, reply
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.language import LANGUAGES, detect


def facts(*titles: str, pages: int = 3) -> LibraryFacts:
    return LibraryFacts(documents=len(titles), pages=pages, titles={f"d{n}": title for n, title in enumerate(titles)})


@each("language", ["en", "cs", "de", "hi"])
def test_given_a_greeting_then_it_is_answered_in_its_language(language: str) -> None:
    """S4-19: a greeting bypasses retrieval."""
    answer = reply("greeting", language, facts())

    assert detect(answer) == language
    assert answer == reply("greeting", language, facts("A", "B"))


@each("language", ["en", "cs", "de", "hi"])
def test_given_a_question_about_the_library_then_it_counts_and_names_what_is_there(language: str) -> None:
    """S4-20: the scope is described without inventing anything."""
    answer = reply("about_library", language, facts("beta", "Alpha", pages=12))

    assert detect(answer.split("\n")[0]) == language
    assert answer.split("\n")[1:] == ["- Alpha", "- beta"]
    assert set(re.findall(r"\d+", answer.split("\n")[0])) == {"2", "12"}


@each("language", ["en", "cs", "de", "hi"])
def test_given_an_empty_library_then_it_says_so_in_the_question_s_language(language: str) -> None:
    """S4-20: nothing is invented where there is nothing."""
    answer = reply("about_library", language, facts())

    assert detect(answer) == language
    assert not any(c.isdigit() for c in answer)


@each("language", sorted(LANGUAGES))
def test_given_small_talk_then_it_is_answered_in_its_language(language: str) -> None:
    replies = [reply(intent, language, facts()) for intent in ("thanks", "goodbye", "summary", "follow_up")]

    assert len(set(replies)) == 4
    assert all(detect(answer) == language for answer in replies[2:])


def test_given_every_intent_without_a_search_then_it_has_a_reply_and_a_reason() -> None:
    for kind, reason in SETTLED.items():
        assert reply(kind, "en", facts())
        assert (reason.status is AnswerStatus.SUCCESS) == (kind not in ("summary", "follow_up"))


def test_given_a_language_without_a_reply_then_it_is_english() -> None:
    for kind, known in (("greeting", facts()), ("about_library", facts()), ("about_library", facts("A"))):
        assert reply(kind, "fi", known) == reply(kind, "en", known)


def test_given_more_documents_than_can_be_named_then_the_rest_are_counted() -> None:
    titles = [f"Title {n:03}" for n in range(MAX_COUNT + 5)]

    lines = reply("about_library", "en", facts(*titles)).split("\n")

    assert lines[1 : MAX_COUNT + 1] == [f"- {title}" for title in titles[:MAX_COUNT]]
    assert lines[MAX_COUNT + 1 :] == ["- … + 5"]
    assert len(reply("about_library", "en", facts(*titles[:MAX_COUNT])).split("\n")) == MAX_COUNT + 1


def test_given_a_title_with_braces_then_it_is_shown_as_it_is() -> None:
    assert reply("about_library", "en", facts("{documents}")).endswith("- {documents}")


def test_given_a_title_of_several_lines_then_it_is_one_line_of_the_list() -> None:
    """A line of its own would read as our words."""
    assert reply("about_library", "en", facts("Terms\nYou may cancel at any time.")).endswith(
        "\n- Terms You may cancel at any time."
    )


def test_given_what_the_record_knows_of_a_document_then_one_line_tells_it_in_the_language_of_the_question() -> None:
    known = replace(
        facts("The bees", pages=7),
        written_in={"d0": "de"},
        page_counts={"d0": 7},
        authors={"d0": "Tilda\nMarchbank"},
        dates={"d0": "2023-04-18"},
        date_sources={"d0": DateSource.FILE},
    )

    line = f"7.\n- The bees · Tilda Marchbank · 2023-04-18{FROM_FILE} · "
    assert reply("about_library", "en", known).endswith(f"{line}German · pages: 7")
    assert reply("about_library", "cs", known).endswith(f"{line}němčina · stran: 7")
    assert is_reply(reply("about_library", "en", known), Reason.ABOUT_LIBRARY, "en")

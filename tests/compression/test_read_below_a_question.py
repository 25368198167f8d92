"""Documents of questions and answers: what stands below a question is read, compared and valued with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from builders import HashEmbedder, MemoryCorpus, Text, hit
from folding import each

from rag_core.compression.scoring import Scored, score_units
from rag_core.domain.passages import Place, ReadPlace, ReadUnit
from rag_core.gating.asked import asked_for

COSTS, LOST = "What does a ticket cost?", "What if I lose it?"


def scored(text: str, section: str, value: tuple[int, int] = (0, 0)) -> tuple[list[Scored], list[Place], list[str]]:
    """The units of a passage, the places that were read, and the texts that were compared."""
    corpus = MemoryCorpus([Text("faq", text)], HashEmbedder())
    hits = [hit(of=replace(one, section=section)) for one in corpus.passages]
    places, compared = list[Place](), list[str]()

    def read(some: Sequence[Place]) -> list[ReadPlace]:
        places.extend(some)
        return [ReadPlace(1.0, tuple(ReadUnit(1.0, value, 0.9) for _ in place.units)) for place in some]

    def near(texts: Sequence[str]) -> list[float]:
        compared.extend(texts)
        return [0.5 for _ in texts]

    return score_units(hits, asked_for(COSTS, "en"), corpus.page_text, near=near, read=read), places, compared


def test_given_a_question_in_a_text_then_what_follows_is_read_and_compared_with_it_up_to_the_next_question() -> None:
    found, (place, *_), compared = scored(
        f"All prices hold this year. {COSTS} Adults pay 95 euros. Dogs pay four. {LOST} We make one.", "Fees"
    )

    with_it = [f"{COSTS} Adults pay 95 euros.", f"{COSTS} Dogs pay four.", f"{LOST} We make one."]
    assert place == Place("Fees", ("All prices hold this year.", COSTS, with_it[0], with_it[1], LOST, with_it[2]))
    assert compared == ["All prices hold this year.", *with_it]
    assert [one.unit.text for one in found] == [
        "All prices hold this year.",
        "Adults pay 95 euros.",
        "Dogs pay four.",
        "We make one.",
    ]


def test_given_a_question_as_the_innermost_heading_then_it_is_read_before_each_sentence_and_not_as_a_heading() -> None:
    _, (place, *_), _ = scored("Adults pay 95 euros.", f"Fees › {COSTS}")

    assert place == Place("Fees", (f"{COSTS} Adults pay 95 euros.",))


@each(
    "value, characters, sure",
    [
        ((len(COSTS) + 1 + 11, len(COSTS) + 1 + 19), (11, 19), 0.9),  # 95 euros
        ((0, 4), (0, 0), 0.0),  # a value that begins in the question is none
    ],
)
def test_given_a_value_then_its_characters_are_counted_without_the_question(
    value: tuple[int, int], characters: tuple[int, int], sure: float
) -> None:
    (one,), *_ = scored("Adults pay 95 euros.", COSTS, value)

    assert (one.value, one.sure) == (characters, sure)

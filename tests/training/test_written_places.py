"""The places that were written to train the reader on: each answer stands where it is said to, and none held out is
read.
"""

from __future__ import annotations

from training.files import rows
from training.reader.places import FILE, document, sets, to_train_on
from training.reader.rows import Rows

PLACE = {
    "lang": "en",
    "place": "Rules › Fees",
    "units": ["Boat | Fee", "Canoe | 8 euros", "Kayak | 9 euros"],
    "asked": [
        {"q": "What does a canoe cost?", "gold": [1], "answer": "8 euros"},
        {"q": "Was kostet ein Floß?", "gold": [], "answer": "", "lang": "de"},
        {"q": "How do I book?", "gold": [2], "answer": ""},
    ],
}


def test_given_all_places_then_each_answer_stands_word_for_word_in_a_unit_that_answers() -> None:
    for place in rows(FILE):
        for asked in place["asked"]:
            assert all(0 <= unit < len(place["units"]) for unit in asked["gold"])
            assert not asked["answer"] or any(asked["answer"] in place["units"][unit] for unit in asked["gold"])


def test_given_a_place_then_its_questions_are_read_in_it_and_across_languages() -> None:
    found = Rows()
    found.add(to_train_on(PLACE))
    canoe, raft, booking = found.train or found.held
    assert (canoe.spans, raft.spans, booking.spans) == ({1: (8, 15)}, {}, {2: None})
    assert (raft.language, raft.context.language, raft.context.place) == ("de", "en", "Rules › Fees")


def test_given_places_then_each_is_asked_alone_and_among_all_and_no_procedure_is() -> None:
    made = sets([PLACE, PLACE])
    assert document(PLACE, "d0")["text"] == "Fees\n\nBoat\tFee\nCanoe\t8 euros\nKayak\t9 euros"
    assert [len(files["questions"]) for files in made.values()] == [4, 4]
    assert [files["questions"][0]["documents"] for files in made.values()] == [["d0"], ["d0", "d1"]]
    assert [one["answers"] for one in made["own-all"]["gold"]] == [["8 euros"], [], ["8 euros"], []]

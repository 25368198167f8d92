"""A question is changed to one that its sentence does not answer: the trained model learns from these what nearly
answers.
"""

from __future__ import annotations

import random

from training.reader.changed import changed


def test_given_a_number_a_name_or_a_degree_then_the_question_is_changed_to_what_the_sentence_does_not_hold() -> None:
    said = "The Ardun bridge was opened in 1931."

    number = changed(
        "What was opened in 1931?", f"{said} The Ardun harbour was dug in 1902.", said, "en", random.Random(0)
    )
    name = changed("Who opened the Ardun bridge?", f"{said} Then Willem Bos opened it.", said, "en", random.Random(0))
    degree = changed(
        "who built the largest mill?",
        "The largest mill stands there.",
        "The largest mill stands there.",
        "en",
        random.Random(0),
    )

    assert number == "What was opened in 1902?"
    assert name == "Who opened the Willem Bos bridge?"
    assert degree == "who built the smallest mill?"
    assert changed("who ran it?", said, said, "en", random.Random(0)) is None


def test_given_another_language_or_none_in_common_then_figures_are_changed_and_nothing_else() -> None:
    hindi, said = "बस 12 कब चलती है?", "बस 12 सात बजे चलती है। बस 14 नौ बजे चलती है।"

    assert changed(hindi, said, "बस 12 सात बजे चलती है।", "hi", random.Random(0)) == "बस 14 कब चलती है?"
    assert (
        changed("Kdy odjíždí autobus 12?", said, "बस 12 सात बजे चलती है।", "", random.Random(0))
        == "Kdy odjíždí autobus 14?"
    )
    assert (
        changed("Who opened the Ardun bridge?", "Willem Bos opened it.", "It was opened.", "", random.Random(0)) is None
    )

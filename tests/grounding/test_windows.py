"""What a verifier is given to read of a long text: how much, from where, in what order; and how many sentences a window
has.
"""

from __future__ import annotations

from hash_embedder import HashEmbedder

from rag_core.grounding.windows import READ_WORDS, best_windows, readings

EMBEDDER = HashEmbedder()
# eleven words each
FILLER = [f"Section {number} tells of the old garden behind the brick house." for number in range(60)]
KEY = "The supplier delivers copper pumps to the warehouse in Brno within ten days."
OTHER = "Copper pumps come with a warranty from the supplier of two years."
CLAIM = "The supplier delivers copper pumps to Brno."


def text_of(*placed: tuple[int, str]) -> str:
    """The filler with these sentences in place of some."""
    return " ".join({**dict(enumerate(FILLER)), **dict(placed)}[at] for at in range(len(FILLER)))


def test_given_a_text_of_at_most_220_words_then_it_is_read_whole_and_a_longer_one_in_parts() -> None:
    whole, longer = " ".join(FILLER[:20]), " ".join(FILLER[:20]) + " Behind."

    assert len(whole.split()) == 220
    assert readings(CLAIM, whole, "en") == (whole,)
    assert longer not in readings(CLAIM, longer, "en")


def test_given_a_long_text_then_it_is_read_around_the_best_place_and_around_the_second_best_in_full_windows() -> None:
    context = text_of((10, KEY), (50, OTHER))

    gathered, first, second = readings(CLAIM, context, "en")

    assert KEY in gathered
    assert OTHER in gathered
    assert KEY in first
    assert OTHER not in first
    assert OTHER in second
    assert all(part in context for part in (first, second))
    # as many sentences as fit, and no more: one more of eleven words would be past the limit
    assert READ_WORDS == 180  # as the verifier was fine-tuned on (training/support_rows.py)
    assert all(READ_WORDS - 11 < len(part.split()) <= READ_WORDS for part in (first, second))


def test_given_a_claim_without_words_or_sentences_all_too_long_then_something_is_read_all_the_same() -> None:
    context = text_of()

    assert readings("***", context, "en")[0].startswith(FILLER[0])
    assert all(part in " ".join(["a"] * 400) for part in readings("a b", " ".join(["a"] * 400), "en"))


def test_given_a_claim_made_of_three_sentences_then_they_are_one_window_and_never_four() -> None:
    parts = [
        "Alpha wins the blue cup.",
        "Bravo paints a red door.",
        "Charlie mends the green roof.",
        "Delta sells the white boat.",
    ]

    (found,) = best_windows(["Alpha cup, Bravo door, Charlie roof."], [" ".join(parts)], "en", EMBEDDER)
    assert " ".join(parts[:3]) in {window.text for window in found if window.lexical == 1.0}
    assert max(len(window.text.split(". ")) for window in found) == 3
    assert len(found) == 8  # of nine windows of one to three sentences

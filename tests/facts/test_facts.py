import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.facts import absent_facts, changed_facts, entities

TEXTS = {
    "en": (
        "Chapter 5 treats arithmetic progressions. The nth term of an AP is a + (n - 1)d. Dr. Marie Curie was not born "
        "on 7 May 1868.\n"
        "Net sales\t177,866\t135,987\t107,006 (in millions). Notice period is 30 days, or 5 % of $1.5 million, under "
        "ISO 9001 and § 12. "
        "No more than two invoices, e.g. A-123, may be unpaid without approval of the Bank of England."
    ),
    "cs": (
        "Smluvní pokuta činí 1 250,50 Kč, nejvýše však 5 %. Dodavatel nesmí předat údaje třetím osobám bez souhlasu "
        "Evropské unie. "
        "Smlouva č. A-123 byla uzavřena v Praze dne 12. 3. 2024. Není-li dohodnuto jinak, platí § 12 odst. 3. "
        "Tržby\t250\t300"
    ),
    "de": (
        "Der Auftraggeber haftet nicht für Schäden über 1.250,50 €. Angela Merkel unterschrieb am 12. März 2024. "
        "Die Frist beträgt mindestens zwei Wochen, höchstens jedoch 30 Tage nach Art. 5 Abs. 2 DSGVO."
    ),
    "hi": "वारंटी की अवधि २४ माह है। शुल्क १,२५,००० रुपये से अधिक नहीं होगा। अनुबंध 12 मार्च 2024 को हुआ।",
    "und": "Řízení ISO 9001 2019-05-06 n - 1 ≠ 5 % not 3,5.",
}


def kinds(text: str, lang: str) -> list[tuple[str, str]]:
    return [(entity.kind, entity.text) for entity in entities(text, lang)]


@each(
    ("text", "lang", "found"),
    [
        ("What was CVS Health's revenue in FY2022?", "en", [("name", "CVS Health"), ("year", "FY2022")]),
        ("Who was the CEO of Boeing in 2019?", "en", [("name", "CEO"), ("name", "Boeing"), ("year", "2019")]),
        (
            "Does ISO 9001 apply to the Bank of England after § 12?",
            "en",
            [("code", "ISO 9001"), ("name", "Bank of England"), ("code", "§ 12")],
        ),
        ("Notice periods: Which one applies?", "en", []),
        (
            "Is $1.5 million or 5 % due on March 12, 2024?",
            "en",
            [("number", "$1.5 million"), ("number", "5 %"), ("date", "March 12, 2024")],
        ),
        ("Gute Verträge gelten lange.", "de", []),
        ("NET SALES ROSE STRONGLY", "en", []),
        ("Is it in USD or in Kč?", "en", []),
        ("Is 5 m³ less than 10² or 2½ l?", "en", [("number", "5 m³"), ("number", "10²"), ("number", "2½ l")]),
        ("You may 5 times ask.", "en", [("number", "5")]),
        ("वारंटी की अवधि २४ माह कब से है?", "hi", [("number", "२४ माह")]),
        ("", "en", []),
    ],
)
def test_given_a_question_then_its_names_codes_years_and_numbers_are_found(
    text: str, lang: str, found: list[tuple[str, str]]
) -> None:
    assert kinds(text, lang) == found


@given(st.sampled_from(sorted(TEXTS)), st.text(max_size=40))
def test_given_any_text_then_every_entity_stands_at_its_offsets_in_order(lang: str, tail: str) -> None:
    text = TEXTS[lang] + tail
    found = entities(text, lang)
    assert all(text[entity.start : entity.end] == entity.text for entity in found)
    assert [entity.start for entity in found] == sorted(entity.start for entity in found)


def test_given_a_summary_that_turns_an_approval_round_then_it_does_not_pass_unseen() -> None:
    """S0-26: "without approval" is not "with approval"."""
    source = "Bez souhlasu Objednatele nesmí Dodavatel měnit rozsah plnění."
    assert changed_facts("Se souhlasem Objednatele smí Dodavatel měnit rozsah plnění.", source, "cs")
    assert changed_facts(source, source, "cs") == ()


@given(st.sampled_from(sorted(TEXTS)), st.data())
def test_given_a_sentence_that_stands_in_its_evidence_then_no_fact_is_changed(lang: str, data: st.DataObject) -> None:
    from rag_core.language import sentences

    spans = sentences(TEXTS[lang], lang)
    start, end = data.draw(st.sampled_from(spans))
    claim = " ".join(TEXTS[lang][start:end].split())
    before, after = (
        data.draw(st.sampled_from(["", "Not so, no 5: ", "\n\n", "Ne. "])),
        data.draw(st.sampled_from(["", "\n\nNein, 7 %."])),
    )
    assert changed_facts(claim, before + TEXTS[lang] + after, lang) == ()


@given(st.text(max_size=60), st.sampled_from(["en", "cs", "de", "hi", "und", "xx"]))
def test_given_any_text_as_its_own_evidence_then_no_fact_is_changed(text: str, lang: str) -> None:
    assert changed_facts(text, text, lang) == ()


@pytest.mark.parametrize(
    "claim",
    ["Net sales 177,866 135,987 107,006 (in millions).", "Year ended December 31, 2017 2016 Net sales 177,866 135,987"],
)
def test_given_a_row_of_a_table_with_its_header_then_no_fact_is_changed(claim: str) -> None:
    evidence = "Year ended December 31,\n2017\t2016\nNet sales\t177,866\t135,987\t107,006 (in millions)."
    assert changed_facts(claim, evidence, "en") == ()
    assert changed_facts("Tržby 250 300", "Tržby\t250\t300", "cs") == ()


def test_given_a_phrase_cut_out_of_a_negated_sentence_then_it_is_not_taken_for_a_quotation() -> None:
    assert changed_facts("the supplier is liable.", "It is not true that the supplier is liable.", "en")
    assert changed_facts("the supplier is liable.", "Not so: the supplier is liable.", "en") == ()


@each(
    "hostile",
    ["\x00" * 50, "9" * 5000, "1,2," * 2000, "А" * 3000, "- " * 3000, "\u0301" * 300, "A-1" * 1000, "٣٤٥ ৩৪", "½ ² ①"],
)
def test_given_hostile_text_then_it_ends_and_agrees_with_itself(hostile: str) -> None:
    assert changed_facts(hostile, hostile, "en") == ()
    assert isinstance(entities(hostile, "cs"), tuple)
    assert isinstance(changed_facts(hostile, "plain", "de"), tuple)


@each("lang", ["en-US", "qb-sg-ezozj", "wø\x8a", "zz", "und", ""])
def test_given_a_language_that_no_number_format_is_known_for_then_numbers_are_compared_all_the_same(lang: str) -> None:
    assert not absent_facts("It takes 25 days.", "It takes 25 days.", lang)
    assert absent_facts("It takes 26 days.", "It takes 25 days.", lang)


def test_given_a_long_text_then_what_stands_nowhere_in_it_is_absent() -> None:
    text = TEXTS["en"] * 50
    assert absent_facts("Marie Curie met Niels Bohr in 1927 for 30 days.", text, "en") == (
        ("number", "1927"),
        ("name", "Niels Bohr"),
    )


@each(
    ("claim", "kinds"),
    [
        ("Delivery of a pair of transducers takes 20 working days.", []),
        ("Delivery of a pair of transducers takes 20 days.", ["unit"]),
        ("Delivery of a pair of transducers takes 20 hours.", ["unit"]),
        ("Delivery of a pair of transducers takes 30 working days.", ["number"]),
    ],
)
def test_given_a_unit_of_two_words_in_a_cell_of_its_own_then_it_is_the_number_s(claim: str, kinds: list[str]) -> None:
    row = "Pair of transducers\tMK-40-T\t20\tworking days\nPart\tOrder number\tDelivery\tUnit"

    assert [kind for kind, _ in changed_facts(claim, row, "en")] == kinds

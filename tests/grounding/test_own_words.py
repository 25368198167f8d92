"""A model that may only leave out: whole sentences and whole cells, word for word, in four languages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from builders import claim, draft, hit, measured, passage
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.claims import Claim, Evidence
from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind, Piece, Role
from rag_core.grounding.omissions.back import announces, hangs, is_void, speaks_of_before, takes_back, takes_up
from rag_core.grounding.own_words import leaves_out_only, reworded
from rag_core.grounding.units import Unit
from rag_core.ingest.normalise import normalise
from rag_core.language import sentences

SENTENCES = {
    "en": "The deposit is 40 EUR (see the form), and the receipt is sent by post; the form is at the desk.",
    "cs": "Smlouva se uzavírá písemně (viz příloha); kopii obdrží objednatel.",
    "de": "Der Zähler wird jährlich geeicht (siehe Anhang); das Labor stellt eine Bescheinigung aus.",
    "hi": "नमूने को ठंडा रखा जाता है (तालिका देखें), और प्रयोगशाला को भेजा जाता है; रिपोर्ट डाक से आती है।",
    "fi": "Maksu on viisi euroa; lomake on tiskillä.",  # a language without lists
}
ALL_WORDS = sorted({word for text in SENTENCES.values() for word in text.split()})
WHOLE = [
    *SENTENCES.items(),
    ("en", SENTENCES["en"].rstrip(".")),
    ("en", f"{SENTENCES['en']} [3]"),
]
OTHER = [
    ("en", SENTENCES["en"], "The deposit is 40 EUR, and the receipt is sent by post; the form is at the desk."),
    ("en", SENTENCES["en"], "The deposit is not 40 EUR."),
    ("en", SENTENCES["en"], "The deposit is 40 EUR."),
    ("en", SENTENCES["en"], ""),
    ("en", "In fact, the old pump still runs.", "The old pump still runs."),
    ("en", "The gate alarm is armed; the alarm was sold.", "The gate alarm is armed."),
    ("en", "The ticket costs 90 euros.[3]", "The ticket costs 90 euros."),  # a note may take it back
    ("cs", SENTENCES["cs"], "Smlouva se uzavírá písemně."),
    ("hi", SENTENCES["hi"], "नमूने को ठंडा रखा जाता है।"),
    ("fi", SENTENCES["fi"], "Maksu on viisi euroa."),
    ("en", "It had –5 degrees.", "It had 5 degrees."),
    ("en", "Is it safe?", "It is safe."),
    ("en", "The result was (48,000 euros).", "The result was 48,000 euros."),
    ("en", "The seam is 9′ wide.", "The seam is 9″ wide."),
    ("en", "It needs 5 mW.", "It needs 5 MW."),
    ("en", "It pays US rates.", "It pays us rates."),
    ("en", "Bring a pen; stay out.", "Bring a pen, stay out."),
    ("en", "No price changes are planned.", "No, price changes are planned."),
    ("en", ".5 mg is given.", "5 mg is given."),
]


def only_less(text: str, source: str, language: str) -> bool:
    of = passage(1, source, language=language)
    return leaves_out_only(text, Unit(of, source, 0, len(source)), lambda document, page: source, language)


@each(("language", "text"), WHOLE)
def test_given_a_whole_sentence_with_its_stop_or_without_then_nothing_was_put_in(language: str, text: str) -> None:
    assert only_less(text, SENTENCES[language], language)


@each(("language", "source", "text"), OTHER)
def test_given_a_sign_or_a_word_more_less_or_elsewhere_then_it_is_worded_anew(language: str, source: str, text: str):
    assert not only_less(text, source, language)
    assert only_less(source, source, language)


@given(st.lists(st.sampled_from(ALL_WORDS), max_size=12), st.sampled_from(sorted(SENTENCES)))
def test_given_any_words_of_the_sentences_then_only_a_whole_sentence_passes(said: list[str], language: str) -> None:
    assert not only_less(" ".join(said), SENTENCES[language], language) or len(said) == len(SENTENCES[language].split())


ROWS = "Parameter\t2023\t2022\nNet sales\t12\t10\nStores\t7\t6\n"


def row(text: str, raw: str = ROWS) -> bool:
    """Whether a text is cells of the first row of a table."""
    start = raw.index("\n") + 1
    end = raw.index("\n", start)
    span, header, whole = Span(1, start, end), Span(1, 0, start - 1), Span(1, 0, len(raw))
    table = Passage("d1#1", "d1", raw, (whole,), kind=PassageKind.TABLE, language="en", header=(header,))
    unit = Unit(table, raw[start:end].replace("\t", " | "), start, end, (span,))
    return leaves_out_only(text, unit, lambda document, page: raw, "en")


@each("text", ["Net sales 2022: 10", "The net sales 2023 is 12.", "Net sales: 2023 12, 2022 10", "Net sales: 12, 10"])
def test_given_cells_of_a_row_with_their_heads_then_nothing_was_put_in(text: str) -> None:
    assert row(text)


@each(
    "text",
    [
        "Net sales: 10",
        "Net sales 2023: 10",
        "2022: 10",
        "Stores 2022: 10",
        "Net sales 2022: 12",
        "Net sales 2022: 10 million",
    ],
)
def test_given_a_figure_without_its_head_or_with_another_then_it_is_worded_anew(text: str) -> None:
    assert not row(text)


@each(
    ("cells", "text", "less"),
    [
        ("Hotel in London\t180 GBP\tonly with approval", "Hotel in London 180 GBP", False),
        ("Hotel in London\t180 GBP\tonly with approval", "Hotel in London 180 GBP only with approval", True),
        ("Hotel in London\t180 GBP\t", "Hotel in London 180 GBP", True),
        ("Fee\t5 EUR\tvoid since 2021", "Fee 2023 5 EUR", False),
        ("Fee\t5 EUR\t6 EUR", "Fee 2023 5 EUR", True),
        ("Fee\t5 EUR\t6 EUR unless paid early", "Fee 2023 5 EUR", False),
    ],
)
def test_given_a_cell_that_binds_the_others_when_left_out_then_it_is_no_mere_leaving_out(
    cells: str, text: str, less: bool
) -> None:
    assert row(text, f"Item\t2023\t2022\n{cells}\n") is less


@each(
    ("head", "cell", "text", "less"),
    [
        ("Sales (thousand EUR)", "12", "North 12", False),
        ("Sales (thousand EUR)", "12", "North sales (thousand EUR) 12", True),
        ("Sales", "12 EUR", "North 12 EUR", True),
        ("2023", "12", "North 12", True),
        ("Power", "12 mW", "North 12 MW", False),
        ("Result", "(48,000 euros)", "North (48,000 euros)", True),
        ("Room", "US", "North us", False),
        ("Room", "–", "North 12", False),
        ("Fee", "5 EUR", "North – 5 EUR", False),
    ],
)
def test_given_a_figure_without_a_unit_then_it_stays_with_the_words_of_its_head(
    head: str, cell: str, text: str, less: bool
) -> None:
    assert row(text, f"Branch\t{head}\nNorth\t{cell}\n") is less


def test_given_a_draft_then_each_claim_is_held_against_the_sentence_that_it_quotes() -> None:
    text = "The pump is off. The valve is open."
    of = passage(1, text)
    own, other = claim(of, "The pump is off."), claim(of, "The pump is on.")
    made = draft([own, other, other], [measured(), measured(), measured(word_for_word=True)])

    assert reworded(made, [hit(of=of)], lambda document, page: text, "en") == (False, True, False)
    assert reworded(made, [], lambda document, page: text, "en") == (True, True, False)


BATHS = {
    "en": (
        "The lido is open in summer.",
        "It costs 5 euros a day.",
        "The sauna was built in 2019.",
        "It costs 90 euros a day.",
    ),
    "cs": (
        "Koupaliště je otevřené.",
        "Stojí 5 eur na den.",
        "Sauna byla postavena v roce 2019.",
        "Stojí 90 eur na den.",
    ),
    "es": (
        "La piscina está abierta.",
        "Cuesta 5 euros al día.",
        "La sauna se construyó en 2019.",
        "Cuesta 90 euros al día.",
    ),
}


@each("language", BATHS)
@each(
    ("order", "torn"),
    [
        ((0, 1), ()),
        ((2, 3), ()),
        ((3,), ()),  # as they stand, or the first
        ((0, 3), (1,)),
        ((2, 1), (1,)),
        ((0, 1, 3), (2,)),
        ((3, 1), (1,)),  # the sauna's fee is not the lido's
    ],
)
def test_given_a_sentence_that_speaks_of_the_one_before_then_it_is_worded_anew_behind_another(
    language: str, order: tuple[int, ...], torn: tuple[int, ...]
) -> None:
    """Each is word for word, and together they say what no document says; whatever else is quoted beside them."""
    text = " ".join(BATHS[language])
    of = passage(1, text, language=language)
    for quoted in (False, True):
        claims = [claim_of(of, BATHS[language][n], text if quoted else BATHS[language][n]) for n in order]
        made = draft(claims, [measured(word_for_word=True)] * len(claims))

        found = reworded(made, [hit(of=of)], lambda document, page: text, language)

        assert tuple(n for n, own in enumerate(found) if own) == torn, (language, order, quoted)


def test_given_rows_of_a_table_that_are_not_beside_each_other_then_each_stands_by_itself() -> None:
    raw = "Item\tFee\nLido\t5\nSauna\t90\nBoat\t7\n"
    rows = [Span(1, raw.index(row), raw.index(row) + len(row)) for row in ("Lido\t5", "Boat\t7")]
    of = Passage(
        "d1#1", "d1", raw, (Span(1, 0, len(raw)),), kind=PassageKind.TABLE, language="en", header=(Span(1, 0, 8),)
    )
    said = [raw[one.start : one.end] for one in rows]
    claims = [Claim(row, (Evidence(of.id, "d1", row, (one,)),), (of.id,)) for row, one in zip(said, rows, strict=True)]

    assert reworded(
        draft(claims, [measured(word_for_word=True)] * 2), [hit(of=of)], lambda document, page: raw, "en"
    ) == (False, False)


def claim_of(of: Passage, said: str, quoted: str) -> Claim:
    start = of.text.index(quoted)
    return Claim(said, (Evidence(of.id, of.document, quoted, (Span(1, start, start + len(quoted)),)),), (of.id,))


@each(
    ("text", "language", "speaks"),
    [
        ("It is closed in March.", "en", True),
        ("The fee is 5 euros.", "en", False),
        ("Not on Sundays.", "en", True),
        ("Otherwise a fine of 5 euros is due.", "en", True),
        ("Das Museum öffnet um zehn.", "de", False),
        ("Platí se u vchodu.", "cs", True),
        ("Jinak se platí 5 eur.", "cs", True),
        ("", "en", True),
        ("वे मुफ़्त हैं।", "hi", True),
        ("La tarifa es de 5 euros.", "es", True),
    ],
)
def test_given_a_sentence_then_it_is_told_whether_it_speaks_of_the_one_before(
    text: str, language: str, speaks: bool
) -> None:
    """By a pronoun among its first words, or a verb that opens a Czech sentence; in a language without lists any
    may.
    """
    assert speaks_of_before(text, language) is speaks


TORN = [  # the document, what is drafted of it, and which of that is torn
    ("en", "Dogs are admitted. This does not apply to the hall. The hall is new.", (0,), (0,)),
    ("en", "Dogs are admitted. This does not apply to the hall. The hall is new.", (0, 2), (0,)),
    ("en", "The boiler may fail. Then every guest leaves the hall.", (1,), (1,)),
    ("en", "The board rejected the following motion. Guests swim free on Mondays.", (1,), (1,)),
    ("en", "The pool is new. The fee is 9 euros. The gym is old. The fee is 2 euros.", (2, 1), (1,)),
    ("en", "The pool is new. The fee is 9 euros. The gym is old. The fee is 2 euros.", (0, 1), ()),
    ("cs", "Psi jsou vítáni. Pro halu to neplatí.", (0,), (0,)),
    ("cs", "Pára je teplá. V květnu je zavřená. Bazén je hluboký. Čistí ho potápěči.", (2, 1), (1, 2)),
    ("hi", "कुत्तों का स्वागत है। यह हॉल पर लागू नहीं होता।", (0,), (0,)),
    ("hi", "कुत्तों का स्वागत है। यह हॉल पर लागू नहीं होता।", (0, 1), ()),
    ("en", "1) Shut the gas tap off. 2) Lift the lid with care. 3) Wait for ten minutes.", (1,), (1,)),
    ("en", "1) Shut the gas tap off. 2) Lift the lid with care. 3) Wait for ten minutes.", (0, 1), ()),
    ("en", "1) Shut the gas tap off. 2) Lift the lid with care. 3) Wait for ten minutes.", (0, 2), (2,)),
    ("sv", "1) Shut the gas tap off. 2) Lift the lid with care. 3) Wait for ten minutes.", (1, 2), (1, 2)),  # no lists
    ("es", "Se admiten perros. Esto no vale para la sala.", (0,), ()),  # no lists
]


@each(("language", "text", "order", "torn"), TORN)
def test_given_a_sentence_that_needs_the_one_beside_it_then_it_is_worded_anew_without_it(
    language: str, text: str, order: tuple[int, ...], torn: tuple[int, ...]
) -> None:
    """By claims of their own, and by one claim that quotes them all."""
    of = passage(1, text, language=language)
    stated = [text[start:end] for start, end in sentences(text, language)]
    claims = [claim_of(of, stated[n], stated[n]) for n in order]
    one = Claim(" ".join(stated[n] for n in order), tuple(claim.evidence[0] for claim in claims), (of.id,))
    whole = measured(word_for_word=True)

    found = reworded(draft(claims, [whole] * len(claims)), [hit(of=of)], lambda document, page: text, language)

    assert tuple(n for n, own in zip(order, found, strict=True) if own) == tuple(n for n in order if n in torn)
    assert reworded(draft([one], [whole]), [hit(of=of)], lambda document, page: text, language) == (bool(torn),)


def test_given_an_item_that_is_led_in_then_it_takes_nothing_back() -> None:
    """Its lead says of what it holds."""
    raw = "Guests rest in the hall.\n- No dogs.\n"
    spans = [Span(1, raw.index(one), raw.index(one) + len(one)) for one in ("Guests rest in the hall.", "- No dogs.")]
    for lead in ((), (Span(1, 0, 6),)):
        pieces = (Piece(Role.TEXT, (spans[0],)), Piece(Role.ITEM, (spans[1],), lead=lead))
        of = replace(passage(1, normalise(raw).text), spans=(Span(1, 0, len(raw)),), pieces=pieces)
        rest = Claim(
            "Guests rest in the hall.",
            (Evidence(of.id, of.document, "Guests rest in the hall.", (spans[0],)),),
            (of.id,),
        )

        found = reworded(draft([rest], [measured(word_for_word=True)]), [hit(of=of)], lambda document, page: raw, "en")

        assert found == (not lead,)


def test_given_a_heading_that_says_that_nothing_below_it_holds_then_no_sentence_from_there_is_left() -> None:
    said = "The deposit is 3 euros."
    for section, void in (("Repealed rules of 1998", True), ("Rules of 1998", False)):
        of = replace(passage(1, said), section=section)
        made = draft([claim_of(of, said, said)], [measured(word_for_word=True)])

        assert reworded(made, [hit(of=of)], lambda document, page: said, "en") == (void,)


@each(
    ("of", "text", "language", "holds"),
    [
        (takes_back, "Not on weekdays, however.", "en", True),
        (takes_back, "That was the practice until 2015.", "en", True),
        (takes_back, "This saves water and power.", "en", False),
        (takes_back, "The gate is not locked at night.", "en", False),
        (takes_back, "Ausgenommen sind Gruppen ab zehn Personen.", "de", True),
        (takes_back, "Ve všední dny ne.", "cs", True),
        (takes_back, "ऐसा पर्चे में लिखा है।", "hi", True),
        (hangs, "If so, entry is free.", "en", True),
        (hangs, "In diesem Fall verfällt das Pfand.", "de", True),
        (hangs, "यदि हाँ, तो प्रवेश निःशुल्क है।", "hi", True),
        (hangs, "", "en", False),
        (hangs, "Si es así, es gratis.", "es", False),
        (announces, "The prices are as follows.", "en", True),
        (announces, "It is due on the following day.", "en", False),
        (announces, "Der Rat lehnte folgenden Antrag ab.", "de", True),
        (takes_up, "The deadline is 5 May.", "en", True),
        (takes_up, "The fee for towels is 2 euros.", "en", False),
        (takes_up, "Die Frist für Anträge endet im Mai.", "de", False),
        (takes_up, "Poplatek činí 900 korun.", "cs", True),
        (is_void, "Aufgehobene Regeln", "de", True),
        (is_void, "Rules in force", "en", False),
        (is_void, "Reglas derogadas", "es", False),
    ],
)
def test_given_a_sentence_or_a_heading_then_its_words_tell_what_it_needs(
    of: Callable[[str, str], bool], text: str, language: str, holds: bool
) -> None:
    assert of(text, language) is holds

"""Where quotes and claims are found in a passage, how surely, and where they are not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.documents import Span
from rag_core.domain.passages import Passage, PassageKind
from rag_core.grounding.locate import MIN_COUNT, How, Located, locate
from rag_core.ingest.normalise import join, normalise, read_passage_text

NOTICE = (
    "Notice\nThe notice period is two months. It starts on the ﬁrst day of the month after the notice was re-\nceived. "
    "During the probation period it is “seven” days. An employee who has not taken his leave is paid for it, but for no\nmore than 10 days."
)
TABLE = "(in millions)\t2024\t2023\nNet sales\t1,250\t1,100\nOperating income\t320\t280\nNet income\t210\t190"


def passage(
    *texts: str, lang: str = "en", kind: PassageKind = PassageKind.PARAGRAPH, header: Sequence[Span] = (), section: str = ""
) -> Passage:
    """A passage that is the whole of pages 1, 2, … with these texts."""
    spans = tuple(Span(number, 0, len(text)) for number, text in enumerate(texts, 1))
    pages = dict(enumerate(texts, 1))
    return Passage("d#1", "d", read_passage_text(pages, spans).text, spans, lang, section, kind, header=tuple(header))


def found(text: str, *texts: str, claim: str = "", of: Passage | None = None) -> tuple[list[str], Located]:
    """The raw text at the places of a quote in a passage of these pages, and how it was located."""
    located = locate(text, of or passage(*texts), lambda _, page: texts[page - 1], claim=claim)
    return [texts[span.page - 1][span.start : span.end] for span in located.spans], located


@each(
    ("quote", "raw"),
    [
        ("The notice period is two months.", "The notice period is two months."),
        ("“The notice period is two months.”", "The notice period is two months."),
        ("The notice period is two months [1].", "The notice period is two months."),
        ("It starts on the first day of the month", "It starts on the ﬁrst day of the month"),
        ("the ﬁrst day", "the ﬁrst day"),
        ("after the notice was received.", "after the notice was re-\nceived."),
        ("after the\nnotice   was received.", "after the notice was re-\nceived."),
        ("paid for it, but for no more than 10 days.", "paid for it, but for no\nmore than 10 days."),
        ("10 days", "10 days"),
    ],
)
def test_given_a_quote_that_stands_there_word_for_word_then_its_place_is_exact(quote: str, raw: str) -> None:
    """S2-26: verbatim, across line breaks, hyphens and ligatures."""
    texts, located = found(quote, NOTICE)

    assert (texts, located.how, located.share) == ([raw], How.EXACT, 1.0)


@pytest.mark.parametrize(
    ("quote", "raw"),
    [
        ('it is "seven" days', "it is “seven” days"),
        ("During the probation period, it is 'seven' days", "During the probation period it is “seven” days"),
        ("the notice period is two months", "The notice period is two months"),
    ],
)
def test_given_the_same_words_set_otherwise_then_exactly_they_are_marked_and_the_place_is_not_called_exact(quote: str, raw: str) -> None:
    texts, located = found(quote, NOTICE)

    assert (texts, located.how, located.share) == ([raw], How.ALIGNED, 1.0)


@each(
    "quote",
    [
        "The notice period is three months.",
        "The notice period is months.",
        "The period of notice is two months.",
        "Notice periods: two months",
    ],
)
def test_given_a_word_changed_left_out_or_moved_then_the_sentence_is_aligned_and_never_exact(quote: str) -> None:
    texts, located = found(quote, NOTICE.replace("Notice\n", ""))

    assert texts == ["The notice period is two months."]
    assert located.how is How.ALIGNED
    assert MIN_COUNT <= located.share <= 1.0


def test_given_a_sign_that_means_something_when_it_is_changed_then_the_words_alone_make_no_place_of_their_own() -> None:
    text = "The sum has n - 1 terms here. Another sentence follows it."

    assert found("n - 1 terms", text)[1].how is How.EXACT
    assert found("n + 1 terms", text)[0] != ["n - 1 terms"]
    assert found("-5 degrees", "It was 5 degrees outside. The night came.")[0] != ["5 degrees"]


def test_given_a_quote_that_leaves_something_out_then_its_parts_are_marked_and_what_is_between_them_is_not() -> None:
    for dots in ("…", "...", " [...] ", " […] "):
        texts, located = found(f"An employee who has not taken his leave{dots}no more than 10 days.", NOTICE)
        assert texts == ["An employee who has not taken his leave", "no\nmore than 10 days."]
        assert located.how is How.EXACT


def test_given_parts_in_another_order_or_one_that_stands_twice_then_they_are_no_exact_quote() -> None:
    assert found("no more than 10 days … The notice period", NOTICE)[1].how is not How.EXACT
    assert found("The notice period … period", NOTICE)[1].how is not How.EXACT
    assert found("It starts on the first day … first day of the month", NOTICE)[1].how is not How.EXACT  # they share words


def test_given_a_quote_that_begins_or_ends_inside_a_word_then_it_does_not_stand_there() -> None:
    assert found("0 days", NOTICE)[1].how is not How.EXACT
    assert found("250 francs", "The fee is 1,250 francs. It is due in May.")[0] != ["250 francs"]
    assert found("notice per", NOTICE)[1].how is not How.EXACT


def test_given_a_script_that_parts_no_words_then_a_quote_may_begin_anywhere() -> None:
    text = "ระยะเวลาแจ้งล่วงหน้าคือสองเดือน"
    assert found("ล่วงหน้าคือ", text)[0] == ["ล่วงหน้าคือ"]


TWICE = "The deposit for a flat is 30 days of rent. The period for a complaint is 30 days after delivery."


def test_given_a_quote_that_stands_twice_then_the_place_is_not_certain_unless_the_claim_decides() -> None:
    assert found("30 days", TWICE) == ([], Located((), How.UNCERTAIN, 1.0))

    texts, located = found("30 days", TWICE, claim="A complaint must be made within 30 days of delivery.")

    assert (texts, located.how) == (["30 days"], How.EXACT)
    assert located.spans[0].start > TWICE.index("complaint")
    assert found("30 days", TWICE, claim="It is 30 days.")[0] == []


def test_given_two_sentences_that_fit_a_claim_equally_then_neither_is_its_place() -> None:
    text = "The fee for adults is 20 francs today. The fee for children is 10 francs today. Dogs are free."

    texts, located = found("The fee is in francs", text)

    assert (texts, located.how) == ([], How.UNCERTAIN)
    assert located.share > MIN_COUNT
    assert found("The adults' fee amounts to 20 francs", text)[0] == ["The fee for adults is 20 francs today."]


def test_given_the_passage_s_own_place_then_the_same_words_elsewhere_on_the_page_are_not_looked_at() -> None:
    page = "The period is 30 days.\n\nAnother part.\n\nThe period is 30 days."
    span = Span(1, page.rindex("The"), len(page))
    own = Passage("d#2", "d", page[span.start :], (span,), "en")

    assert locate("The period is 30 days.", own, lambda *_: page).spans == (span,)


def test_given_a_quote_over_a_page_break_then_it_stands_in_two_places() -> None:
    pages = ("The tenant returns the keys on the last day, and where he is pre-", "vented from it, on the next. Then he pays.")

    texts, located = found("and where he is prevented from it, on the next.", *pages)

    assert texts == ["and where he is pre-", "vented from it, on the next."]
    assert [span.page for span in located.spans] == [1, 2]
    assert located.how is How.EXACT


def test_given_a_claim_that_says_in_few_words_what_two_sentences_say_then_both_are_its_place() -> None:
    text = (
        "The warranty for pumps lasts 24 months. Colours may vary from the catalogue. "
        "Claims under it go to the workshop in Brno. The catalogue appears in spring."
    )

    texts, located = found("Pumps have a warranty of 24 months, and claims go to the Brno workshop.", text)

    assert texts == ["The warranty for pumps lasts 24 months.", "Claims under it go to the workshop in Brno."]
    assert located.how is How.ALIGNED


def test_given_a_claim_of_three_sentences_then_all_are_its_place_and_one_that_adds_little_is_not() -> None:
    three = "Alpha wins the blue cup. Bravo paints the red door. Charlie mends the green roof. Delta sells white boats. Nobody sleeps."
    texts, _ = found("Alpha's blue cup, Bravo's red door, Charlie's green roof", three)
    assert texts == ["Alpha wins the blue cup.", "Bravo paints the red door.", "Charlie mends the green roof."]

    little = "Copper pumps carry a full warranty for cracked valves. The garden is old. Summer is warm."
    assert found("Copper pumps carry a full warranty for cracked valves in summer", little)[0] == [little.split(" The")[0]]


@each("nowhere", ["The meter is calibrated every five years.", "Die Gebühr beträgt 20 Euro.", "", "…", "“”", "[1]", "?!", "the of and"])
def test_given_a_text_from_nowhere_then_no_place_is_certain(nowhere: str) -> None:
    texts, located = found(nowhere, NOTICE)

    assert (texts, located.spans, located.how) == ([], (), How.UNCERTAIN)
    assert 0.0 <= located.share < MIN_COUNT


def table() -> Passage:
    head = TABLE.index("\n")
    return passage(TABLE, kind=PassageKind.TABLE, header=[Span(1, 0, head)])


@pytest.mark.parametrize(
    ("quote", "how"),
    [
        ("Operating income 320 280", How.EXACT),
        ("Operating income | 320 | 280", How.ALIGNED),
        ("Operating income was 320 million in 2024", How.ALIGNED),
    ],
)
def test_given_a_row_of_a_table_then_it_stands_there_with_its_header(quote: str, how: How) -> None:
    texts, located = found(quote, TABLE, of=table())

    assert texts == ["Operating income\t320\t280", "(in millions)\t2024\t2023"]
    assert located.how is how


def test_given_a_quote_of_header_and_row_together_then_the_header_is_there_once() -> None:
    texts, _ = found("(in millions) 2024 2023 Net sales 1,250 1,100", TABLE, of=table())

    assert texts == [TABLE[: TABLE.index("\nOperating")]]


@each(
    ("lang", "text", "quote", "raw"),
    [
        ("hi", "अवकाश वर्ष में 25 दिन\nका है। सूचना की अवधि दो माह है।", "अवकाश वर्ष में 25 दिन का है।", "अवकाश वर्ष में 25 दिन\nका है।"),
        ("he", "תקופת ההודעה היא חודשיים.\nהחופשה היא 25 ימים.", "החופשה היא 25 ימים.", "החופשה היא 25 ימים."),
        ("cs", "Výpovědní doba činí dva měsíce. Dovolená je 25 dnů.", "Výpovědní doba činí dva měsíce.", "Výpovědní doba činí dva měsíce."),
        ("de", "Die Kündigungs-\nfrist ist lang. Urlaub: 25 Tage.", "Die Kündigungsfrist ist lang.", "Die Kündigungs-\nfrist ist lang."),
    ],
)  # fmt: skip
def test_given_another_script_or_language_then_its_quotes_are_found_as_well(lang: str, text: str, quote: str, raw: str) -> None:
    texts, located = found(quote, text, of=passage(text, lang=lang))

    assert (texts, located.how) == ([raw], How.EXACT)


@given(st.text("ab1. \n-\u00adﬁे", max_size=60), st.text("ab1. \n-…", max_size=20))
def test_given_any_text_and_quote_then_every_place_lies_in_the_passage_and_an_exact_one_reads_like_the_quote(text: str, quote: str) -> None:
    if not read_passage_text({1: text}, [Span(1, 0, len(text) or 1)]).text:
        return

    located = locate(quote, passage(text), lambda *_: text)

    assert all(span.page == 1 and span.end <= len(text) for span in located.spans)
    assert bool(located.spans) == (located.how is not How.UNCERTAIN)
    if located.how is How.EXACT and "…" not in quote and "..." not in quote:
        assert normalise(join({1: text}, located.spans)).text == normalise(quote).text

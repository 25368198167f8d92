"""The reading form of raw text and the way back to it."""

import unicodedata

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.documents import Span
from rag_core.ingest.normalise import cut, join, locate, normalise, read_passage_text

# Weighted towards what the rules are about, so that most examples hit several of them at once.
_TRAPS = "ab -\n\t\u00ad\u200b\u200d\ufeffﬁﬀ½²₂ª™①¨´e\u0301\u0308한\u1112\u1161\u11abकि्ष\u00a0AÉ1.\x00\x0c"
# tags of Unicode's compatibility decompositions that change what a text says
MEANT = {"<super>", "<sub>", "<fraction>", "<circle>"}
AWKWARD = st.text(st.one_of(st.sampled_from(_TRAPS), st.characters()), max_size=60)


def squeeze(text: str) -> str:
    return "".join(text.split())


def is_meant(char: str) -> bool:
    return unicodedata.decomposition(char).split(" ")[0] in MEANT


@each(
    ("raw", "read"),
    [
        ("the ﬁrst oﬃce", "the first office"),
        ("obliga\u00adtion", "obligation"),
        ("obliga\u00ad\ntion", "obligation"),
        ("obliga-\ntion", "obligation"),
        ("obliga\u2010 \r\n   tion", "obligation"),
        ("für Verpflich-\ntungen, zá-\nruční", "für Verpflichtungen, záruční"),
        ("2019-\n2020", "2019-2020"),
        ("Coca-\nCola", "Coca-Cola"),
        ("held-for-\nsale and long-\nterm", "held-for-sale and long-term"),
        ("in twenty-\none days, à vingt-\ndeux heures", "in twenty-one days, à vingt-deux heures"),
        ("pa-\nrty, ba-\nsed on", "party, based on"),
        (
            "https://antrag.hafen-\nstadt.example/liege-\nplatz-neu",
            "https://antrag.hafen-stadt.example/liege-platz-neu",
        ),
        ("https://wend-valley.example/per-\nmits/water", "https://wend-valley.example/permits/water"),
        ("an hafen-\nmeisterei@hafen-\nstadt.example", "an hafen-meisterei@hafen-stadt.example"),
        ("an e-\nmail", "an e-mail"),
        ("a loss -\nand a gain", "a loss - and a gain"),
        ("Net income\t$\t596\n\n Total\u00a0", "Net income $ 596 Total"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("“odd” – quotes’ — stay", "“odd” – quotes’ — stay"),
        ("e\u200b\u0301", "é"),
        ("a \u200b b", "a b"),
        ("अवधि 24 माह है", "अवधि 24 माह है"),
        ("S = n² + 10⁻³ m³/h of CO₂", "S = n² + 10⁻³ m³/h of CO₂"),
        ("2½ hours, 1º, Plumb™", "2½ hours, 1º, Plumb™"),
        ("5① mg, 20⑩ m, ②30, class Ⓐ, ㊿", "5① mg, 20⑩ m, ②30, class Ⓐ, ㊿"),
        ("ﬁve\u00a0m³ at ２０ ℃", "five m³ at 20 °C"),
        ("\u1112\u1161\u11ab", "한"),
        ("\x0c", ""),
        ("", ""),
    ],
)
def test_given_raw_text_when_normalised_then_it_reads_as_it_is_meant(raw: str, read: str) -> None:
    assert normalise(raw).text == read


@given(AWKWARD)
def test_given_any_text_then_its_reading_form_is_settled(raw: str) -> None:
    once = normalise(raw).text

    assert normalise(once).text == once
    assert once == " ".join(once.split())
    assert unicodedata.is_normalized("NFKC", "".join("\0" if is_meant(char) else char for char in once))


@given(AWKWARD)
def test_given_any_text_then_its_reading_form_has_the_same_signs_that_mean_something_as_they_are(raw: str) -> None:
    assert [char for char in normalise(raw).text if is_meant(char)] == [char for char in raw if is_meant(char)]


@given(AWKWARD)
def test_given_any_text_then_the_map_is_in_bounds_and_ascends(raw: str) -> None:
    normal = normalise(raw)

    assert len(normal.text) == len(normal.starts) == len(normal.ends)
    assert all(0 <= start < end <= len(raw) for start, end in zip(normal.starts, normal.ends, strict=True))
    assert list(normal.starts) == sorted(normal.starts)
    assert list(normal.ends) == sorted(normal.ends)


@given(AWKWARD, st.data())
def test_given_a_word_of_the_reading_form_when_mapped_back_then_its_raw_text_reads_the_same(
    raw: str, data: st.DataObject
) -> None:
    text = normalise(raw).text
    words = text.split(" ") if text else []
    if not words:
        return
    index = data.draw(st.integers(0, len(words) - 1))
    start = sum(len(word) + 1 for word in words[:index])

    low, high = normalise(raw).to_raw(start, start + len(words[index]))

    # One raw character can be several of the reading form ("ﬁ"), even with a blank among them ("¨"): then it is read as
    # a whole.
    assert words[index] in normalise(raw[low:high]).text or squeeze(words[index]) in squeeze(
        unicodedata.normalize("NFKC", raw[low:high])
    )


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30), st.data())
def test_given_plain_text_when_a_range_is_mapped_back_then_it_is_that_range(raw: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(raw) - 1))
    end = data.draw(st.integers(start + 1, len(raw)))

    assert normalise(raw).text == raw
    assert normalise(raw).to_raw(start, end) == (start, end)


@each(("start", "end"), [(0, 0), (-1, 2), (2, 1), (0, 6)])
def test_given_a_range_outside_the_text_when_mapped_back_then_it_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="0 <= start < end <= 5"):
        normalise("hello").to_raw(start, end)


def test_given_a_word_broken_over_a_page_when_located_then_both_pages_are_named() -> None:
    pages = {1: "Header\nThe obliga-", 2: "tion ends here.\n2"}
    spans = (Span(1, 7, 18), Span(2, 0, 15))

    normal = read_passage_text(pages, spans)

    assert normal.text == "The obligation ends here."
    assert locate(pages, spans, 4, 14) == (Span(1, 11, 18), Span(2, 0, 4))
    assert locate(pages, spans, 15, 19) == (Span(2, 5, 9),)


def test_given_only_the_space_between_two_spans_when_located_then_it_stands_nowhere() -> None:
    assert locate({1: "one", 2: "two"}, (Span(1, 0, 3), Span(2, 0, 3)), 3, 4) == ()


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=8), min_size=1, max_size=5), st.data())
def test_given_any_spans_when_their_joined_text_is_cut_then_the_cut_is_what_was_asked_for(
    texts: list[str], data: st.DataObject
) -> None:
    pages = dict(enumerate(texts, start=1))
    spans = tuple(Span(page, 0, len(text)) for page, text in pages.items())
    joined = join(pages, spans)
    start = data.draw(st.integers(0, len(joined)))
    end = data.draw(st.integers(start, len(joined)))

    pieces = "".join(pages[span.page][span.start : span.end] for span in cut(spans, start, end))

    joints = {sum(map(len, texts[: count + 1])) + count for count in range(len(texts) - 1)}
    assert pieces == "".join(char for index, char in enumerate(joined) if start <= index < end and index not in joints)


@pytest.mark.timeout(60)  # quadratic time would take hours here
def test_given_a_long_text_full_of_rules_when_normalised_then_it_ends_and_every_copy_reads_the_same() -> None:
    copy = "obliga-\ntion ﬁne \u00ad\u200b e\u0301 "

    assert normalise(copy * 30_000).text.split() == normalise(copy).text.split() * 30_000


def test_given_a_combining_mark_storm_when_normalised_then_it_ends() -> None:
    assert len(normalise("a" + "\u0301" * 20_000 + " b").text) > 20_000


def test_given_an_address_broken_at_its_own_hyphen_when_read_then_it_keeps_it() -> None:
    assert normalise("Write to water.permits@wend-\nvalley.example or to the per-\nmit desk.").text.split()[2:] == (
        "water.permits@wend-valley.example or to the permit desk.".split()
    )


PARTS = st.lists(st.from_regex(r"[a-z]{2,9}", fullmatch=True), min_size=3, max_size=6)
ADDRESSES = ["https://{}.example", "www.{}.example", "https://a.example/b/{}", "{}@a.example", "a@{}.example"]


@given(PARTS, st.sampled_from(ADDRESSES))
def test_given_an_address_broken_at_its_hyphens_when_read_then_it_keeps_them(parts: list[str], form: str) -> None:
    assert normalise(form.format("-\n".join(parts))).text == form.format("-".join(parts))

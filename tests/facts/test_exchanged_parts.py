"""Two words that have exchanged their parts in a sentence, and an "only" that was moved, in four languages."""

from __future__ import annotations

from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.facts import changed_facts
from rag_core.facts.differences.focus import changed_amounts, moved_restrictions
from rag_core.facts.differences.places import exchanged_parts
from rag_core.facts.differences.role_swap import role_swaps

LANGUAGES = ("en", "cs", "de", "hi")


@each(
    ("lang", "evidence", "claim", "words"),
    [
        ("en", "The ferry runs from Oslo to Bergen every day.", "The ferry runs from Bergen to Oslo every day.", "Bergen … Oslo"),
        ("en", "A report is sent to the warden by the guard.", "The warden sends a report to the guard.", "warden … guard"),
        ("en", "Payment is made after delivery.", "Delivery is made after payment.", "Delivery … payment"),
        ("en", "5 of 10 samples held lead.", "10 of 5 samples held lead.", "10 … 5"),
        ("cs", "Každý měsíc posílá správce předsedovi přehled.", "Každý měsíc posílá předseda správci přehled.", "předseda … správci"),
        ("cs", "Zpráva je předána technikovi mistrem.", "Technik předá zprávu mistrovi.", "Technik … mistrovi"),
        ("cs", "Vlak jede z Brna do Prahy.", "Vlak jede z Prahy do Brna.", "Prahy … Brna"),
        ("de", "Jeden Monat schickt der Prüfer dem Kassenwart eine Liste.", "Jeden Monat schickt der Kassenwart dem Prüfer eine Liste.",
         "Kassenwart … Prüfer"),
        ("de", "Der Bericht wird dem Leiter vom Meister vorgelegt.", "Der Leiter legt dem Meister den Bericht vor.", "Leiter … Meister"),
        ("de", "Die Leiterin schickt dem Prüfer die Liste.", "Der Prüfer schickt der Leiterin die Liste.", "Prüfer … Leiterin"),
        ("de", "Der Obmann beruft den Kassierer; der Kassierer prüft die Rechnungen.", "Der Kassierer beruft den Obmann.",
         "Kassierer … Obmann"),
        ("hi", "सचिव कोषाध्यक्ष को सूची भेजता है; कोषाध्यक्ष टिकट बाँटता है।", "कोषाध्यक्ष सचिव को सूची भेजता है।", "कोषाध्यक्ष … सचिव"),
        ("hi", "सचिव कोषाध्यक्ष को सूची भेजता है।", "कोषाध्यक्ष सचिव को सूची भेजता है।", "कोषाध्यक्ष … सचिव"),
        ("hi", "रिपोर्ट फोरमैन द्वारा अधिकारी को दी जाती है।", "अधिकारी फोरमैन को रिपोर्ट देता है।", "अधिकारी … फोरमैन"),
    ],
)  # fmt: skip
def test_given_two_words_with_each_others_part_then_both_are_named(lang: str, evidence: str, claim: str, words: str) -> None:
    """S0-26: who does what to whom is what is meant."""
    assert list(exchanged_parts(claim, evidence, lang)) == [words]
    assert ("role", words) in changed_facts(claim, evidence, lang)


def test_given_a_doer_three_words_behind_by_then_a_word_before_it_is_acted_on() -> None:
    assert list(role_swaps("The apprentice examines the masters.", "The apprentice is examined by both the masters.", "en")) == [
        "apprentice examines masters"
    ]
    assert list(role_swaps("The nurse informed the doctor at home.", "The doctor informed at home by the nurse.", "en")) == []


@each(
    ("lang", "evidence", "claim"),
    [
        ("en", "A report is sent to the warden by the guard.", "The guard sends a report to the warden."),
        ("en", "The guard sends the warden a report.", "The guard sends a report to the warden."),
        ("en", "After delivery the price is paid.", "The price is paid after delivery."),
        ("en", "The members of the club elect the board.", "The club's members elect the board."),
        ("en", "The school stands near the church.", "The church stands near the school."),  # the same, either way
        ("en", "The guard sends the warden a list.", "The warden gets the list from the guard."),
        ("en", "It is not made for alcohol, fuels or acids.", "It is not made for fuels, alcohol or acids."),  # items of a list
        ("en", "In 2003 a song of Inez was sung.", "Inez sang a song in 2003."),
        ("cs", "Zpráva je předána technikovi mistrem.", "Mistr předá zprávu technikovi."),
        ("cs", "Správce posílá předsedovi přehled.", "Předsedovi posílá přehled správce."),
        ("de", "Der Bericht wird dem Leiter vom Meister vorgelegt.", "Der Meister legt dem Leiter den Bericht vor."),
        ("de", "Dem Kassenwart schickt der Prüfer eine Liste.", "Der Prüfer schickt dem Kassenwart eine Liste."),
        ("de", "Die Prüferin schickt der Leiterin die Liste.", "Die Liste schickt die Prüferin der Leiterin."),
        ("hi", "रिपोर्ट फोरमैन द्वारा अधिकारी को दी जाती है।", "फोरमैन अधिकारी को रिपोर्ट देता है।"),
        ("hi", "छात्र को पुस्तक लौटानी चाहिए।", "छात्र पुस्तक को लौटाता है।"),  # who has to, has the mark of an object
        ("fr", "Le train va de Lyon à Paris.", "Le train va de Paris à Lyon."),  # a language without these rows
    ],
)
def test_given_another_order_or_voice_then_no_part_was_exchanged(lang: str, evidence: str, claim: str) -> None:
    assert list(exchanged_parts(claim, evidence, lang)) == []


@each(
    ("lang", "evidence", "claim", "words"),
    [
        ("en", "Only keepers may feed the goats.", "Keepers may feed only the goats.", "only goats"),
        ("en", "Only staff open the vault on Mondays.", "Staff open the vault only on Mondays.", "only Mondays"),
        ("cs", "Jen ošetřovatelé smějí krmit kozy.", "Ošetřovatelé smějí krmit jen kozy.", "jen kozy"),
        ("de", "Nur Pfleger dürfen die Ziegen füttern.", "Pfleger dürfen nur die Ziegen füttern.", "nur Ziegen"),
        ("hi", "बकरियों को केवल रखवाले खिला सकते हैं।", "रखवाले केवल बकरियों को खिला सकते हैं।", "केवल बकरियों"),
        ("hi", "रखवाले ही बकरियों को खिलाते हैं।", "रखवाले बकरियों को ही खिलाते हैं।", "ही बकरियों"),
    ],
)
def test_given_an_only_before_another_word_then_it_is_named(lang: str, evidence: str, claim: str, words: str) -> None:
    assert list(moved_restrictions(claim, evidence, lang)) == [words]
    assert ("quantifier", words) in changed_facts(claim, evidence, lang)


@each(
    ("lang", "evidence", "claim"),
    [
        ("en", "The vault may only be opened by staff.", "Only staff may open the vault."),
        ("en", "The vault may only be opened by staff.", "The vault may be opened by staff only."),
        ("en", "Only staff may open the vault.", "The vault may be opened only by staff."),
        ("en", "Only staff may open the vault. Only the goats are fed.", "Keepers feed only the goats."),
        ("en", "Dew forms only on grass.", "Dew only forms on grass."),
        ("cs", "Jen členové mají klíč.", "Klíč mají jen členové."),
        ("de", "Nur Pfleger dürfen die Ziegen füttern.", "Die Ziegen dürfen nur von Pflegern gefüttert werden."),
        ("hi", "बकरियों को केवल रखवाले खिला सकते हैं।", "केवल रखवाले बकरियों को खिला सकते हैं।"),
    ],
)
def test_given_an_only_about_the_same_word_then_nothing_was_moved(lang: str, evidence: str, claim: str) -> None:
    assert list(moved_restrictions(claim, evidence, lang)) == []


@each(
    ("lang", "evidence", "claim", "found"),
    [
        ("en", "Most samples that were taken in May held lead.", "Lead was held by all wet samples of May.", ["all"]),
        ("en", "Most wet samples of May held lead.", "Lead was found in all samples of May.", ["all"]),
        ("en", "Most samples held lead, and all samples held salt.", "Salt was in all samples.", []),
        ("en", "Most members vote by letter.", "Many members vote by letter.", []),  # neighbours may say the same
        ("cs", "Většina vzorků z jezera obsahovala olovo.", "Olovo bylo na jaře ve všech vzorcích z jezera.", ["všech"]),
        ("de", "Die meisten Proben, die das Labor dem See entnahm, enthielten Blei.", "Alle dem See entnommenen Proben enthielten Blei.",
         ["Alle"]),
        ("de", "Die meisten Proben waren rein.", "Alle dem See entnommenen Proben enthielten Blei.", []),  # about something else
        ("hi", "अधिकांश नमूनों में सीसा मिला।", "झील के सभी नमूनों में सीसा था।", ["सभी"]),
    ],
)  # fmt: skip
def test_given_another_amount_of_the_same_then_it_is_named(lang: str, evidence: str, claim: str, found: list[str]) -> None:
    assert list(changed_amounts(claim, evidence, lang)) == found


@each(
    ("evidence", "claim", "found"),
    [
        ("The apprentice is examined by the master.", "The apprentice examines the master.", ["apprentice examines master"]),
        ("The apprentice is examined by the master.", "The master examines the apprentice.", []),
        ("The apprentice is examined by the master.", "The apprentice is the master of all.", []),
        ("The apprentice is examined by the master.", "The apprentice was examined by the master.", []),
    ],
)
def test_given_a_passive_whose_doer_is_acted_on_then_it_is_named(evidence: str, claim: str, found: list[str]) -> None:
    assert list(role_swaps(claim, evidence, "en")) == found


@given(st.text(max_size=120), st.text(max_size=120), st.sampled_from([*LANGUAGES, "und"]))
def test_given_any_text_then_its_own_words_have_kept_their_places(text: str, other: str, lang: str) -> None:
    assert list(exchanged_parts(text, text, lang)) == list(moved_restrictions(text, text, lang)) == []
    list(exchanged_parts(text, other, lang))
    list(moved_restrictions(f"only {text}", f"{other} only", lang))


def test_given_long_text_then_it_is_left_alone() -> None:
    long = "from Oslo to Bergen only staff by the guard " * 2000

    assert list(exchanged_parts(long, long, "en")) == list(moved_restrictions(long, long, "en")) == []

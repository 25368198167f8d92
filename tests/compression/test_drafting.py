"""From a model's reply to an audited draft: what becomes a claim, what its quotes become, and what never counts."""

from __future__ import annotations

from collections.abc import Sequence

from builders import HashEmbedder, MemoryCorpus, Text, hit, measurements, settings
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.compression.llm.drafting import both_sides, draft_facts, model_draft
from rag_core.compression.llm.replies import ClaimReply, Contradiction, DraftReply, Quoted, SufficiencyReply
from rag_core.decision.checks import GROUNDING
from rag_core.domain.answer import evidence_key
from rag_core.domain.documents import Box, Metadata, WordBox
from rag_core.domain.drafts import Draft
from rag_core.domain.measurements import LibraryFacts, Measurements
from rag_core.domain.status import Reason
from rag_core.grounding.citations import quote_stands
from rag_core.grounding.own_words import reworded
from rag_core.grounding.quotes import Sources, Standing
from rag_core.ingest.normalise import normalise
from rag_core.settings import Mode

NOTICE = "The notice period is 30 days. Notice shall not be given by phone. It takes 30 days to answer it."
CANTEEN = "The canteen opens at noon and serves soup."
POLICY = "The notice period is 60 days. Ask the office [12] first."
EMBEDDER = HashEmbedder()
CORPUS = MemoryCorpus(
    [Text("d1", f"{NOTICE}\n{CANTEEN}"), Text("d2", POLICY, metadata=Metadata(date="2026-01"))], EMBEDDER
)
# sources "1", "2" and "3"
HITS = tuple(hit(of=passage, number=number) for number, passage in enumerate(CORPUS.passages, 1))
STRICT = settings(
    **{
        f"{name}_mode": Mode.ENFORCE
        for name in ("indicators", "overlap", "facts", "similarity", "support", "length_ratio")
    }
)


def reply(*claims: tuple[str, list[tuple[str, str]]]) -> DraftReply:
    """A reply with these sentences, each with its (source, quote)."""
    said = [
        ClaimReply(sentence=text, evidence=[Quoted(source=s, quote=q) for s, q in evidence])
        for text, evidence in claims
    ]
    return DraftReply(answerable=True, reason="", claims=said)


def drafted(*claims: tuple[str, list[tuple[str, str]]], corpus: MemoryCorpus = CORPUS) -> Draft:
    return model_draft(reply(*claims), HITS, corpus, "en", EMBEDDER, None)


def judged(draft: Draft) -> Measurements:
    return measurements(hits=HITS, draft=draft, of=STRICT)


def failed(draft: Draft) -> set[Reason]:
    """The reasons for which a draft is not shown."""
    return {check.reason for check in (audit(judged(draft)) for audit in GROUNDING) if check.blocks}


def test_given_a_faithful_reply_then_its_claims_rest_on_whole_sentences_and_pass() -> None:
    """S0-23, S2-26: only from the sources, traceable to the page."""
    draft = drafted(
        ("The notice period is 30 days.", [("1", "notice period is 30 days")]),
        ("The canteen serves soup at noon.", [("2", CANTEEN)]),
    )

    assert (draft.drafter, draft.context_chars) == ("model", sum(len(h.passage.text) for h in HITS))
    assert [claim.evidence[0].quote for claim in draft.claims] == ["The notice period is 30 days.", CANTEEN]
    assert [claim.cited for claim in draft.claims] == [("d1#1",), ("d1#2",)]
    assert [audit.word_for_word for audit in draft.measured] == [True, False]
    assert set(draft.citations) == {evidence_key(claim.evidence[0]) for claim in draft.claims}
    assert failed(draft) <= {Reason.SUPPORT}  # is fitted; see test_support


def test_given_words_ripped_out_of_a_sentence_then_they_are_read_with_its_negation() -> None:
    """S2-17: the quote stands there, and the sentence says the contrary."""
    draft = drafted(("Notice may be given by phone.", [("1", "be given by phone")]))

    assert draft.claims[0].evidence[0].quote == "Notice shall not be given by phone."
    assert Reason.FACTS in failed(draft)


def test_given_a_quote_of_another_passage_then_it_says_so() -> None:
    draft = drafted(("The canteen serves soup.", [("1", "opens at noon and serves soup")]))

    assert draft.measured[0].quotes_elsewhere == draft.measured[0].quotes_missing == ("opens at noon and serves soup",)
    check = next(check for check in (audit(judged(draft)) for audit in GROUNDING) if check.blocks)
    assert (check.reason, check.found) == (
        Reason.VERBATIM,
        "In another passage than the cited one: opens at noon and serves soup",
    )
    assert check.remedy.startswith("Do not rely")


def test_given_one_bad_citation_beside_a_good_one_then_the_claim_fails_all_the_same() -> None:
    good = ("1", "The notice period is 30 days.")
    for bad, reason in (
        (("2", "thirty days"), Reason.VERBATIM),
        (("9", "30 days of notice"), Reason.CITATIONS_VALID),
        (("3", ""), Reason.VERBATIM),
        (("3", "period is 60 days"), Reason.FACTS),
    ):
        draft = drafted(("The notice period is 30 days.", [good, bad]))
        assert draft.claims[0].evidence
        assert reason in failed(draft)


def test_given_two_sentences_that_together_say_it_then_none_of_them_denies_the_other() -> None:
    """S0-23: compressing two sentences of the sources into one is what is asked for."""
    corpus = MemoryCorpus([Text("d1", "Full-time staff have 25 days. Part-time staff have 12 days.")], EMBEDDER)
    evidence = [("1", "Full-time staff have 25 days."), ("1", "Part-time staff have 12 days.")]
    said = reply(("Full-time staff have 25 days and part-time staff have 12 days.", evidence))

    draft = model_draft(said, [hit(of=corpus.passages[0])], corpus, "en", EMBEDDER, None)

    assert draft.measured[0].changed_facts == ()


def test_given_an_answer_in_another_language_than_its_source_then_facts_are_compared_across_both() -> None:
    """S2-23: number words and notations are those of each language."""
    corpus = MemoryCorpus([Text("d1", "Výpovědní doba činí dva měsíce. Poplatek je 1 250,50 Kč.", "cs")], EMBEDDER)

    def changed(sentence: str, quote: str) -> tuple[tuple[str, str], ...]:
        said = reply((sentence, [("1", quote)]))
        return model_draft(said, [hit(of=corpus.passages[0])], corpus, "en", EMBEDDER, None).measured[0].changed_facts

    assert changed("The notice period is two months.", "doba činí dva měsíce") == ()
    assert changed("The notice period is three months.", "doba činí dva měsíce") == (("number", "three months"),)
    assert changed("The fee is CZK 1,250.50.", "Poplatek je 1 250,50 Kč.") == ()


def test_given_no_citation_then_the_claim_is_uncited() -> None:
    """S2-9, S3-15."""
    assert failed(drafted(("The notice period is 30 days.", []))) == {
        Reason.CITATIONS_PRESENT,
        Reason.CITATIONS_COMPLETE,
    }


@each("mark", ["[1]", "[Source 1]", "[source:d1#1]", "[source: 1]"])
def test_given_a_mark_in_the_text_then_it_is_read_as_a_citation_and_taken_out(mark: str) -> None:
    """S2-9, S3-14: all notations; the place is found where the sentence was made from one."""
    draft = drafted((f"The notice period is 30 days {mark}.", []))

    assert (draft.claims[0].text, draft.claims[0].cited) == ("The notice period is 30 days.", ("d1#1",))
    assert draft.claims[0].evidence[0].quote == "The notice period is 30 days."
    assert not failed(draft)


def test_given_a_mark_of_a_place_that_cannot_be_told_then_the_claim_fails() -> None:
    draft = drafted(("Colours may vary [1].", []), ("Soup is hot [7].", []))

    assert [claim.cited for claim in draft.claims] == [("d1#1",), ("7",)]
    assert draft.measured[0].quotes_missing == ("no quote from d1#1",)
    assert failed(draft) == {Reason.VERBATIM, Reason.CITATIONS_VALID}


def test_given_a_mark_that_the_document_itself_has_then_it_is_no_citation_of_the_draft() -> None:
    draft = drafted(("Ask the office [12] first.", [("3", "Ask the office [12] first.")]))

    assert draft.claims[0].cited == ("d2#1",)
    assert not failed(draft)
    assert draft.claims[0].text == "Ask the office [12] first."  # whole: the mark is the document's own
    assert draft.measured[0].word_for_word
    assert reworded(draft, HITS, CORPUS.page_text, "en") == (False,)


def test_given_a_mark_of_the_document_and_one_of_the_draft_then_only_the_first_is_a_part_of_the_sentence() -> None:
    draft = drafted(
        ("Ask the office [12] first. [3]", [("3", "Ask the office [12] first.")]), ("Ask [12] first.", [("3", POLICY)])
    )

    assert [claim.text for claim in draft.claims] == ["Ask the office [12] first.", "Ask first."]


def test_given_a_claim_that_quotes_all_its_sentences_then_each_rests_on_itself() -> None:
    """S2-13: three sentences and one quote over them all are three verbatim sentences, and no compression of each
    other.
    """
    draft = drafted((NOTICE, [("1", NOTICE)]))

    assert [claim.text for claim in draft.claims] == NOTICE.replace(". ", ".|").split("|")
    assert [claim.evidence[0].quote for claim in draft.claims] == [claim.text for claim in draft.claims]
    assert all(one.word_for_word and one.support == 1.0 for one in draft.measured)
    assert not failed(draft)


def test_given_a_claim_that_leaves_out_a_sentence_of_its_quote_then_it_rests_on_the_whole_quote() -> None:
    draft = drafted(("The notice period is 30 days. It takes 30 days to answer it.", [("1", NOTICE)]))

    assert {claim.evidence[0].quote for claim in draft.claims} == {NOTICE}
    assert not any(one.word_for_word for one in draft.measured)


def test_given_a_claim_of_two_sentences_then_each_is_audited_by_itself() -> None:
    """S2-13: an invented sentence does not hide behind a faithful one."""
    draft = drafted(
        ("The notice period is 30 days. Typically, Brno pays 500 euros.", [("1", "The notice period is 30 days.")])
    )

    assert [claim.text for claim in draft.claims] == [
        "The notice period is 30 days.",
        "Typically, Brno pays 500 euros.",
    ]
    assert {Reason.FACTS, Reason.INDICATORS} <= failed(draft)
    assert draft_facts(draft, "en", EMBEDDER)["sentences"] == 2


def test_given_characters_that_cannot_be_seen_then_what_was_audited_is_what_is_shown() -> None:
    draft = drafted(
        ("The notice\u200b period \u202eis 30\x00 days.\nReally\u2066.", [("1", "The notice period is 30 days.")])
    )

    assert " ".join(claim.text for claim in draft.claims) == "The notice period is 30 days. Really."
    assert all(normalise(claim.text).text == claim.text for claim in draft.claims)


@each(
    "dressed",
    [
        "The notice period is 30 days, see https://evil.example/x.",
        "The notice period is 30 days ![p](https://evil.example/p.png).",
        "The [notice](//evil.example) period is 30 days.",
        "The notice period is **30 days**.",
        "The notice period is <b>30 days</b>.",
        "The notice period is 30 days, at evil.example.",
        "The notice period :red[is] 30 days.",
        "# The notice period is 30 days.",
        "The notice period is 30 days &lt;img&gt;.",
    ],
)
def test_given_a_link_or_markup_that_no_page_has_then_the_draft_fails(dressed: str) -> None:
    """S2-26: nothing from elsewhere, an address least of all."""
    assert Reason.FACTS in failed(drafted((dressed, [("1", "The notice period is 30 days.")])))


def test_given_an_address_that_the_page_has_then_it_may_be_said() -> None:
    corpus = MemoryCorpus(
        [Text("d1", "Write to help@firm.example or see https://firm.example/help for hours.")], EMBEDDER
    )
    quote = [("1", "see https://firm.example/help for hours")]
    hits = [hit(of=corpus.passages[0])]

    draft = model_draft(reply(("For hours see https://firm.example/help.", quote)), hits, corpus, "en", EMBEDDER, None)

    assert "markup" not in {kind for kind, _ in draft.measured[0].changed_facts}


class Marked(MemoryCorpus):
    """A corpus whose pages have one word box each, over their whole text."""

    def words(self, document: str, page: int) -> tuple[WordBox, ...]:
        return (WordBox(0, len(self.pages[document]), 1.0, 2.0, 3.0, 4.0),)


def test_given_a_quote_of_two_places_then_it_is_marked_only_where_the_claim_decides() -> None:
    corpus = Marked([Text("d1", NOTICE)], EMBEDDER)
    hits = [hit(of=corpus.passages[0])]

    def marks(sentence: str) -> list[tuple[str, bool]]:
        draft = model_draft(reply((sentence, [("1", "30 days")])), hits, corpus, "en", EMBEDDER, None)
        return [(citation.excerpt, citation.boxes == ((1, Box(1, 2, 3, 4)),)) for citation in draft.citations.values()]

    assert marks("The notice period is 30 days.") == [("The notice period is 30 days.", True)]
    assert marks("30 days.") == [("The notice period is 30 days.", False)]


def test_given_more_sentences_than_anybody_reads_then_they_are_audited_together() -> None:
    many = " ".join(f"Sentence number {n} is here." for n in range(200))

    draft = drafted((many, []), ("Another one.", []))

    assert len(draft.claims) == 2
    assert draft_facts(draft, "en", EMBEDDER)["sentences"] == 201
    pairs = drafted(*((f"Number {n} is here. Number {n} is there.", []) for n in range(20)), ("[1]", []))
    assert draft_facts(pairs, "en", EMBEDDER)["sentences"] == 40
    assert all(claim.text for claim in pairs.claims)
    for count, claims in ((20, 20), (21, 1)):  # as many as there is room for are claims each
        assert len(drafted((" ".join(f"Sentence number {n} is here." for n in range(count)), [])).claims) == claims


def facts(*texts: str, language: str = "en") -> dict[str, object]:
    return draft_facts(drafted(*((text, []) for text in texts)), language, EMBEDDER)


def test_given_a_draft_then_its_sentences_and_tokens_are_counted_without_special_ones() -> None:
    """S0-20, S0-23."""
    assert facts("The canteen serves soup.", "It opens at noon [1].") == {"language": "en", "sentences": 2, "tokens": 8}
    assert draft_facts(Draft(), "en", EMBEDDER) == {"language": "", "sentences": 0, "tokens": 0}


class Letters(HashEmbedder):
    """A tokenizer with a vocabulary of letters, as an English one has for other scripts."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) + 2 for text in texts]


def test_given_a_script_that_the_embedding_model_takes_apart_into_letters_then_its_tokens_are_estimated() -> None:
    """S0-20: a Russian sentence is no longer than an English one."""
    draft = drafted(("Срок уведомления составляет два месяца.", []))

    assert draft_facts(draft, "ru", Letters())["tokens"] == 10


@each(
    ("texts", "asked", "language"),
    [
        (["Die Kündigungsfrist beträgt zwei Monate."], "en", "de"),
        (["The notice period is two months.", "Die Kündigungsfrist beträgt zwei Monate."], "en", "de"),
        (["The notice period is two months.", "Die Kündigungsfrist beträgt zwei Monate."], "de", "en"),
        (["The notice period is two months.", "Brno, 2024: 320."], "en", "en"),
        (["Brno Praha 2024", "320 EUR"], "cs", ""),
        (["सूचना अवधि दो महीने है।"], "hi", "hi"),
    ],
)
def test_given_sentences_then_one_of_another_language_decides(texts: list[str], asked: str, language: str) -> None:
    """S2-23: only what is certain counts."""
    assert facts(*texts, language=asked)["language"] == language


def sides(first: tuple[str, str], second: tuple[str, str], *more: Contradiction) -> tuple[Draft, object] | None:
    pair = Contradiction(
        first=Quoted(source=first[0], quote=first[1]), second=Quoted(source=second[0], quote=second[1])
    )
    said = SufficiencyReply(can_answer="yes", confidence=0.9, missing=[], reasoning="", contradictions=[pair, *more])
    return both_sides(said, HITS, CORPUS, LibraryFacts(dates={"d2": "2026-01"}), "en", EMBEDDER)


def test_given_two_quotes_that_contradict_each_other_then_both_sentences_are_drafted_word_for_word() -> None:
    """S3-11, S4-21: both sides with both citations."""
    shown = sides(("1", "is 30 days"), ("3", "period is 60 days"))
    assert shown is not None
    draft, conflict = shown

    assert (draft.drafter, [claim.text for claim in draft.claims]) == (
        "extract",
        ["The notice period is 30 days.", "The notice period is 60 days."],
    )
    assert all(audit.word_for_word for audit in draft.measured)
    assert len(draft.citations) == 2
    assert not failed(draft)
    assert (conflict.claim, conflict.other, conflict.added) == (0, 1, False)  # type: ignore[attr-defined]
    assert conflict.values == ("The notice period is 30 days.", "The notice period is 60 days.")  # type: ignore[attr-defined]
    assert (conflict.documents, conflict.pages, conflict.dates) == (("d1", "d2"), (1, 1), ("", "2026-01"))  # type: ignore[attr-defined]


@each(
    ("first", "second"),
    [
        (("1", "is 31 days"), ("3", "is 60 days")),
        (("1", "is 30 days"), ("1", "is 60 days")),
        (("1", "notice period is"), ("1", "is 30 days")),
        (("1", "notice period is"), ("1", "is 30 days. Notice shall not")),
        (("8", "is 30 days"), ("3", "is 60 days")),
        (("1", ""), ("3", "")),
    ],
)
def test_given_a_quote_that_does_not_stand_then_no_sides(first: tuple[str, str], second: tuple[str, str]) -> None:
    assert sides(first, second) is None
    other = Contradiction(first=Quoted(source="1", quote="is 30 days"), second=Quoted(source="3", quote="is 60 days"))
    assert sides(first, second, other) is not None


PAGE_TEXTS = [NOTICE, CANTEEN, POLICY]
stretches = st.builds(
    lambda text, ends: text[min(ends) : max(ends)],
    st.sampled_from(PAGE_TEXTS),
    st.tuples(st.integers(0, 100), st.integers(0, 100)),
)
mutated = st.builds(
    lambda text, at, sign: text[:at] + sign + text[at + 1 :],
    stretches,
    st.integers(0, 60),
    st.sampled_from(["", "x", "7", " not ", "…", "\n", "-"]),
)
whole = st.sampled_from([sentence for text in PAGE_TEXTS for sentence in text.replace("] ", "]. ").split(". ")])
texts = st.one_of(
    st.text(max_size=80),
    stretches,
    mutated,
    whole,
    st.builds(lambda *parts: " ".join(parts), whole, st.text(max_size=20), mutated),
)
ids = st.one_of(st.sampled_from(["1", "2", "3", "9", "d1#1", "?", ""]), st.text(max_size=10))
replies = st.builds(
    lambda claims: reply(*claims), st.lists(st.tuples(texts, st.lists(st.tuples(ids, texts), max_size=3)), max_size=4)
)


@given(said=replies)
def test_given_any_reply_whatever_then_only_claims_with_quotes_on_their_pages_pass(said: DraftReply) -> None:
    """S2-26, S3-15: for any output of a model, what may be shown stands on the page that it cites, or nothing is
    shown.
    """
    draft = model_draft(said, HITS, CORPUS, "en", EMBEDDER, None)
    sources = Sources((one.passage for one in HITS), CORPUS.page_text)
    known = {str(number): one.passage.id for number, one in enumerate(HITS, 1)} | {
        one.passage.id: one.passage.id for one in HITS
    }

    assert len(draft.measured) == len(draft.claims)
    for claim in draft.claims:
        assert claim.text == normalise(claim.text).text
        assert all(quote_stands(evidence, CORPUS.page_text) for evidence in claim.evidence)
        assert {evidence.passage for evidence in claim.evidence} <= set(claim.cited)
    assert {evidence_key(evidence) for claim in draft.claims for evidence in claim.evidence} == set(draft.citations)
    if draft.claims and not failed(draft):
        assert all(claim.evidence for claim in draft.claims)
        given_ = [
            (one.source, one.quote) for claim in said.claims if normalise(claim.sentence).text for one in claim.evidence
        ]
        shown = {claim.text for claim in draft.claims}
        for claim in said.claims:
            if normalise(claim.sentence).text in shown:
                quotes = [(one.source, one.quote) for one in claim.evidence if one.quote.strip()]
                assert all(
                    sources.find(quote, known[source], claim.sentence).standing is Standing.FOUND
                    for source, quote in quotes
                )
        assert given_ or draft.claims

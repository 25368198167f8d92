"""Reading what a model wrote: JSON by a schema, and anything else whatever."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from folding import each
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from rag_core.compression.llm import replies as structures
from rag_core.compression.llm.replies import (
    DraftReply,
    EmptyReply,
    MalformedReply,
    SufficiencyReply,
    VerifyReply,
    draft_schema,
    read_draft,
    read_sufficiency,
    read_yes_no,
    source_id,
)
from rag_core.domain.llm_trace import Completion
from rag_core.language import LANGUAGES, is_refusal, refusal

READ: dict[str, Callable[[Completion], Any]] = {
    "draft": read_draft,
    "sufficiency": read_sufficiency,
    "verdicts": lambda completion: read_yes_no(completion, 2),
}
SENTENCE, QUOTE = "The notice period is 30 days.", "notice period of 30 days"
CLAIM = {"sentence": SENTENCE, "evidence": [{"source": "1", "quote": QUOTE}]}
JUDGED = {
    "can_answer": "partial",
    "confidence": 0.4,
    "missing": ["the fee"],
    "reasoning": "No fee.",
    "contradictions": [],
}


def completion(text: str, structured: bool = True) -> Completion:
    return Completion(text, structured, "m", "localhost:1")


def drafted(*claims: object, answerable: object = True, reason: object = "") -> str:
    return json.dumps({"answerable": answerable, "reason": reason, "claims": list(claims)})


def read(text: str) -> DraftReply:
    return read_draft(completion(text))


def judged(**fields: object) -> SufficiencyReply:
    return read_sufficiency(completion(json.dumps({**JUDGED, **fields})))


# the schemas


@pytest.mark.parametrize("schema", [DraftReply, SufficiencyReply, VerifyReply])
def test_given_a_schema_then_it_keeps_to_what_strict_mode_takes(schema: type[BaseModel]) -> None:
    """Every field required and none more allowed, no defaults; of bounds only those that the client can leave out
    (openai_server).
    """
    whole = schema.model_json_schema()
    objects = [whole, *whole.get("$defs", {}).values()]

    for one in objects:
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])
    taken = {
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "$ref",
        "$defs",
        "title",
        "description",
    }
    keywords = {key for one in objects for part in (one, *one["properties"].values()) for key in part}
    assert keywords - {"maxItems", "maxLength"} <= taken


def test_given_settings_then_a_drafts_schema_bounds_its_parts_and_a_longer_reply_is_read_all_the_same() -> None:
    """A server that writes by a grammar comes to an end; one that ignores the bounds loses nothing."""
    schema = draft_schema(3, 150)
    whole = schema.model_json_schema()
    texts = [
        part
        for one in (whole, *whole["$defs"].values())
        for part in one["properties"].values()
        if part.get("type") == "string"
    ]
    lists = [
        part
        for one in (whole, *whole["$defs"].values())
        for part in one["properties"].values()
        if part.get("type") == "array"
    ]

    assert [part["maxLength"] for part in texts if "maxLength" not in part] == []
    assert sorted(part["maxItems"] for part in lists) == [3, 3]
    assert max(part["maxLength"] for part in texts) == 900
    assert draft_schema(3, 2000).model_json_schema()["$defs"]["Quoted"]["properties"]["quote"]["maxLength"] == 2000
    assert draft_schema(3, 150) is schema
    long = {**CLAIM, "sentence": f"{SENTENCE} " * 40}
    assert len(read(drafted(*[long] * 5)).claims) == 5


def test_given_a_schema_of_drafts_then_the_quote_comes_before_the_sentence() -> None:
    claim = DraftReply.model_json_schema()["$defs"]["ClaimReply"]

    assert list(claim["properties"]) == ["evidence", "sentence"]


# JSON


def test_given_a_draft_then_its_claims_are_read() -> None:
    (claim,) = read(drafted(CLAIM)).claims

    assert claim.sentence == SENTENCE
    assert [(one.source, one.quote) for one in claim.evidence] == [("1", QUOTE)]


@each(
    "around",
    [
        "{}",
        "\ufeff{}",
        "\n\t {} \n",
        "```json\n{}\n```",
        "```\n{}\n```",
        "Here is the JSON:\n{}",
        "{}\n\nI hope this helps.",
        '<think>The user wants {{}} of "claims".</think>\n{}',
        "<THINKING>\nhm\n</thinking>{}",
        "some thoughts</think>\n\n{}",
    ],
)
def test_given_json_with_something_around_it_then_it_is_read_all_the_same(around: str) -> None:
    assert read(
        around.replace("{}", drafted(CLAIM), 1) if "{{" not in around else around.format(drafted(CLAIM))
    ) == read(drafted(CLAIM))
    assert judged() == read_sufficiency(completion(around.format(json.dumps(JUDGED))))


def test_given_a_sentence_about_thoughts_then_nothing_of_it_is_taken_for_the_models_own() -> None:
    sentence = "The tag </think> ends a thought."

    assert read(drafted({"sentence": sentence, "evidence": []})).claims[0].sentence == sentence


@each(
    ("text", "says"),
    [
        ('{"answerable": true, "answerable": false, "reason": "", "claims": []}', "one key twice"),
        ('{"answerable": true, "reason": "", "claims": [', "not valid JSON"),
        ('{"answerable": tru', "not valid JSON"),
        ("{'answerable': true}", "not valid JSON"),
        ('```json\n{"answerable": true', "not valid JSON"),
        (drafted(CLAIM) * 2, "not valid JSON"),
        ("[" + drafted(CLAIM) + "]", "another form"),
        ('["a"]', "not valid JSON"),
        ("[" * 150_000, "not valid JSON"),
        ('{"a":' * 30_000 + "1" + "}" * 30_000, "too deep"),
        ('{"answerable": true, "reason": "", "claims": ' + "[" * 60_000 + "]" * 60_000 + "}", "too deep"),
        ('{"answer": "The notice period is 30 days."}', "another form than was asked for, at answerable"),
        ('{"answerable": true, "reason": "", "claims": "none"}', "at claims"),
        ('{"answerable": true, "reason": "", "claims": null}', "at claims"),
        ('{"answerable": true, "reason": "", "claims": [1]}', "at claims.0"),
        ('{"answerable": null, "reason": "", "claims": []}', "at answerable"),
        ('{"answerable": NaN, "reason": "", "claims": []}', "no number"),
        ('{"answerable": true, "reason": "", "claims": [{"sentence": "x"}]}', "at claims.0.evidence"),
        (drafted({"sentence": "x", "evidence": [{"source": "1"}]}), "at claims.0.evidence.0.quote"),
        (drafted({"sentence": " \u200b\n", "evidence": []}), "has no sentence"),
        (drafted(*[CLAIM] * 21), "more than 20 claims"),
        (drafted({"sentence": "x" * 2_001, "evidence": []}), "longer than 2,000"),
        (drafted({"sentence": "x", "evidence": [{"source": "1", "quote": "x" * 2_001}]}), "longer than 2,000"),
        (drafted({"sentence": "x", "evidence": [{"source": "1", "quote": "x"}] * 11}), "more than 10 quotes"),
        ("x" * 10_000_000, "longer than 200,000"),
        ('{"a": ' + "1" * 5_000 + "}", "not valid JSON"),
    ],
)
def test_given_what_is_no_draft_then_it_is_malformed_and_one_sentence_of_ours_says_why(text: str, says: str) -> None:
    with pytest.raises(MalformedReply, match=says) as caught:
        read(text)

    assert not isinstance(caught.value, EmptyReply)
    assert str(caught.value).endswith(".")
    assert "notice" not in str(caught.value)


@each("text", ["", " \n", "\ufeff", "<think>I had better say nothing", "<think>hm</think>", drafted()])
def test_given_nothing_said_then_the_answer_is_empty(text: str) -> None:
    with pytest.raises(EmptyReply):
        read(text)


def test_given_a_sentence_with_what_cannot_be_seen_or_stored_then_it_comes_in_its_reading_form() -> None:
    (claim,) = read(
        '{"answerable": true, "reason": "", "claims": [{"sentence": "A\\u202e\\u200bb\\n  \\ud800 c\\u0000.", '
        '"evidence": []}]}'
    ).claims

    assert claim.sentence == "Ab ? c."
    assert (
        read(drafted({"sentence": "x", "evidence": [{"source": "1", "quote": " a \ud800\n"}]}))
        .claims[0]
        .evidence[0]
        .quote
        == "a ?"
    )


@each(
    ("written", "id"),
    [
        ("1", "1"),
        ("[1]", "1"),
        ("Source 1", "1"),
        ("[Source 1]", "1"),
        ("source:1", "1"),
        ("SOURCE #2.", "2"),
        (" 3 ", "3"),
        ("01", "1"),
        ("१२", "12"),
        ("id: 4", "4"),
        ("passage 5", "5"),
        ('"6"', "6"),
        ("[source:sha256:ab#7]", "sha256:ab#7"),
        ("d1#2", "d1#2"),
        ("sourcebook", "sourcebook"),
        ("Appendix B", "Appendix B"),
        ("99", "99"),
        ("", "?"),
        ("[]", "[]"),
        ("\u200b", "?"),
        ("\ud800", "?"),
        ("source", "source"),
        ("9" * 300, "9" * 200),
    ],
)
def test_given_an_id_however_written_then_what_stands_around_it_goes(written: str, id: str) -> None:
    assert source_id(written) == id


def test_given_ids_in_a_draft_then_they_are_read_the_same_way_and_numbers_too() -> None:
    (claim,) = read(
        drafted({"sentence": "x", "evidence": [{"source": one, "quote": "q"} for one in (2, "[Source 3]", "made-up")]})
    ).claims

    assert [one.source for one in claim.evidence] == ["2", "3", "made-up"]


# refusals


@each("language", LANGUAGES)
def test_given_a_refusal_in_any_language_and_any_dress_then_it_is_one(language: str) -> None:
    """S4-13: recognised as plain text, as the only claim of a draft, with a citation, and over two claims."""
    sentence = refusal(language)
    dressed = (
        sentence,
        f"**{sentence}**",
        f"Answer: {sentence}",
        drafted({"sentence": sentence, "evidence": []}),
        drafted({"sentence": sentence, "evidence": [{"source": "1", "quote": QUOTE}]}),
        f'{sentence} [1] "{QUOTE}"',
        drafted({"sentence": sentence, "evidence": []}, {"sentence": "Ask someone else.", "evidence": []}),
    )

    for text in dressed:
        reply = read(text)
        assert (reply.answerable, reply.claims) == (False, [])
        assert is_refusal(reply.reason)


def test_given_a_refusal_with_its_reason_then_the_reason_is_kept_and_claims_beside_it_are_not() -> None:
    reply = read(drafted(CLAIM, answerable=False, reason="The passages\nname no\u202e fee."))

    assert reply == DraftReply(answerable=False, reason="The passages name no fee.", claims=[])


def test_given_a_reason_without_end_then_it_is_cut() -> None:
    assert len(read(drafted(answerable=False, reason="word " * 10_000)).reason) == 1_000


def test_given_a_cited_claim_beside_a_sentence_that_reads_like_a_refusal_then_it_is_an_answer_to_be_audited() -> None:
    assert len(read(drafted({"sentence": refusal("en"), "evidence": []}, CLAIM)).claims) == 2


# prose


@each("text", [SENTENCE, f'{SENTENCE} [1] "{QUOTE}"', "This is not JSON at all.", "``````", "---"])
@each("name", READ)
def test_given_prose_that_is_no_refusal_then_it_is_malformed(name: str, text: str) -> None:
    """What could not be read counts as not answered, and as a check that has not passed."""
    with pytest.raises(MalformedReply, match="not valid JSON"):
        READ[name](completion(text, structured=False))


# sufficiency


def test_given_a_judgement_then_all_of_it_is_read() -> None:
    pair = {"first": {"source": "[1]", "quote": "30 days"}, "second": {"source": 2, "quote": "60 days"}}
    reply = judged(contradictions=[pair])

    assert (reply.can_answer, reply.confidence, reply.missing, reply.reasoning) == (
        "partial",
        0.4,
        ["the fee"],
        "No fee.",
    )
    assert [(one.first.source, one.second.source) for one in reply.contradictions] == [("1", "2")]


@each(
    "wrong",
    [{"can_answer": "maybe"}, {"confidence": "high"}, {"confidence": None}, {"missing": "x"}, {"reasoning": 1.5j}],
)
def test_given_a_judgement_of_another_form_then_it_is_malformed(wrong: dict[str, object]) -> None:
    with pytest.raises(MalformedReply, match=f"at {next(iter(wrong))}"):
        read_sufficiency(completion(json.dumps({**JUDGED, **wrong}, default=lambda _: [])))


@each("number", ["NaN", "Infinity", "-Infinity", "1e999", "-0.01", "1.01", "90"])
def test_given_a_confidence_that_is_none_then_it_is_malformed(number: str) -> None:
    with pytest.raises(MalformedReply):
        read_sufficiency(completion(json.dumps(JUDGED).replace("0.4", number)))


def test_given_more_than_anyone_reads_then_a_judgement_is_cut() -> None:
    pair = {"first": {"source": "1", "quote": "a"}, "second": {"source": "2", "quote": "b"}}
    reply = judged(missing=["w" * 500, " ", *["x"] * 99], reasoning="r" * 5_000, contradictions=[pair] * 50)

    assert (len(reply.missing), len(reply.missing[0]), len(reply.reasoning), len(reply.contradictions)) == (
        9,
        200,
        1_000,
        10,
    )


# verdicts


def verdicts(*said: object) -> str:
    return json.dumps({"verdicts": [{"claim": n, "verdict": one, "why": ""} for n, one in enumerate(said, 1)]})


def test_given_a_verdict_for_each_claim_then_they_come_in_the_claims_order() -> None:
    assert read_yes_no(completion(verdicts("yes", "no", "unclear")), 3) == ("yes", "no", "unclear")
    turned = json.dumps({"verdicts": list(reversed(json.loads(verdicts("yes", "no"))["verdicts"]))})
    assert read_yes_no(completion(turned), 2) == ("yes", "no")


@each(
    "text",
    [
        verdicts("yes"),
        verdicts("yes", "no", "yes"),
        verdicts("yes", "sure"),
        "1: yes\n2: no",
        json.dumps({"verdicts": [{"claim": 1, "verdict": "yes", "why": ""}] * 2}),
        json.dumps({"verdicts": []}),
    ],
)
def test_given_verdicts_that_do_not_match_the_claims_one_to_one_then_they_are_malformed(text: str) -> None:
    """S3-15: a check that could not be read has not passed."""
    with pytest.raises(MalformedReply):
        read_yes_no(completion(text), 2)


# anything whatever

PIECES = [
    '{"',
    '"claims": [',
    '"sentence": "',
    "[1]",
    '"',
    "}",
    "]",
    "\n",
    "yes",
    "1: no",
    "<think>",
    "</think>",
    "```",
    "Sources:",
    "\\u",
    "“",
    "NaN",
    "\ud800",
]
anything = st.one_of(st.text(), st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=40).map("".join))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)
quoted = st.fixed_dictionaries({"source": values, "quote": values})
structured = st.fixed_dictionaries(
    {
        "answerable": st.just(True) | values,
        "reason": values,
        "verdicts": values,
        "can_answer": st.sampled_from(["yes", 1]),
        "claims": st.lists(
            st.fixed_dictionaries({"sentence": st.text() | values, "evidence": st.lists(quoted, max_size=3)}),
            max_size=4,
        ),
        "confidence": values,
        "missing": values,
        "reasoning": st.text(),
        "contradictions": values,
    }
).map(json.dumps)


@pytest.mark.parametrize("name", READ)
@given(text=anything | structured)
@example(text="[1]")
@example(text='"')
@example(text="{}")
def test_given_any_text_whatever_then_it_is_a_reply_within_the_bounds_or_malformed(name: str, text: str) -> None:
    try:
        reply = READ[name](completion(text))
    except MalformedReply:
        return
    if isinstance(reply, DraftReply):
        assert reply.answerable == bool(reply.claims)
        assert len(reply.reason) <= structures.MAX_REASON_CHARS
        assert all(claim.sentence and len(claim.evidence) <= structures.MAX_EVIDENCE for claim in reply.claims)
    str(reply).encode()


REPEATED = [
    "[",
    "[1] ",
    '[1] "',
    "[1, ",
    "[source ",
    "* ",
    "_",
    '"',
    "yes*",
    "1 * yes",
    "claim ",
    "<think>",
    "</think>",
    "\n[1]\n",
    "a\n",
    "confidence:",
    'contradiction: [1] "',
    '{"a":',
    '[{"',
    "a\u0301",
    "-\n",
    "} ",
    "0",
]


@pytest.mark.timeout(60)  # a pattern that looks back over what it has read would take hours
@each("piece", REPEATED)
def test_given_the_longest_text_that_is_read_of_one_piece_over_and_over_then_it_takes_linear_time(piece: str) -> None:
    most = structures.MAX_CHARS - 10
    for text in (f"sources{piece * (most // len(piece))}x", f"yes{piece}{' ' * (most - 30)}x"):
        for name in READ:
            try:
                READ[name](completion(text))
            except MalformedReply:
                continue


@each("structured", [True, False])
@each(
    ("name", "text"),
    [("draft", drafted(CLAIM)), ("sufficiency", json.dumps(JUDGED)), ("verdicts", verdicts("yes", "yes"))],
)
def test_given_an_answer_that_was_cut_off_then_it_is_malformed(name: str, text: str, structured: bool) -> None:
    READ[name](completion(text, structured))

    with pytest.raises(MalformedReply, match="cut off at its longest length"):
        READ[name](replace(completion(text, structured), complete=False))

"""The ways of cutting, the detector that chooses one, and that each cuts suitable texts in its own way."""

from __future__ import annotations

import pytest
from folding import each
from paper import embedder

from rag_core.domain.documents import Page
from rag_core.domain.passages import Passage, PassageKind
from rag_core.errors import InvalidSetting
from rag_core.ingest.passages.chunk import chunk
from rag_core.ingest.passages.strategies import STRATEGIES, choose, named
from rag_core.settings import Settings

CODE = '''"""Payments: prices with tax, discounts for customers of many years, and invoices with their totals."""

import decimal

RATE = decimal.Decimal("0.21")


def gross(net):
    """The price with tax."""
    if net < 0:
        raise ValueError("a price is never negative, and this one is")
    return net + net * RATE


@cached
def discount(net, years):
    for year in range(years):
        net = net - net * decimal.Decimal("0.01")
    return max(net, decimal.Decimal("0.00"))


class Invoice:
    def __init__(self, lines):
        self.lines = list(lines)

    def total(self):
        return sum(gross(line.net) for line in self.lines)
'''

CONTRACT = "\n\n".join(
    ["Article 1 Supply"]
    + [
        f"1.{number} The supplier shall {duty}, and the parties shall record it in writing as set out herein; failing "
        f"this, the buyer may "
        "withdraw from the agreement, and the supplier shall indemnify the buyer for any loss that follows from the "
        "failure."
        for number, duty in enumerate(
            ["deliver the goods", "insure the goods", "label the goods", "store the goods"], 1
        )
    ]
)

PAPER = "\n\n".join(
    ["Abstract"]
    + [
        f"{subject} has been measured by Novak et al. and by others [{number}]. The effect is small but stable across "
        f"three laboratories, "
        "which used one protocol and reported every run, also those that failed for reasons known beforehand. We "
        "repeat the measure with "
        "a larger sample and a stated error, and we find the earlier figure confirmed within its bounds in four out of "
        "five groups, as the "
        "table in the annex shows in detail. The fifth group differs for a reason that the authors of the first study "
        "already named; we "
        "follow their advice to report it by itself, not in the mean."
        for number, subject in enumerate(["Recall", "Attention", "Fatigue"], 1)
    ]
    + [
        "References",
        "[1] A. Novak et al., 2019. [2] B. Meyer, 2020. [3] C. Rao, 2021. [4] D. Silva, 2021. [5] E. Wolf, 2022.",
    ]
)

MANUAL = (
    "Starting the pump\n\nClose the lid and press the green button.\n\nWait for the "
    "light.\n\nOpen the valve by a quarter turn."
)

TEXTS = {"code": CODE, "legal": CONTRACT, "research": PAPER, "technical": MANUAL}


def cut(text: str, strategy: str) -> list[Passage]:
    return chunk("doc", [Page(1, text)], language="en", title="", strategy=STRATEGIES[strategy], embedder=embedder())


def test_the_sizes_of_the_strategies() -> None:
    """S3-2, S3-4: the sources' sizes, and their overlap of 50 tokens."""
    sizes = {name: strategy.max_tokens for name, strategy in STRATEGIES.items()}

    assert sizes == {"technical": 512, "code": 512, "legal": 256, "research": 384}
    assert Settings().overlap_tokens == 50


@each("name", TEXTS)
def test_given_a_suitable_text_when_a_strategy_is_chosen_then_it_fits_and_the_evidence_is_said(name: str) -> None:
    """S3-4: technical, code, legal and research documents are told apart, and the counts are shown."""
    choice = choose([Page(1, TEXTS[name])], "en")

    assert choice.strategy.name == name
    assert choice.evidence.endswith(".")
    assert any(char.isdigit() for char in choice.evidence) or name == "technical"
    spans = [passage.spans for passage in cut(TEXTS[name], name)]
    assert (spans == [passage.spans for passage in cut(TEXTS[name], "technical")]) is (name == "technical")


def test_given_source_code_when_cut_as_code_then_each_function_and_class_stands_alone() -> None:
    """S3-4: code is cut at functions and classes, each with its decorators."""
    passages = cut(CODE, "code")

    assert [passage.text.split("(")[0].split(":")[0] for passage in passages[1:]] == [
        "def gross",
        "@cached def discount",
        "class Invoice",
    ]
    assert all(passage.kind is PassageKind.CODE for passage in passages)


def test_given_a_contract_when_cut_as_law_then_each_clause_stands_alone() -> None:
    """S3-4: one passage for each clause."""
    passages = cut(CONTRACT, "legal")

    assert [passage.text.count("The supplier shall") for passage in passages] == [1, 1, 1, 1]
    assert all(passage.section == "Article 1 Supply" for passage in passages)


def test_given_a_paper_when_cut_as_research_then_no_passage_has_parts_of_two_paragraphs() -> None:
    """S3-4: one passage for each paragraph."""
    starts = ("Recall has", "Attention has", "Fatigue has")

    found = [[start for start in starts if start in passage.text] for passage in cut(PAPER, "research")]

    assert [each for each in found if each] == [[start] for start in starts]


def test_given_a_manual_when_cut_by_sections_then_short_paragraphs_share_a_passage() -> None:
    """S3-4: technical documents are cut by sections."""
    (passage,) = cut(MANUAL, "technical")

    assert passage.section == "Starting the pump"


@each(
    "text",
    [
        "",
        "Both parties of the dance shall meet at noon.",
        "He wrote it [1] and she read it [2].",
        "References\n\nAsk our customers.",
        "A manual with one listing.\n\n"
        + "It explains much in words.\n\n" * 6
        + "    x = 1\n    y = 2\n\nAnd goes on in words.",
    ],
)
def test_given_weak_signs_when_a_strategy_is_chosen_then_it_is_the_default_one(text: str) -> None:
    assert choose([Page(1, text)], "en").strategy.name == "technical"


@pytest.mark.parametrize(
    "text",
    [
        "Smlouva o dílo\n\n§ 1 Strany\n\n1.1 Smluvní strany uzavírají tuto smlouvu.\n\n1.2 Zhotovitel provede dílo "
        "podle odst. 1.",
        "Vertrag\n\n§ 1 Gegenstand\n\n§ 2 Haftung\n\n§ 3 Laufzeit\n\nDer Vertrag gilt gemäß Absatz 2, die "
        "Vertragsparteien haften.",
    ],
)
def test_given_a_czech_or_german_contract_when_a_strategy_is_chosen_then_it_is_law(text: str) -> None:
    assert choose([Page(1, text)], "cs").strategy.name == "legal"


def test_given_a_name_when_a_strategy_is_overridden_then_it_is_that_one_or_the_known_ones_are_listed() -> None:
    assert named("research").strategy is STRATEGIES["research"]
    with pytest.raises(InvalidSetting, match=r"'poetry'.*technical, code, legal, research"):
        named("poetry")

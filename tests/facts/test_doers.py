"""Who does an act: compressions that keep it say nothing wrong, those that give it to somebody else are seen, in four languages."""

from pathlib import Path

import pytest
import yaml

from rag_core.facts import changed_facts
from rag_core.facts.differences.doers import changed_doers

ROWS = yaml.safe_load((Path(__file__).parent / "doers.yaml").read_text(encoding="utf-8"))
APPROVAL = "The supplier must seek the client's approval for each action."


@pytest.mark.parametrize("lang", ROWS)
def test_given_a_good_compression_then_no_fact_of_it_is_changed(lang: str) -> None:
    """S0-25: whoever shortens may reorder, and turn a noun into its verb and a passive into its active."""
    for source, said in ROWS[lang]["good"]:
        assert changed_facts(said, source, lang) == (), said


@pytest.mark.parametrize("lang", ROWS)
def test_given_an_act_of_somebody_else_then_it_is_named(lang: str) -> None:
    """S0-26: the words stay, and who does what is changed."""
    for source, said in ROWS[lang]["changed"]:
        assert {"role", "name"} & {kind for kind, _ in changed_facts(said, source, lang)}, said


def test_given_an_act_that_changed_hands_then_its_doer_and_it_are_named() -> None:
    assert list(changed_doers("The supplier must approve each action with the client.", APPROVAL, "en")) == ["supplier … approve"]


def test_given_what_cannot_be_read_for_certain_then_nothing_follows_from_it() -> None:
    unsure = {
        "The supplier must have each action approved.": "somebody else does it",
        "The supplier asks the client to approve each action.": "the client does it",
        "Each action must be approved.": "nobody is named",
        "The mayor must approve each action.": "the evidence does not know the mayor",
        "The supplier is responsible for the approval of the client.": "the client may be who is approved",
        "The supplier approves invoices.": "it speaks of something else",
    }
    for said, why in unsure.items():
        assert list(changed_doers(said, APPROVAL, "en")) == [], why
    assert list(changed_doers("El proveedor aprueba cada acción.", "El proveedor pide la aprobación del cliente.", "es")) == []


def test_given_another_doer_elsewhere_in_the_evidence_then_a_claim_that_names_him_is_left_alone() -> None:
    evidence = "Courses are approved by the manager. Budgets are approved by the director."
    assert list(changed_doers("Budgets are approved by the director.", evidence, "en")) == []
    assert list(changed_doers("Budgets are approved by the manager.", evidence, "en")) == ["approved … manager"]

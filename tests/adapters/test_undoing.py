"""What stands beside a sentence and undoes it, told by a regression over the embedded model."""

from __future__ import annotations

from folding import each

from rag_core.adapters.embedding.by_name import EMBEDDED
from rag_core.adapters.embedding.undoing import SIDES, undoing
from rag_core.domain.ports import Side
from rag_core.grounding.omissions.back import UNDOES, UNDOES_BELOW
from rag_core.wiring import models

# none of them is among the examples of the fit; Portuguese and Swedish have no language file
TOLD: list[tuple[Side, str]] = [
    ("after", "The maker has called back every batch of it, we hand out Trivalan."),
    ("after", "Im ersten Jahr sind Sie trotzdem gebunden und bekommen keine Antwort."),
    ("after", "Tohle vše se tisklo, než dodavatel zkrachoval; do odvolání se nevaří."),
    ("after", "Isso já não é verdade desde o ano passado."),
    ("before", "Det här är bara ett påhittat exempel."),
    ("heading", "Motions lost"),
    ("heading", "Abgelehnte Anträge"),
]
HARMLESS: list[tuple[Side, str]] = [
    ("after", "Towels can be hired at the desk."),
    ("after", "Der Park liegt am Fluss."),
    ("before", "Maps are sold at the station kiosk."),
    ("before", "Kola stojí ve druhé místnosti."),
    ("heading", "Opening hours"),
    ("heading", "Where to write"),
    ("heading", "Kontakt"),
]


@each(("side", "text"), TOLD)
def test_given_a_text_that_undoes_what_it_stands_beside_then_it_is_told(side: Side, text: str) -> None:
    (found,) = undoing([(side, text)], models.embedder(EMBEDDED, "auto"))

    assert 1 > found >= (UNDOES_BELOW if side == "heading" else UNDOES)


@each(("side", "text"), HARMLESS)
def test_given_a_text_that_does_no_harm_then_it_is_not(side: Side, text: str) -> None:
    (found,) = undoing([(side, text)], models.embedder(EMBEDDED, "auto"))

    assert 0 < found < (UNDOES_BELOW if side == "heading" else UNDOES)


def test_given_one_text_on_three_sides_then_each_side_has_its_own_say() -> None:
    found = undoing([(side, "Motions lost") for side in SIDES], models.embedder(EMBEDDED, "auto"))

    assert len(set(found)) == len(SIDES)

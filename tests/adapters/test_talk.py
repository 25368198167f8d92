"""Small talk and questions about the documents as such, told by a regression over the embedded model."""

from __future__ import annotations

from folding import each

from rag_core.adapters.embedding.by_name import EMBEDDED
from rag_core.adapters.embedding.intents import INTENTS, MOST_CHARS, talk_of
from rag_core.domain.measurements import LibraryFacts
from rag_core.domain.replies import SETTLED, TALK, settled
from rag_core.wiring import models

# none of them is among the examples of the fit; Danish, Dutch, Portuguese, Swedish and Turkish have no language file
TOLD = {
    "greeting": "Hello! | Good morning, everyone! | Hallo zusammen | Dobrý den všem | नमस्ते जी | Hola amigos | Oi!",
    "thanks": "Thanks! | Vielen Dank! | Danke für die Hilfe | Děkuji pěkně | Grazie infinite | Tack för hjälpen",
    "goodbye": "See you later! | Bis dann, tschüss | Hasta pronto | Arrivederci a tutti | Na shledanou zítra",
    "library": (
        "which files are available | Jaké dokumenty tu máš? | आपके पास कौन-से दस्तावेज हैं | Welche Unterlagen hast du?"
        " | List all documents, please | Quali file ci sono? | Quais documentos existem aqui?"
    ),
    "summary": (
        "What is this document about? | What are the main topics of this brochure? | Give me an overview of the manual"
        " | Worum geht es in diesem Vertrag? | O čem je tahle smlouva? | De quoi traite ce rapport ?"
        " | इस रिपोर्ट का सारांश दें | Waar gaat dit rapport over?"
        " | Bu rapor ne hakkında? | Can you tell me what this file is about?"
    ),
    "author": "Who wrote this paper? | Wer hat dieses Dokument verfasst? | Qui est l'auteur du document ?",
    "pages": "How many pages does this report have? | Wie viele Seiten hat der Bericht?",
}
CONTENTS = """
Hello, what is the notice period? | Guten Tag, wie hoch ist der Preis? | What is a greeting? | hello world | Hi-fi
Thanks to whom was the bridge built? | What documents are available to the auditor? | When is the bye week?
Summarize the duties of the tenant | Zusammenfassung der Pflichten des Mieters im Brandfall
Welche Dokumente sind vorzulegen? | List the documents named in clause 5 | Who are you required to inform?
Who wrote this document's foreword?
When was this contract made? | How many pages may an appeal have? | What does the lease say about cats? | pets | Why?
आपूर्तिकर्ता को कौन से दस्तावेज़ देने हैं? | Jaké dokumenty musí dodavatel předložit? | What information do you collect about me?
"""


@each(("kind", "text"), [(kind, one) for kind, row in TOLD.items() for one in row.split(" | ")])
def test_given_a_text_that_asks_nothing_of_the_contents_when_read_then_its_kind_is_told(kind: str, text: str) -> None:
    """S4-19, S4-20: a greeting is answered, and the library describes itself, in any language."""
    assert talk_of(text, models.embedder(EMBEDDED, "auto")) == kind


@each("text", [one for row in CONTENTS.strip().split("\n") for one in row.split(" | ")])
def test_given_a_question_about_contents_that_looks_alike_when_read_then_it_is_none(text: str) -> None:
    """S4-19, S4-20: nothing that must be looked up is answered without looking."""
    assert talk_of(text, models.embedder(EMBEDDED, "auto")) == ""


@each("text", ["", "  ", "thanks " * MOST_CHARS])
def test_given_no_text_or_a_long_one_when_read_then_no_model_is_asked(text: str) -> None:
    assert talk_of(text, None) == ""  # type: ignore[arg-type]


def test_given_each_kind_then_it_has_an_outcome() -> None:
    assert set(INTENTS) - {""} == set(TALK)
    assert set(TALK.values()) <= set(SETTLED)


def test_given_a_record_that_lacks_what_is_asked_when_settled_then_the_pages_are_read() -> None:
    known = LibraryFacts(authors={"a": "Ada"}, dates={"a": "2024"})
    for kind in ("author", "date"):
        assert (settled(kind, known), settled(kind, LibraryFacts())) == ("about_library", "")
    assert settled("pages", LibraryFacts()) == "about_library"

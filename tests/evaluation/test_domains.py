"""The field of a question, from counts alone: stated, cut that way, named in a title, asked for in its own words."""

from __future__ import annotations

from folding import each

from rag_core.domain.documents import Document, Metadata
from rag_core.evaluation.domains import detect, kind_of


def document(
    id: str = "d", title: str = "", strategy: str = "technical", language: str = "en", **values: str
) -> Document:
    return Document(id, "file.pdf", language, 1, Metadata(title=title, values=values), strategy)


LAW, CODE, PLAIN = document("l", strategy="legal"), document("c", strategy="code"), document("p")


@each(
    ("one", "domain"),
    [
        (document(domain="Medical "), "medical"),
        (document(domain="<b>"), "general"),
        (document(strategy="legal", domain="code"), "code"),
        (LAW, "legal"),
        (CODE, "code"),
        (document(**{"class": "10"}), "textbook"),
        (document(title="Patients and their doses"), "medical"),
        (document(title="Dávkování léků", language="cs"), "medical"),
        (document(title="The patient's contract"), "general"),
    ],
)
def test_given_a_document_then_it_speaks_for_its_field(one: Document, domain: str) -> None:
    assert kind_of(one) == domain


@each(
    ("question", "documents", "domain", "why"),
    [
        ("How long is it?", (LAW, LAW, PLAIN), "legal", "2 of 3 documents are of this field."),
        (
            "How long is it?",
            (LAW, PLAIN, PLAIN),
            "general",
            "Neither the documents nor the question speak for one field alone.",
        ),
        (
            "Who is liable under this contract?",
            (LAW, PLAIN, PLAIN),
            "legal",
            "1 of 3 documents are of this field and the question uses a word of it.",
        ),
        ("Which dose is right?", (PLAIN,), "medical", "The question uses a word of it."),
        (
            "Which dose is right?",
            (LAW, PLAIN),
            "general",
            "Neither the documents nor the question speak for one field alone.",
        ),
        (
            "How long is it?",
            (LAW, CODE),
            "general",
            "Neither the documents nor the question speak for one field alone.",
        ),
        ("", (), "general", "Neither the documents nor the question speak for one field alone."),
    ],
)
def test_given_documents_and_a_question_then_the_field_is_the_one_that_most_speaks_for(
    question: str, documents: tuple[Document, ...], domain: str, why: str
) -> None:
    """S3-27: the domain is set or detected; its profile takes the place of a prefix to the question."""
    found = detect(question, documents)

    assert (found.profile.domain, found.why) == (domain, why)

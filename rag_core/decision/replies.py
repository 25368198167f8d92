"""Answers that need no retrieval: a greeting, and a list of the library's documents, from its own records only."""

from __future__ import annotations

from rag_core.domain.measurements import LibraryFacts

MAX_COUNT = 20  # documents named; the rest are counted

_GREETING = {
    "en": "Hello. Ask me something about the indexed documents.",
    "cs": "Dobrý den. Zeptejte se na něco z nahraných dokumentů.",
    "de": "Guten Tag. Fragen Sie mich etwas zu den indexierten Dokumenten.",
    "hi": "नमस्ते। अनुक्रमित दस्तावेज़ों के बारे में कुछ पूछिए।",
}
_HOLDS = {
    "en": "Indexed documents: {documents}, pages: {pages}.",
    "cs": "Počet dokumentů: {documents}, počet stran: {pages}.",
    "de": "Indexierte Dokumente: {documents}, Seiten: {pages}.",
    "hi": "अनुक्रमित दस्तावेज़: {documents}, पृष्ठ: {pages}।",
}
_NOTHING = {
    "en": "No documents are indexed yet.",
    "cs": "Zatím nejsou nahrány žádné dokumenty.",
    "de": "Es sind noch keine Dokumente indexiert.",
    "hi": "अभी कोई दस्तावेज़ अनुक्रमित नहीं है।",
}


def reply(intent: str, language: str, facts: LibraryFacts) -> str:
    """The reply to a greeting or to a question about the library, in the question's language, English otherwise."""
    if intent == "greeting":
        return _GREETING.get(language, _GREETING["en"])
    if not facts.documents:
        return _NOTHING.get(language, _NOTHING["en"])
    head = _HOLDS.get(language, _HOLDS["en"]).format(documents=facts.documents, pages=facts.pages)
    titles = sorted(facts.titles.values(), key=str.casefold)
    listed = [f"- {title}" for title in titles[:MAX_COUNT]]
    if len(titles) > MAX_COUNT:
        listed.append(f"- … + {len(titles) - MAX_COUNT}")
    return "\n".join([head, *listed])

"""The profile that a question is asked under: of the domain that the caller names, or of the one that is detected.

It is detected from the documents that are searched and the question's own words. A count, no model: a document counts
for a domain by a key of its metadata, by the way it was cut, or by a word of its title.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rag_core.domain.documents import Document
from rag_core.domain.ports import Corpus
from rag_core.gating.named import searched_documents
from rag_core.language import question_language, terms
from rag_core.settings import Cost, Settings
from rag_core.settings.profiles import AUTO, GENERAL, Profile, of_cost, profiles, require_domain

ASKED = frozenset({Cost.REPLAY, Cost.ASK})  # settings of a question; the others are of documents that are added
PROFILE, WHY = "profile", "profile_why"  # in a decision's metadata
CALLER = "Chosen by the caller."
KEY = "domain"  # in the metadata of a document: whoever states it is believed
ENOUGH = 0.5  # a domain needs half of the documents, or a word of the question; chosen


@dataclass(frozen=True, slots=True)
class Taken:
    """The profile that a question is asked under, and why this one, in one sentence."""

    profile: Profile
    why: str

    @property
    def about(self) -> dict[str, str]:
        return {PROFILE: self.profile.domain, WHY: self.why}

    def over(self, settings: Settings) -> Settings:
        return settings.changed(**of_cost(self.profile.values, ASKED))


def taken(
    corpus: Corpus,
    domain: str,
    question: str,
    documents: Collection[str] | None = None,
    filters: Mapping[str, str] | None = None,
) -> Taken:
    """The profile of a domain; of the one that is detected where it is `auto`."""
    if domain != AUTO:
        return Taken(require_domain(domain), CALLER)
    return detect(question, searched_documents(corpus, corpus.rows(documents, filters or {})))


def detect(question: str, documents: Sequence[Document]) -> Taken:
    """The profile of the domain that documents, by share, and question speak for; else, or in a tie, `general`."""
    kinds = Counter(map(kind_of, documents))
    weights = {domain: kinds[domain] / len(documents) for domain in profiles() if domain != GENERAL and kinds[domain]}
    asked = _domain_of(question, question_language(question, {one.language for one in documents}))
    if asked != GENERAL:
        weights[asked] = weights.get(asked, 0.0) + ENOUGH
    best = max(weights.values(), default=0.0)
    first = [domain for domain, weight in weights.items() if weight == best]
    if best < ENOUGH or len(first) != 1:
        return Taken(profiles()[GENERAL], "Neither the documents nor the question speak for one field alone.")
    (domain,) = first
    said = [f"{kinds[domain]} of {len(documents)} documents are of this field"] if kinds[domain] else []
    said += ["the question uses a word of it"] if asked == domain else []
    whole = " and ".join(said)
    return Taken(profiles()[domain], f"{whole[0].upper()}{whole[1:]}.")


def kind_of(document: Document) -> str:
    """The domain that a document speaks for."""
    stated = document.metadata.values.get(KEY, "").strip().lower()
    if stated in profiles():
        return stated
    for profile in profiles().values():
        if document.strategy in profile.kinds or set(profile.keys) & set(document.metadata.values):
            return profile.domain
    return _domain_of(document.title, document.language)


def _domain_of(text: str, language: str) -> str:
    """The one domain whose words a text uses; `general` where it uses those of none or of several."""
    used = set(terms(text, language))
    found = [domain for domain in profiles() if used & _terms(domain, language)]
    return found[0] if len(found) == 1 else GENERAL


@cache
def _terms(domain: str, language: str) -> frozenset[str]:
    return frozenset(term for word in profiles()[domain].words.get(language, ()) for term in terms(word, language))

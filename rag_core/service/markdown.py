"""A decision as Markdown, for chats: the answer with its value in bold, and every source in its place; or why there is
no answer.

What comes from documents and users is text in it and nothing else: Markdown's signs are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_core.domain.claims import Citation
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import REWRITTEN_BY, SPELLING, SUGGESTION
from rag_core.domain.status import Reason
from rag_core.grounding.citations import heading_line, source_line

_SIGNS = re.compile(r"([\\`*_\[\]<>#|~&$!@(){}])")
_LINE_STARTS = re.compile(r"^(\s*|\s*\d+)([-+=.])", re.MULTILINE)
_LINKS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)  # some readers make links of bare addresses


def escaped(text: str) -> str:
    """A text of any origin that Markdown shows as it is: no link, picture, heading, table or HTML comes of it."""
    plain = "".join(one if one.isprintable() or one == "\n" else " " for one in text)
    return _LINKS.sub(r"\\", _LINE_STARTS.sub(r"\1\\\2", _SIGNS.sub(r"\\\1", plain)))


def in_markdown(decision: Decision) -> str:
    return "\n\n".join(filter(None, _parts(decision)))


def _parts(decision: Decision) -> Iterator[str]:
    if decision.metadata.get(REWRITTEN_BY, SPELLING) != SPELLING:  # which has a note of its own
        yield f"*Asked as: {escaped(decision.question)}*"
    if decision.answered:
        if value := decision.value:
            yield f"**{escaped(value['text'])}**"
        yield escaped(decision.answer)
        yield from map(_source, decision.citations)
    elif decision.may_be is not None:
        yield f"Not sure enough ({decision.may_be:.0%}). This may be it:"
        yield _source(decision.places[0])
    elif decision.reason is Reason.SUMMARY:
        yield escaped(decision.explanation)
        yield "\n".join(f"- {escaped(heading_line(one))}" for one in decision.places)
    else:
        yield escaped(decision.answer)
        yield escaped(decision.explanation)
    if meant := decision.metadata.get(SUGGESTION):
        yield f"*Do you mean: {escaped(meant)}*"
    yield "\n".join(f"- {escaped(one)}" for one in decision.suggestions)
    yield from (f"*{escaped(note)}*" for note in decision.notes)


def _source(citation: Citation) -> str:
    quote = f"**{escaped(' '.join(citation.excerpt.split()))}**"
    before, after = (escaped(" ".join(one.text.split())) for one in (citation.before, citation.after))
    around = " ".join(filter(None, (before, quote, after)))
    return f"> {around}\n>\n> \\[{citation.id}\\] {escaped(source_line(citation))}"

"""Gaps of the documents: refused questions that ask for like things, so that somebody can see what to add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.domain.ports import Vectors
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.evaluation.health import Kept
from rag_core.language import content_terms

ALIKE_COSINE, ALIKE_TERMS = 0.6, 0.5  # from here on two questions ask for like things; chosen by looking, not measured
MAX_TERMS = 4  # that name a gap
_NO_GAP = frozenset({Reason.FOLLOW_UP, Reason.SUMMARY})  # no document would answer these


@dataclass(frozen=True, slots=True)
class Gap:
    """Refused questions about like things, the one in the middle first. Texts are untrusted.

    Args:
        questions: each with when it was asked.
        terms: content words that most of them share, most shared first; forms as they are searched for.
        nowhere: names and numbers of theirs that stand in no document.
    """

    questions: tuple[Kept, ...]
    terms: tuple[str, ...]
    nowhere: tuple[str, ...]


def unanswered(kept: Sequence[Kept]) -> list[Kept]:
    """The questions that the documents did not answer: refused by a gate, and not for a failure or a draft of ours."""
    wanted = (AnswerStatus.INSUFFICIENT_CONTEXT, AnswerStatus.LOW_CONFIDENCE)
    return [one for one in kept if one.summary.status in wanted and one.summary.reason not in _NO_GAP]


def gaps(kept: Sequence[Kept], vectors: Vectors) -> list[Gap]:
    """Groups of unanswered questions, largest first, then newest.

    A question joins the group whose middle it is most like, by cosine or by shared words; otherwise it begins one.

    Args:
        kept: from `unanswered`, newest first.
        vectors: of their texts, unit length, shape (n, dim).
    """
    words = [frozenset(content_terms(one.question, one.language)) for one in kept]
    groups: list[list[int]] = []
    centres: list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = []
    for row in range(len(kept)):
        likest = max(
            range(len(groups)), key=lambda at: _alike(row, groups[at], centres[at], words, vectors), default=None
        )
        if likest is not None and _alike(row, groups[likest], centres[likest], words, vectors) >= 1.0:
            groups[likest].append(row)
            centre = vectors[groups[likest]].mean(axis=0)
            centres[likest] = centre / max(float(np.linalg.norm(centre)), 1e-9)
        else:
            groups.append([row])
            centres.append(vectors[row])
    made = [_gap(rows, centre, kept, words, vectors) for rows, centre in zip(groups, centres, strict=True)]
    return sorted(made, key=lambda gap: -len(gap.questions))


def _alike(
    row: int,
    group: Sequence[int],
    centre: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
    words: Sequence[frozenset[str]],
    vectors: Vectors,
) -> float:
    """How much a question is like a group; from 1 on it belongs there."""
    shared = max(
        (len(words[row] & words[other]) / max(len(words[row] | words[other]), 1) for other in group), default=0.0
    )
    return max(float(vectors[row] @ centre) / ALIKE_COSINE, shared / ALIKE_TERMS)


def _gap(
    rows: Sequence[int],
    centre: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
    kept: Sequence[Kept],
    words: Sequence[frozenset[str]],
    vectors: Vectors,
) -> Gap:
    ordered = sorted(rows, key=lambda row: -float(vectors[row] @ centre))
    shared = Counter(word for row in rows for word in sorted(words[row]))
    least = max(2, len(rows) // 2) if len(rows) > 1 else 1
    named = [word for word, count in shared.most_common() if count >= least][:MAX_TERMS]
    nowhere = Counter(name for row in rows for name in kept[row].summary.nowhere)
    return Gap(
        tuple(kept[row] for row in ordered), tuple(named), tuple(name for name, _ in nowhere.most_common(MAX_TERMS))
    )

"""One change of a sentence: which characters become what."""

from __future__ import annotations

from dataclasses import dataclass

import regex


@dataclass(frozen=True, slots=True)
class Edit:
    """`sentence[start:end]` becomes `text`."""

    start: int
    end: int
    text: str

    @classmethod
    def over(cls, span: tuple[int, int], text: str) -> Edit:
        """`span`, its start and its end, becomes `text`."""
        return cls(*span, text)

    def of(self, sentence: str) -> str:
        """The changed sentence, without the double spaces that a deletion leaves."""
        changed: str = sentence[: self.start] + self.text + sentence[self.end :]
        changed = regex.sub(r"  +", " ", changed).strip()
        changed = regex.sub(r" (?=[.,;:!?।])", "", changed) if not self.text else changed
        return changed[:1].upper() + changed[1:] if self.start == 0 and sentence[:1].isupper() else changed


def like(model: str, text: str) -> str:
    """A text with a capital where the model has one."""
    return text[:1].upper() + text[1:2].lower() + text[2:] if model[:1].isupper() else text


def free(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a stretch meets none of the spans."""
    return all(end <= left or right <= start for left, right in spans)

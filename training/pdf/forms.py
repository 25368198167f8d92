"""Texts and tables as the HTML of a report, a manual, a policy, a paper or a brochure. Not part of the product."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby

from training.pdf.pages import A4, LETTER, SLIDE, Look, chart

# the styles of each form, in CSS; sizes as such documents use them
LOOKS = {
    "annual report": [Look(LETTER, type=9.5), Look(A4, font="sans-serif", type=9)],
    "report": [Look(A4, type=10.5), Look(LETTER, font="sans-serif", type=10), Look(A4, columns=2, type=9.5, margin=52)],
    "manual": [Look(A4, font="sans-serif", type=10), Look(LETTER, columns=2, font="sans-serif", type=9)],
    "policy": [Look(A4, type=10), Look(LETTER, font="sans-serif", type=10)],
    "paper": [Look(LETTER, columns=2, type=9, margin=50, front=False)],
    "brochure": [
        Look(SLIDE, font="sans-serif", type=12, css_class="big", margin=50),
        Look(A4, columns=3, font="sans-serif", type=9, css_class="big", margin=40),
    ],
}
NAMES = "Marian Holt,Edward Kessler,Ruth Adeyemi,Paul Lindqvist,Ines Carvalho,Tomas Brandl,Joan Whitfield,Omar Haddad".split(  # noqa: E501
    ","
)
PLACES = "Northfield,Harborough,Eastmere,Kellwick,Marsden,Aldbury,Stonewell,Fairholt".split(",")
SENTENCE = re.compile(r"(?<=[.!?।])\s+(?=[^\W\d_a-zа-яё]|[¿¡«„“\"])")


@dataclass
class Sheet:
    """The parts of a document: HTML in order, notes by the id of the element that they belong to, and figures as PNG by
    name.
    """

    form: str
    label: dict[str, str]  # the language's words for figure, table, warning and note
    draw: random.Random
    parts: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    figures: dict[str, bytes] = field(default_factory=dict)
    headings: list[str] = field(default_factory=list)
    tables: int = 0

    def add_heading(self, text: str, level: int, number: str) -> None:
        """A numbered heading; a brochure's has no number."""
        self.headings.append(text)
        self.parts.append(f"<h{level}>{escape(text if self.form == 'brochure' else f'{number} {text}')}</h{level}>")

    def add_text(self, text: str, number: str) -> None:
        """A text as the form has it: paragraphs, steps, bullets, clauses, a warning, a dateline; a footnote or a figure
        at times.
        """
        said = sentences(text)
        manner = self.draw.random()
        if self.form == "manual" and manner < 0.6:
            self._add_steps(said, ordered=manner < 0.3)
        elif self.form == "policy":
            self.parts += [
                f"<p>{number}.{place} {escape(' '.join(few))}</p>" for place, few in enumerate(self._few(said, 1, 2), 1)
            ]
        elif self.form == "brochure":
            day, year = self.draw.randint(1, 28), self.draw.randint(2010, 2023)
            self.parts.append(f"<p class='dateline'>{self.draw.choice(PLACES).upper()}, {day} May {year} —</p>")
            self.parts.append(f"<p class='lead'>{escape(said[0])}</p>")
            self._add_steps(said[1:], ordered=False) if manner < 0.4 else self._add_paragraphs(said[1:])
        else:
            self._add_paragraphs(said)
        if self.draw.random() < 0.12:
            self._add_figure(text)
        if self.form in ("report", "annual report", "manual") and self.draw.random() < 0.15:
            self.parts.append(f"<p class='warning'>{self.label['warning']}: {escape(said[-1])}</p>")

    def add_table(self, units: Sequence[str], unit: str) -> None:
        """Cells "row | column heads : value" as a ruled or unruled table with a caption, heads in two lines where they
        share a part.
        """
        rows, heads = _grid(units, unit)
        if not rows:
            return
        self.tables += 1
        caption = f"{self.label['table']} {self.tables}. {unit and f'({unit})'}"
        corner = f"({escape(unit)})" if unit and self.draw.random() < 0.5 else ""
        upper = [(head.rpartition(", ")[0] if all(", " in h for h in heads) else _shared(heads)) for head in heads]
        lower = [head[len(over) :].lstrip(", ") for head, over in zip(heads, upper, strict=True)]
        lines = []
        if any(upper):
            spans = [(over, len(list(same))) for over, same in groupby(upper)]
            lines.append(f"<tr><th></th>{''.join(f'<th colspan={n}>{escape(over)}</th>' for over, n in spans)}</tr>")
        lines.append(f"<tr><th>{corner}</th>{''.join(f'<th>{escape(head)}</th>' for head in lower)}</tr>")
        group = ""
        for label, values in rows:
            over, _, own = label.rpartition(" > ")
            if over and over != group:
                lines.append(f"<tr><td>{escape(over)}</td></tr>")
            group = over
            cells = "".join(f"<td class='n'>{escape(values.get(head, ''))}</td>" for head in heads)
            lines.append(f"<tr><td>{'&nbsp;&nbsp;' if over else ''}{escape(own)}</td>{cells}</tr>")
        style = self.draw.choice(("ruled", "ruled shaded", "", "", "shaded"))
        self.parts.append(f"<p class='caption'>{escape(caption)}</p><table class='{style}'>{''.join(lines)}</table>")

    def _add_paragraphs(self, said: Sequence[str]) -> None:
        for few in self._few(said, 2, 5):
            mark, name = "", f"note{len(self.notes)}"
            if self.draw.random() < 0.1 and self.form != "paper":
                self.notes[name] = (
                    f"<sup>{len(self.notes) + 1}</sup> {escape(self.label['note'])} "
                    f"{self.draw.choice(self.headings or [''])}."
                )
                mark = f"<sup>{len(self.notes)}</sup>"
            self.parts.append(f"<p class='justified' id='{name if mark else ''}'>{escape(' '.join(few))}{mark}</p>")

    def _add_steps(self, said: Sequence[str], ordered: bool) -> None:
        kind = "ol" if ordered else "ul"
        self.parts.append(f"<{kind}>{''.join(f'<li>{escape(one)}</li>' for one in said)}</{kind}>")

    def _add_figure(self, text: str) -> None:
        name = f"figure{len(self.figures) + 1}.png"
        self.figures[name] = chart([self.draw.randint(5, 95) for _ in range(self.draw.randint(3, 8))])
        caption = f"{self.label['figure']} {len(self.figures)}: {heading_of(text)}"
        self.parts.append(f"<img src='{name}' width='200'/><p class='caption'>{escape(caption)}</p>")

    def _few(self, said: Sequence[str], least: int, most: int) -> Iterable[Sequence[str]]:
        place = 0
        while place < len(said):
            count = self.draw.randint(least, most)
            yield said[place : place + count]
            place += count


def sentences(text: str) -> list[str]:
    """The sentences of a text, about: an abbreviation before a capital ends one too."""
    return [one for one in SENTENCE.split(" ".join(text.split())) if one] or [""]


def heading_of(text: str) -> str:
    """Two of the text's own terms, most frequent first: capitalised words, or else its long ones."""
    words = re.findall(r"(?<=[\w,] )[^\W\d_a-zа-яё][\w-]{3,}", text) or re.findall(r"[^\W\d_]{7,}", text) or ["General"]
    best = [word for word, _ in Counter(words).most_common(2)]
    return " – ".join(word[0].upper() + word[1:] for word in best)


def _grid(units: Sequence[str], unit: str) -> tuple[list[tuple[str, dict[str, str]]], list[str]]:
    """Rows (label, value by column head) and the column heads, both in order."""
    rows: list[tuple[str, dict[str, str]]] = []
    heads: list[str] = []
    for text in units:
        label, _, rest = text.partition(" | ")
        head, _, value = rest.rpartition(" : ")
        if unit:
            value = value.removesuffix(f" ({unit})")
        if head not in heads:
            heads.append(head)
        if not rows or rows[-1][0] != label or head in rows[-1][1]:
            rows.append((label, {}))
        rows[-1][1][head] = value
    return rows, heads


def _shared(heads: Sequence[str]) -> str:
    """The words that all column heads begin with, or "" where that is all of one, or there is one head only."""
    split = [head.split(" ") for head in heads]
    same = 0
    while len(heads) > 1 and all(len(words) > same + 1 and words[same] == split[0][same] for words in split):
        same += 1
    return " ".join(split[0][:same])

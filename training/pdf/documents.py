"""Training texts set as PDFs of the kinds that people bring, with questions and gold in the bench's form.

Not part of the product.

    python -m training.pdf.documents PATH_TO_TRAINING_DATA OUT [--tables TATQA.jsonl] [--papers COVIDQA.jsonl] [--more
    SQUAD_LIKE.jsonl ...]

Writes OUT/pdfs/*.pdf, OUT/questions.jsonl, OUT/gold.jsonl, and OUT/contexts.jsonl: the texts that questions were taken
from. A model trained on the same files leaves those out. Half of the questions have an answer in their document. `MIX`
says what the others are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path

import pymupdf

from training.files import SEED, rows, write_rows
from training.pdf.forms import LOOKS, NAMES, PLACES, Sheet, heading_of, sentences
from training.pdf.pages import Words, set_pages
from training.pdf.texts import (
    Question,
    Text,
    covered,
    folded,
    from_articles,
    from_bench,
    from_papers,
    from_tables,
    grouped,
    stands,
)

# in which articles of `nearmiss-*` are set, besides English; Hindi's shaped glyphs cannot be read back from a PDF
LANGUAGES = (
    "de",
    "es",
    "ru",
)
# shares of the kinds of unanswerable questions, without tables; chosen
MIX = {
    "left out": 0.5,
    "other document": 0.15,
    "computed": 0,
    "figure or page": 0.15,
    "other period": 0.05,
    "nearly answered": 0.15,
}
TABLES_MIX = MIX | {"left out": 0.35, "computed": 0.3, "nearly answered": 0}
A_DOCUMENT = 24  # questions, half of them answerable
PAPERS = 14  # documents; chosen
REPORTS = 20  # annual reports
MAX_ANSWER = 15  # words
COVERED = 0.75  # share of a question's words in one unit of another text that makes its label doubtful
SECTIONS = ("Background", "Introduction", "Methods", "Results", "Discussion", "Limitations")
WORDS = json.loads((Path(__file__).parent / "words.json").read_text(encoding="utf-8"))


@dataclass
class Document:
    """A PDF to be: texts that are asked about, texts left out that are asked about all the same, and texts that only
    stand there.
    """

    form: str
    language: str
    asked: list[Text]
    left_out: list[Text]
    filler: list[Text] = field(default_factory=list)


def plan(data: Path, tables: Path | None, papers: Path | None, more: Sequence[Path]) -> Iterator[Document]:
    """The documents, text by text; every text is asked about in one document at most."""
    draw = random.Random(SEED)
    bench = from_bench(data)
    others = grouped((row["context"], row["title"], row) for path in more for row in rows(path) if row["context"])
    wiki = from_articles(data, "en") + [text for text in bench if text.source == "squad2-dev-half"]
    wiki = list({text.text[:80]: text for text in wiki}.values())
    filler = {text.text: text for text in [*wiki, *others] if text.language == "en"}
    yield from _from_pool(
        "report,manual,brochure".split(","),
        "en",
        [t for t in wiki if t.questions],
        list(filler.values()),
        draw,
        apart=14,
    )
    for language in LANGUAGES:
        own = from_articles(data, language)
        same = [text for text in [*bench, *others] if text.language == language]
        yield from _from_pool("report,manual,brochure".split(","), language, own, same, draw, apart=20)
    for language in sorted({text.language for text in [*others, *bench]} - {"en", *LANGUAGES}):
        own = [text for text in [*others, *bench] if text.language == language and text.questions]
        draw.shuffle(own)
        every = [text for text in [*others, *bench] if text.language == language]
        yield from _from_pool(["report", "manual"], language, own[:36], every, draw, apart=18)
    policies = [text for text in bench if text.source == "policyqa"]
    yield from _from_pool(["policy"], "en", [t for t in policies if t.questions][:200], policies, draw, apart=50)
    if papers:
        found = sorted(from_papers(papers), key=lambda paper: -sum(len(text.questions) for text in paper))
        for paper in found[:PAPERS]:
            asked = [text for text in paper if text.questions]
            out = draw.sample(asked, len(asked) // 2)
            near = [
                replace(text, questions=())
                for other in draw.sample(found[PAPERS:], min(2, len(found[PAPERS:])))
                for text in other
            ]
            yield Document("paper", "en", [t for t in paper if t not in out], out, near)
    if tables:
        yield from reports(from_tables(tables), draw)


def _from_pool(
    forms: Sequence[str], language: str, asked: list[Text], filler: list[Text], draw: random.Random, apart: int
) -> Iterator[Document]:
    """Documents over `apart` texts each, of which a third is left out; the rest is filled up with texts that are not
    asked about.
    """
    asked = sorted(asked, key=lambda text: (text.title, text.text))
    if not asked[0].title:
        draw.shuffle(asked)
    parts = [asked[i :: max(1, len(asked) // apart)] for i in range(max(1, len(asked) // apart))]
    for number, part in enumerate(parts):
        out = draw.sample(part, len(part) * 2 // 5)
        own = {text.text for text in part}
        rest = list(
            {text.text: replace(text, questions=()) for text in [*asked, *filler] if text.text not in own}.values()
        )
        more = draw.sample(rest, min(len(rest), draw.randint(30, 90)))
        yield Document(forms[number % len(forms)], language, [t for t in part if t not in out], out, more)


def reports(texts: list[Text], draw: random.Random) -> Iterator[Document]:
    """Annual reports: three tables asked about, two left out, many others whose rows have other names."""
    texts = [text for text in texts if len(text.questions) > 3]
    draw.shuffle(texts)
    waiting, common = list(texts), {"", "total", "other", "net"}
    while len(waiting) > 8 and len(texts) - len(waiting) < 5 * REPORTS:
        chosen: list[Text] = []
        for text in waiting:
            if len(chosen) < 5 and all(not (text.labels & other.labels) - common for other in chosen):
                chosen.append(text)
        waiting = [text for text in waiting if text not in chosen]
        filler = [
            text for text in texts if text not in chosen and all(not (text.labels & o.labels) - common for o in chosen)
        ]
        yield Document(
            "annual report", "en", chosen[:3], chosen[3:], draw.sample(filler, min(len(filler), draw.randint(14, 40)))
        )


def made(document: Document, titles: Sequence[str], draw: random.Random) -> tuple[bytes, Sheet, tuple[str, str]]:
    """The PDF, the sheet it was set from, and the name that signs it with the office."""
    words = WORDS.get(document.language, WORDS["en"])
    sheet = Sheet(document.form, words, draw)
    texts = [*document.asked, *document.filler]
    if document.form != "paper":
        groups = sorted({text.title for text in texts})
        draw.shuffle(groups)
        order = {title: place for place, title in enumerate(groups)}
        texts = sorted(texts, key=lambda text: (order[text.title], hashlib.sha1(text.text.encode()).hexdigest()))
    chapter, place, last = 0, 0, None
    for text in texts:
        if last is None or (text.title != last and text.title) or place == 9:
            named = (
                SECTIONS[chapter % len(SECTIONS)]
                if document.form == "paper" and last == text.title
                else text.title.replace("_", " ")
            )
            chapter, place, last = chapter + 1, 0, text.title
            sheet.add_heading(named or heading_of(text.text), 1, f"{chapter}.")
        place += 1
        if document.form != "paper" or place % 3 == 1:
            sheet.add_heading(
                text.heading or heading_of(text.text), 2 if document.form != "policy" else 3, f"{chapter}.{place}"
            )
        before = len(sheet.parts)
        sheet.add_text(text.text, f"{chapter}.{place}")
        if text.cells:
            sheet.add_table(text.cells, text.unit)
            if draw.random() < 0.5:
                sheet.parts.insert(before, sheet.parts.pop())
    name, office = draw.choice(NAMES), words["office"]
    if document.form == "paper":
        picks = draw.sample(list(titles), min(24, len(titles)))
        sheet.parts += [
            "<h1>References</h1>",
            *(f"<p class='reference'>[{i}] {escape(title)}. 20{10 + i % 12}.</p>" for i, title in enumerate(picks, 1)),
        ]
    elif document.form in ("annual report", "policy"):
        sheet.parts += [
            f"<h1>{words['signatures']}</h1><p>{draw.choice(PLACES)}, 20{draw.randint(18, 23)}</p><p>/s/ "
            f"{name}<br/>{name}<br/>{office}</p>"
        ]
    title = document.asked[0].title if document.form == "paper" else f"{draw.choice(PLACES)}: {words[document.form]}"
    subtitle = " · ".join(sheet.headings[:3])
    if document.form == "paper":
        sheet.parts.insert(0, f"<h1>{escape(title)}</h1>")
    look = draw.choice(LOOKS[document.form])
    return (
        set_pages(
            "".join(sheet.parts),
            sheet.notes,
            Words(title, subtitle, words["contents"], words["page"]),
            look,
            sheet.figures,
        ),
        sheet,
        (name, office),
    )


def _made_again(document: Document, titles: Sequence[str], draw: random.Random) -> tuple[bytes, Sheet, tuple[str, str]]:
    """As `made`, drawn anew where a row fell so that no page could hold it."""
    for _ in range(5):
        try:
            return made(document, titles, draw)
        except ValueError:
            continue
    raise ValueError(f"no page holds an element of {document.asked[0].text[:60]!r}")


def asked_of(
    document: Document, text: str, sheet: Sheet, pages: int, foreign: Sequence[Question], draw: random.Random
) -> Iterator[tuple[Question, bool, str]]:
    """(question, whether the document answers it, kind): half and half as far as there are such; what is doubtful is
    dropped.
    """
    units = [unit for t in [*document.asked, *document.filler] for unit in [*sentences(t.text), *t.cells]]
    tables = bool(document.asked[0].cells)

    def elsewhere(own: Text, question: Question) -> bool:
        return (
            tables
            and covered(
                question.text, [u for t in [*document.asked, *document.filler] if t is not own for u in t.cells]
            )
            >= COVERED
        )

    def alone(own: Text, question: Question) -> bool:
        return (
            covered(
                question.text,
                [u for t in [*document.asked, *document.filler] if t is not own for u in sentences(t.text)],
            )
            < COVERED
        )

    def gone(questions: Iterable[Question]) -> list[Question]:
        doubt = document.form in ("annual report", "policy", "paper")
        return [
            q
            for q in questions
            if q.answers and not stands(q.answers, text) and not (doubt and covered(q.text, units) >= COVERED)
        ]

    pooled: dict[str, set[str]] = defaultdict(set)
    for one in document.asked:
        for question in one.questions:
            pooled[question.text].update(question.answers)
    stated = [
        replace(q, answers=tuple(sorted(pooled[q.text])))
        for one in document.asked
        for q in one.questions
        if q.kind == "stated"
        and stands(q.answers, text)
        and min(len(a.split()) for a in q.answers) <= MAX_ANSWER
        and not elsewhere(one, q)
    ]
    stated = list({q.text: q for q in stated}.values())
    out = {
        "left out": gone(
            q for one in document.left_out for q in one.questions if q.kind == "stated" and q.text not in pooled
        ),
        "other document": gone(q for q in foreign if q.text not in pooled),
        "computed": [
            q for one in document.asked for q in one.questions if q.kind == "computed" and not stands(q.answers, text)
        ],
        "figure or page": list(_of_figures(document.language, sheet, pages, draw)),
        "other period": list(_other_period(stated, text, draw)),
        "nearly answered": [
            q for one in document.asked for q in one.questions if q.kind == "nearly answered" and alone(one, q)
        ],
    }
    for questions in out.values():
        draw.shuffle(questions)
    draw.shuffle(stated)
    half = min(len(stated), A_DOCUMENT // 2)
    yield from ((q, True, "stated") for q in stated[:half])
    counts = {kind: min(len(out[kind]), round(share * half)) for kind, share in (TABLES_MIX if tables else MIX).items()}
    for kind in ("left out", "computed", "nearly answered", "other document"):  # what another kind lacks
        counts[kind] += max(0, min(len(out[kind]) - counts[kind], half - sum(counts.values())))
    for kind, count in counts.items():
        yield from ((q, False, kind) for q in out[kind][:count])


def _of_figures(language: str, sheet: Sheet, pages: int, draw: random.Random) -> Iterator[Question]:
    """Questions on a figure or on a page that no text answers."""
    for template in WORDS.get(language, {}).get("figures", []):
        heading = draw.choice(sheet.headings)
        text = template.format(
            n=draw.randint(1, len(sheet.figures) + 2), p=draw.randint(3, max(4, pages)), heading=heading
        )
        yield Question(text, (), "figure or page", "made")


def _other_period(stated: Sequence[Question], text: str, draw: random.Random) -> Iterator[Question]:
    """Answered questions that name one year, moved to a year that the document does not hold."""
    free = [str(year) for year in range(1990, 2031) if not stands([str(year)], text)]
    for question in stated:
        years = re.findall(r"\b(?:19|20)\d\d\b", question.text)
        if len(years) == 1 and free:
            yield replace(question, text=question.text.replace(years[0], draw.choice(free)))


def main(out: Path, documents: Sequence[Document]) -> None:
    """Set the documents and write them with their questions."""
    (out / "pdfs").mkdir(parents=True, exist_ok=True)
    titles = sorted({d.asked[0].title for d in documents if d.form == "paper"})
    asked, gold, contexts, counts = [], [], {}, Counter[tuple[str, ...]]()
    for number, document in enumerate(documents):
        draw = random.Random(f"{SEED} {number}")
        data, sheet, (name, office) = _made_again(document, titles, draw)
        file = f"{document.form.replace(' ', '-')}-{document.language}-{number:02d}.pdf"
        (out / "pdfs" / file).write_bytes(data)
        with pymupdf.open(stream=data) as pdf:  # type: ignore[no-untyped-call]
            text, pages = folded(" ".join(page.get_text() for page in pdf)), len(pdf)
        own = {t.text for t in [*document.asked, *document.left_out, *document.filler]}
        foreign = [
            q
            for other in documents
            if other is not document and (other.form, other.language) == (document.form, document.language)
            for t in other.asked
            if t.text not in own
            for q in t.questions
            if q.kind == "stated"
        ]
        found = list(asked_of(document, text, sheet, pages, foreign, draw))
        signed = Question(WORDS["en"]["signed"].format(office=office), (name,), "stated", "made")
        if document.form in ("annual report", "policy"):
            found.append((signed, True, "stated"))
        found = list(
            {question.text: (question, answerable, kind) for question, answerable, kind in reversed(found)}.values()
        )[::-1]
        for question, answerable, kind in found:
            id = hashlib.sha1(f"{file} {question.text}".encode()).hexdigest()[:12]
            asked.append({"id": id, "lang": document.language, "question": question.text, "documents": [file]})
            answers = list(question.answers) if answerable else []
            gold.append(
                {
                    "id": id,
                    "answerable": answerable,
                    "answers": answers,
                    "kind": kind,
                    "form": document.form,
                    "source": question.source,
                }
            )
            counts[document.form, document.language, kind] += 1
        contexts.update({t.text: t for t in [*document.asked, *document.left_out] if t.questions})
        sys.stderr.write(f"{file}: {pages} pages, {len(found)} questions\n")
    texts = [{"context": t.text, "source": t.source, "lang": t.language} for t in contexts.values()]
    for path, lines in (("questions", asked), ("gold", gold), ("contexts", texts)):
        write_rows(out / f"{path}.jsonl", lines)
    sys.stdout.writelines(f"{form} {language} {kind}: {n}\n" for (form, language, kind), n in sorted(counts.items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--papers", type=Path)
    parser.add_argument("--more", type=Path, nargs="*", default=[])
    given = parser.parse_args()
    main(given.out, list(plan(given.data, given.tables, given.papers, given.more)))

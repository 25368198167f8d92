"""Finds contradicting sources without a model: statements that say the same thing with another value.

Rather silent than wrong. Two statements must agree in every word that says something: a qualifier ("part-time", "of a
lease") makes two rules, and a share of equal words would let it pass. And they must be about the same thing:

- Titles and headings that name different codes ("MK-40", "MK-50") are about different things.
- Within one document a heading says what its section is about, unless both headings name no more than the sentence
  does. What a table is of, its heading says in any document; a row whose words stand twice in its table is told from no
  other.
- Figures of a period ("revenue was") belong to the year of their document, and within one document to its sections. A
  table's cells have no verb to tell: in documents of two years they are figures unless they say that they set a limit,
  a price or a right.
- "We" and "the tenant" are others in each document, unless two documents are versions of one: the same title but for
  its numbers. So are the tables of documents whose titles differ in a part ("Hotel Alfa price list", "Hotel Beta price
  list").
- Within a section, a sentence contradicts one that it repeats word for word but for a number: "The guide says: a visit
  costs 9 euros."
- A question that names the document or the section of one of the two has chosen. So has one that names the number in
  which they differ ("What does buoy 71 show?"), unless it asks whether that number is right, or the number has a unit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_core.compression.extract import Extract, claim_of
from rag_core.compression.scoring import PASSAGES, Scored
from rag_core.domain.claims import Claim, Conflict
from rag_core.domain.passages import Hit, PassageKind
from rag_core.domain.ports import PageText
from rag_core.grounding.contradictions.statements import Statement, Value, cell_statements, difference, statement
from rag_core.grounding.contradictions.subject import Asked, comparable, same_subject
from rag_core.grounding.contradictions.word_lists import word_lists
from rag_core.grounding.units import Unit, header_of, units
from rag_core.language import LANGUAGES, content_terms, fold, is_order, word_texts

REPEATED_WORDS = 4  # at least in a sentence that another one repeats; chosen
Outline = tuple[str, frozenset[str]]  # the language, and the words that say something


@dataclass(frozen=True, slots=True)
class _Side:
    """The statements of a unit. Each cell of a table's row makes a statement of its own."""

    unit: Unit
    said: Statement


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two units that contradict each other, with the value of each as stated."""

    one: Unit
    other: Unit
    values: tuple[str, str]


def other_sides(
    found: Extract, asked: Asked, page_text: PageText, max_sentences: int, hits: Sequence[Hit] = ()
) -> tuple[tuple[Claim, ...], tuple[Conflict, ...]]:
    """The draft's claims, each contradicted one followed by its other side, and the conflicts between them.

    One other side a sentence, of the newest document that contradicts it; those with only a file's date come last. A
    contradicted sentence never stands without it. Together they may be one more than `max_sentences`: beyond that the
    sentences that bear least on the question are left out, with their other sides.
    """
    stated = {id(one.unit): claim for one, claim in zip(found.chosen, found.claims, strict=True)}
    further = [unit for hit in hits[PASSAGES:] for unit in units(hit.passage, page_text)]
    scored = {id(one.unit): one for one in found.scored}
    index = _Index([*(one.unit for one in found.scored), *further], asked, page_text)
    pairs: dict[int, _Pair] = {}
    for one in sorted(found.chosen, key=lambda scored: -scored.relevance):
        if pair := index.pair(one.unit):
            pairs[id(one)] = pair
    if not pairs:
        return found.claims, ()
    others = {id(pair.other) for pair in pairs.values()}
    leading = [one for one in found.chosen if id(one.unit) not in others]
    kept, room = set[int](), max_sentences + 1
    for one in sorted(leading, key=lambda scored: -scored.relevance):
        size = 2 if id(one) in pairs else 1
        if size <= room:
            kept.add(id(one))
            room -= size
    claims: list[Claim] = []
    conflicts: list[Conflict] = []
    for one in (scored for scored in leading if id(scored) in kept):
        claims.append(stated[id(one.unit)])
        if pair := pairs.get(id(one)):
            claims.append(
                stated.get(id(pair.other))
                or claim_of(scored.get(id(pair.other)) or Scored(pair.other, {}, 0.0), page_text)
            )
            added = all(pair.other is not chosen.unit for chosen in found.chosen)
            conflicts.append(_conflict(pair, (len(claims) - 2, len(claims) - 1), asked, page_text, added=added))
    return tuple(claims), tuple(conflicts)


def between_passages(
    hits: Sequence[Hit], asked: Asked, page_text: PageText, claims: Sequence[Claim] | None = None
) -> tuple[Conflict, ...]:
    """The conflicts between passages returned as they are, or their `claims`; a sentence is in one at most."""
    place = {id(hit.passage): n for n, hit in enumerate(hits)}

    def claim(unit: Unit) -> int:
        if claims is None:
            return place[id(unit.passage)]
        mine = [n for n, one in enumerate(claims) if one.cited == (unit.passage.id,)]
        return next((n for n in mine if unit.text in claims[n].text), mine[0])

    everything = [unit for hit in hits for unit in units(hit.passage, page_text)]
    index = _Index(everything, asked, page_text)
    pairs = [pair for unit in everything if (pair := index.pair(unit))]
    return tuple(_conflict(pair, (claim(pair.one), claim(pair.other)), asked, page_text, whole=True) for pair in pairs)


def another_side(stated: Sequence[Unit], hits: Sequence[Hit], asked: Asked, page_text: PageText) -> Unit | None:
    """A sentence of these passages that contradicts one of those stated, and is not stated too; else None."""
    index = _Index([*stated, *(unit for hit in hits for unit in units(hit.passage, page_text))], asked, page_text)
    told = {_key(unit) for unit in stated}
    pairs = (index.pair(unit) for unit in stated)
    return next((pair.other for pair in pairs if pair and _key(pair.other) not in told), None)


class _Index:
    """The statements of the retrieved units by their telling words: two that differ in a value stand together."""

    def __init__(self, found: Sequence[Unit], asked: Asked, page_text: PageText) -> None:
        documents = asked.documents
        self._asked, self._used = asked, set[tuple[str, str]]()
        self._wanted = frozenset(content_terms(asked.question, asked.language))
        self._named = _numbers_named(asked)
        self._found = found
        self._sides: dict[int, list[_Side]] = {id(unit): sides for unit, sides in _told(found, page_text)}
        self._by_outline: Mapping[Outline, list[_Side]] = defaultdict(list)
        # a date that only the file states comes after all others: it may be years later than its document
        for unit in sorted(
            found,
            key=lambda unit: (
                not documents.by_file(unit.passage.document),
                documents.date_of(unit.passage.document)[0],
            ),
            reverse=True,
        ):
            for side in self._sides[id(unit)]:
                self._by_outline[_outline(side)].append(side)

    def pair(self, unit: Unit) -> _Pair | None:
        """The unit with the one of the newest document that contradicts it; neither is paired again."""
        if _key(unit) in self._used:
            return None
        for mine in sorted(self._sides[id(unit)], key=lambda side: -len(self._wanted & side.said.outline)):
            for theirs in self._by_outline[_outline(mine)]:
                if _key(theirs.unit) in self._used or not comparable(unit.passage, theirs.unit.passage):
                    continue
                values = difference(mine.said, theirs.said)
                # an order to a language model states nothing
                if not values or is_order(unit.text) or is_order(theirs.unit.text):
                    continue
                if not self._names(values) and same_subject(unit.passage, theirs.unit.passage, mine.said, self._asked):
                    self._used |= {_key(unit), _key(theirs.unit)}
                    return _Pair(unit, theirs.unit, (values[0].shown, values[1].shown))
        return self._repeated(unit)

    def _repeated(self, unit: Unit) -> _Pair | None:
        """The unit of its passage that says the same with words around it and another number."""
        mine = list(word_texts(unit.text))
        for other in self._found if unit.passage.kind is not PassageKind.TABLE else ():
            if other.passage.id == unit.passage.id and _key(other) not in self._used and not is_order(other.text):
                theirs = list(word_texts(other.text))
                for a, b in (mine, theirs), (theirs, mine):
                    if apart := _repeats(a, b):
                        self._used |= {_key(unit), _key(other)}
                        return _Pair(unit, other, apart if a is mine else apart[::-1])
        return None

    def _names(self, values: tuple[Value, Value]) -> bool:
        return any(_is_plain(value) and value.amount in self._named for value in values)


def _repeats(short: Sequence[str], long: Sequence[str]) -> tuple[str, str] | None:
    """The one number in which a run of `long` differs from `short`, as each has it; None without one."""
    if len(short) < REPEATED_WORDS or len(long) < len(short) + 2:
        return None
    for at in range(len(long) - len(short) + 1):
        apart = [(a, b) for a, b in zip(short, long[at:], strict=False) if fold(a) != fold(b)]
        if len(apart) == 1 and all(any(map(str.isdigit, word)) for word in apart[0]):
            return apart[0]
    return None


def _numbers_named(asked: Asked) -> frozenset[object]:
    """The numbers without a unit that a question names; none of one that asks whether something is so."""
    said = [word.lower() for word in word_texts(asked.question)]
    if asked.language not in word_lists() or LANGUAGES[asked.language].question_words.isdisjoint(said):
        return frozenset()
    return frozenset(value.amount for value in statement(asked.question, asked.language).values if _is_plain(value))


def _is_plain(value: Value) -> bool:
    return value.kind[:2] == ("number", "")


def _key(unit: Unit) -> tuple[str, str]:
    return unit.passage.document, unit.text  # passages overlap


def _outline(side: _Side) -> Outline:
    return side.said.language, side.said.outline


def _told(found: Sequence[Unit], page_text: PageText) -> Iterator[tuple[Unit, list[_Side]]]:
    """Each unit with what it states; nothing where it is code, or of a language that is not compared."""
    rows: list[tuple[Unit, list[_Side]]] = []
    for unit in found:
        passage = unit.passage
        if passage.kind is PassageKind.CODE or passage.language not in word_lists():
            yield unit, []
        elif passage.kind is PassageKind.TABLE:
            cells = cell_statements(unit.text, header_of(passage, page_text), passage.language)
            rows.append((unit, [_Side(unit, said) for said in cells]))
        else:
            yield unit, [_Side(unit, statement(unit.text, passage.language))]
    yield from _told_apart(rows)


def _told_apart(rows: Sequence[tuple[Unit, list[_Side]]]) -> Iterator[tuple[Unit, list[_Side]]]:
    """The rows without those cells whose words stand twice in their table, with other values."""
    seen: dict[tuple[Outline, str, str], set[str]] = defaultdict(set)
    for _, sides in rows:
        for side in sides:
            seen[_cell_key(side)].add(side.said.source)
    for unit, sides in rows:
        yield unit, [side for side in sides if len(seen[_cell_key(side)]) == 1]


def _cell_key(side: _Side) -> tuple[Outline, str, str]:
    passage = side.unit.passage
    return _outline(side), passage.document, passage.section


def _conflict(
    pair: _Pair, claims: tuple[int, int], asked: Asked, page_text: PageText, *, whole: bool = False, added: bool = False
) -> Conflict:
    """The conflict between two claims that are these units, or `whole` passages that hold them."""
    first, second = (unit.evidence(page_text)[0] for unit in (pair.one, pair.other))
    statements = (pair.one.text, pair.other.text) if whole else ("", "")
    return asked.documents.conflict(first, second, pair.values, claims, added=added, statements=statements)

"""Sentences with one fact changed, and harmlessly changed ones: each operator by example, what is left alone, and the
program.
"""

from __future__ import annotations

import ast
import json
import random
from pathlib import Path

import regex
from folding import each

from training.mutations import OPERATORS, mutations, rewrites
from training.mutations.__main__ import main
from training.mutations.rates import UNCHANGED, measure
from training.mutations.texts import Sample

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "training" / "mutations"
TEXTS = Path(__file__).parent / "mutations"

PAGE = {
    "en": "The seal was set by Marie Curie in Paris. Later Lise Meitner moved to Berlin. The seal broke twice.",
    "cs": "Pečeť vložila Marie Součková v Praze. Později Jana Dvořáková odešla do Brna. Pečeť praskla dvakrát.",
    "de": "Das Siegel setzte Lise Meitner in Berlin. Später zog Marie Curie nach Hamburg. Das Siegel brach.",
    "hi": "मुहर राधा ने दिल्ली में लगाई। बाद में मोहन फिर मुंबई गया। मुहर टूट गई।",
}


@each(
    ("operator", "lang", "sentence", "changed"),
    [
        ("digit", "en", "It holds 5 pumps.", r"It holds [1-46-9] pumps\."),
        ("digit", "en", "It holds two pumps.", r"It holds (?!two)[a-z]+ pumps\."),
        ("unit", "en", "It takes 5 working days.", r"It takes 5 working (minutes|hours|weeks|months|years)\."),
        ("currency", "en", "It costs $1.5 million now.", r"It costs [€£₹]1\.5 million now\."),
        ("date", "cs", "Smlouva je z 12. 3. 2024.", r"Smlouva je z (?!12\. 3\. 2024)\d+\. \d+\. \d{4}\."),
        (
            "name",
            "en",
            "The seal was set by Marie Curie in Paris.",
            r"The seal was set by (Lise Meitner in Paris|Marie Curie in Berlin)\.",
        ),
        ("name", "hi", "मुहर राधा ने दिल्ली में लगाई।", r"मुहर (मोहन|मुंबई) ने दिल्ली में लगाई।|मुहर राधा ने (मोहन|मुंबई) में लगाई।"),
        ("negation", "en", "The pump is tested here.", r"The pump is not tested here\."),
        ("negation", "cs", "Dodavatel nesmí předat údaje.", r"Dodavatel smí předat údaje\."),
        ("modality", "en", "The buyer must pay soon.", r"The buyer may pay soon\."),
        ("comparison", "cs", "Lhůta je nejméně 30 dnů.", r"Lhůta je nejvýše 30 dnů\."),
        ("operator", "en", "The term is a + (n − 1)d here.", r"The term is a (− \(n − 1|\+ \(n \+ 1)\)d here\."),
        ("magnitude", "en", "It cost 1,250 dollars then.", r"It cost 12,500 dollars then\."),
        ("quantifier", "de", "Alle Mieter zahlen im Voraus.", r"(Einige|Wenige) Mieter zahlen im Voraus\."),
    ],
)
def test_given_a_sentence_when_mutated_then_one_fact_of_it_is_another(
    operator: str, lang: str, sentence: str, changed: str
) -> None:
    for seed in range(20):
        found = [
            made.text
            for made in mutations(sentence, PAGE[lang], lang, random.Random(seed))
            if made.operator == operator
        ]
        assert 1 <= len(found) <= 2
        assert len(set(found)) == len(found)
        assert all(regex.fullmatch(changed, text) for text in found), found


@each(
    ("lang", "sentence", "operator"),
    [
        ("en", "Is it 5 days or must all pay $3?", ""),
        ("en", "Not only the tenant pays, but the owner too.", "negation"),
        ("en", "It should be noted: see [12] or the note.", "digit"),
        ("en", "It is an e-mail 5-10 times long.", "operator"),
        ("de", "Vor allem das Haus ist neu.", "quantifier"),
    ],
)
def test_given_what_states_no_such_fact_then_nothing_is_changed(lang: str, sentence: str, operator: str) -> None:
    for seed in range(10):
        found = mutations(sentence, sentence, lang, random.Random(seed))
        assert not [made for made in found if not operator or made.operator == operator]


def test_given_a_changed_sentence_that_stands_on_the_page_then_it_is_left_out() -> None:
    page = "All pay in cash. Some pay in cash. A few pay in cash."

    assert not [
        made for made in mutations("All pay in cash.", page, "en", random.Random(1)) if made.operator == "quantifier"
    ]


@each(
    ("kind", "lang", "sentence", "same"),
    [
        ("case", "en", "The seal breaks.", {"the seal breaks.", "THE SEAL BREAKS."}),
        ("notation", "en", "It fell by 30 % soon.", {"It fell by 30 percent soon."}),
        ("notation", "en", "It fell on 12 March 2024.", {"It fell on 2024-03-12.", "It fell on March 12, 2024."}),
        ("notation", "cs", "Cena byla 18 450 Kč.", {"Cena byla 18450 Kč.", "Cena byla 18 450 korun."}),
        ("notation", "en", "It has 3 pumps.", {"It has three pumps."}),
        ("order", "en", "It sells flags, ropes and lamps.", {"It sells ropes, flags and lamps."}),
        ("synonym", "en", "The film begins late.", {"The film starts late.", "The movie begins late."}),
    ],
)
def test_given_a_sentence_when_rewritten_then_it_says_the_same(
    kind: str, lang: str, sentence: str, same: set[str]
) -> None:
    for seed in range(10):
        found = {made.text for made in rewrites(sentence, lang, random.Random(seed)) if made.operator == kind}
        assert found
        assert found <= same


def test_the_generator_reads_no_parser_of_the_audit() -> None:
    """Else what the parser cannot read would not be changed either, and every rate would be 1."""
    for path in PACKAGE.glob("*.py"):
        imported = {
            node.module
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
        }
        assert path.name == "rates.py" or not [
            name for name in imported if name and name.startswith("rag_core.grounding")
        ], path.name


def test_given_json_lines_when_exported_then_each_sentence_has_as_many_rows_of_either_label(tmp_path: Path) -> None:
    given, made = tmp_path / "texts.jsonl", tmp_path / "rows.jsonl"
    context = (
        "The tenant must not pay at least $1,250 within 30 days under § 5. Nothing "
        "else is due. All tenants pay on 1 May 2024."
    )
    given.write_text(
        json.dumps({"context": context, "lang": "en"}) + "\n" + json.dumps({"text": "No habla."}) + "\n\n",
        encoding="utf-8",
    )

    main([str(given), "--export", str(made)])

    rows = [json.loads(line) for line in made.read_text(encoding="utf-8").splitlines()]
    assert len([row for row in rows if row["supported"]]) == len([row for row in rows if not row["supported"]]) >= 6
    assert all(set(row) == {"lang", "context", "answer", "supported", "source"} for row in rows)
    assert {row["context"] for row in rows} == {context}
    for row in rows:
        assert row["supported"] == (row["source"].removeprefix("mutations/") not in OPERATORS)
        assert (row["answer"] in context) or row["source"] != "mutations/unchanged"


def test_given_what_the_audit_says_when_measured_then_missed_changes_and_flagged_sentences_are_wrong() -> None:
    sample = Sample("The pump holds 5 valves.", "A lake lies here.", "A lake lies here.", "en")

    measured = measure([sample], random.Random(1))

    assert (measured.tried["digit", "en"], measured.flagged["digit", "en"]) == (1, 1)
    assert measured.of(UNCHANGED, "en") == 1
    assert measured.of("name", "en") is None
    assert UNCHANGED in {variant.operator for variant, _ in measured.wrong}
    assert "digit" not in {variant.operator for variant, _ in measured.wrong}

"""Detects the language of a document or a question.

Detectors are good on paragraphs and poor on short questions ("záruka?" is Hungarian to py3langid). So three things are
added up, in points: the function words of our own lists (clear in short texts), the detector's log-probability (clear
in long ones), and for a question the languages of the documents it is asked about.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

import py3langid
import regex
from babel.core import get_global

from rag_core.language.inflection import term
from rag_core.language.loader import LANGUAGES, grammar
from rag_core.language.words import fold, words

UNDETERMINED = "und"

# Points. Checked on the 2,770 training questions of XQuAD in five languages and on tests/test_language.py; all have
# slack.
_QUESTION_WORD = 2.0
_FUNCTION_WORD = 1.0
_WITHOUT_DIACRITICS = 0.5
_MAX_EVIDENCE = 5.0
_DOCUMENT_LANGUAGE = 0.9
_LOG_PROBABILITY_PER_POINT = 20.0

_SAMPLE_CHARS = 4000  # read at the beginning, middle and end of a document: some 600 words each say its language
_SHORT_WORDS = 2  # a text of so many words or fewer is short
_TELLING_WORDS = 2  # written small, so no names
_CLEARLY = 1.0  # points by which a language must lead to be certain

_SCRIPTS = {
    name: regex.compile(rf"\p{{{name}}}")
    for name in ("Latin", "Cyrillic", "Devanagari", "Greek", "Arabic", "Hebrew", "Hangul")
} | {"Han": regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")}
# addresses, code and markup, which are in Latin letters whatever the text is in
_NO_PROSE = regex.compile(r"[!-~]*[/@\\_=`<>{}][!-~]*")
_NORWEGIAN = {"nb": "no", "nn": "no"}  # whoever reads one of its two written forms reads the other
_LETTER = regex.compile(r"\p{L}")


def script(text: str) -> str:
    """The Unicode script of most of the text's letters; "" without letters, "Other" for an unknown one."""
    counts = Counter({name: len(pattern.findall(text)) for name, pattern in _SCRIPTS.items()})
    name, count = counts.most_common(1)[0]
    if count:
        return name
    return "Other" if _LETTER.search(text) else ""


def _sample(text: str) -> str:
    """Beginning, middle and end of a long text: title pages are often in another language than the body."""
    if len(text) <= 3 * _SAMPLE_CHARS:
        return text
    middle = (len(text) - _SAMPLE_CHARS) // 2
    return f"{text[:_SAMPLE_CHARS]} {text[middle : middle + _SAMPLE_CHARS]} {text[-_SAMPLE_CHARS:]}"


@lru_cache(maxsize=1)
def _evidence_table() -> Mapping[str, Mapping[str, float]]:
    """Word -> language -> points; shared words count in proportion, without diacritics half."""
    table: dict[str, dict[str, float]] = {}
    for code, info in LANGUAGES.items():
        for word in info.function_words:
            points = _QUESTION_WORD if word in info.question_words else _FUNCTION_WORD
            for spelling, weight in ((fold(word), _WITHOUT_DIACRITICS), (word, 1.0)):
                languages = table.setdefault(spelling, {})
                languages[code] = max(languages.get(code, 0.0), points * weight)
    return {word: {code: points / len(row) for code, points in row.items()} for word, row in table.items()}


def _detector_points(text: str) -> dict[str, float]:
    """Points at most 0 for every language with a two-letter code, 0 for the detector's first choice."""
    # the first one first
    ranked = [(_NORWEGIAN.get(code, code), float(score)) for code, score in py3langid.rank(text) if len(code) == 2]
    best = ranked[0][1]
    return {code: (score - best) / _LOG_PROBABILITY_PER_POINT for code, score in reversed(ranked)}


def canonical(code: str) -> str:
    """The code by which a language is known here: "cs" for "ces", "no" for "nb"; "" for no code."""
    first = code.replace("_", "-").split("-")[0].casefold()
    found = get_global("language_aliases").get(first, first) if len(first) > 2 else first  # ISO 639-2 has three letters
    return _NORWEGIAN.get(found, found) if len(found) in (2, 3) and found.isalpha() else ""


def _best(text: str, preferred: Collection[str], by_function_words: bool = False) -> str:
    points = _points(text, preferred, by_function_words)
    return max(points, key=lambda code: points[code], default=UNDETERMINED)


def _points(text: str, preferred: Collection[str], by_function_words: bool = False) -> dict[str, float]:
    """The points of the languages of the text's script, or of the one that its function words are in."""
    evidence: Counter[str] = Counter()
    for word in words(text):
        evidence.update(_evidence_table().get(word.text.lower(), {}))
    main_script = script(text)
    if by_function_words and evidence and any(info.grammar.script == main_script for info in LANGUAGES.values()):
        main_script = grammar(evidence.most_common(1)[0][0]).script
    points = {code: value for code, value in _detector_points(text).items() if grammar(code).script == main_script}
    if len(words(text)) <= _SHORT_WORDS:
        # One or two words say too little for 140 languages; ours and the documents' are likelier.
        points = {code: value for code, value in points.items() if code in LANGUAGES or code in preferred} or points
    for code in preferred:
        if grammar(code).script == main_script:
            points[code] = points.get(code, min(points.values(), default=0.0)) + _DOCUMENT_LANGUAGE
    for code, value in evidence.items():
        if grammar(code).script == main_script:
            points[code] = points.get(code, min(points.values(), default=0.0)) + min(value, _MAX_EVIDENCE)
    return points


def detect(text: str) -> str:
    """The language of a document: an ISO 639-1 code, or "und" for a text without letters.

    Long texts are judged by their beginning, middle and end, and by their prose where they have some. Text
    in Devanagari is Hindi (`Grammar.names_script`) where that is nearly as likely: the detector takes short lines for
    Sanskrit.
    """
    sample = _sample(text)
    prose = _NO_PROSE.sub(" ", sample)
    told = prose if script(prose) else sample
    likelier = [code for code, info in LANGUAGES.items() if info.grammar.names_script]
    return _best(told, likelier) if script(told) else UNDETERMINED


def question_language(question: str, document_languages: Collection[str]) -> str:
    """The language of a question asked of documents in these languages: an ISO 639-1 code, or "und" without letters.

    Its function words decide first, whatever its names and terms are ("Knowledge Graph क्या है?" is Hindi); without
    any, the documents' language of its script.
    """
    sample = _sample(question)
    return _best(sample, document_languages, by_function_words=True) if script(sample) else UNDETERMINED


def certain_language(text: str) -> str:
    """The language that a text is surely written in; empty where none stands out."""
    sample = _sample(text)
    told = [word for word in words(sample) if word.text[0].isalpha() and not word.text[0].isupper()]
    if len(told) < _TELLING_WORDS:
        return ""
    (best, most), *others = sorted(_points(sample, ()).items(), key=lambda row: -row[1]) or [("", 0.0)]
    clear = most - others[0][1] >= _CLEARLY if others else True
    return best if clear else ""


def load_early(languages: Iterable[str]) -> None:
    """Load the language detector and these languages' dictionaries, so that no question has to wait for them.

    Half a second for the detector and 0.1 to 0.6 s for a dictionary on a free processor; nothing the second time.
    """
    question_language("word", ())
    for language in languages:
        term("word", language)

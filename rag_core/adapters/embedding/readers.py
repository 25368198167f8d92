"""Who reads a question with a place: the multilingual reader, or in some languages the older reader of single sentences.

The older one, a MiniLM of six layers, was trained on a GPU with 4.3 million pairs, and the multilingual one on two cores with some 30,000
places. In the languages that the older one learned it still tells answers from near misses better (docs/log), so it reads there. The
multilingual one reads all else: other languages, and questions in another language than the place.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rag_core.adapters.embedding.pairs import PairModel
from rag_core.adapters.embedding.reader import MAX_LOGIT, MODEL_FILE, ReaderModel, version_of
from rag_core.domain.passages import Place, ReadPlace, ReadUnit
from rag_core.settings import DATA

SENTENCES_FILE = DATA / "models" / "sentences.safetensors"
SENTENCES_TOKENS = 288  # question, text and special tokens; only the text is cut
SENTENCES_LANGUAGES = frozenset("de en es fi fr id nb pl pt sv tr".split())  # that it was trained on, ISO 639-1
MARK = "¶"  # parts a sentence from what stands around it; one token of its vocabulary


def version() -> str:
    """The name of both networks in a calibration."""
    return "-".join(version_of(file) for file in (MODEL_FILE, SENTENCES_FILE))


class Readers:
    """An `AnswerabilityModel` of both. Safe to call from several threads.

    Args:
        precision: float32, bfloat16 or auto (bfloat16 where the processor has it).
        file: of the multilingual reader.
        sentences: of the reader of single sentences.

    Raises:
        ModelUnavailable: a file or a package is missing or damaged.
    """

    def __init__(self, precision: str = "auto", file: Path = MODEL_FILE, sentences: Path = SENTENCES_FILE) -> None:
        self._places = ReaderModel(precision, file)
        self._sentences = PairModel("sentences", "answerable", SENTENCES_TOKENS, precision, sentences)
        self.version = "-".join(version_of(one) for one in (file, sentences))

    def read(self, question: str, places: Sequence[Place], language: str = "und") -> list[ReadPlace]:
        """The log odds of each place and of each of its units, by the one who reads it best."""
        apart = [language in SENTENCES_LANGUAGES and one.language in SENTENCES_LANGUAGES | {"und"} for one in places]
        others = iter(
            self._places.read(question, [one for one, by_sentence in zip(places, apart, strict=True) if not by_sentence], language)
        )
        single = iter(self._by_sentence(question, [one for one, by_sentence in zip(places, apart, strict=True) if by_sentence]))
        return [next(single) if by_sentence else next(others) for by_sentence in apart]

    def _by_sentence(self, question: str, places: Sequence[Place]) -> list[ReadPlace]:
        """By the reader of sentences: each that is wanted, with its heading and the sentence before, and each place as a whole."""
        asked = [[number for number in range(len(one.units)) if number in one.wanted] for one in places]
        texts = [_in_place(one, number) for one, numbers in zip(places, asked, strict=True) for number in numbers]
        odds = self._sentences.log_odds([(question, text) for text in (*(" ".join(one.units) for one in places), *texts)])
        whole, each = odds[: len(places)], iter(odds[len(places) :])
        found = []
        for one, numbers, of_place in zip(places, asked, whole, strict=True):
            said = {number: ReadUnit(next(each)) for number in numbers}
            found.append(ReadPlace(of_place, tuple(said.get(number, ReadUnit(-MAX_LOGIT)) for number in range(len(one.units)))))
        return found


def _in_place(place: Place, number: int) -> str:
    """First the sentence, so that it is never cut, then its heading, then the sentence before."""
    before = place.units[number - 1] if number else ""
    return f" {MARK} ".join(part for part in (place.units[number], place.heading, before) if part)

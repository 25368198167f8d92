"""The reader: the embedded multilingual model, its upper layers trained further, reads a question together with a place
in a document.

`training/reader/` made it; its card stands in data/models/README.md. It reads <s> question </s> </s> heading </s>
sentence </s> sentence </s> …, and says of each sentence whether it answers the question *there*, and of each token
whether the value begins or ends with it. Its lower layers and its vocabulary are those of the embedded model, and the
file does not repeat them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category

from rag_core.adapters.embedding.by_name import precision_here
from rag_core.adapters.embedding.e5_file import HEADS, LAYERS, E5File, e5_file
from rag_core.adapters.embedding.embedded import published_network
from rag_core.adapters.embedding.network import Network
from rag_core.adapters.embedding.recent import Recent, digest_of
from rag_core.domain.passages import Place, ReadPlace, ReadUnit
from rag_core.errors import ModelUnavailable
from rag_core.settings import DATA

if TYPE_CHECKING:
    from torch import Tensor

MODEL_FILE = DATA / "models" / "reader.safetensors"
SHARED_LAYERS = 4  # the lowest, which training left as they are published
MAX_LOGIT = 10.0  # log odds
# tokens at most, as in training: of a question, a heading, a sentence, all together
QUESTION, HEADING, UNIT, WINDOW = (48, 40, 160, 320)
VALUE_TOKENS = 24  # at most in a value; of those that people marked in training nineteen in twenty are shorter
VALUE_ENDS = ".,;:!?।。，；：！？"  # what a value neither begins nor ends with
REMEMBERED = 1 << 11  # places, those of some 400 questions


@dataclass(frozen=True)
class _Window:
    """A part of a place that is read at once: tokens, and of each unit its number and where its tokens stand."""

    tokens: list[int]
    text_at: int
    units: list[tuple[int, int, int]]


class ReaderModel:
    """An `AnswerabilityModel` for all languages. Threads may share it. Raises ModelUnavailable without its files."""

    def __init__(self, precision: str = "auto", file: Path = MODEL_FILE) -> None:
        import torch
        from safetensors.torch import load_file

        self._file, precision = e5_file(), precision_here(precision)
        try:
            self.version = version_of(file)
            trained = {name: weight.float() for name, weight in load_file(file).items()}
            self._network = Network(
                trained,
                lambda ids: torch.from_numpy(self._file.words(ids)),
                LAYERS,
                HEADS,
                precision,
                below=published_network(precision),
                shared=SHARED_LAYERS,
            )
            self._head = [
                torch.cat([trained[f"{name}.{part}"] for name in ("unit", "whole", "span")])
                for part in ("weight", "bias")
            ]
        except Exception as error:  # the libraries raise many kinds; each is the same to the user
            raise ModelUnavailable(
                f"The reader could not be loaded: {type(error).__name__}.", remedy=f"Restore data/models/{file.name}."
            ) from error
        self._recent = Recent[bytes, ReadPlace](REMEMBERED)

    def read(self, question: str, places: Sequence[Place]) -> list[ReadPlace]:
        """The log odds of each place, and of each of its units with its value; raises ModelUnavailable for NaN."""
        keys = [digest_of(question, place.heading, *place.units) for place in places]
        by_key = dict(zip(keys, places, strict=True))
        return self._recent.values(keys, lambda missing: self._read(question, [by_key[one] for one in missing]))

    def _read(self, question: str, places: Sequence[Place]) -> list[ReadPlace]:
        import torch

        asked = self._file.ids([question])[0][:QUESTION]
        texts = [_Text.of(self._file, place) for place in places]
        windows = [list(one.windows(asked, self._file)) for one in texts]
        every = [window for one in windows for window in one]
        said = iter(
            self._network.run(
                [(w.tokens, [0] * w.text_at + [1] * (len(w.tokens) - w.text_at)) for w in every], self._numbers
            )
        )
        found = []
        for text, of_text in zip(texts, windows, strict=True):
            numbers = [next(said) for _ in of_text]
            if not all(bool(torch.isfinite(one).all()) for one in numbers):
                raise ModelUnavailable(
                    "The reader returned something that is not a number.", remedy="Restore data/models."
                )
            found.append(text.said(of_text, numbers))
        return found

    def _numbers(self, x: Tensor, lengths: Sequence[int]) -> Sequence[Tensor]:
        """For each text the numbers of its tokens, shape (tokens, 5).

        They are a part of what its sentence says, a sign that the sentence answers, a sign that the place does (of the
        first token alone), and that a value begins or ends there. The log odds of a sentence are the mean of the parts
        and the log of the signs' mean exponential: what all of it says, and what some of it says.
        """
        import torch
        from torch.nn import functional

        return torch.split(functional.linear(x.float(), *self._head), list(lengths))


@dataclass(frozen=True)
class _Text:
    """A place as token ids, and for each unit the characters of its tokens."""

    heading: list[int]
    units: list[list[int]]
    characters: list[list[tuple[int, int]]]
    texts: Sequence[str]

    @classmethod
    def of(cls, file: E5File, place: Place) -> _Text:
        ids, characters = file.ids_with_places(place.units)
        heading = file.ids([place.heading])[0][:HEADING] if place.heading else []
        return cls(heading, [one[:UNIT] for one in ids], characters, place.units)

    def windows(self, asked: Sequence[int], file: E5File) -> Iterator[_Window]:
        """As many as it takes, each from the last unit of the one before on."""
        _, start, end, *_ = file.special
        head = [start, *asked, end]
        body = [end, *([*self.heading, end] if self.heading else [])]
        first, total = 0, len(self.units)
        while True:
            tokens, units, at = [*head, *body], list[tuple[int, int, int]](), first
            while at < total and (at - first < 1 or len(tokens) + len(self.units[at]) < WINDOW):
                units.append((at, len(tokens), len(tokens) + len(self.units[at])))
                tokens += [*self.units[at], end]
                at += 1
            yield _Window(tokens, len(head), units)
            if at >= total:
                return
            first = max(at - 1, first + 1)

    def said(self, windows: Sequence[_Window], numbers: Sequence[Tensor]) -> ReadPlace:
        """The place by the numbers of all windows; a unit that stands in two is as sure as in the less sure one."""
        units: dict[int, ReadUnit] = {}
        for window, of_tokens in zip(windows, numbers, strict=True):
            for number, left, right in window.units:
                one = self._unit(number, of_tokens[left:right])
                if number not in units or one.log_odds < units[number].log_odds:
                    units[number] = one
        whole = max(_odds(one[0, 2]) for one in numbers)
        return ReadPlace(whole, tuple(units[number] for number in range(len(self.units))))

    def _unit(self, number: int, of_tokens: Tensor) -> ReadUnit:
        if not len(of_tokens):
            return ReadUnit(-MAX_LOGIT)
        log_odds = _odds(of_tokens[:, 0].mean() + of_tokens[:, 1].logsumexp(0) - math.log(len(of_tokens)))
        begins, ends = of_tokens[:, 3].softmax(0), of_tokens[:, 4].softmax(0)
        both = (begins[:, None] * ends[None, :]).triu().tril(VALUE_TOKENS - 1)
        first, last = divmod(int(both.argmax()), len(of_tokens))
        characters = self.characters[number]
        start, end = characters[first][0], characters[last][1]
        text = self.texts[number]
        while start < end and _ends_nothing(text[start]):
            start += 1
        while start < end and _ends_nothing(text[end - 1]):
            end -= 1
        return ReadUnit(log_odds, (start - _has_sign(text, start), end), float(both.max()))


def _ends_nothing(character: str) -> bool:
    return character.isspace() or character in VALUE_ENDS


def _has_sign(text: str, start: int) -> bool:
    """Whether a figure begins there right behind its sign: "−18", "+49", "€5", but not "8-18"."""
    before = text[start - 1 : start]
    signs = before == "-" and not text[start - 2 : start - 1].isalnum()
    return text[start : start + 1].isdigit() and (signs or (before != "" and category(before) in ("Sm", "Sc")))


def _odds(number: Tensor) -> float:
    return float(number.clamp(-MAX_LOGIT, MAX_LOGIT))


@cache
def version_of(file: Path) -> str:
    """12 hex digits of the SHA-256 of a model's file."""
    return sha256(file.read_bytes()).hexdigest()[:12]

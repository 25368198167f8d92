"""Says whether a watermark voids a page: "SUPERSEDED", "VOID" or "CANCELLED" in large letters across its text, in many
languages. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

LARGE_PT = 18.0  # the least size of a watermark
LARGER = 1.7  # times the size of the page's other text
SLOPE = 0.1  # part of a line's direction along its second axis, from which it follows no edge of the page
OVERLAPPED = 2  # lines of text that one along the rows lies over; a heading lies over none
MOST_WORDS = 8  # in a watermark; chosen

_GAPS = re.compile(r"[\W\d_]+")


def _folded(text: str) -> str:
    """In small letters, without accents and vowel signs, which files write in several ways."""
    return "".join(
        sign for sign in unicodedata.normalize("NFKD", text.casefold()) if unicodedata.category(sign)[0] != "M"
    )


_VOID = frozenset(
    _folded(
        """
        void voided superseded cancelled canceled cancellation obsolete revoked repealed rescinded annulled invalid invalidated withdrawn
        expired ungültig aufgehoben storniert überholt veraltet widerrufen ersetzt entwertet zurückgezogen abgelaufen nichtig annulliert
        neplatné neplatný neplatná neplatí zrušeno zrušen zrušena zrušené stornováno storno nahrazeno zneplatněno překonáno zastaralé
        zrušené nahradené annulé annulée annulés périmé périmée périmés caduc caduque abrogé abrogée obsolète nul remplacé remplacée
        anulado anulada cancelado cancelada derogado derogada obsoleto obsoleta sustituido sustituida caducado nulo nula revogado revogada
        substituído substituída annullato annullata abrogato abrogata superato superata sostituito revocato revocata scaduto nullo
        ongeldig vervallen geannuleerd ingetrokken vervangen achterhaald nieważne nieważny anulowano anulowany uchylony uchylono nieaktualne
        ogiltig upphävd makulerad ersatt ugyldig annulleret ophævet annullert opphevet erstattet mitätön kumottu peruttu kumoutunut
        érvénytelen hatálytalan törölve anulat abrogat iptal geçersiz hükümsüz невалиден отменен отменено отменён отменена недействительно
        недействителен аннулировано аннулирован аннулирована заменено недійсне скасовано анульовано άκυρο ακυρώθηκε καταργήθηκε
        ملغى ملغي لاغ لاغي باطل מבוטל בטל रद्द निरस्त अमान्य 作废 作廢 废止 廢止 失效 无效 無效 已取消 取消 無効 失効 廃止 廃棄 무효 폐지 취소
        """
    ).split()
)
_PHRASES = [
    _folded(phrase.strip())
    for phrase in """
        do not use, not valid, no longer valid, not in force, no longer in force, nicht mehr gültig, außer kraft,
        hors vigueur, no vigente, sin vigencia, non valide, non valido, non più in vigore, fora de vigor, não válido,
        niet meer geldig, не действует, утратил силу, již neplatí
    """.split(",")
]
# What else a mark may say without a condition: "this page is void", "superseded by revision 3 of 1 May 2024".
_BESIDE = frozenset(
    """
    this the document page copy version contract form policy agreement by on of and as is was has been are since from rev revision edition
    dieses dokument seite vertrag fassung durch am vom ist wurde und strana smlouva verze dne je tento ce est par le la du este documento es
    por el de version questo e dal da il january february march april may june july august september october november december
    """.split()
)


def is_void(lines: Sequence[Mapping[str, Any]]) -> bool:
    """Whether one of these lines, as PyMuPDF gives them, is such a watermark over the others."""
    marks = [
        line
        for line in lines
        if _size(line) >= LARGE_PT and _says_void("".join(span["text"] for span in line["spans"]))
    ]
    if not marks:
        return False
    usual = median([_size(line) for line in lines if line not in marks] or [0.0])
    return any(_size(mark) >= LARGER * usual and _is_across(mark, lines) for mark in marks)


def _size(line: Mapping[str, Any]) -> float:
    return max((float(span["size"]) for span in line["spans"]), default=0.0)


def _is_across(mark: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> bool:
    if min(map(abs, mark["dir"])) > SLOPE:
        return True
    x0, y0, x1, y1 = mark["bbox"]
    over = 0
    for line in lines:
        left, top, right, bottom = line["bbox"]
        over += (
            line is not mark and _size(line) < _size(mark) and x0 < right and left < x1 and y0 < (top + bottom) / 2 < y1
        )
    return over >= OVERLAPPED


def _says_void(text: str) -> bool:
    folded = _folded(text)
    for phrase in _PHRASES:
        folded = folded.replace(phrase, "void")
    words = _GAPS.sub(" ", folded).split()
    if all(len(word) == 1 for word in words):  # letters that stand apart
        words = ["".join(words)]
    return (
        0 < len(words) <= MOST_WORDS
        and any(word in _VOID for word in words)
        and all(word in _VOID or word in _BESIDE for word in words)
    )

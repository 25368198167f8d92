"""The signs that begin an item of a list and are nothing else, with those that only a font knows, for a class of a
regular expression.

And marks that count on within a sentence: "There are two kinds: 1) stored, 2) reflected", wherever its lines end.
"""

import regex

BULLETS = "•●▪▫■□◦‣∙►▶▷▸▹▻◄▲▼○◆◇❍❖❏❐❑❒✓✔✗✘☐☑☒☞➔➜➢➤→⇒⇨⁃\ue000-\uf8ff"

_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_MARK = regex.compile(r"\s*\(?(?:(?P<number>[1-9]\d?)|(?P<roman>[ivx]{1,4})|(?P<letter>[a-z]))\)\s", regex.IGNORECASE)


def counts_on(line: str, before: str) -> bool:
    """Whether a line's mark follows one within the text before: "2)" after "kinds: 1) stored,"."""
    match = _MARK.match(line)
    if not match:
        return False
    marks = [str(int(match["number"]) - 1)] if match["number"] else []
    if (roman := match["roman"]) and roman.lower() in _ROMAN[1:]:
        marks.append(_ROMAN[_ROMAN.index(roman.lower()) - 1])
    if (letter := match["letter"] or roman) and len(letter) == 1 and letter not in "aA":
        marks.append(chr(ord(letter) - 1))
    return any(regex.search(rf"\S\s\(?{mark}\)\s", before, regex.IGNORECASE) for mark in marks)

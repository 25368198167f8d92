"""Questions as people type them: with slips of the keyboard, without accents or capitals, within polite words."""

from __future__ import annotations

import random
import unicodedata

SLIPPED, BARE, FRAMED = 0.5, 0.25, 0.25  # shares of the questions that are changed
SHORT = 4  # letters of a word in which nobody sees a slip
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # a keyboard
FRAMES = {
    "en": (
        ("Hello, could you please tell me: ", " Thank you!"),
        ("I want to know the following. ", ""),
        ("Hi there! ", " Thanks a lot."),
    ),
    "de": (
        ("Guten Tag, können Sie mir bitte sagen: ", " Vielen Dank!"),
        ("Ich wüsste gern Folgendes. ", ""),
        ("Hallo! ", " Danke."),
    ),
    "fr": (("Bonjour, pourriez-vous me dire : ", " Merci beaucoup !"), ("Je voudrais savoir ceci. ", "")),
    "es": (("Hola, ¿me podría decir? ", " Muchas gracias."), ("Quisiera saber lo siguiente. ", "")),
    "cs": (("Dobrý den, prosím o informaci: ", " Děkuji."),),
    "pl": (("Dzień dobry, proszę powiedzieć: ", " Dziękuję."),),
    "ru": (("Здравствуйте, подскажите, пожалуйста: ", " Спасибо!"),),
    "hi": (("नमस्ते, कृपया बताइए: ", " धन्यवाद।"),),
}


def typed(question: str, language: str, draw: random.Random) -> str:
    """A question with a slip in one or two of its longer words, without marks and capitals, or in a polite frame, by
    chance.
    """
    chance = draw.random()
    if chance < SLIPPED:
        words = question.split()
        long = [n for n, word in enumerate(words) if len(word) > SHORT and word.isalpha()]
        for n in draw.sample(long, min(len(long), draw.randint(1, 2))):
            words[n] = slipped(words[n], draw)
        return " ".join(words)
    if chance < SLIPPED + BARE:
        bare = "".join(
            one for one in unicodedata.normalize("NFD", question) if not unicodedata.combining(one) or ord(one) > 0x36F
        )
        return draw.choice([bare, bare.lower().rstrip("?"), question.lower(), question.rstrip(" ?")])
    before, behind = draw.choice(FRAMES.get(language, FRAMES["en"]))
    return f"{before}{question}{behind}"


def slipped(word: str, draw: random.Random) -> str:
    """A word with two letters swapped, one left out, one typed twice, or one of a neighbouring key; its first letter
    stays.
    """
    at = draw.randrange(1, len(word) - 1)
    way = draw.randrange(4)
    if way == 0:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if way == 1:
        return word[:at] + word[at + 1 :]
    if way == 2:
        return word[: at + 1] + word[at:]
    row = next((row for row in ROWS if word[at].lower() in row), "")
    near = row[max(0, row.find(word[at].lower()) - 1)] if row else word[at - 1]
    return word[:at] + near + word[at + 1 :]

"""The tone of a conversation, by a small lexicon (SPEC J-7). Pure.

Words are counted by tone, as with the lexicon of S. Mohammad and P. Turney, "Crowdsourcing a word-emotion
association lexicon" (2013); the words here are this project's own, a few dozen for each tone, in four
languages. A tone is named when it is clearly there. That says how people wrote, not how they felt; irony
and denial ("not happy") are not understood.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from services.compactor.domain import cues
from services.compactor.domain.sentences import sentences
from services.compactor.domain.summaries import Utterance

MOST_VIBES = 3
LEAST_RATE = 0.03  # of the sentences of people: a tone that is rarer is not named
LEAST_TIMES = 2
SENTENCES = "sentences"  # the tally of all sentences, beside those of tones
CURIOUS = "curious"
CURIOUS_PART = 0.25  # of the sentences are questions

_LEXICON = {
    "joyful": (
        "happy glad excited exciting fun delighted joy wonderful amazing awesome love loved yay"
        " celebrate froh glücklich freue heureux heureuse ravi contente feliz alegre encanta"
    ),
    "grateful": (
        "thanks thank grateful appreciate gratitude danke dankbar merci reconnaissant gracias agradecido"
    ),
    "worried": (
        "worried worry afraid anxious nervous concerned scared fear stressed stress uneasy besorgt"
        " sorge angst inquiet inquiète peur preocupado preocupada miedo"
    ),
    "frustrated": (
        "frustrated frustrating annoying annoyed angry stuck ridiculous useless fails broken hate"
        " genervt ärgerlich wütend énervé agacé frustrado harto enfadado"
    ),
    "sad": (
        "sad sadly miss lonely grief cry crying lost unfortunately heartbroken traurig leider"
        " vermisse triste malheureusement lamentablemente"
    ),
    "urgent": (
        "urgent urgently asap immediately deadline hurry emergency critical dringend sofort eilig"
        " immédiatement vite urgente inmediatamente"
    ),
    "playful": (
        "haha lol lmao joke joking funny hilarious silly kidding witzig lustig drôle blague"
        " gracioso broma jaja"
    ),
    "hopeful": "hope hopefully hoping dream wish optimistic hoffe hoffentlich espère espoir ojalá espero",
    "proud": "proud achievement accomplished stolz fier fière orgulloso orgullosa",
    "supportive": (
        "congrats congratulations support supportive cheering glückwunsch félicitations bravo"
        " felicidades enhorabuena"
    ),
}
TONES = {word: tone for tone, words in reversed(_LEXICON.items()) for word in words.split()}
_WORD = re.compile(r"[^\W\d_]+")


def counted(tones: Mapping[str, int], messages: Sequence[Utterance]) -> dict[str, int]:
    """The tallies with those of more messages: sentences of people, and those with a word of each tone."""
    counts = Counter(dict(tones))
    for message in messages:
        if not message.asks:
            continue  # a model's courtesy is no tone
        for sentence, is_code in sentences(message.text):
            if not is_code:
                counts[SENTENCES] += 1
                counts[CURIOUS] += cues.asks(sentence)
                words = _WORD.findall(sentence.casefold())
                counts.update({TONES[word] for word in words if word in TONES})
    return {tone: count for tone, count in sorted(counts.items()) if count}


def vibes(tones: Mapping[str, int]) -> list[str]:
    """The tones that are clearly there, the most frequent first."""
    total = tones.get(SENTENCES, 0)
    found = {
        tone: count
        for tone, count in tones.items()
        if tone != SENTENCES
        and count >= LEAST_TIMES
        and count >= total * (CURIOUS_PART if tone == CURIOUS else LEAST_RATE)
    }
    return sorted(found, key=lambda tone: (-found[tone], tone))[:MOST_VIBES]

"""Word lists of the analyser and of the rules for names."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _words(
    """a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does doing down during each eg etc few for from further had has
    have having he her here hers herself him himself his how i ie if in into is it its itself just let me
    more most my myself no nor not now of off on once only or other our ours ourselves out over own same
    shall she should so some such than that the their theirs them themselves then there these they this
    those through to too under until up us very was we were what when where which while who whom whose why
    will with would you your yours yourself yourselves"""
)
"""English words that say nothing about a subject (S-18); question words are among them."""

ROLE_WORDS = _words("agent ai assistant bot developer function human me model system tool user you")
"""Author labels that say what a participant is, not who."""

TITLES = _words("dr jr miss mr mrs ms mx prof sir sr")

GREETINGS = (
    "hey", "hi", "hello", "hiya", "thanks", "thank you", "bye", "goodbye", "congrats", "congratulations",
    "sorry", "welcome", "ok", "okay", "yes", "no", "wow", "oh", "yeah", "sure", "dear",
)  # fmt: skip
"""What a name may follow where somebody is addressed."""

ORDINARY_WORDS = _words(
    """ace amber angel april art august autumn basil bill bishop brook buddy chance chase chip cliff coral
    crystal daisy dale dawn dean destiny drew duke earl eve faith flora ford forest frank gale gene ginger
    glen grace grant guy harmony harper hazel heath heather holly hope hunter iris ivy jack jade jasmine jay
    jean jewel joy june king lane lily lance mark marshal mason max may melody miles misty nick olive pat
    pearl penny pierce poppy prince ray reed rich river rob robin rocky rose ruby rusty sage sandy sky sonny
    star sterling stone sue summer sunny taylor trip van victor violet wade ward will willow winter wren"""
)
"""Names that are also words or months: taken as names by capital letter and place only."""

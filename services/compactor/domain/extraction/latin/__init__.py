"""German, French and Spanish, by frames that they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from services.compactor.domain.extraction.facts import Reader
from services.compactor.domain.extraction.latin.language import Language


def readings(sentences: Sequence[str]) -> Iterator[tuple[str, Reader, list[str]]]:
    """Each language, as how it calls an author without a name and its reader, with the sentences that have
    as many small words of it as of any other."""
    known = _languages()
    counts = [{one: len(one.common.findall(sentence)) for one, _ in known} for sentence in sentences]
    for language, (unnamed, read) in known:
        own = [
            s for s, found in zip(sentences, counts, strict=True) if found[language] == max(found.values())
        ]
        yield unnamed, read, own


@cache
def _languages() -> Sequence[tuple[Language, tuple[str, Reader]]]:
    """Put together when a message needs them: their patterns take half a second."""
    from services.compactor.domain.extraction.latin.french import FRENCH
    from services.compactor.domain.extraction.latin.german import GERMAN
    from services.compactor.domain.extraction.latin.reader import reader
    from services.compactor.domain.extraction.latin.spanish import SPANISH

    return [(language, reader(language)) for language in (GERMAN, FRENCH, SPANISH)]

"""How items are kept in Meilisearch and asked for: settings, documents, filters, queries (SPEC S-3, S-18).

Nothing that a person wrote reaches the server as syntax. Ids and names are hashed into tokens of letters and
digits, which also keeps the server from comparing them without regard to case; terms are written in ASCII
letters and digits alone, one word for every tokenizer, and asked for in quotes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any

from services.kit.times import to_micros
from services.memory.semantic.domain.keywords import NO_FILTERS, WordDocument, WordFilters
from services.memory.semantic.domain.ranking import Held, Place, TermQuery, mean_length, size_class
from services.memory.semantic.domain.vectors import Bucket, ContentClass

PRIMARY_KEY = "id"
ITEM, TERMS, TALLY, SIZE, ENDS = "item", "terms", "tally", "size", "ends"
EQUAL_FIELDS = ("tenant", "agent", "contact", "conversation", "author", "role", "kind")
MAX_TOTAL_HITS = 10_000_000
MAX_SIZE_CLASSES = 100
SEARCH_CUTOFF_MS = 1_000  # below what recall grants a channel (S-11)
MAX_WORDS = 60_000  # Meilisearch reads 65,535 words of an attribute, and no more
MAX_WORD_CHARS = 200  # it drops words of more than 250 bytes
TOKEN_BYTES = 16
NO_END = 10**18
"""In place of microseconds since the epoch: later than every date, and exact as the server's double."""

TERM = re.compile("[a-z0-9\u00df-\u00f6\u00f8-\u024f\u0370-\u03ff\u0400-\u04ff]+")
NOT_ASCII = re.compile("[^a-z0-9]")

Json = dict[str, Any]

SETTINGS: Mapping[str, Any] = {
    # https://www.meilisearch.com/docs/reference/api/settings names each of these.
    "displayedAttributes": [ITEM, TERMS, TALLY],
    "searchableAttributes": [TERMS],
    # Granular: equality costs no index of ranges, and nothing here is for facet search.
    "filterableAttributes": [
        {
            "attributePatterns": [*EQUAL_FIELDS, SIZE],
            "features": {"facetSearch": False, "filter": {"equality": True, "comparison": False}},
        },
        {
            "attributePatterns": ["time", ENDS],
            "features": {"facetSearch": False, "filter": {"equality": False, "comparison": True}},
        },
    ],
    "sortableAttributes": [],
    # https://www.meilisearch.com/docs/learn/relevancy/ranking_rules: `words` gives every hit of our queries
    # the score 1, which federation weighs; of equal hits the shorter is nearer to the top of BM25.
    "rankingRules": ["words", f"{SIZE}:asc"],
    # The analyser has stemmed, folded and dropped words: the engine is to change nothing more.
    "stopWords": [],
    "synonyms": {},
    "separatorTokens": [],
    "nonSeparatorTokens": [],
    "dictionary": [],
    "distinctAttribute": None,
    # https://www.meilisearch.com/docs/learn/relevancy/typo_tolerance_settings
    "typoTolerance": {"enabled": False},
    "prefixSearch": "disabled",
    "facetSearch": False,
    # Distances between words, of which no rule makes use, are most of the work of indexing.
    "proximityPrecision": "byAttribute",
    # One language: otherwise the server guesses, and some guesses take words apart.
    "localizedAttributes": [{"attributePatterns": [TERMS], "locales": ["eng"]}],
    "faceting": {"maxValuesPerFacet": MAX_SIZE_CLASSES},
    # It also caps the counts of hits from which idf is computed.
    "pagination": {"maxTotalHits": MAX_TOTAL_HITS},
    "searchCutoffMs": SEARCH_CUTOFF_MS,
}


def index_uid(prefix: str, revision: str, content: ContentClass) -> str:
    """The name of a class's index: one for each revision of the terms in it."""
    return f"{prefix}-{content.value}-{re.sub('[^a-zA-Z0-9]', '_', revision)}"


def drifted(found: Mapping[str, Any]) -> Json:
    """Those of our settings that an index does not have."""
    return {name: wanted for name, wanted in SETTINGS.items() if not _has(found.get(name), wanted)}


def _has(found: Any, wanted: Any) -> bool:
    """Whether a setting is as wanted; members that the server adds do not count."""
    if isinstance(wanted, dict) and wanted:
        return isinstance(found, dict) and all(_has(found.get(name), value) for name, value in wanted.items())
    return bool(found == wanted)


def document(bucket: Bucket, item: WordDocument) -> Json:
    """An item: each distinct term once, and beside it how often it occurs."""
    counts = Counter(term for term in map(encoded, item.terms.split()) if term)
    kept = dict(islice(counts.items(), MAX_WORDS))
    fields: Json = {
        PRIMARY_KEY: document_id(bucket, item.item_id),
        ITEM: item.item_id,
        "tenant": token(bucket.tenant),
        "agent": token(bucket.agent),
        "contact": token(item.contact_id),
        "conversation": token(item.conversation_id),
        "author": token(item.author),
        "role": item.role,
        "kind": int(item.kind),
        SIZE: size_class(sum(kept.values())),
        TERMS: " ".join(kept),
        TALLY: list(kept.values()),
    }
    if item.time is not None:
        fields["time"] = to_micros(item.time)
    if bucket.content is not ContentClass.MESSAGE:
        fields[ENDS] = NO_END if item.ends is None else to_micros(item.ends)
    return fields


def document_id(bucket: Bucket, item_id: str) -> str:
    """Letters and digits, as Meilisearch asks of a document's id."""
    return token(bucket.tenant, bucket.agent, item_id)


def filter_expression(bucket: Bucket, filters: WordFilters) -> str:
    """What may pass; every search has one, and each begins with tenant and agent.

    https://www.meilisearch.com/docs/learn/filtering_and_sorting/filter_expression_reference
    """
    parts = [f'tenant = "{token(bucket.tenant)}"', f'agent = "{token(bucket.agent)}"']
    if filters.conversation_id:
        parts.append(f'conversation = "{token(filters.conversation_id)}"')
    if filters.contact_ids:
        parts.append(_any_of("contact", (f'"{token(id_)}"' for id_ in filters.contact_ids)))
    if filters.authors:
        parts.append(_any_of("author", (f'"{token(author)}"' for author in sorted(filters.authors))))
    if filters.roles:
        parts.append(_any_of("role", (str(int(role)) for role in sorted(filters.roles))))
    if filters.kinds:
        parts.append(_any_of("kind", (str(int(kind)) for kind in sorted(filters.kinds))))
    if filters.start:
        parts.append(f"time >= {to_micros(filters.start)}")
    if filters.end:
        parts.append(f"time < {to_micros(filters.end)}")
    if filters.valid_at:
        moment = to_micros(filters.valid_at)
        parts.append(f"time <= {moment} AND {ENDS} > {moment}")
    return " AND ".join(parts)


def _any_of(field: str, values: Iterable[str]) -> str:
    return f"{field} IN [{', '.join(values)}]"


def numbers_request(uids: Sequence[str], passing: str, terms: Sequence[str]) -> Json:
    """How many items pass, by size, and how many of them hold each term: index by index."""
    queries: list[Json] = []
    for uid in uids:
        common = {"indexUid": uid, "filter": passing, "limit": 0}
        queries.append(common | {"q": "", "facets": [SIZE]})
        queries += (common | {"q": quoted([term])} for term in terms)
    return {"queries": queries}


def numbers(results: Sequence[Mapping[str, Any]], terms: Sequence[str]) -> Place:
    """The answers to `numbers_request` as one place. Raises KeyError, TypeError or ValueError for others."""
    sizes: Counter[int] = Counter()
    frequencies: Counter[str] = Counter()
    items, of_index = 0, 1 + len(terms)
    if not results or len(results) % of_index:
        raise ValueError("answers are missing")
    for start in range(0, len(results), of_index):
        everything, *each = results[start : start + of_index]
        items += int(everything["estimatedTotalHits"])
        for class_, count in everything["facetDistribution"].get(SIZE, {}).items():
            sizes[int(class_)] += int(count)
        for term, result in zip(terms, each, strict=True):
            frequencies[term] += int(result["estimatedTotalHits"])
    return Place(items=items, mean_length=mean_length(sizes), frequencies=frequencies)


def candidates_request(uids: Sequence[str], passing: str, plan: Sequence[TermQuery], limit: int) -> Json:
    """The best hits of a plan's queries in all of the indexes, merged by weight.

    https://www.meilisearch.com/docs/reference/api/multi_search#federation: a hit of several queries comes
    once, for the one that gives it most.
    """
    queries = [
        {
            "indexUid": uid,
            "q": quoted(query.terms),
            "filter": passing,
            "attributesToRetrieve": [ITEM, TERMS, TALLY],
            "federationOptions": {"weight": query.weight},
        }
        for uid in uids
        for query in plan
    ]
    return {"federation": {"limit": limit, "offset": 0}, "queries": queries}


def documents_request(bucket: Bucket, item_ids: Sequence[str]) -> Json:
    """Some items of a bucket by their ids.

    https://www.meilisearch.com/docs/reference/api/documents#get-documents-with-post
    """
    ids = [document_id(bucket, item_id) for item_id in dict.fromkeys(item_ids)]
    return {
        "ids": ids,
        "filter": filter_expression(bucket, NO_FILTERS),
        "fields": [ITEM, TERMS],
        "limit": len(ids),
    }


def first_terms(document: Mapping[str, Any], most: int) -> tuple[str, tuple[str, ...]]:
    """An item's id and its first terms. Raises KeyError or TypeError for what is no document of ours."""
    item_id, terms = document[ITEM], document[TERMS]
    if not isinstance(item_id, str) or not isinstance(terms, str):
        raise TypeError("a result is not a document of ours")
    return item_id, tuple(terms.split(None, most)[:most])


def quoted(terms: Iterable[str]) -> str:
    """All of the terms, each as a phrase: as it stands, not joined with its neighbour, and not left out.

    https://www.meilisearch.com/docs/reference/api/search#phrase-search
    """
    return " ".join(f'"{term}"' for term in terms)


def encoded(term: str) -> str:
    """A term in ASCII letters and digits; "" for what the analyser cannot have made, which nothing holds."""
    if not TERM.fullmatch(term):
        return ""
    word = NOT_ASCII.sub(lambda match: f"u{ord(match.group()):x}", term)
    return word if len(word) <= MAX_WORD_CHARS else token(word)


def held(hit: Mapping[str, Any]) -> Held:
    """An item that was found. Raises KeyError, TypeError or ValueError for what is no document of ours."""
    item_id, terms, tally = hit[ITEM], hit[TERMS], hit[TALLY]
    if not isinstance(item_id, str) or not isinstance(terms, str):
        raise TypeError("a hit is not a document of ours")
    counts = dict(zip(terms.split(), map(int, tally), strict=True))
    return Held(item_id=item_id, counts=counts, length=sum(counts.values()))


def token(*parts: str) -> str:
    """Letters and digits that stand for some texts; different ones for different texts."""
    digest = blake2b(digest_size=TOKEN_BYTES)
    for part in parts:
        data = part.encode("utf-8")
        digest.update(f"{len(data)}:".encode() + data)
    return "h" + digest.hexdigest()

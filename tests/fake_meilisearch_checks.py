"""What the fake Meilisearch refuses: unknown fields, parameters and settings, values of the wrong kind."""

from __future__ import annotations

import re
from typing import Any

from tests.fake_meilisearch_engine import DEFAULTS, ApiError, Json

DOCUMENT_ID = re.compile(r"[a-zA-Z0-9_-]{1,511}")
QUERY_FIELDS = {
    "indexUid",
    "q",
    "filter",
    "limit",
    "offset",
    "facets",
    "attributesToRetrieve",
    "matchingStrategy",
}
RANKING_RULE = re.compile(
    r"words|typo|proximity|attribute|attributeRank|wordPosition|sort|exactness|\w+:(asc|desc)"
)
BOOLEANS = {"facetSearch"}
LISTS = {
    name for name, value in DEFAULTS.items() if isinstance(value, list) and name != "filterableAttributes"
}
MEMBERS = {
    "typoTolerance": set(DEFAULTS["typoTolerance"]),
    "faceting": set(DEFAULTS["faceting"]),
    "pagination": set(DEFAULTS["pagination"]),
}


def an_object(body: Any, names: set[str]) -> Json:
    if not isinstance(body, dict):
        raise ApiError("bad_request", "expected an object")
    unknown = body.keys() - names
    if unknown:
        raise ApiError("bad_request", f"Unknown field `{sorted(unknown)[0]}`")
    return body


def array(body: Any) -> list[Any]:
    if not isinstance(body, list):
        raise ApiError("bad_request", "expected an array")
    return body


def parameter(parameters: Json, name: str) -> str | None:
    if parameters.keys() - {name}:
        raise ApiError("bad_request", f"Unknown parameter `{sorted(parameters)[0]}`")
    values = parameters.get(name)
    return values[0] if values else None


def settings(body: Any) -> Json:
    given = an_object(body, set(DEFAULTS) - {"embedders"})
    for name, value in given.items():
        wrong = (
            (name in LISTS and not (value is None or isinstance(value, list)))
            or (name in BOOLEANS and not isinstance(value, bool))
            or (name in MEMBERS and not (isinstance(value, dict) and value.keys() <= MEMBERS[name]))
            or (name == "rankingRules" and not all(RANKING_RULE.fullmatch(rule) for rule in value))
            or (name == "filterableAttributes" and not all(_is_filterable_rule(rule) for rule in value))
            or (name == "prefixSearch" and value not in ("disabled", "indexingTime"))
            or (name == "proximityPrecision" and value not in ("byWord", "byAttribute"))
        )
        if wrong:
            snake = re.sub("([A-Z])", lambda match: "_" + match[1].lower(), name)
            raise ApiError(f"invalid_settings_{snake}")
    return given


def _is_filterable_rule(rule: Any) -> bool:
    if isinstance(rule, str):
        return True
    return bool(
        rule.keys() == {"attributePatterns", "features"}
        and rule["features"].keys() == {"facetSearch", "filter"}
        and rule["features"]["filter"].keys() == {"equality", "comparison"}
    )


def check_query(query: Any, number: int, *, federated: bool) -> None:
    where = f"Inside `.queries[{number}]`"
    an_object(query, QUERY_FIELDS | {"federationOptions"})
    if not isinstance(query.get("indexUid"), str):
        raise ApiError("missing_index_uid", where)
    if federated and query.keys() & {"limit", "offset"}:
        raise ApiError("invalid_multi_search_query_pagination", where)
    if federated and "facets" in query:
        raise ApiError("invalid_multi_search_query_facets", where)
    if not federated and "federationOptions" in query:
        raise ApiError("invalid_multi_search_federation_options", where)
    if query.get("matchingStrategy", "last") != "last":
        raise ApiError("internal", "the fake knows the strategy `last` alone", 500, "internal")
    options = an_object(query.get("federationOptions", {}), {"weight"})
    if not options.get("weight", 1.0) >= 0:
        raise ApiError("invalid_multi_search_weight", where)


def document_id(document: Json, key: str | None) -> str:
    if key is None or key not in document:
        raise ApiError("missing_document_id")
    if not DOCUMENT_ID.fullmatch(str(document[key])):
        raise ApiError("invalid_document_id")
    return str(document[key])

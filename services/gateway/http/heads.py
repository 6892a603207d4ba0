"""What comes before a request's body: its target and its headers, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from services.gateway.http.answering import JSON_TYPE, Refused
from services.gateway.http.limits import MAX_BODY_BYTES, MAX_HEADERS, MAX_TARGET_BYTES, MAX_TIMEOUT_SECONDS
from services.kit import request_ids
from services.kit.errors import CredentialInvalid, InvalidField, LimitExceeded
from services.kit.status import REQUEST_ID_KEY

Scope = MutableMapping[str, Any]

ONCE = (
    "content-encoding",
    "content-length",
    "content-type",
    "grpc-timeout",
    "host",
    "last-event-id",
    "transfer-encoding",
    "x-request-id",
    "x-request-timeout",
)
"""Headers that two readers must not read differently: a second one is refused."""
_ABSOLUTE_FORM = re.compile(rb"(?i:https?)://(?P<host>[^/?#@\s]+)(?P<path>/.*)?", re.DOTALL)
_GRPC_TIMEOUT = re.compile(r"([0-9]{1,8})([HMSmun])")
_SECONDS = re.compile(r"[0-9]{1,8}(\.[0-9]{1,6})?")
_UNITS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_JSON = re.compile(r"application/json\s*(;\s*charset\s*=\s*\"?utf-8\"?\s*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A request without its body."""

    verb: str
    path: str
    """As it came, not yet decoded."""
    query: bytes
    headers: Mapping[str, str]
    request_id: str

    @property
    def has_body(self) -> bool:
        """Whether a body follows."""
        return "transfer-encoding" in self.headers or self.headers.get("content-length", "0") != "0"

    @property
    def timeout(self) -> float | None:
        """Seconds that the caller gives the call, bounded; None: as long as it is given by default."""
        if (text := self.headers.get("grpc-timeout")) is not None:
            found = _GRPC_TIMEOUT.fullmatch(text)
            seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
        elif (text := self.headers.get("x-request-timeout")) is not None:
            seconds = float(text) if _SECONDS.fullmatch(text) else 0.0
        else:
            return None
        if not seconds:
            raise InvalidField("timeout", "must be as in Grpc-Timeout: 5S, or X-Request-Timeout: 5")
        return min(seconds, MAX_TIMEOUT_SECONDS)

    @property
    def metadata(self) -> dict[str, str]:
        """What the call carries of it."""
        found = {REQUEST_ID_KEY: self.request_id}
        if (authorization := self.headers.get("authorization")) is not None:
            found["authorization"] = authorization
        return found


def in_origin_form(scope: Scope) -> Scope:
    """The request as if it had named its path alone, where it named a whole URL (RFC 9112, 3.2.2).

    The URL's host takes the place of the Host header, as is said there.
    """
    found = _ABSOLUTE_FORM.fullmatch(scope.get("raw_path", b""))
    if found is None:
        return scope
    headers = [(name, found["host"] if name == b"host" else value) for name, value in scope["headers"]]
    raw_path = found["path"] or b"/"
    return {**scope, "headers": headers, "raw_path": raw_path, "path": unquote(raw_path.decode("latin-1"))}


def request_id(scope: Scope) -> str:
    """The caller's id of the request where it is fit to be logged (X-3), else a new one."""
    headers = [(name, value.decode("latin-1")) for name, value in scope["headers"]]
    given = next((value for name, value in headers if name == b"x-request-id"), None)
    return request_ids.request_id(given, [value for name, value in headers if name == b"authorization"])


def read(scope: Scope, id: str) -> Head:
    """Checks and reads it. Raises Refused, and CredentialInvalid for two credentials."""
    raw, path, query = scope["headers"], scope["raw_path"], scope["query_string"]
    if len(raw) > MAX_HEADERS:
        raise Refused(431, LimitExceeded(f"over {MAX_HEADERS} headers"))
    if len(path) + len(query) > MAX_TARGET_BYTES:
        raise Refused(414, LimitExceeded(f"the path and its query are over {MAX_TARGET_BYTES:,} bytes"))
    headers: dict[str, str] = {}
    for key, value in raw:
        name = key.decode("latin-1").lower()
        if name in headers and name == "authorization":
            raise CredentialInvalid("more than one credential")
        if name in headers and name in ONCE:
            raise Refused(400, InvalidField(name, "is given more than once"))
        headers[name] = value.decode("latin-1")
    if "content-length" in headers and "transfer-encoding" in headers:
        raise Refused(400, InvalidField("content-length", "is given beside transfer-encoding"))
    return Head(
        verb=scope["method"], path=path.decode("latin-1"), query=query, headers=headers, request_id=id
    )


def check_body_headers(head: Head) -> None:
    """Raises Refused for a body that will not be read."""
    if not _JSON.fullmatch(head.headers.get("content-type", "")):
        problem = InvalidField("content-type", f"must be {JSON_TYPE}, in UTF-8")
        raise Refused(415, problem, {"accept-post": JSON_TYPE})
    if head.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refused(415, InvalidField("content-encoding", "a compressed body is not read"))
    if int(head.headers.get("content-length", "0")) > MAX_BODY_BYTES:
        raise too_large()


def too_large() -> Refused:
    """A body over the limit."""
    return Refused(413, LimitExceeded(f"the body is over {MAX_BODY_BYTES:,} bytes"))

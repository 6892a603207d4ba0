"""A strict remote memory for tests, over HTTP on the loopback, by docs/providers.md.

An unknown route, method, field or type is an error, as is a wrong token. It can be down, slow, or answer with
whatever a test gives it. What was remembered is recalled only once it was flushed.
"""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

Json = dict[str, Any]
Profile = tuple[str, str]  # namespace, profile

TOKEN = "a token of the tests"
ROUTE = re.compile(r"/v1/namespaces/([^/]+)/profiles/([^/]+)/(memories|recall|flush)(?:/([^/]+))?")
MEMORY_FIELDS = {"id", "revision", "key", "value", "kind", "contact_id", "valid_from", "valid_to"}
RECALL_FIELDS = {"query", "limit", "contact_ids", "kinds"}
MAX_BODY = 2 * 1024 * 1024


@dataclass
class Asked:
    """A request as it came."""

    method: str
    route: str
    profile: Profile
    body: Any


class _Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class FakeRemoteMemory:
    """State and faults; `url` is where it listens, between `start` and `stop`."""

    url: str = ""
    token: str = TOKEN
    memories: dict[Profile, dict[str, Json]] = field(default_factory=dict)
    flushed: dict[Profile, set[str]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    answers: list[tuple[int, bytes, dict[str, str]] | None] = field(default_factory=list)
    """Given in place of the next answers; None stands for the true one."""
    fault: tuple[int, bytes] | None = None
    """Given in place of every answer."""
    swallows: bool = False
    """Does what is asked, but ends the connection instead of answering."""
    slow_seconds: float = 0.0
    extra_hits: list[Any] = field(default_factory=list)
    """Put before the true hits."""
    _server: ThreadingHTTPServer | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, port: int = 0) -> None:
        """Listens; on the port that it had before, if it is given."""
        fake = self

        class Handler(_Handler):
            state = fake

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def port(self) -> int:
        """Where it listens, or did."""
        return int(self.url.rpartition(":")[2])

    @property
    def listens(self) -> bool:
        """Between `start` and `stop`."""
        return self._server is not None

    def stop(self) -> None:
        """Listens no more; what it holds stays."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def values(self, tenant: str, agent: str) -> list[str]:
        """What it holds of a profile, sorted."""
        return sorted(one["value"] for one in self.memories.get((tenant, agent), {}).values())

    def requests(self, route: str = "", tenant: str = "") -> list[Asked]:
        """Those to a route of a tenant; all without."""
        return [one for one in self.asked if route in ("", one.route) and tenant in ("", one.profile[0])]

    def respond(self, method: str, path: str, headers: Any, data: bytes) -> tuple[int, Any]:
        """A request's status and answer."""
        if headers.get("authorization") != f"Bearer {self.token}":
            raise _Refusal(401, "no token")
        route = ROUTE.fullmatch(path)
        if route is None:
            raise _Refusal(404, "no such route")
        tenant, agent, name, memory_id = route.groups()
        profile = (unquote(tenant), unquote(agent))
        body = _body(method, headers, data)
        with self._lock:
            self.asked.append(Asked(method=method, route=name, profile=profile, body=body))
            return self._routed(method, name, unquote(memory_id or ""), profile, body)

    def _routed(self, method: str, name: str, memory_id: str, profile: Profile, body: Any) -> tuple[int, Any]:
        held = self.memories.setdefault(profile, {})
        match (method, name, bool(memory_id)):
            case ("POST", "memories", False):
                return 200, self._remember(profile, body)
            case ("DELETE", "memories", True):
                self.flushed.get(profile, set()).discard(memory_id)
                return (204, None) if held.pop(memory_id, None) else (404, {"error": "no such memory"})
            case ("POST", "recall", False):
                return 200, self._recall(profile, body)
            case ("POST", "flush", False):
                _exactly(body, set())
                self.flushed[profile] = set(held)
                return 200, {}
        raise _Refusal(405, "no such method")

    def _remember(self, profile: Profile, body: Any) -> Json:
        _exactly(body, {"memories"})
        if not (isinstance(body["memories"], list) and 1 <= len(body["memories"]) <= 100):
            raise _Refusal(422, "memories")
        for one in body["memories"]:
            _exactly(one, MEMORY_FIELDS)
            _check_memory(one)
        for one in body["memories"]:
            self.memories[profile][one["id"]] = one
        return {"accepted": [one["id"] for one in body["memories"]]}

    def _recall(self, profile: Profile, body: Any) -> Json:
        _exactly(body, RECALL_FIELDS)
        lists = [body["contact_ids"], body["kinds"]]
        if not (isinstance(body["query"], str) and isinstance(body["limit"], int) and body["limit"] > 0):
            raise _Refusal(422, "query, limit")
        if not all(isinstance(one, list) and all(isinstance(x, str) for x in one) for one in lists):
            raise _Refusal(422, "contact_ids, kinds")
        words = set(re.findall(r"\w+", body["query"].lower()))
        hits = []
        for id_ in sorted(self.flushed.get(profile, set()) & self.memories[profile].keys()):
            one = self.memories[profile][id_]
            score = len(words & set(re.findall(r"\w+", one["value"].lower())))
            wanted = one["contact_id"] in body["contact_ids"] and one["kind"] in (
                body["kinds"] or [one["kind"]]
            )
            if score and wanted:
                hits.append({"id": id_, "score": score})
        hits.sort(key=lambda hit: -int(hit["score"]))
        return {"hits": [*self.extra_hits, *hits][: body["limit"]]}


def _body(method: str, headers: Any, data: bytes) -> Any:
    if len(data) > MAX_BODY:
        raise _Refusal(413, "too large")
    if method == "DELETE":
        if data:
            raise _Refusal(400, "a body")
        return None
    if headers.get("content-type") != "application/json":
        raise _Refusal(415, "not JSON")
    try:
        return json.loads(data)
    except ValueError as error:
        raise _Refusal(400, "not JSON") from error


def _exactly(value: Any, fields: set[str]) -> None:
    if not isinstance(value, dict) or value.keys() != fields:
        raise _Refusal(422, "unknown or missing fields")


def _check_memory(one: Json) -> None:
    texts = [one[name] for name in ("id", "key", "value", "kind", "contact_id", "valid_from")]
    ends = one["valid_to"]
    if not all(isinstance(text, str) for text in texts) or not one["id"]:
        raise _Refusal(422, "texts")
    if one["kind"] not in ("fact", "event", "instruction", "task"):
        raise _Refusal(422, "kind")
    if not isinstance(one["revision"], int) or one["revision"] < 1:
        raise _Refusal(422, "revision")
    try:
        times = [datetime.fromisoformat(time) for time in (one["valid_from"], ends) if time is not None]
    except (TypeError, ValueError) as error:
        raise _Refusal(422, "times") from error
    if any(time.tzinfo is None for time in times):
        raise _Refusal(422, "times without a zone")


class _Handler(BaseHTTPRequestHandler):
    state: FakeRemoteMemory
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def _handle(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        state = self.state
        if not state.listens:  # a connection that was kept open
            self.close_connection = True
            return
        time.sleep(state.slow_seconds)
        if state.fault is not None:
            self._send(*state.fault, {})
            return
        given = state.answers.pop(0) if state.answers else None
        if given is not None:
            self._send(*given)
            return
        try:
            status, answer = state.respond(self.command, self.path, self.headers, data)
        except _Refusal as refusal:
            status, answer = refusal.status, {"error": str(refusal)}
        if state.swallows:
            self.close_connection = True
            return
        self._send(status, b"" if answer is None else json.dumps(answer).encode(), {})

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _handle  # noqa: N815 - names of the base class

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""

"""A strict stand-in for a Meilisearch server of version 1.50, over HTTP on the loopback.

It has the endpoints that Palimpsest uses; an unknown route, parameter, field or setting is the error that
Meilisearch gives. Tasks are asynchronous: each look at one moves the queue a step on, from enqueued to
processing to done, and nothing is seen by a search before.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.fake_meilisearch_checks import an_object, array, check_query, document_id, parameter, settings
from tests.fake_meilisearch_engine import ApiError, Found, Index, facets, federate, parse_filter, search

Json = dict[str, Any]

KEY = "a key of the tests"
UID = re.compile(r"[a-zA-Z0-9_-]{1,400}")
STAMP = "2031-05-04T12:00:00.000000000Z"


@dataclass
class Task:
    uid: int
    index_uid: str
    kind: str
    work: Callable[[], None]
    status: str = "enqueued"
    error: Json | None = None


@dataclass
class Request:
    """What came, as it came."""

    method: str
    path: str
    body: Any


@dataclass
class FakeMeilisearch:
    """State and faults of the server; `url` is where it listens, between `start` and `stop`."""

    url: str = ""
    indexes: dict[str, Index] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    """(status, bytes) given in place of the next answers; None stands for the true answer."""
    fault: tuple[int, bytes] | None = None
    """Given in place of every answer."""
    delay_seconds: float = 0.0
    _server: ThreadingHTTPServer | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _made: int = 0

    def start(self) -> None:
        """Listens on a free port."""
        fake = self

        class Handler(_Handler):
            state = fake

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        """Listens no more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def listens(self) -> bool:
        """Between `start` and `stop`."""
        return self._server is not None

    def answer(self, method: str, target: str, body: Any) -> tuple[int, Any]:
        """A request's status and answer."""
        parts = urlsplit(target)
        parameters = parse_qs(parts.query, keep_blank_values=True)
        path = parts.path.strip("/").split("/")
        with self._lock:
            return self._routed(method, path, parameters, body)

    def _routed(self, method: str, path: list[str], parameters: Json, body: Any) -> tuple[int, Any]:
        match (method, *path):
            case ("GET", "tasks", uid):
                return 200, self._task(uid)
            case ("POST", "indexes"):
                return 202, self._create(an_object(body, {"uid", "primaryKey"}))
            case ("GET", "indexes", uid):
                return 200, _described(self._index(uid))
            case ("DELETE", "indexes", uid):
                return 202, self._enqueue(uid, "indexDeletion", lambda: self._drop(uid))
            case ("GET", "indexes", uid, "settings"):
                return 200, self._index(uid).settings
            case ("PATCH", "indexes", uid, "settings"):
                changed = settings(body)
                return 202, self._enqueue(
                    uid, "settingsUpdate", lambda: self._made_index(uid).change(changed)
                )
            case ("POST", "indexes", uid, "documents"):
                key = parameter(parameters, "primaryKey")
                return 202, self._enqueue(uid, "documentAdditionOrUpdate", self._adding(uid, key, body))
            case ("POST", "indexes", uid, "documents", "delete-batch"):
                ids = [str(id_) for id_ in array(body)]
                return 202, self._enqueue(uid, "documentDeletion", lambda: self._delete(uid, ids))
            case ("POST", "indexes", uid, "documents", "fetch"):
                return 200, self._fetch(uid, an_object(body, {"ids", "filter", "fields", "limit", "offset"}))
            case ("POST", "multi-search"):
                return 200, self._multi_search(an_object(body, {"queries", "federation"}))
        return 404, None

    def _task(self, uid: str) -> Json:
        if not uid.isdigit() or int(uid) >= len(self.tasks):
            raise ApiError("task_not_found", status=404)
        waiting = [task for task in self.tasks if task.status in ("enqueued", "processing")]
        task = self.tasks[int(uid)]
        described = {
            "uid": task.uid,
            "indexUid": task.index_uid,
            "status": task.status,
            "type": task.kind,
            "error": task.error,
            "enqueuedAt": STAMP,
        }
        if waiting:
            self._step(waiting[0])
        return described

    def _step(self, task: Task) -> None:
        if task.status == "enqueued":
            task.status = "processing"
            return
        try:
            task.work()
            task.status = "succeeded"
        except ApiError as error:
            task.status, task.error = "failed", error.body

    def _enqueue(self, uid: str, kind: str, work: Callable[[], None]) -> Json:
        if not UID.fullmatch(uid):
            raise ApiError("invalid_index_uid")
        task = Task(uid=len(self.tasks), index_uid=uid, kind=kind, work=work)
        self.tasks.append(task)
        return {"taskUid": task.uid, "indexUid": uid, "status": "enqueued", "type": kind, "enqueuedAt": STAMP}

    def _create(self, body: Json) -> Json:
        uid = body.get("uid")
        if not isinstance(uid, str):
            raise ApiError("missing_index_uid")

        def work() -> None:
            if uid in self.indexes:
                raise ApiError("index_already_exists", f"Index `{uid}` already exists.")
            self._made_index(uid).primary_key = body.get("primaryKey")

        return self._enqueue(uid, "indexCreation", work)

    def _made_index(self, uid: str) -> Index:
        """An index is made by whatever first needs it."""
        if uid not in self.indexes:
            self._made += 1
            self.indexes[uid] = Index(uid=uid, created=f"2031-05-04T12:00:00.{self._made:09}Z")
        return self.indexes[uid]

    def _index(self, uid: str) -> Index:
        if uid not in self.indexes:
            raise ApiError("index_not_found", f"Index `{uid}` not found.", 404)
        return self.indexes[uid]

    def _drop(self, uid: str) -> None:
        self._index(uid)
        del self.indexes[uid]

    def _adding(self, uid: str, key: str | None, body: Any) -> Callable[[], None]:
        documents = array(body)

        def work() -> None:
            index = self._made_index(uid)
            index.primary_key = index.primary_key or key
            ids = [document_id(document, index.primary_key) for document in documents]
            index.documents |= dict(zip(ids, documents, strict=True))

        return work

    def _delete(self, uid: str, ids: list[str]) -> None:
        index = self._index(uid)
        for id_ in ids:
            index.documents.pop(id_, None)

    def _fetch(self, uid: str, body: Json) -> Json:
        """Of the ids, what passes the filter; in an order of the server's own, which the fake turns round."""
        index, offset, limit = self._index(uid), body.get("offset", 0), body.get("limit", 20)
        passes = parse_filter(index, body.get("filter"))
        ids = index.documents if body.get("ids") is None else set(map(str, array(body["ids"])))
        found = [index.documents[id_] for id_ in sorted(ids, reverse=True) if id_ in index.documents]
        kept = [document for document in found if passes(document)]
        names = body.get("fields") or ["*"]
        shown = [
            {name: value for name, value in document.items() if "*" in names or name in names}
            for document in kept[offset : offset + limit]
        ]
        return {"results": shown, "offset": offset, "limit": limit, "total": len(kept)}

    def _multi_search(self, body: Json) -> Json:
        queries = array(body.get("queries"))
        federation = body.get("federation")
        for number, query in enumerate(queries):
            check_query(query, number, federated=federation is not None)
        if federation is None:
            return {"results": [self._single(query) for query in queries]}
        an_object(federation, {"limit", "offset"})
        found = [self._found(query) for query in queries]
        weights = [query.get("federationOptions", {}).get("weight", 1.0) for query in queries]
        merged = list(federate(list(zip(weights, found, strict=True))))
        start, limit = federation.get("offset", 0), federation.get("limit", 20)
        hits = [
            self._index(queries[number]["indexUid"]).shown(
                document, queries[number].get("attributesToRetrieve", ["*"])
            )
            | {
                "_federation": {
                    "indexUid": queries[number]["indexUid"],
                    "queriesPosition": number,
                    "weightedRankingScore": weighted,
                }
            }
            for number, weighted, document in merged[start : start + limit]
        ]
        counted = {"limit": limit, "offset": start, "estimatedTotalHits": len(merged)}
        return {"hits": hits, "processingTimeMs": 0, **counted}

    def _found(self, query: Json) -> Found:
        try:
            return search(self._index(query["indexUid"]), query)
        except ApiError as error:
            error.status = min(error.status, 400)
            raise

    def _single(self, query: Json) -> Json:
        found, index = self._found(query), self._index(query["indexUid"])
        most = index.settings["pagination"]["maxTotalHits"]
        offset, limit = query.get("offset", 0), query.get("limit", 20)
        page = islice(found.hits[:most], offset, offset + limit)
        wanted = query.get("attributesToRetrieve", ["*"])
        answer: Json = {
            "indexUid": index.uid,
            "hits": [index.shown(document, wanted) for _, _, document in page],
            "query": query.get("q") or "",
            "processingTimeMs": 0,
            "limit": limit,
            "offset": offset,
            "estimatedTotalHits": min(len(found.hits), most),
        }
        if query.get("facets"):
            answer["facetDistribution"], answer["facetStats"] = facets(index, found, query["facets"])
        return answer


class _Handler(BaseHTTPRequestHandler):
    state: FakeMeilisearch
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: a client that delays its acknowledgement holds up a second

    def _handle(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.state.listens:  # a connection that was kept open
            self.close_connection = True
            return
        try:
            status, answer = self._answered(data)
        except ApiError as error:
            status, answer = error.status, error.body
        except _Fault as fault:
            self._send(fault.status, fault.data, "text/plain")
            return
        self._send(status, b"" if answer is None else json.dumps(answer).encode())

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _handle  # noqa: N815 - names of the base class

    def _answered(self, data: bytes) -> tuple[int, Any]:
        state = self.state
        if state.delay_seconds:
            time.sleep(state.delay_seconds)
        body = self._body(data)
        state.requests.append(Request(method=self.command, path=self.path, body=body))
        fault = state.answers.pop(0) if state.answers else state.fault
        if fault is not None:
            raise _Fault(*fault)
        given = self.headers.get("Authorization")
        if given is None:
            raise ApiError("missing_authorization_header", status=401, kind="auth")
        if given != f"Bearer {KEY}":
            raise ApiError("invalid_api_key", status=403, kind="auth")
        return state.answer(self.command, self.path, body)

    def _body(self, data: bytes) -> Any:
        if not data:
            return None
        if self.headers.get("Content-Type", "").split(";")[0] != "application/json":
            raise ApiError("missing_content_type", status=415)
        try:
            return json.loads(data)
        except ValueError:
            raise ApiError("malformed_payload") from None

    def _send(self, status: int, data: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_one_request(self) -> None:
        """As the base class; a client that has gone is no error."""
        try:
            super().handle_one_request()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


class _Fault(Exception):
    def __init__(self, status: int, data: bytes) -> None:
        super().__init__(status)
        self.status, self.data = status, data


def _described(index: Index) -> Json:
    return {
        "uid": index.uid,
        "createdAt": index.created,
        "updatedAt": index.created,
        "primaryKey": index.primary_key,
    }

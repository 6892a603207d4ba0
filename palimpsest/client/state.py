"""Calls about state documents and records."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from palimpsest import models
from palimpsest.client import documents
from palimpsest.client.base import Calls
from palimpsest.client.incoming import time_of
from palimpsest.state.v1 import records_pb2
from palimpsest.state.v1 import state_pb2 as pb


class StateCalls(Calls):
    """An application's own JSON. Values are given as mappings, or as text that is JSON already.

    Documents are the agent's, or a conversation's where one is named; without a name "default" is meant.
    Writes that would count twice are never retried.
    """

    async def state(
        self, name: str = "", *, conversation_id: str = "", initial: Mapping[str, Any] | str | None = None
    ) -> models.StateDocument:
        """Reads a document; with `initial`, stores that if there is none (which needs a writer's key)."""
        request = pb.GetStateRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            name=name,
            initial_json=None if initial is None else documents.as_json(initial),
        )
        answer = await self._transport.call(self._transport.stubs.state.GetState, request)
        return documents.document(answer.document, created=answer.created)

    async def set_state(
        self,
        value: Mapping[str, Any] | str,
        name: str = "",
        *,
        conversation_id: str = "",
        expected_version: int | None = None,
    ) -> models.StateVersion:
        """Replaces a document whole, or creates it; VersionConflictError if another version is there.

        `expected_version` 0: only if there is none; None: whatever is there.
        """
        request = pb.SetStateRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            name=name,
            json=documents.as_json(value),
            expected_version=expected_version,
        )
        answer = await self._transport.call(self._transport.stubs.state.SetState, request)
        return models.StateVersion(version=answer.version, update_time=time_of(answer, "update_time"))

    async def delete_state(
        self, name: str = "", *, conversation_id: str = "", expected_version: int | None = None
    ) -> int:
        """Deletes a document; the version of the deletion."""
        request = pb.DeleteStateRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            name=name,
            expected_version=expected_version,
        )
        return (await self._transport.call(self._transport.stubs.state.DeleteState, request)).version

    async def watch_state(
        self, name: str = "", *, conversation_id: str = "", after_version: int = 0
    ) -> AsyncGenerator[models.StateChange, None]:
        """Every change of a document in order, each once, without end; first the newest version, if any.

        A stream that breaks is opened again after the last change received.
        """
        request = pb.WatchStateRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            name=name,
            after_version=after_version,
        )
        changes = self._transport.resumed(self._transport.stubs.state.WatchState, lambda: request)
        async with aclosing(changes):
            async for proto in changes:
                request.after_version = proto.version
                yield documents.change(proto)

    async def put_collection(
        self, name: str, fields: Mapping[str, models.FieldType] | None = None
    ) -> models.Collection:
        """Creates a collection, or changes its indexed fields: {"address.city": "string"}."""
        request = records_pb2.PutCollectionRequest(
            agent_id=self._agent, collection=name, fields=documents.indexed_fields(fields or {})
        )
        answer = await self._transport.call(self._transport.stubs.state.PutCollection, request)
        return documents.collection(answer.collection)

    async def collection(self, name: str) -> models.Collection:
        """Reads a collection."""
        request = records_pb2.GetCollectionRequest(agent_id=self._agent, collection=name)
        answer = await self._transport.call(self._transport.stubs.state.GetCollection, request)
        return documents.collection(answer.collection)

    async def collections(self, *, page_size: int = 0) -> AsyncIterator[models.Collection]:
        """The agent's collections, by name."""
        request = records_pb2.ListCollectionsRequest(agent_id=self._agent, page_size=page_size)
        async for page in self._pages(self._transport.stubs.state.ListCollections, request):
            for proto in page.collections:
                yield documents.collection(proto)

    async def delete_collection(self, name: str) -> None:
        """Deletes a collection with its records."""
        request = records_pb2.DeleteCollectionRequest(agent_id=self._agent, collection=name)
        await self._transport.call(self._transport.stubs.state.DeleteCollection, request)

    async def put_record(
        self,
        collection: str,
        value: Mapping[str, Any] | str,
        record_id: str | None = None,
        *,
        expected_version: int | None = None,
    ) -> models.StoredRecord:
        """Replaces a record whole, or creates it; VersionConflictError if another version is there.

        Without an id the client makes one.
        """
        request = records_pb2.PutRecordRequest(
            agent_id=self._agent,
            collection=collection,
            record_id=record_id or uuid.uuid4().hex,
            json=documents.as_json(value),
            expected_version=expected_version,
        )
        answer = await self._transport.call(self._transport.stubs.state.PutRecord, request)
        return documents.stored_record(answer)

    async def record(self, collection: str, record_id: str) -> models.Record:
        """Reads a record."""
        request = records_pb2.GetRecordRequest(
            agent_id=self._agent, collection=collection, record_id=record_id
        )
        return documents.record(
            (await self._transport.call(self._transport.stubs.state.GetRecord, request)).record
        )

    async def delete_record(
        self, collection: str, record_id: str, *, expected_version: int | None = None
    ) -> None:
        """Deletes a record."""
        request = records_pb2.DeleteRecordRequest(
            agent_id=self._agent,
            collection=collection,
            record_id=record_id,
            expected_version=expected_version,
        )
        await self._transport.call(self._transport.stubs.state.DeleteRecord, request)

    async def records(
        self,
        collection: str,
        where: models.Filter | None = None,
        *,
        order_by: str = "",
        descending: bool = False,
        page_size: int = 0,
    ) -> AsyncIterator[models.Record]:
        """The records that match a filter made with `Field`, by default all; ordered by a field, or by id."""
        request = records_pb2.QueryRecordsRequest(
            agent_id=self._agent,
            collection=collection,
            filter=None if where is None else documents.filter_proto(where),
            order_by=records_pb2.RecordOrder(field=order_by, descending=descending),
            page_size=page_size,
        )
        async for page in self._pages(self._transport.stubs.state.QueryRecords, request):
            for proto in page.records:
                yield documents.record(proto)

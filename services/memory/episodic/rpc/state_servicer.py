"""StateService: convert, await the use case, convert back."""

from __future__ import annotations

from functools import partial
from typing import Any

from palimpsest.state.v1 import records_pb2, state_pb2, state_pb2_grpc

from services.kit import paging
from services.kit.context import current_principal
from services.kit.errors import NotAllowed
from services.kit.identity import Role
from services.kit.serving import Face, roles_of
from services.kit.watching import deliver
from services.memory.episodic.app.records import Records
from services.memory.episodic.app.state import States
from services.memory.episodic.rpc import state_convert as convert
from services.memory.episodic.rpc.convert import stamp_of

DESCRIPTOR = state_pb2.DESCRIPTOR.services_by_name["StateService"]

Context = Any


def face(states: States, records: Records) -> Face:
    """StateService over the use cases."""
    servicer = StateServicer(states, records)
    return Face(
        name=DESCRIPTOR.full_name,
        add=partial(state_pb2_grpc.add_StateServiceServicer_to_server, servicer),
        roles=roles_of(DESCRIPTOR),
    )


def _tenant() -> str:
    return current_principal().tenant


class StateServicer(state_pb2_grpc.StateServiceServicer):
    """StateService over the use cases."""

    def __init__(self, states: States, records: Records) -> None:
        self._states = states
        self._records = records

    async def GetState(
        self, request: state_pb2.GetStateRequest, context: Context
    ) -> state_pb2.GetStateResponse:
        """See the proto."""
        initial = request.initial_json if request.HasField("initial_json") else None
        if initial is not None and current_principal().role < Role.WRITER:
            raise NotAllowed("initial_json needs the role writer")
        found, created = await self._states.get(convert.state_key(_tenant(), request), initial)
        return convert.get_state_response(found, created)

    async def SetState(
        self, request: state_pb2.SetStateRequest, context: Context
    ) -> state_pb2.SetStateResponse:
        """See the proto."""
        key = convert.state_key(_tenant(), request)
        stored = await self._states.set(key, request.json, convert.expected_version(request))
        return state_pb2.SetStateResponse(version=stored.version, update_time=stamp_of(stored.time))

    async def DeleteState(
        self, request: state_pb2.DeleteStateRequest, context: Context
    ) -> state_pb2.DeleteStateResponse:
        """See the proto."""
        key = convert.state_key(_tenant(), request)
        deletion = await self._states.delete(key, convert.expected_version(request))
        return state_pb2.DeleteStateResponse(version=deletion.version)

    async def WatchState(self, request: state_pb2.WatchStateRequest, context: Context) -> None:  # type: ignore[override]
        """See the proto. Writes to the context, so that it knows when the stream isn't read."""
        await deliver(
            context,
            self._states.watch(convert.state_key(_tenant(), request), request.after_version),
            convert.watch_response,
            start=request.after_version,
            patience=self._states.patience_seconds,
        )

    async def PutCollection(
        self, request: records_pb2.PutCollectionRequest, context: Context
    ) -> records_pb2.PutCollectionResponse:
        """See the proto."""
        collection = await self._records.put_collection(
            convert.collection_key(_tenant(), request), convert.indexed_fields(request.fields)
        )
        return records_pb2.PutCollectionResponse(collection=convert.collection_proto(collection))

    async def GetCollection(
        self, request: records_pb2.GetCollectionRequest, context: Context
    ) -> records_pb2.GetCollectionResponse:
        """See the proto."""
        collection = await self._records.get_collection(convert.collection_key(_tenant(), request))
        return records_pb2.GetCollectionResponse(collection=convert.collection_proto(collection))

    async def ListCollections(
        self, request: records_pb2.ListCollectionsRequest, context: Context
    ) -> records_pb2.ListCollectionsResponse:
        """See the proto."""
        listing = f"ListCollections {request.agent_id}"
        page = await self._records.list_collections(
            _tenant(),
            request.agent_id,
            limit=paging.page_size(request.page_size),
            after=paging.text_position(listing, request.page_token),
        )
        return records_pb2.ListCollectionsResponse(
            collections=map(convert.collection_proto, page.items),
            next_page_token=paging.next_token(listing, page.last),
        )

    async def DeleteCollection(
        self, request: records_pb2.DeleteCollectionRequest, context: Context
    ) -> records_pb2.DeleteCollectionResponse:
        """See the proto."""
        await self._records.delete_collection(convert.collection_key(_tenant(), request))
        return records_pb2.DeleteCollectionResponse()

    async def PutRecord(
        self, request: records_pb2.PutRecordRequest, context: Context
    ) -> records_pb2.PutRecordResponse:
        """See the proto."""
        key = convert.collection_key(_tenant(), request)
        expected = convert.expected_version(request)
        return convert.put_response(await self._records.put(key, request.record_id, request.json, expected))

    async def GetRecord(
        self, request: records_pb2.GetRecordRequest, context: Context
    ) -> records_pb2.GetRecordResponse:
        """See the proto."""
        record = await self._records.get(convert.collection_key(_tenant(), request), request.record_id)
        return records_pb2.GetRecordResponse(record=convert.record_proto(record))

    async def DeleteRecord(
        self, request: records_pb2.DeleteRecordRequest, context: Context
    ) -> records_pb2.DeleteRecordResponse:
        """See the proto."""
        key = convert.collection_key(_tenant(), request)
        await self._records.delete(key, request.record_id, convert.expected_version(request))
        return records_pb2.DeleteRecordResponse()

    async def QueryRecords(
        self, request: records_pb2.QueryRecordsRequest, context: Context
    ) -> records_pb2.QueryRecordsResponse:
        """See the proto."""
        key = convert.collection_key(_tenant(), request)
        page = await self._records.query(key, convert.query_of(request))
        return convert.query_response(request, page)

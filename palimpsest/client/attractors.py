"""Calls about the agent's attractor."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from google.protobuf.json_format import MessageToDict

from palimpsest import models
from palimpsest.client import names
from palimpsest.client.base import Calls
from palimpsest.client.incoming import time_of
from palimpsest.documents.v1 import documents_pb2 as pb


class AttractorCalls(Calls):
    """The themes that the agent's conversations come back to.

    Without a version the pinned one is read, else the newest; `newest` asks past the pin.
    """

    async def basins(self, *, version: int = 0, newest: bool = False) -> models.Basins:
        """The themes in brief, the heaviest first."""
        request = pb.ListBasinsRequest(agent_id=self._agent, **_which(version, newest))
        answer = await self._transport.call(self._transport.stubs.documents.ListBasins, request)
        return models.Basins(
            basins=tuple(map(_basin, answer.basins)),
            version=answer.version,
            create_time=time_of(answer, "create_time"),
            conversation_count=answer.conversation_count,
            drift=answer.drift if answer.HasField("drift") else None,
            state=_state(answer.state),
        )

    async def attractor(self, *, version: int = 0, newest: bool = False) -> models.Attractor:
        """A version whole: basins with members and centroids, trajectory, transitions."""
        request = pb.GetAttractorRequest(agent_id=self._agent, **_which(version, newest))
        answer = await self._transport.call(self._transport.stubs.documents.GetAttractor, request)
        return models.Attractor(
            version=answer.attractor.version,
            create_time=time_of(answer.attractor, "create_time"),
            engine=answer.attractor.engine,
            source_ids=tuple(answer.attractor.source_ids),
            body=MessageToDict(answer.attractor.body),
            state=_state(answer.state),
        )

    async def attractor_versions(self, *, page_size: int = 0) -> AsyncIterator[models.AttractorVersion]:
        """All versions, the newest first."""
        request = pb.ListAttractorVersionsRequest(agent_id=self._agent, page_size=page_size)
        async for page in self._pages(self._transport.stubs.documents.ListAttractorVersions, request):
            for proto in page.versions:
                yield models.AttractorVersion(
                    version=proto.version,
                    create_time=time_of(proto, "create_time"),
                    engine=proto.engine,
                    size_bytes=proto.size_bytes,
                    frozen=proto.frozen,
                    pinned=proto.pinned,
                )

    async def freeze_attractor(self, version: int) -> models.AttractorState:
        """Pins a version: it is read from now on, whatever newer ones are written."""
        request = pb.FreezeAttractorRequest(agent_id=self._agent, version=version)
        answer = await self._transport.call(self._transport.stubs.documents.FreezeAttractor, request)
        return _state(answer.state)

    async def unfreeze_attractor(self, version: int) -> models.AttractorState:
        """Lets a frozen version go; where it was the pinned one, the newest is read again."""
        request = pb.UnfreezeAttractorRequest(agent_id=self._agent, version=version)
        answer = await self._transport.call(self._transport.stubs.documents.UnfreezeAttractor, request)
        return _state(answer.state)

    async def name_basin(self, basin_id: str, name: str) -> models.Basin:
        """Gives a theme a name that it keeps through all updates; "" takes it away."""
        request = pb.NameBasinRequest(agent_id=self._agent, basin_id=basin_id, name=name)
        answer = await self._transport.call(self._transport.stubs.documents.NameBasin, request)
        return _basin(answer.basin)

    async def compare_attractor(self, before: int, after: int = 0) -> models.AttractorComparison:
        """What became of the themes from one version to another; 0 is the newest."""
        request = pb.CompareAttractorVersionsRequest(
            agent_id=self._agent, before_version=before, after_version=after
        )
        answer = await self._transport.call(self._transport.stubs.documents.CompareAttractorVersions, request)
        return models.AttractorComparison(
            before_version=answer.before_version,
            after_version=answer.after_version,
            changes=tuple(
                models.BasinChange(
                    kind=names.BASIN_CHANGES.name(proto.kind),
                    basin_id=proto.basin_id,
                    other_ids=tuple(proto.other_ids),
                    distance=proto.distance,
                )
                for proto in answer.basin_changes
            ),
            fields=tuple(proto.field for proto in answer.changes),
        )


def _which(version: int, newest: bool) -> dict[str, Any]:
    if version:
        return {"version": version}
    return {"newest": newest}


def _basin(proto: pb.Basin) -> models.Basin:
    return models.Basin(
        id=proto.id,
        name=proto.name,
        label=proto.label,
        weight=proto.weight,
        member_count=proto.member_count,
        last_visit_time=time_of(proto, "last_visit_time"),
    )


def _state(proto: pb.DocumentState) -> models.AttractorState:
    return models.AttractorState(
        newest_version=proto.newest_version,
        pinned_version=proto.pinned_version,
        frozen_versions=tuple(proto.frozen_versions),
        stale=proto.stale,
    )

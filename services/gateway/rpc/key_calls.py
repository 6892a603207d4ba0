"""The RPCs about API keys."""

from __future__ import annotations

from typing import Any

from palimpsest.gateway.v1 import administration_pb2 as pb

from services.gateway.app.keys import Keys
from services.gateway.rpc import key_convert as convert
from services.kit import paging
from services.kit.context import current_principal
from services.kit.identity import Role


class KeyCalls:
    """Converts, calls, converts back; a part of the servicer."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    async def CreateApiKey(self, request: pb.CreateApiKeyRequest, context: Any) -> pb.CreateApiKeyResponse:
        """See the proto."""
        made, secret = await self._keys.create(
            current_principal(),
            display_name=request.display_name,
            role=Role(request.role),
            agents=list(request.agent_ids),
            lifetime=convert.lifetime(request),
        )
        return pb.CreateApiKeyResponse(key=convert.key(made), secret=secret)

    async def GetApiKey(self, request: pb.GetApiKeyRequest, context: Any) -> pb.GetApiKeyResponse:
        """See the proto."""
        found = await self._keys.get(current_principal().tenant, request.key_id)
        return pb.GetApiKeyResponse(key=convert.key(found))

    async def ListApiKeys(self, request: pb.ListApiKeysRequest, context: Any) -> pb.ListApiKeysResponse:
        """See the proto."""
        limit = paging.page_size(request.page_size) + 1
        rows = await self._keys.page(current_principal().tenant, convert.after(request), limit)
        return convert.key_page(request, rows)

    async def RotateApiKey(self, request: pb.RotateApiKeyRequest, context: Any) -> pb.RotateApiKeyResponse:
        """See the proto."""
        made, secret = await self._keys.rotate(
            current_principal(),
            request.key_id,
            overlap=request.overlap.ToTimedelta(),
            lifetime=convert.lifetime(request),
        )
        return pb.RotateApiKeyResponse(key=convert.key(made), secret=secret)

    async def RevokeApiKey(self, request: pb.RevokeApiKeyRequest, context: Any) -> pb.RevokeApiKeyResponse:
        """See the proto."""
        revoked = await self._keys.revoke(current_principal(), request.key_id)
        return pb.RevokeApiKeyResponse(key=convert.key(revoked))

    async def ListApiKeyChanges(
        self, request: pb.ListApiKeyChangesRequest, context: Any
    ) -> pb.ListApiKeyChangesResponse:
        """See the proto."""
        limit = paging.page_size(request.page_size) + 1
        rows = await self._keys.changes(
            current_principal().tenant, request.key_id or None, convert.before(request), limit
        )
        return convert.change_page(request, rows)

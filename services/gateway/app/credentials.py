"""Callers of the gateway: by API key, or by a token where those are accepted (SPEC G-9)."""

from __future__ import annotations

from collections.abc import Mapping

from services.gateway.domain.keys import PREFIX
from services.kit.identity import Authenticator, Principal, bearer_of


class Credentials:
    """An authenticator that takes each credential to the one it is for."""

    def __init__(self, keys: Authenticator, tokens: Authenticator) -> None:
        self._keys = keys
        self._tokens = tokens

    async def authenticate(self, metadata: Mapping[str, str]) -> Principal:
        """The caller. Raises CredentialInvalid, and DependencyDown while tokens can't be checked."""
        is_key = bearer_of(metadata).startswith(f"{PREFIX}_")
        return await (self._keys if is_key else self._tokens).authenticate(metadata)

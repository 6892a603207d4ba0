"""Whether tokens of an issuer are accepted, and by which keys, as the settings say (SPEC G-9)."""

from __future__ import annotations

from contextlib import AsyncExitStack

from services.gateway.app.credentials import Credentials
from services.gateway.config import GatewaySettings
from services.gateway.domain.claims import ClaimNames, Expected
from services.kit.errors import StartupError
from services.kit.identity import Authenticator


def with_tokens(keys: Authenticator, settings: GatewaySettings, stack: AsyncExitStack) -> Authenticator:
    """API keys alone, or tokens too. Raises StartupError for settings that say only a half of it.

    The issuer's keys are fetched by the first token: an issuer that is down does not keep the gateway from
    starting.
    """
    sources = [source for source in (settings.jwt_jwks_url, settings.jwt_jwks_file) if source]
    given = [settings.jwt_issuer, settings.jwt_audience, *sources]
    if not any(given):
        return keys
    if not (settings.jwt_issuer and settings.jwt_audience and len(sources) == 1):
        raise StartupError(
            "for tokens set jwt_issuer, jwt_audience, and one of jwt_jwks_url and jwt_jwks_file"
        )
    # Imported here: without tokens the gateway starts without an HTTP client.
    import httpx

    from services.gateway.adapters.jwks import FETCH_SECONDS, KeySet, from_file, from_url
    from services.gateway.adapters.jwt_tokens import JwtAuthenticator

    if settings.jwt_jwks_file:
        fetch = from_file(settings.jwt_jwks_file)
    else:
        http = httpx.AsyncClient(timeout=FETCH_SECONDS)
        stack.push_async_callback(http.aclose)
        fetch = from_url(settings.jwt_jwks_url, http)
    issuer_keys = KeySet(fetch)
    stack.push_async_callback(issuer_keys.close)
    names = ClaimNames(
        tenant=settings.jwt_tenant_claim, role=settings.jwt_role_claim, agents=settings.jwt_agents_claim
    )
    expected = Expected(issuer=settings.jwt_issuer, audience=settings.jwt_audience, names=names)
    return Credentials(keys, JwtAuthenticator(issuer_keys, expected))

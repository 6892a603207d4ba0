"""`python -m services.gateway`: the gateway as a process."""

from __future__ import annotations

from services.gateway.bootstrap import build
from services.gateway.config import GatewaySettings
from services.kit.serving import main

if __name__ == "__main__":
    main(GatewaySettings, build)

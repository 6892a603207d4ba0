"""Runs the Compactor as a process of its own."""

from __future__ import annotations

from services.compactor.bootstrap import build
from services.compactor.config import CompactorSettings
from services.kit.serving import main

if __name__ == "__main__":
    main(CompactorSettings, build)

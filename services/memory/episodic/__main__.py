"""Runs the Episodic service: `python -m services.memory.episodic`."""

from __future__ import annotations

from services.kit.serving import main
from services.memory.episodic.bootstrap import build
from services.memory.episodic.config import EpisodicSettings

if __name__ == "__main__":
    main(EpisodicSettings, build)

"""`python -m services.embedder`: the embedder as a process."""

from __future__ import annotations

from services.embedder.bootstrap import build
from services.embedder.config import EmbedderSettings
from services.kit.serving import main

if __name__ == "__main__":
    main(EmbedderSettings, build)

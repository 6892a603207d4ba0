"""`python -m services.memory.semantic`: the semantic service as a process."""

from __future__ import annotations

from services.kit.serving import main
from services.memory.semantic.bootstrap import build
from services.memory.semantic.config import SemanticSettings

if __name__ == "__main__":
    main(SemanticSettings, build)

"""`python -m scripts.reference [FOLDER]`: writes both documents into the project, or below FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.reference import markdown, openapi
from scripts.reference.comments import load

PROJECT = Path(__file__).parents[2]


def main(root: Path) -> None:
    """Writes them where the project has them."""
    protos = load()
    for path, text in (
        (root / "palimpsest" / "openapi.json", openapi.document(protos)),
        (root / "docs" / "api.md", markdown.document(protos)),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT)

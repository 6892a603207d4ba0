"""The name under which this data folder's worker claims jobs (SPEC J-1)."""

from __future__ import annotations

from pathlib import Path

from services.kit.errors import StartupError
from services.kit.ids import new_id

FILE = "worker-id"
MAX_LENGTH = 64


def worker_id(data_dir: Path) -> str:
    """The same after each restart, so that a process finds the leases of its former self.

    Made at the first start. A file that cannot hold an id is replaced: leases under a forgotten name merely
    run out. Raises StartupError when the folder cannot be written.
    """
    path = data_dir / FILE
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        known = path.read_text("utf-8", errors="replace").strip() if path.exists() else ""
        if 0 < len(known) <= MAX_LENGTH and known.isalnum():
            return known
        fresh = new_id()
        draft = path.with_suffix(".new")
        draft.write_text(fresh + "\n", "utf-8")
        draft.replace(path)
    except OSError as error:
        raise StartupError(f"cannot write {path}: {error.strerror}") from error
    return fresh

"""Finds a suite: named by the caller, by the environment, or running on this machine."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

TARGET_VARIABLE = "PALIMPSEST_TARGET"
API_KEY_VARIABLE = "PALIMPSEST_API_KEY"
DATA_VARIABLE = "PALIMPSEST_DATA"

DEFAULT_TARGET = "127.0.0.1:7777"
ENDPOINT_FILE = "endpoint.json"
API_KEY_FILE = "api-key"

_LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a gateway listens, and the key for it."""

    target: str
    api_key: str | None = field(repr=False)


def default_data_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """$PALIMPSEST_DATA, else `palimpsest` in the platform's folder for data of applications."""
    if given := environment.get(DATA_VARIABLE):
        return Path(given)
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "palimpsest"
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA", home / "AppData" / "Local")) / "palimpsest"
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "palimpsest"


def resolve(
    target: str | None = None,
    api_key: str | None = None,
    *,
    data_dir: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Endpoint:
    """What is given wins (a `data_dir` too), then the environment, then the suite over the default folder.

    The key file of the data folder is used for targets on this machine only: it is never sent elsewhere.
    """
    folder = data_dir or default_data_dir(environment)
    place = (
        target
        or (environment.get(TARGET_VARIABLE) if data_dir is None else None)
        or running_target(folder)
        or DEFAULT_TARGET
    )
    written = _read(folder / API_KEY_FILE) if _is_local(place) else None
    named = environment.get(API_KEY_VARIABLE)
    key = api_key or (named or written if data_dir is None else written or named)
    return Endpoint(target=place, api_key=key or None)


def running_target(data_dir: Path) -> str | None:
    """Where the suite over this data folder listens; None if none runs."""
    try:
        written = json.loads(_read(data_dir / ENDPOINT_FILE) or "null")
        target, pid = str(written["target"]), int(written["pid"])
    except (ValueError, TypeError, KeyError):
        return None
    return target if _is_alive(pid) else None


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None


def _is_alive(pid: int) -> bool:
    """Whether the process exists; True where that can't be asked without harm."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _is_local(target: str) -> bool:
    return target.startswith("unix:") or target.rpartition(":")[0] in _LOOPBACK_HOSTS

"""What holds for every test."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# gRPC's handlers around a fork can block a process that starts another while calls are under way; no test
# makes calls in a forked copy of itself.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

# Hypothesis would fail a test that is slow, and no test asserts a time: beside others, each may be.
settings.register_profile("suite", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

MEMORY = Path("/dev/shm")
MEMORY_BYTES = 4 << 30
# Temporary folders lie in memory where there is room: a suite that starts on a disk waits for it a second or
# two, and nothing here pulls the plug. PYTEST_DEBUG_TEMPROOT names another place.
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= MEMORY_BYTES:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

SLOWEST_FIRST = ("e2e", "integration", "contract", "unit")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Several processes begin with the folders of slow files, so that short ones fill up the end.

    The order is the same in each of them, as pytest-xdist demands. One process keeps pytest's order.
    """
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: SLOWEST_FIRST.index(item.path.relative_to(config.rootpath).parts[1]))

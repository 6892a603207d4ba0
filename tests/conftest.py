"""What holds for every test."""

from __future__ import annotations

import os

# gRPC's handlers around a fork can block a process that starts another while calls are under way; no test
# makes calls in a forked copy of itself.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

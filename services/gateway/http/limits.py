"""Bounds of the HTTP face (SPEC X-2, G-10)."""

from __future__ import annotations

MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_BODIES_BYTES = 256 * 1024 * 1024
"""Of all bodies that are being received or read as JSON at one time; those of mcp_face count apart."""
BODY_SECONDS = 30.0
"""How long a body may take to arrive."""
MAX_TARGET_BYTES = 16 * 1024
"""Of a path with its query."""
MAX_HEADERS = 64
MAX_PARAMETERS = 200
MAX_DEPTH = 64
"""Of JSON: objects and lists within each other."""
MAX_VALUES = 500_000
"""Of JSON: objects, lists, their members and items, all together."""
MAX_DISCARDED_BYTES = 2 * MAX_BODY_BYTES
DISCARD_SECONDS = 1.0
"""Of a refused body that is read all the same: a caller that still sends would not see its answer."""
THREAD_BYTES = 256 * 1024
"""A body over this is read as JSON on a thread, so that other calls go on."""
MAX_REQUESTS = 512
"""Requests under way at one time; more get OVERLOADED."""
OVERLOADED_RETRY_SECONDS = 1.0
MAX_TIMEOUT_SECONDS = 600.0
"""The longest deadline that a caller may set."""
FIRST_EVENT_SECONDS = 0.5
"""A stream that fails within this time answers with the status of its error."""
HEARTBEAT_SECONDS = 15.0
"""Of silence on a stream, until a comment is sent."""

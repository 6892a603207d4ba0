"""Who may say what wrote a memory (SPEC S-4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from palimpsest.common.v1 import resources_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb

from tests.integration.embedded_suite import failure
from tests.integration.semantic_suite import AGENT, CODE, SERVICE, WRITER, Episodic, running, scope

TURN, FLUSH = resources_pb2.MEMORY_SOURCE_TURN, resources_pb2.MEMORY_SOURCE_PRE_COMPACTION
EXPLICIT = resources_pb2.MEMORY_SOURCE_EXPLICIT


def remembering(key: str, **fields: Any) -> pb.RememberRequest:
    return pb.RememberRequest(scope=scope(agent=AGENT), key=key, value="lives in Oslo", **fields)


async def test_only_a_service_names_a_source_and_only_its_own(tmp_path: Path) -> None:
    episodic: Any = Episodic
    async with running(tmp_path, episodic()) as semantic:
        for source, confidence in ((TURN, 0.5), (FLUSH, 0.6)):
            request = remembering(f"k{source}", source=source)
            made = (await semantic.by(SERVICE).Remember(request)).memory
            assert (made.source, made.confidence) == (source, pytest.approx(confidence))
            code, reason, _ = await failure(semantic.by(WRITER).Remember(remembering("w", source=source)))
            assert (code, reason) == (CODE.PERMISSION_DENIED, "NOT_ALLOWED")
        for source in (EXPLICIT, resources_pb2.MEMORY_SOURCE_IMPORT):
            code, reason, fields = await failure(
                semantic.by(SERVICE).Remember(remembering("s", source=source))
            )
            assert (code, reason, fields) == (CODE.INVALID_ARGUMENT, "INVALID_FIELD", ["source"])
        plain = (await semantic.by(WRITER).Remember(remembering("w"))).memory
        assert (plain.source, plain.confidence) == (EXPLICIT, pytest.approx(0.9))

"""Where a Compactor keeps copies of documents (SPEC K-1)."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from services.compactor.adapters.kv_memory import MemoryKv
from services.compactor.adapters.kv_redis import RedisKv
from services.compactor.app.document_ports import Kv
from services.compactor.bootstrap import document_kv
from services.compactor.config import CompactorSettings
from services.kit.errors import StartupError

REDIS = "redis://:secret@localhost:1/0"
POSTGRES = "postgresql://localhost/x"


async def chosen(folder: Path, **fields: str) -> tuple[Kv, bool]:
    """The adapter, and whether a value stays in it."""
    settings = CompactorSettings(data_dir=folder, **fields)  # type: ignore[arg-type]
    async with AsyncExitStack() as stack:
        kv = document_kv(settings, stack)
        return kv, isinstance(kv, MemoryKv) and await kv.set("k", b"1:x", seconds=60)


async def test_a_suite_in_one_process_keeps_them_in_memory(tmp_path: Path) -> None:
    """K-1."""
    kv, stays = await chosen(tmp_path)
    assert isinstance(kv, MemoryKv)
    assert stays


async def test_beside_postgres_only_redis_will_do(tmp_path: Path) -> None:
    """K-2: a copy in one process would not follow the writes of another."""
    kv, stays = await chosen(tmp_path, database_url=POSTGRES)
    assert isinstance(kv, MemoryKv)
    assert not stays
    for fields in ({"redis_url": REDIS}, {"redis_url": REDIS, "database_url": POSTGRES}):
        assert isinstance((await chosen(tmp_path, **fields))[0], RedisKv)


async def test_a_redis_that_cannot_be_named_is_a_clear_error(tmp_path: Path) -> None:
    """O-1, X-3."""
    with pytest.raises(StartupError) as caught:
        await chosen(tmp_path, redis_url="ftp://:secret@x")
    assert "secret" not in str(caught.value)

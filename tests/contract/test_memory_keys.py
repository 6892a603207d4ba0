"""Words of keys that very many memories share (SPEC S-9)."""

from __future__ import annotations

import pytest

from services.kit.sql import SqlDatabase
from services.memory.semantic.adapters.sql.memories_keys import COMMON
from services.memory.semantic.domain.memory import Scope
from tests.contract.memory_parts import AGENT_WIDE, ANN, NOW, TENANT, Canonical


@pytest.fixture
def canonical(semantic_sql_pair: tuple[SqlDatabase, SqlDatabase]) -> Canonical:
    return Canonical(semantic_sql_pair)


async def test_a_word_that_too_many_keys_have_does_not_count(canonical: Canonical) -> None:
    """S-9: among those that are asked about; what somebody else's keys have makes no difference."""

    async def found(scope: Scope, *words: str) -> list[tuple[str, float]]:
        return await canonical.store.candidates_by_key(TENANT, scope, words, 2 * COMMON, NOW)

    rare = (await canonical.remember("food.tofu", "likes tofu")).memory.id
    hers = (await canonical.remember("food.rice", "likes rice", ANN)).memory.id
    for number in range(COMMON - 2):
        await canonical.remember(f"food.{number}", "likes it")
    assert len(await found(AGENT_WIDE, "food")) == COMMON - 1
    assert len(await found(ANN, "food")) == COMMON
    assert (await found(ANN, "food", "rice"))[0] == (hers, 2.0)
    for number in range(2):
        await canonical.remember(f"food.more-{number}", "likes it")
    assert await found(AGENT_WIDE, "food") == []
    assert await found(AGENT_WIDE, "food", "tofu") == [(rare, 1.0)]
    assert await found(ANN, "food", "rice", "tofu") == sorted([(hers, 1.0), (rare, 1.0)])

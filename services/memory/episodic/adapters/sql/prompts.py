"""System prompts that were written down (W-5)."""

from __future__ import annotations

from services.kit.sql import Row, Script, SqlDatabase, execute, fetch, first
from services.kit.tokens import estimate_tokens
from services.memory.episodic.adapters.sql.agents import require_agent, select_agent
from services.memory.episodic.adapters.sql.blocks import COLUMNS, OF_AGENT, BlockRow, blocks_in
from services.memory.episodic.adapters.sql.blocks_entries import first_keys
from services.memory.episodic.adapters.sql.conversations import conversation_row
from services.memory.episodic.domain.blocks import Kind, Owner, effective
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.prompts import ShownBlock, SystemPrompt, render


class SqlPrompts:
    """A PromptStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def get(self, key: ConversationKey, *, now: int) -> SystemPrompt:
        """As it is written down. Of callers who race for the first read, one writes and all read that."""

        def read() -> Script[SystemPrompt | None]:
            number = (yield from conversation_row(key))["number"]
            return (yield from _current(key, number))

        written = await self._database.read(read)
        if written is None:
            written = await self._database.write(lambda: _freeze(key, now))
        return written

    async def refresh(self, key: ConversationKey, *, now: int) -> SystemPrompt:
        """Rendered and written down now."""

        def script() -> Script[SystemPrompt]:
            number = (yield from conversation_row(key, lock=True))["number"]
            return (yield from _write_down(key, number, now))

        return await self._database.write(script)

    async def refresh_all(self, tenant: str, agent_id: str) -> None:
        """Begins another epoch: what was written down in an earlier one isn't used."""

        def script() -> Script[None]:
            yield from require_agent(tenant, agent_id)
            yield from execute(
                "INSERT INTO prompt_epochs (tenant, agent_id, epoch) VALUES (?, ?, 1)"
                " ON CONFLICT (tenant, agent_id) DO UPDATE SET epoch = prompt_epochs.epoch + 1",
                tenant,
                agent_id,
            )

        await self._database.write(script)


def _freeze(key: ConversationKey, now: int) -> Script[SystemPrompt]:
    """Behind the lock another caller may be found to have been first."""
    number = (yield from conversation_row(key, lock=True))["number"]
    current = yield from _current(key, number)
    if current is None:
        current = yield from _write_down(key, number, now)
    return current


def _current(key: ConversationKey, number: int) -> Script[SystemPrompt | None]:
    """What is written down, in this epoch."""
    row = yield from first(
        "SELECT f.text AS text, f.token_count AS token_count, f.revision AS revision,"
        " f.create_time AS create_time FROM frozen_prompts f"
        " LEFT JOIN prompt_epochs p ON p.tenant = f.tenant AND p.agent_id = ?"
        " WHERE f.tenant = ? AND f.conversation = ? AND f.epoch = COALESCE(p.epoch, 0)",
        key.agent_id,
        key.tenant,
        number,
    )
    return None if row is None else _prompt(row)


def _prompt(row: Row) -> SystemPrompt:
    return SystemPrompt(
        text=row["text"],
        token_count=row["token_count"],
        revision=row["revision"],
        create_time=row["create_time"],
    )


def _write_down(key: ConversationKey, number: int, now: int) -> Script[SystemPrompt]:
    # The epoch is read before the blocks: a refresh in between makes this prompt one of an earlier epoch.
    epoch = yield from first(
        "SELECT epoch FROM prompt_epochs WHERE tenant = ? AND agent_id = ?", key.tenant, key.agent_id
    )
    text = yield from _rendered(key, number)
    rows = yield from fetch(
        "INSERT INTO frozen_prompts (tenant, conversation, text, token_count, revision, epoch, create_time)"
        " VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT (tenant, conversation) DO UPDATE SET text = excluded.text,"
        " token_count = excluded.token_count, revision = frozen_prompts.revision + 1, epoch = excluded.epoch,"
        " create_time = excluded.create_time RETURNING text, token_count, revision, create_time",
        key.tenant,
        number,
        text,
        estimate_tokens(text),
        epoch["epoch"] if epoch is not None else 0,
        now,
    )
    return _prompt(rows[0])


def _rendered(key: ConversationKey, number: int) -> Script[str]:
    agent = yield from select_agent(key.tenant, key.agent_id)
    owner = Owner(tenant=key.tenant, agent_id=key.agent_id, conversation_id=key.id)
    rows = yield from blocks_in(owner, [OF_AGENT, number], columns=COLUMNS)
    numbers = {(row.block.of_conversation, row.block.label): row for row in rows}
    shown: list[ShownBlock] = []
    for block in effective(row.block for row in rows):
        shown.append((yield from _shown(key.tenant, numbers[block.of_conversation, block.label])))
    return render(agent.system_prompt, shown)


def _shown(tenant: str, row: BlockRow) -> Script[ShownBlock]:
    if row.block.kind is not Kind.LOADABLE:
        return ShownBlock(block=row.block)
    # A line takes a token or more, so no more than max_tokens of them can be shown.
    return ShownBlock(
        block=row.block, listed=(yield from first_keys(tenant, row.number, row.block.max_tokens))
    )

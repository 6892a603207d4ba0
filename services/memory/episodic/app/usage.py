"""Use cases on the usage of models (SPEC E-11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.kit.errors import InvalidField
from services.kit.times import Clock, to_micros
from services.kit.tokens import estimate_tokens
from services.memory.episodic.app.ports import Usage, UsageKey, UsageStore
from services.memory.episodic.domain.checks import check_text

MICROS_PER_DAY = 86_400_000_000
MAX_CALL_TOKENS = 1_000_000_000  # far beyond what one request reports, so that sums stay within 64 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTokens:
    """What a call of a model took, by its provider's figures."""

    input: int
    output: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTexts:
    """The texts of a call whose provider told no figures (E-11)."""

    input: str
    output: str

    def estimated(self) -> CallTokens:
        """Their tokens by the estimate (E-10)."""
        return CallTokens(input=estimate_tokens(self.input), output=estimate_tokens(self.output))


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSum:
    """What several calls took, summed up by who made them."""

    calls: int
    estimated_calls: int
    tokens: CallTokens


Spent = CallTokens | CallTexts | CallSum


class UsageCounts:
    """Counts calls of models and their tokens."""

    def __init__(self, store: UsageStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def record(
        self,
        tenant: str,
        agent_id: str,
        conversation_id: str,
        tier: str,
        model: str,
        spent: Spent,
    ) -> CallTokens:
        """Counts what was used, today; the tokens counted. Raises InvalidField, NotFound (agent)."""
        _check_names(agent_id, conversation_id)
        check_text("tier", tier)
        check_text("model", model)
        total = _total(spent)
        for field, number in (("input", total.tokens.input), ("output", total.tokens.output)):
            if number > MAX_CALL_TOKENS:
                raise InvalidField(f"tokens.{field}", f"over {MAX_CALL_TOKENS}")
        if total.estimated_calls > total.calls:
            raise InvalidField("sum.estimated_calls", "over calls")
        key = UsageKey(
            agent_id=agent_id, conversation_id=conversation_id, day=self._today(), tier=tier, model=model
        )
        usage = Usage(
            calls=total.calls,
            estimated_calls=total.estimated_calls,
            input_tokens=total.tokens.input,
            output_tokens=total.tokens.output,
        )
        await self._store.add(tenant, key, usage)
        return total.tokens

    async def total(
        self, tenant: str, agent_id: str, conversation_id: str, start: int | None, end: int | None
    ) -> Sequence[tuple[UsageKey, Usage]]:
        """Counts of the days from one moment to another. Raises InvalidField, NotFound (agent)."""
        _check_names(agent_id, conversation_id)
        first = 0 if start is None else start // MICROS_PER_DAY
        last = self._today() if end is None else end // MICROS_PER_DAY
        if last < first:
            raise InvalidField("end_time", "before start_time")
        return await self._store.total(tenant, agent_id, conversation_id, first, last)

    def _today(self) -> int:
        return to_micros(self._clock()) // MICROS_PER_DAY


def _total(spent: Spent) -> CallSum:
    match spent:
        case CallSum():
            return spent
        case CallTexts():
            return CallSum(calls=1, estimated_calls=1, tokens=spent.estimated())
        case CallTokens():
            return CallSum(calls=1, estimated_calls=0, tokens=spent)


def _check_names(agent_id: str, conversation_id: str) -> None:
    check_text("agent_id", agent_id)
    check_text("conversation_id", conversation_id)

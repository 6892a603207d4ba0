"""Questions to the model of the tier "fast", for jobs (SPEC J-16, S-15, E-11).

Whoever asks has a deterministic engine of its own for the case that there is no answer. A model that is away
is left alone for a while, so that it does not hold up every job for as long as one may wait.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from services.compactor.app.engines import About
from services.kit.errors import DataFlowRefused
from services.kit.models.errors import Cause, ModelUnavailable
from services.kit.models.metrics import ModelMetrics
from services.kit.models.patience import Patience
from services.kit.models.recording import UsageRecorder
from services.kit.models.types import Message, Tier, Usage
from services.kit.policy import Leave

if TYPE_CHECKING:
    from services.kit.models.client import ModelClient

PREFIX: Final = "model/1"
"""How engines by a model are named, before the model; raised with a change of a prompt or a guard."""
_UNPRINTABLE: Final = re.compile(r"[^\x21-\x7e]+")
CUT_NAME: Final = 80
"""Characters of the model's name in it: there is room for a second engine's."""
DATA_FLOW: Final = "data_flow"
"""The cause where the tenant's texts must not leave."""
UNSUPPORTED: Final = "unsupported"
"""The cause where nothing of an answer is borne out by what it is about."""


class NoAnswer(Exception):
    """A deterministic engine is to do it; `cause` is a constant word."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class Asker:
    """Asks for JSON within the time that models have for a job."""

    def __init__(
        self,
        client: ModelClient,
        *,
        name: str,
        seconds: float,
        leave: Mapping[str, Leave],
        usage: UsageRecorder,
        metrics: ModelMetrics,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`name` is the model's, of the settings; `seconds` are what it has for a job; `leave` is by kind of
        text (S-15)."""
        self.engine = f"{PREFIX} {_UNPRINTABLE.sub('-', name)[:CUT_NAME]}"
        self._client = client
        self._seconds = seconds
        self._leave = leave
        self._usage = usage
        self._metrics = metrics
        self._patience = Patience(monotonic)

    async def ask(
        self,
        kind: str,
        about: About,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        max_tokens: int,
    ) -> Any:
        """The answer, a value that conforms to the schema. Raises NoAnswer."""
        try:
            self._patience.check()
        except ModelUnavailable as error:
            raise NoAnswer(error.cause.value) from None
        deadline = about.begun + self._seconds
        if asyncio.get_running_loop().time() >= deadline:
            raise NoAnswer(Cause.TIMEOUT.value)
        try:
            await self._leave[kind](about.tenant, about.agent_id)
            made = await self._client.complete_json(
                Tier.FAST,
                messages,
                schema,
                max_tokens=max_tokens,
                temperature=0.0,  # the same texts give the same
                deadline=deadline,
            )
        except DataFlowRefused:
            raise NoAnswer(DATA_FLOW) from None
        except ModelUnavailable as error:
            self._patience.failed(error)
            await self._record(about, error.usage)
            raise NoAnswer(error.cause.value) from None
        self._patience.answered()
        await self._record(about, made.usage)
        return made.value

    async def _record(self, about: About, usage: Usage) -> None:
        """By the settings' name of the model: an endpoint's own would make a row for each that it says."""
        self._metrics.used(Tier.FAST, usage)
        name = self._client.name(Tier.FAST)
        await self._usage.record(about.agent_id, about.conversation_id, Tier.FAST, name, usage)

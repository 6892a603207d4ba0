"""What stands for models where there are none."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from services.kit.models.errors import Cause, ModelUnavailable
from services.kit.models.types import Completion, Delta


class NoModels:
    """A ChatModel without endpoints."""

    def has(self, *_: Any) -> bool:
        """See the port."""
        return False

    def leaves(self, *_: Any) -> bool:
        """See the port."""
        raise ModelUnavailable(Cause.NOT_CONFIGURED)

    def name(self, *_: Any) -> str:
        """See the port."""
        raise ModelUnavailable(Cause.NOT_CONFIGURED)

    async def complete(self, *_: Any, **__: Any) -> Completion:
        """See the port."""
        raise ModelUnavailable(Cause.NOT_CONFIGURED)

    def stream(self, *_: Any, **__: Any) -> AsyncGenerator[Delta, None]:
        """See the port."""
        raise ModelUnavailable(Cause.NOT_CONFIGURED)

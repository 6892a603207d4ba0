"""Moments as people write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click


class Moment(click.ParamType[datetime]):
    """A date, or a date and time, in ISO 8601; in UTC where no zone is given."""

    name = "moment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """An aware datetime."""
        try:
            read = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is neither a date (2031-05-04) nor a time (2031-05-04T12:00Z)", param, ctx)
        return read if read.tzinfo else read.replace(tzinfo=UTC)


MOMENT = Moment()

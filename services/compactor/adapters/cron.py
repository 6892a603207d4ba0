"""Time tables in cron's five fields, in UTC, by the library cronsim."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cronsim import CronSim, CronSimError

FIELDS = 5  # cronsim knows a sixth, seconds
SECOND = timedelta(seconds=1)


class CronTables:
    """A TimeTables. A text that is none has no moments."""

    def newest(self, text: str, now: datetime) -> datetime | None:
        """See TimeTables."""
        # Backwards, cronsim leaves out the moment that it begins with.
        return _first(text, now.replace(microsecond=0) + SECOND, back=True)

    def following(self, text: str, now: datetime) -> datetime | None:
        """See TimeTables."""
        return _first(text, now, back=False)


def _first(text: str, start: datetime, *, back: bool) -> datetime | None:
    if len(text.split()) != FIELDS:
        return None
    try:
        # It gives up after 50 years; a day that no month has is an error.
        return next(CronSim(text, start.astimezone(UTC), reverse=back), None)
    except CronSimError:
        return None

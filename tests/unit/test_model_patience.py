"""When a model is left alone (SPEC J-16)."""

from __future__ import annotations

import pytest

from services.kit.models.errors import Cause, ModelUnavailable
from services.kit.models.patience import AWAY_SECONDS, MOST_AWAY_SECONDS, STRIKES, Patience


class Watch:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


def away(patience: Patience) -> float:
    """For how long it is left alone; 0.0 if it may be asked."""
    try:
        patience.check()
    except ModelUnavailable as error:
        return error.retry_after or 0.0
    return 0.0


def test_it_is_left_alone_after_a_few_failures_in_a_row_and_then_after_each(watch: Watch) -> None:
    patience = Patience(watch)
    for _ in range(STRIKES - 1):
        patience.failed(ModelUnavailable(Cause.TIMEOUT))
        assert away(patience) == 0.0
    patience.failed(ModelUnavailable(Cause.TIMEOUT))
    assert away(patience) == AWAY_SECONDS
    with pytest.raises(ModelUnavailable) as failure:
        patience.check()
    assert failure.value.cause is Cause.TIMEOUT
    watch.now += AWAY_SECONDS
    assert away(patience) == 0.0
    patience.failed(ModelUnavailable(Cause.UNREACHABLE))
    assert away(patience) == AWAY_SECONDS


@pytest.mark.parametrize("between", ["an answer", Cause.NOT_JSON, Cause.FILTERED])
def test_what_shows_that_it_is_there_begins_the_count_anew(watch: Watch, between: str | Cause) -> None:
    patience = Patience(watch)
    for _ in range(2):
        for _ in range(STRIKES - 1):
            patience.failed(ModelUnavailable(Cause.FAILED))
        if isinstance(between, Cause):
            patience.failed(ModelUnavailable(between))
        else:
            patience.answered()
    assert away(patience) == 0.0


@pytest.mark.parametrize(("asked", "held"), [(120.0, 120.0), (86_400.0, MOST_AWAY_SECONDS)])
def test_it_is_left_alone_at_once_for_as_long_as_it_asks_within_a_bound(
    watch: Watch, asked: float, held: float
) -> None:
    patience = Patience(watch)
    patience.failed(ModelUnavailable(Cause.BUSY, retry_after=asked))
    assert away(patience) == held

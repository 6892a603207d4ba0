"""A day is read by what was recorded on it, however much came after (SPEC J-11, J-17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from palimpsest.common.v1 import resources_pb2
from palimpsest.episodic.v1 import episodic_pb2

from services.compactor.adapters.days import MOST_CONVERSATIONS, MOST_MESSAGES
from services.compactor.app.reflection import Reflection
from services.compactor.domain.insights import Kind
from services.compactor.domain.rolling import ConversationSummary, RollingSummary, to_body
from services.compactor.domain.summaries import Section, Statement
from services.kit.times import from_timestamp
from tests.unit.test_recorded_days import (
    AGENT,
    DAY,
    NOW,
    TENANT,
    Documents,
    Services,
    StaleRows,
    conversation,
    days,
    message,
    stale_row,
)

MINUTE = timedelta(minutes=1)
NOON = NOW - 15 * timedelta(hours=1)
GOAL = "I plan to sail around Iceland"


@dataclass
class Paged(Services):
    """Episodic by pages, as it is asked for them."""

    asked: list[str] = field(default_factory=list)
    since: list[datetime] = field(default_factory=list)

    async def ListConversations(
        self, request: episodic_pb2.ListConversationsRequest
    ) -> episodic_pb2.ListConversationsResponse:
        self.since.append(request.changed_since.ToDatetime(UTC))
        return await super().ListConversations(request)

    async def ListMessages(
        self, request: episodic_pb2.ListMessagesRequest
    ) -> episodic_pb2.ListMessagesResponse:
        self.asked.append(request.conversation_id)
        found = (await super().ListMessages(request)).messages
        start = int(request.page_token or 0)
        end = start + request.page_size
        return episodic_pb2.ListMessagesResponse(
            messages=found[start:end], next_page_token=str(end) if end < len(found) else ""
        )


def chatter(conversation_id: str, number: int, begun: datetime) -> list[resources_pb2.Message]:
    """One a minute."""
    return [
        message(f"{conversation_id}-{n}-{begun:%d}", conversation_id, "Lovely weather", begun + n * MINUTE)
        for n in range(number)
    ]


def talk(number: int, *messages: resources_pb2.Message) -> Sequence[resources_pb2.Message]:
    """A conversation that went on for `number` messages after these."""
    return [*chatter("c", 3 * MOST_MESSAGES, NOON - 9 * DAY), *messages, *chatter("c", number, NOW)]


async def test_what_was_said_on_the_day_is_found_behind_later_messages() -> None:
    """And what was said before it is not read."""
    later = 2 * MOST_MESSAGES + 50
    services = Paged(
        conversations=[conversation("c", NOW + DAY)], messages=talk(later, message("m", "c", GOAL, NOON))
    )
    found = await days(services).evidence(TENANT, AGENT, NOW - DAY, NOW)
    assert [(one.text, one.source_id) for one in found[""]] == [(GOAL, "c/m")]
    assert services.asked == ["c"] * 3
    assert services.since == [NOW - DAY]


async def test_of_a_days_many_messages_the_newest_are_read() -> None:
    begun = NOW - DAY
    messages = [
        message(f"m{n}", "c", f"I plan to visit town{n:03}", begun + n * MINUTE)
        for n in range(MOST_MESSAGES + 9)
    ]
    services = Paged(conversations=[conversation("c", NOW)], messages=messages)
    found = await days(services).evidence(TENANT, AGENT, NOW - DAY, NOW)
    assert [one.source_id for one in found[""]] == [f"c/m{n}" for n in range(9, MOST_MESSAGES + 9)]


async def test_conversations_of_later_take_no_place_from_those_of_the_day() -> None:
    """Those that began after it are not even read."""
    going_on = [conversation(f"on{n}", NOW + DAY) for n in range(MOST_CONVERSATIONS)]
    begun = [conversation(f"new{n}", NOW + DAY) for n in range(9)]
    for one in begun:
        one.create_time.FromDatetime(NOW + MINUTE)
    services = Paged(
        conversations=[conversation("c", NOON), *going_on, *begun],
        messages=[
            message("m", "c", GOAL, NOON),
            *(each for one in going_on for each in chatter(one.id, 2, NOW + MINUTE)),
        ],
    )
    found = await days(services).evidence(TENANT, AGENT, NOW - DAY, NOW)
    assert [one.source_id for one in found[""]] == ["c/m"]
    assert sorted(services.asked) == sorted(["c", *(one.id for one in going_on)])


async def test_of_a_days_many_conversations_the_newest_are_read() -> None:
    spoken = [conversation(f"c{n:03}", NOON + n * MINUTE) for n in range(MOST_CONVERSATIONS + 2)]
    services = Paged(
        conversations=spoken,
        messages=[message("m", one.id, GOAL, from_timestamp(one.update_time)) for one in spoken],
    )
    await days(services).evidence(TENANT, AGENT, NOW - DAY, NOW)
    assert sorted(services.asked) == [one.id for one in spoken[2:]]


async def test_summaries_of_later_days_take_no_place_from_one_of_the_day() -> None:
    def summary(id_: str, day: str) -> Any:
        said = Statement(section=Section.OBJECTIVE, text="sail to Bergen", day=day)
        return to_body(ConversationSummary(conversation_id=id_, summary=RollingSummary.of([said])))

    bodies = {f"a{n:03}": summary(f"a{n:03}", "2031-05-09") for n in range(120)}
    documents = Documents(bodies={**bodies, "z": summary("z", "2031-05-03")})
    services = Services(contacts={"z": "ann"})
    found = await days(services, documents).evidence(TENANT, AGENT, NOW - DAY, NOW)
    assert {contact: [one.source_id for one in told] for contact, told in found.items()} == {
        "ann": ["summary/z"]
    }


async def test_a_goal_whose_message_stands_outlives_what_was_said_since() -> None:
    """J-17: also where more was said on the days until it was last spoken of than is read of them."""
    later = NOW + 2 * DAY
    services = Paged(
        conversations=[conversation("c", later)],
        messages=talk(2 * MOST_MESSAGES, message("m", "c", GOAL, NOON)),
    )
    rows = StaleRows(stale_row("i1", "sail-iceland", Kind.GOAL, updated=later))
    left = await Reflection(days(services), cast("Any", rows), lambda: NOW).reflect_again(TENANT, AGENT, NOW)
    assert (left, rows.settled) == (["i1"], [("i1", GOAL)])

"""Memory for hosts of the Model Context Protocol, by the SDK's own client (SPEC G-10).

Over a process's standard streams and over streamable HTTP, there by the protocol's versions with a handshake
("legacy") and without ("auto").
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import urlencode

import httpx2
import mcp_types as types
import pytest
import pytest_asyncio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

import palimpsest
from palimpsest.mcp.resources import PAGE_SIZE
from palimpsest.models import NewMessage
from services.compactor.adapters.summary_handler import BATCHES, LEAST_MESSAGES
from services.gateway.domain.tools import own_tools
from services.kit.fences import END
from services.kit.identity import Role
from tests.integration.embedded_suite import Running
from tests.integration.http_suite import HttpSuite, http_suite

pytestmark = pytest.mark.asyncio(loop_scope="module")
TRANSPORTS = ("stdio", "legacy", "auto")
OVER_HTTP = TRANSPORTS[1:]
PATIENCE = 40.0
ORIGIN = "https://app.example.com"
NAMES = [spec.name for spec in own_tools(with_contact=True)]
READING = [spec.name for spec in own_tools(with_contact=True) if spec.read_only]


@dataclass
class Hosts:
    """Ways to connect to a suite."""

    suite: HttpSuite
    keys: Running

    def client(self, agent: str, key: str | None = None) -> palimpsest.AsyncClient:
        target = f"127.0.0.1:{self.suite.grpc_port}"
        return palimpsest.AsyncClient(
            target, api_key=self.suite.operator if key is None else key, agent=agent
        )

    def connect(
        self, transport: str, agent: str, conversation: str = "", key: str | None = None
    ) -> AbstractAsyncContextManager[Client]:
        key = self.suite.operator if key is None else key
        if transport == "stdio":
            return self._by_process(agent, conversation, key)
        return self._over_http(transport, agent, conversation, key)

    @asynccontextmanager
    async def _by_process(self, agent: str, conversation: str, key: str) -> AsyncIterator[Client]:
        place = ["--conversation", conversation] if conversation else []
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "palimpsest", "mcp", "--target", f"127.0.0.1:{self.suite.grpc_port}", *place],
            env={"PALIMPSEST_API_KEY": key, "PALIMPSEST_AGENT": agent},
        )
        async with Client(stdio_client(parameters)) as client:
            yield client

    @asynccontextmanager
    async def _over_http(self, mode: str, agent: str, conversation: str, key: str) -> AsyncIterator[Client]:
        query = urlencode({"agent": agent} | ({"conversation": conversation} if conversation else {}))
        headers = {"authorization": f"Bearer {key}"} if key else {}
        async with httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http:
            url = f"{self.suite.url}/mcp?{query}"
            async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                yield client


@pytest.fixture(scope="module")
def numbers() -> count[int]:
    return count()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hosts(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hosts]:
    data = tmp_path_factory.mktemp("mcp") / "data"
    async with http_suite(data, origins=(ORIGIN,), mcp=True) as suite:
        yield Hosts(suite=suite, keys=Running(data, suite.grpc_port, suite.secret, None))  # type: ignore[arg-type]


@pytest_asyncio.fixture(loop_scope="module")
async def agent(hosts: Hosts, numbers: count[int]) -> str:
    """An agent with a conversation with Ann, and one with nobody."""
    name = f"agent-{next(numbers)}"
    async with hosts.client(name) as client:
        await client.create_agent()
        ann = (await client.resolve_contact("chat:ann")).id
        await client.create_conversation("with-ann", contact_id=ann)
        await client.create_conversation("alone")
    return name


def text_of(made: Any) -> str:
    (content,) = made.content
    return str(content.text)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_host_remembers_and_recalls(hosts: Hosts, agent: str, transport: str) -> None:
    """The tools of a conversation, in its contact's scope; what the model may put right is a result."""
    async with hosts.connect(transport, agent, "with-ann") as host:
        listed = (await host.list_tools()).tools
        assert [one.name for one in listed] == NAMES
        hints = {one.name: one.annotations.read_only_hint for one in listed if one.annotations}
        assert [name for name in NAMES if hints[name]] == READING
        limit = next(one for one in listed if one.name == "search_memory").input_schema["properties"]["limit"]
        assert limit == {**limit, "type": "integer", "minimum": 1, "maximum": 100}
        made = await host.call_tool("remember", {"key": "ann.tea", "value": "Ann likes tea."})
        assert not made.is_error
        found = await host.call_tool("recall", {"key": "ann.tea"})
        assert "Ann likes tea." in text_of(found)
        assert text_of(found).endswith(END)
        assert found.structured_content is None
        bad = await host.call_tool("remember", {"key": "Ann Tea", "value": "x", "agent_id": "other"})
        assert bad.is_error
        assert "key: must match" in text_of(bad)
        assert (await host.call_tool("no_such_tool", {})).is_error
    async with hosts.client(agent) as client:
        (memory,) = [
            one async for one in client.memories(contact_id=(await client.resolve_contact("chat:ann")).id)
        ]
        assert (memory.value, memory.source) == ("Ann likes tea.", "explicit")
        assert memory.contact_id


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_conversation_that_is_not_there_is_made(
    hosts: Hosts, numbers: count[int], transport: str
) -> None:
    """So that a host needs nothing but a key; the same one goes on at the next start."""
    name = f"agent-{next(numbers)}"
    for _ in range(2):
        async with hosts.connect(transport, name) as host:
            made = await host.call_tool("set_notes", {"text": "One.", "action": "append"})
            assert not made.is_error, text_of(made)
    async with hosts.client(name) as client:
        assert (await client.notes("mcp")).text == "One.\nOne."


@pytest.mark.parametrize("transport", OVER_HTTP)
async def test_a_reader_only_reads(hosts: Hosts, agent: str, transport: str) -> None:
    """G-9: the key of the host decides."""
    key = await hosts.keys.key(Role.READER)
    async with hosts.connect(transport, agent, "with-ann", key) as host:
        assert [one.name for one in (await host.list_tools()).tools] == READING
        refused = await host.call_tool("remember", {"key": "tea", "value": "Green."})
        assert refused.is_error
        assert "may only read" in text_of(refused)
    async with hosts.connect(transport, agent, "not-there", key) as host:
        with pytest.raises(MCPError, match="no such conversation"):
            await host.list_tools()


async def test_without_a_good_key_nothing_is_served(hosts: Hosts, agent: str) -> None:
    """G-9: over HTTP each request is refused, by a process each call; nor is another tenant reached."""
    async with hosts.connect("stdio", agent, "with-ann", "nonsense") as host:
        with pytest.raises(MCPError, match="credential"):
            await host.list_tools()
    stranger = await hosts.keys.key(Role.OPERATOR, tenant="strangers", agents=frozenset({"another"}))
    async with hosts.connect("auto", agent, "with-ann", stranger) as host:
        with pytest.raises(MCPError, match="does not reach"):
            await host.call_tool("recall", {"key": "ann.tea"})
    async with hosts.suite.client("") as http:
        for headers in ({}, {"authorization": "Bearer nonsense"}):
            answer = await http.post("/mcp", json=rpc("tools/list"), headers={**ACCEPT, **headers})
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.json()["details"][0]["reason"] == "ERROR_REASON_CREDENTIAL_INVALID"


ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


async def test_bad_requests_over_http_are_refused_before_the_protocol(hosts: Hosts, agent: str) -> None:
    """Origins against DNS rebinding, verbs, types and sizes; the last is the control."""
    url = f"/mcp?agent={agent}&conversation=alone"
    async with hosts.suite.client() as http:
        for origin, status in (("https://evil.example", 403), ("null", 403), (ORIGIN, 200)):
            answer = await http.post(url, json=rpc("tools/list"), headers={**ACCEPT, "origin": origin})
            assert answer.status_code == status, answer.text
        for verb in ("GET", "DELETE", "PUT"):
            answer = await http.request(verb, url, headers=ACCEPT)
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        answer = await http.post(url, content=b"{}", headers={**ACCEPT, "content-type": "text/plain"})
        assert answer.status_code == 415
        answer = await http.post(url, content=b"{" + b" " * (17 << 20), headers=ACCEPT)
        assert answer.status_code == 413
        for body in (b"{", b"[]", b'{"jsonrpc":"2.0"}', b"\xff"):
            answer = await http.post(url, content=body, headers=ACCEPT)
            assert 400 <= answer.status_code < 500
            assert "Traceback" not in answer.text
        answer = await http.post(url, json=rpc("tools/list"), headers=ACCEPT)
        assert len(answer.json()["result"]["tools"]) == len(NAMES)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_bad_input_is_an_error_that_gives_nothing_away(
    hosts: Hosts, agent: str, transport: str
) -> None:
    async with hosts.connect(transport, agent, "with-ann") as host:
        for uri in (
            *(
                "palimpsest://memories/absent",
                "palimpsest://conversations/absent",
                "palimpsest://wiki/absent",
            ),
            *(
                "palimpsest://nothing/here",
                "file:///etc/passwd",
                "palimpsest://memories/a/b",
                "palimpsest://",
            ),
        ):
            with pytest.raises(MCPError, match="no such"):
                await host.read_resource(uri)
        with pytest.raises(MCPError, match="no such prompt"):
            await host.get_prompt("absent")
        for arguments in ({}, {"message": "x", "budget_tokens": "many"}):
            with pytest.raises(MCPError, match="next_turn takes"):
                await host.get_prompt("next_turn", arguments)
        with pytest.raises(MCPError, match="page token"):
            await host.list_resources(cursor="made up")


@pytest.mark.parametrize("transport", OVER_HTTP)
async def test_resources_are_those_of_the_conversation(hosts: Hosts, agent: str, transport: str) -> None:
    """S-5, G-6: none reaches further than the tools do."""
    async with hosts.client(agent) as client:
        ann, bob = [(await client.resolve_contact(f"chat:{who}")).id for who in ("ann", "bob")]
        await client.create_conversation("with-bob", contact_id=bob)
        for conversation in ("with-ann", "with-bob", "alone"):
            await client.record_turn(conversation, [NewMessage("user", f"said {conversation}")])
        ids = {
            who: (await client.remember("tea", f"told {who}", contact_id=contact)).memory.id
            for who, contact in (("ann", ann), ("bob", bob), ("all", ""))
        }
    async with hosts.connect(transport, agent, "with-ann") as host:

        async def read(uri: str) -> str:
            (contents,) = (await host.read_resource(uri)).contents
            assert isinstance(contents, types.TextResourceContents)
            assert contents.text.endswith(END)
            return contents.text

        assert "told ann" in await read(f"palimpsest://memories/{ids['ann']}")
        assert "told all" in await read(f"palimpsest://memories/{ids['all']}")
        assert "said with-ann" in await read("palimpsest://conversations/with-ann")
        for uri in (f"memories/{ids['bob']}", "conversations/with-bob", "conversations/alone"):
            with pytest.raises(MCPError, match="no such"):
                await read(f"palimpsest://{uri}")
        listed = (await host.list_resources()).resources
        assert {str(one.uri) for one in listed} == {
            "palimpsest://conversations/with-ann",
            "palimpsest://conversations/with-ann/summary",
            f"palimpsest://memories/{ids['ann']}",
            f"palimpsest://memories/{ids['all']}",
        }
        templates = (await host.list_resource_templates()).resource_templates
        assert len(templates) == 4
    async with hosts.connect(transport, agent, "alone") as host:
        assert "said alone" in await read("palimpsest://conversations/alone")
        with pytest.raises(MCPError, match="no such"):
            await read("palimpsest://conversations/with-ann")


async def test_memories_are_listed_page_by_page(hosts: Hosts, agent: str) -> None:
    async with hosts.client(agent) as client:
        for number in range(PAGE_SIZE + 5):
            await client.remember(f"fact.{number:03}", "a fact")
    async with hosts.connect("auto", agent, "alone") as host:
        first = await host.list_resources()
        assert first.next_cursor
        second = await host.list_resources(cursor=first.next_cursor)
        assert not second.next_cursor
        names = [one.name for one in (*first.resources, *second.resources)]
        assert names[2:] == [f"fact.{number:03}" for number in range(PAGE_SIZE + 5)]


@pytest.mark.parametrize("transport", OVER_HTTP)
async def test_the_next_turn_is_a_prompt(hosts: Hosts, agent: str, transport: str) -> None:
    async with hosts.client(agent) as client:
        await client.update_agent(system_prompt="You are Ada.")
        await client.remember("tea", "Everybody drinks tea.", pinned=True)
        await client.record_turn("alone", [NewMessage("user", "Hello."), NewMessage("assistant", "Hi.")])
    async with hosts.connect(transport, agent, "alone") as host:
        (listed,) = (await host.list_prompts()).prompts
        assert [one.name for one in listed.arguments or ()] == ["message", "author", "budget_tokens"]
        made = await host.get_prompt("next_turn", {"message": "What do we drink?", "budget_tokens": "4000"})
        texts = [
            (one.role, one.content.text)
            for one in made.messages
            if isinstance(one.content, types.TextContent)
        ]
        assert "You are Ada." in texts[0][1]
        assert any("Everybody drinks tea." in text for _, text in texts)
        assert any(role == "assistant" and "Hi." in text for role, text in texts)
        assert texts[-1][0] == "user"
        assert "What do we drink?" in texts[-1][1]


async def test_it_is_not_served_unless_it_is_wanted(tmp_path: Any) -> None:
    """By the setting; the control is every other test here."""
    async with http_suite(tmp_path / "data") as suite, suite.client() as http:
        answer = await http.post("/mcp", json=rpc("tools/list"), headers=ACCEPT)
        assert answer.status_code == 404
        assert json.loads(answer.content)["code"] == 5


async def test_what_was_derived_from_a_persons_conversations_is_for_that_person(
    hosts: Hosts, agent: str
) -> None:
    """S-13, G-6: by the tool and as resources; one's own, and nobody's, is the control."""
    async with hosts.client(agent) as client:
        bob = (await client.resolve_contact("chat:bob")).id
        await client.create_conversation("with-bob", contact_id=bob)
        said = {"with-ann": "greenhouse", "with-bob": "lighthouse", "alone": "boathouse"}
        for conversation, word in said.items():
            turn = [
                NewMessage("user", f"{n}. We decided to paint the {word} red.") for n in range(LEAST_MESSAGES)
            ]
            await client.record_turn(conversation, turn)
        async with asyncio.timeout(PATIENCE):
            found: set[str] = set()
            while not set(said) <= found:
                await client.trigger_schedule(BATCHES.name)
                await asyncio.sleep(0.2)
                hits = (await client.search_documents("paint red", types=["summary"], scope="all")).hits
                found = {hit.document_id for hit in hits}
        pages = [one async for one in client.theme_branches()]

    async def summarised(host: Client) -> set[str]:
        made = await host.call_tool("search_documents", {"query": "paint red", "types": ["summary"]})
        return {word for word in said.values() if word in text_of(made)}

    async def readable(host: Client) -> set[str]:
        texts = []
        for uri in (
            *(f"palimpsest://conversations/{conversation}/summary" for conversation in said),
            *(f"palimpsest://wiki/{one.id}" for one in pages),
        ):
            with suppress(MCPError):
                contents = (await host.read_resource(uri)).contents[0]
                assert isinstance(contents, types.TextResourceContents)
                texts.append(contents.text)
        return {word for word in said.values() if word in "".join(texts)}

    seen = {
        "with-ann": {"greenhouse", "boathouse"},
        "with-bob": {"lighthouse", "boathouse"},
        "alone": {"boathouse"},
    }
    for conversation, words in seen.items():
        async with hosts.connect("auto", agent, conversation) as host:
            assert await summarised(host) == words
            assert await readable(host) == words

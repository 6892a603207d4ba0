"""Calls about agents and contacts."""

from __future__ import annotations

from collections.abc import AsyncIterator

from google.protobuf.field_mask_pb2 import FieldMask

from palimpsest import models
from palimpsest.client import incoming
from palimpsest.client.base import Calls
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import conversations_pb2 as pb


class AgentCalls(Calls):
    """Agents and the people they know."""

    async def create_agent(
        self, agent_id: str | None = None, *, display_name: str = "", system_prompt: str = ""
    ) -> models.Agent:
        """Creates an agent, by default the client's; the same again returns the existing one."""
        request = pb.CreateAgentRequest(
            agent_id=agent_id or self._agent, display_name=display_name, system_prompt=system_prompt
        )
        return incoming.agent((await self._transport.call(self._transport.stub.CreateAgent, request)).agent)

    async def get_agent(self, agent_id: str | None = None) -> models.Agent:
        """Reads an agent, by default the client's."""
        request = pb.GetAgentRequest(agent_id=agent_id or self._agent)
        return incoming.agent((await self._transport.call(self._transport.stub.GetAgent, request)).agent)

    async def agents(self, *, page_size: int = 0) -> AsyncIterator[models.Agent]:
        """The agents that the key may see, by id."""
        request = pb.ListAgentsRequest(page_size=page_size)
        async for page in self._pages(self._transport.stub.ListAgents, request):
            for proto in page.agents:
                yield incoming.agent(proto)

    async def update_agent(
        self,
        agent_id: str | None = None,
        *,
        display_name: str | None = None,
        system_prompt: str | None = None,
    ) -> models.Agent:
        """Changes what is given of an agent, by default the client's."""
        changes = {"display_name": display_name, "system_prompt": system_prompt}
        agent = resources_pb2.Agent(
            id=agent_id or self._agent, display_name=display_name or "", system_prompt=system_prompt or ""
        )
        mask = FieldMask(paths=[name for name, value in changes.items() if value is not None])
        request = pb.UpdateAgentRequest(agent=agent, update_mask=mask)
        return incoming.agent((await self._transport.call(self._transport.stub.UpdateAgent, request)).agent)

    async def resolve_contact(self, identity: str, *, display_name: str = "") -> models.Contact:
        """The contact with an identity such as "telegram:123"; created if there is none."""
        request = pb.ResolveContactRequest(agent_id=self._agent, identity=identity, display_name=display_name)
        answer = await self._transport.call(self._transport.stub.ResolveContact, request)
        return incoming.contact(answer.contact)

    async def get_contact(self, contact_id: str) -> models.Contact:
        """Reads a contact; of a merged one, the one that it is part of."""
        request = pb.GetContactRequest(agent_id=self._agent, contact_id=contact_id)
        return incoming.contact(
            (await self._transport.call(self._transport.stub.GetContact, request)).contact
        )

    async def contacts(self, *, page_size: int = 0) -> AsyncIterator[models.Contact]:
        """The agent's contacts, by id."""
        request = pb.ListContactsRequest(agent_id=self._agent, page_size=page_size)
        async for page in self._pages(self._transport.stub.ListContacts, request):
            for proto in page.contacts:
                yield incoming.contact(proto)

    async def link_identity(self, contact_id: str, identity: str) -> models.Contact:
        """Adds an identity to a contact."""
        request = pb.LinkIdentityRequest(agent_id=self._agent, contact_id=contact_id, identity=identity)
        answer = await self._transport.call(self._transport.stub.LinkIdentity, request)
        return incoming.contact(answer.contact)

    async def merge_contacts(self, source_contact_id: str, target_contact_id: str) -> models.Contact:
        """Makes the source part of the target, and returns the target."""
        request = pb.MergeContactsRequest(
            agent_id=self._agent, source_contact_id=source_contact_id, target_contact_id=target_contact_id
        )
        answer = await self._transport.call(self._transport.stub.MergeContacts, request)
        return incoming.contact(answer.contact)

    async def unmerge_contact(self, contact_id: str) -> models.Contact:
        """Makes a merged contact stand for itself again."""
        request = pb.UnmergeContactRequest(agent_id=self._agent, contact_id=contact_id)
        answer = await self._transport.call(self._transport.stub.UnmergeContact, request)
        return incoming.contact(answer.contact)

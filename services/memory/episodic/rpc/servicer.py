"""The RPCs: convert, await the use case, convert back."""

from __future__ import annotations

from typing import Any

from palimpsest.episodic.v1 import episodic_pb2 as pb
from palimpsest.episodic.v1 import episodic_pb2_grpc

from services.kit import paging
from services.kit.context import current_principal
from services.memory.episodic.app.agents import Agents
from services.memory.episodic.app.contacts import Contacts
from services.memory.episodic.app.conversations import Conversations
from services.memory.episodic.app.messages import Messages
from services.memory.episodic.rpc import convert

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["EpisodicService"]

Context = Any


def _tenant() -> str:
    return current_principal().tenant


class EpisodicServicer(episodic_pb2_grpc.EpisodicServiceServicer):
    """EpisodicService over the use cases."""

    def __init__(
        self, *, agents: Agents, contacts: Contacts, conversations: Conversations, messages: Messages
    ) -> None:
        self._agents = agents
        self._contacts = contacts
        self._conversations = conversations
        self._messages = messages

    async def CreateAgent(self, request: pb.CreateAgentRequest, context: Context) -> pb.CreateAgentResponse:
        """See the proto."""
        agent = await self._agents.create(
            _tenant(), request.agent_id, request.display_name, request.system_prompt
        )
        return pb.CreateAgentResponse(agent=convert.agent_proto(agent))

    async def GetAgent(self, request: pb.GetAgentRequest, context: Context) -> pb.GetAgentResponse:
        """See the proto."""
        agent = await self._agents.get(_tenant(), request.agent_id)
        return pb.GetAgentResponse(agent=convert.agent_proto(agent))

    async def ListAgents(self, request: pb.ListAgentsRequest, context: Context) -> pb.ListAgentsResponse:
        """See the proto."""
        listing = "ListAgents"
        page = await self._agents.list(
            _tenant(),
            current_principal().agents,
            limit=paging.page_size(request.page_size),
            after=paging.text_position(listing, request.page_token),
        )
        return pb.ListAgentsResponse(
            agents=map(convert.agent_proto, page.items),
            next_page_token=paging.next_token(listing, page.last),
        )

    async def UpdateAgent(self, request: pb.UpdateAgentRequest, context: Context) -> pb.UpdateAgentResponse:
        """See the proto."""
        wanted = request.agent
        agent = await self._agents.update(
            _tenant(), wanted.id, wanted.display_name, wanted.system_prompt, request.update_mask.paths
        )
        return pb.UpdateAgentResponse(agent=convert.agent_proto(agent))

    async def ResolveContact(
        self, request: pb.ResolveContactRequest, context: Context
    ) -> pb.ResolveContactResponse:
        """See the proto."""
        contact, created = await self._contacts.resolve(
            _tenant(), request.agent_id, request.identity, request.display_name
        )
        return pb.ResolveContactResponse(contact=convert.contact_proto(contact), created=created)

    async def GetContact(self, request: pb.GetContactRequest, context: Context) -> pb.GetContactResponse:
        """See the proto."""
        contact = await self._contacts.get(_tenant(), request.agent_id, request.contact_id)
        return pb.GetContactResponse(contact=convert.contact_proto(contact))

    async def ListContacts(
        self, request: pb.ListContactsRequest, context: Context
    ) -> pb.ListContactsResponse:
        """See the proto."""
        listing = f"ListContacts {request.agent_id}"
        page = await self._contacts.list(
            _tenant(),
            request.agent_id,
            limit=paging.page_size(request.page_size),
            after=paging.text_position(listing, request.page_token),
        )
        return pb.ListContactsResponse(
            contacts=map(convert.contact_proto, page.items),
            next_page_token=paging.next_token(listing, page.last),
        )

    async def LinkIdentity(
        self, request: pb.LinkIdentityRequest, context: Context
    ) -> pb.LinkIdentityResponse:
        """See the proto."""
        contact = await self._contacts.link(_tenant(), request.agent_id, request.contact_id, request.identity)
        return pb.LinkIdentityResponse(contact=convert.contact_proto(contact))

    async def MergeContacts(
        self, request: pb.MergeContactsRequest, context: Context
    ) -> pb.MergeContactsResponse:
        """See the proto."""
        contact = await self._contacts.merge(
            _tenant(), request.agent_id, request.source_contact_id, request.target_contact_id
        )
        return pb.MergeContactsResponse(contact=convert.contact_proto(contact))

    async def UnmergeContact(
        self, request: pb.UnmergeContactRequest, context: Context
    ) -> pb.UnmergeContactResponse:
        """See the proto."""
        contact = await self._contacts.unmerge(_tenant(), request.agent_id, request.contact_id)
        return pb.UnmergeContactResponse(contact=convert.contact_proto(contact))

    async def CreateConversation(
        self, request: pb.CreateConversationRequest, context: Context
    ) -> pb.CreateConversationResponse:
        """See the proto."""
        conversation = await self._conversations.create(
            _tenant(), request.agent_id, request.conversation_id, request.contact_id, request.title
        )
        return pb.CreateConversationResponse(conversation=convert.conversation_proto(conversation))

    async def GetConversation(
        self, request: pb.GetConversationRequest, context: Context
    ) -> pb.GetConversationResponse:
        """See the proto."""
        conversation = await self._conversations.get(convert.key_of(_tenant(), request))
        return pb.GetConversationResponse(conversation=convert.conversation_proto(conversation))

    async def ListConversations(
        self, request: pb.ListConversationsRequest, context: Context
    ) -> pb.ListConversationsResponse:
        """See the proto."""
        chosen = convert.conversation_filter(request)
        listing = f"ListConversations {request.agent_id} {request.newest_first} {chosen}"
        page = await self._conversations.list(
            _tenant(),
            request.agent_id,
            chosen,
            newest_first=request.newest_first,
            limit=paging.page_size(request.page_size),
            after=paging.number_position(listing, request.page_token),
        )
        return pb.ListConversationsResponse(
            conversations=map(convert.conversation_proto, page.items),
            next_page_token=paging.next_token(listing, page.last),
        )

    async def AppendMessages(
        self, request: pb.AppendMessagesRequest, context: Context
    ) -> pb.AppendMessagesResponse:
        """See the proto."""
        key = convert.key_of(_tenant(), request)
        outcomes = await self._messages.append(
            key,
            convert.new_messages(request.messages),
            parent_id=request.parent_id if request.HasField("parent_id") else None,
            request_id=request.request_id,
            branch=request.branch,
            keep_path=request.keep_path,
        )
        return convert.append_response(key, outcomes)

    async def ListMessages(
        self, request: pb.ListMessagesRequest, context: Context
    ) -> pb.ListMessagesResponse:
        """See the proto."""
        listing = convert.message_listing(request)
        page = await self._messages.list(
            convert.key_of(_tenant(), request),
            convert.message_filter(request.filter),
            newest_first=request.newest_first,
            limit=paging.page_size(request.page_size),
            after=paging.number_position(listing, request.page_token),
        )
        return pb.ListMessagesResponse(
            messages=map(convert.message_proto, page.items),
            next_page_token=paging.next_token(listing, page.last),
        )

    async def GetMessages(self, request: pb.GetMessagesRequest, context: Context) -> pb.GetMessagesResponse:
        """See the proto."""
        names = [(ref.conversation_id, ref.message_id) for ref in request.refs]
        found = await self._messages.find(_tenant(), request.agent_id, names, request.neighbours)
        return convert.found_response(request.refs, found)

    async def GetMessageRange(
        self, request: pb.GetMessageRangeRequest, context: Context
    ) -> pb.GetMessageRangeResponse:
        """See the proto."""
        conversation, messages = await self._messages.at(
            convert.key_of(_tenant(), request), request.sequences
        )
        return pb.GetMessageRangeResponse(
            messages=map(convert.message_proto, messages),
            conversation=convert.conversation_proto(conversation),
        )

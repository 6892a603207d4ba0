"""GraphService: convert, await the use case, convert back."""

from __future__ import annotations

from functools import partial
from typing import Any

from palimpsest.graph.v1 import graph_pb2 as pb
from palimpsest.graph.v1 import graph_pb2_grpc

from services.compactor.app.graph import Graph
from services.compactor.app.graph_ports import BranchQuery
from services.compactor.app.wiki import Wiki
from services.compactor.rpc import documents_convert
from services.compactor.rpc import graph_convert as convert
from services.kit import paging
from services.kit.context import current_principal
from services.kit.serving import Face, roles_of
from services.kit.times import Clock

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["GraphService"]

Context = Any


def face(graph: Graph, wiki: Wiki, clock: Clock) -> Face:
    """GraphService over the use cases."""
    servicer = GraphServicer(graph, wiki, clock)
    return Face(
        name=DESCRIPTOR.full_name,
        add=partial(graph_pb2_grpc.add_GraphServiceServicer_to_server, servicer),
        roles=roles_of(DESCRIPTOR),
    )


class GraphServicer(graph_pb2_grpc.GraphServiceServicer):
    """GraphService over the use cases."""

    def __init__(self, graph: Graph, wiki: Wiki, clock: Clock) -> None:
        self._graph = graph
        self._wiki = wiki
        self._clock = clock

    async def ListGraphBranches(
        self, request: pb.ListGraphBranchesRequest, context: Context
    ) -> pb.ListGraphBranchesResponse:
        """See the proto."""
        tenant, size = current_principal().tenant, paging.page_size(request.page_size)
        states = convert.states(request.states)
        listing = f"branches:{tenant}:{request.agent_id}:{','.join(sorted(states))}"
        query = BranchQuery(
            now=self._clock(),
            states=states,
            after=paging.text_position(listing, request.page_token) or "",
            limit=size,
        )
        found = await self._graph.page(tenant, request.agent_id, query)
        return pb.ListGraphBranchesResponse(
            branches=[convert.branch(one, query.now) for one in found],
            next_page_token=paging.token_after(listing, [one.slug for one in found], size),
        )

    async def GetGraphBranch(
        self, request: pb.GetGraphBranchRequest, context: Context
    ) -> pb.GetGraphBranchResponse:
        """See the proto."""
        branch, events = await self._graph.branch(
            current_principal().tenant, request.agent_id, request.branch
        )
        return pb.GetGraphBranchResponse(
            branch=convert.branch(branch, self._clock()), events=map(convert.event, events)
        )

    async def ListBranchConversations(
        self, request: pb.ListBranchConversationsRequest, context: Context
    ) -> pb.ListBranchConversationsResponse:
        """See the proto."""
        tenant, size = current_principal().tenant, paging.page_size(request.page_size)
        listing = f"branch-links:{tenant}:{request.agent_id}:{request.branch}"
        after = paging.text_position(listing, request.page_token) or ""
        found = await self._graph.links(tenant, request.agent_id, request.branch, after, size)
        return pb.ListBranchConversationsResponse(
            links=map(convert.link, found),
            next_page_token=paging.token_after(listing, [one.conversation_id for one in found], size),
        )

    async def LinkConversation(
        self, request: pb.LinkConversationRequest, context: Context
    ) -> pb.LinkConversationResponse:
        """See the proto."""
        branch = await self._graph.link(
            current_principal().tenant,
            request.agent_id,
            request.conversation_id,
            request.name,
            request.relevance or 1.0,
        )
        return pb.LinkConversationResponse(branch=convert.branch(branch, self._clock()))

    async def MergeBranches(
        self, request: pb.MergeBranchesRequest, context: Context
    ) -> pb.MergeBranchesResponse:
        """See the proto."""
        branch = await self._graph.merge(
            current_principal().tenant, request.agent_id, request.branch, request.into
        )
        return pb.MergeBranchesResponse(branch=convert.branch(branch, self._clock()))

    async def UndoBranchMerge(
        self, request: pb.UndoBranchMergeRequest, context: Context
    ) -> pb.UndoBranchMergeResponse:
        """See the proto."""
        branch = await self._graph.undo_merge(current_principal().tenant, request.agent_id, request.branch)
        return pb.UndoBranchMergeResponse(branch=convert.branch(branch, self._clock()))

    async def RenameBranch(
        self, request: pb.RenameBranchRequest, context: Context
    ) -> pb.RenameBranchResponse:
        """See the proto."""
        branch = await self._graph.rename(
            current_principal().tenant, request.agent_id, request.branch, request.name
        )
        return pb.RenameBranchResponse(branch=convert.branch(branch, self._clock()))

    async def SplitBranch(self, request: pb.SplitBranchRequest, context: Context) -> pb.SplitBranchResponse:
        """See the proto."""
        made, rest = await self._graph.split(
            current_principal().tenant,
            request.agent_id,
            request.branch,
            request.name,
            request.conversation_ids,
        )
        now = self._clock()
        return pb.SplitBranchResponse(branch=convert.branch(made, now), remaining=convert.branch(rest, now))

    async def ListMergeProposals(
        self, request: pb.ListMergeProposalsRequest, context: Context
    ) -> pb.ListMergeProposalsResponse:
        """See the proto."""
        tenant, size = current_principal().tenant, paging.page_size(request.page_size)
        state = convert.proposal_state(request.state)
        listing = f"merge-proposals:{tenant}:{request.agent_id}:{state}"
        before = paging.text_position(listing, request.page_token)
        found = await self._graph.proposals(tenant, request.agent_id, state, before, size)
        now = self._clock()
        return pb.ListMergeProposalsResponse(
            proposals=[convert.proposal(one, now) for one in found],
            next_page_token=paging.token_after(listing, [one.id for one in found], size),
        )

    async def ResolveMergeProposal(
        self, request: pb.ResolveMergeProposalRequest, context: Context
    ) -> pb.ResolveMergeProposalResponse:
        """See the proto."""
        proposal = await self._graph.resolve(
            current_principal().tenant, request.agent_id, request.proposal_id, accept=request.accept
        )
        return pb.ResolveMergeProposalResponse(proposal=convert.proposal(proposal, self._clock()))

    async def GetWikiPage(self, request: pb.GetWikiPageRequest, context: Context) -> pb.GetWikiPageResponse:
        """See the proto."""
        branch, served = await self._wiki.page(
            current_principal().tenant, request.agent_id, request.branch, request.version
        )
        return pb.GetWikiPageResponse(
            branch=convert.branch(branch, self._clock()),
            page=documents_convert.document_proto(served.document),
            state=documents_convert.state_proto(served.head),
        )

    async def ListWikiVersions(
        self, request: pb.ListWikiVersionsRequest, context: Context
    ) -> pb.ListWikiVersionsResponse:
        """See the proto."""
        tenant, size = current_principal().tenant, paging.page_size(request.page_size)
        listing = f"wiki-versions:{tenant}:{request.agent_id}:{request.branch}"
        before = paging.number_position(listing, request.page_token)
        head, found = await self._wiki.versions(tenant, request.agent_id, request.branch, before, size)
        last = [found[-1].version] if len(found) == size else []
        return pb.ListWikiVersionsResponse(
            versions=[documents_convert.version_proto(head, one) for one in found],
            next_page_token=paging.encode(listing, tuple(last)) if last else "",
        )

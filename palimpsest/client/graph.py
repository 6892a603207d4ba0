"""Calls about the themes under which conversations are filed, and their pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from google.protobuf.json_format import MessageToDict

from palimpsest import models
from palimpsest.client import names
from palimpsest.client.base import Calls
from palimpsest.client.incoming import time_of
from palimpsest.graph.v1 import graph_pb2 as pb


class GraphCalls(Calls):
    """A branch is named by its id, or by any name it ever had; one that was merged is found as the other."""

    async def theme_branches(
        self, *, states: Sequence[models.BranchState] = (), page_size: int = 0
    ) -> AsyncIterator[models.ThemeBranch]:
        """Branches by slug; in any state unless some are named."""
        request = pb.ListGraphBranchesRequest(
            agent_id=self._agent,
            states=[names.BRANCH_STATES.number(state) for state in states],
            page_size=page_size,
        )
        async for page in self._pages(self._transport.stubs.graph.ListGraphBranches, request):
            for proto in page.branches:
                yield _branch(proto)

    async def theme_branch(self, branch: str) -> models.BranchDetails:
        """A branch, and what was done to it."""
        request = pb.GetGraphBranchRequest(agent_id=self._agent, branch=branch)
        answer = await self._transport.call(self._transport.stubs.graph.GetGraphBranch, request)
        return models.BranchDetails(
            branch=_branch(answer.branch), events=tuple(_event(one) for one in answer.events)
        )

    async def branch_conversations(
        self, branch: str, *, page_size: int = 0
    ) -> AsyncIterator[models.BranchLink]:
        """A branch's conversations, by id."""
        request = pb.ListBranchConversationsRequest(agent_id=self._agent, branch=branch, page_size=page_size)
        async for page in self._pages(self._transport.stubs.graph.ListBranchConversations, request):
            for proto in page.links:
                yield models.BranchLink(
                    conversation_id=proto.conversation_id,
                    relevance=proto.relevance,
                    by_hand=proto.by_hand,
                    link_time=time_of(proto, "link_time"),
                )

    async def link_conversation(
        self, conversation_id: str, name: str, *, relevance: float = 1.0
    ) -> models.ThemeBranch:
        """Files a conversation under the branch of a name, which is made if there is none.

        `relevance` says how much of it is about this, above 0 and up to 1.
        """
        request = pb.LinkConversationRequest(
            agent_id=self._agent, conversation_id=conversation_id, name=name, relevance=relevance
        )
        method = self._transport.stubs.graph.LinkConversation
        return _branch((await self._transport.call(method, request)).branch)

    async def merge_branches(self, branch: str, into: str) -> models.ThemeBranch:
        """Merges a branch into another, which has the conversations and names of both from then on."""
        request = pb.MergeBranchesRequest(agent_id=self._agent, branch=branch, into=into)
        method = self._transport.stubs.graph.MergeBranches
        return _branch((await self._transport.call(method, request)).branch)

    async def undo_branch_merge(self, branch: str) -> models.ThemeBranch:
        """Lets a branch that was merged stand by itself again."""
        request = pb.UndoBranchMergeRequest(agent_id=self._agent, branch=branch)
        method = self._transport.stubs.graph.UndoBranchMerge
        return _branch((await self._transport.call(method, request)).branch)

    async def rename_branch(self, branch: str, name: str) -> models.ThemeBranch:
        """Gives a branch another name; the old one still leads to it."""
        request = pb.RenameBranchRequest(agent_id=self._agent, branch=branch, name=name)
        method = self._transport.stubs.graph.RenameBranch
        return _branch((await self._transport.call(method, request)).branch)

    async def split_branch(
        self, branch: str, name: str, conversation_ids: Sequence[str]
    ) -> models.SplitBranch:
        """Takes conversations out of a branch into a new one."""
        request = pb.SplitBranchRequest(
            agent_id=self._agent, branch=branch, name=name, conversation_ids=conversation_ids
        )
        answer = await self._transport.call(self._transport.stubs.graph.SplitBranch, request)
        return models.SplitBranch(branch=_branch(answer.branch), remaining=_branch(answer.remaining))

    async def merge_proposals(
        self, *, state: models.MergeProposalState = "open", page_size: int = 0
    ) -> AsyncIterator[models.MergeProposal]:
        """Pairs of branches that may be the same, newest first."""
        request = pb.ListMergeProposalsRequest(
            agent_id=self._agent, state=names.MERGE_PROPOSAL_STATES.number(state), page_size=page_size
        )
        async for page in self._pages(self._transport.stubs.graph.ListMergeProposals, request):
            for proto in page.proposals:
                yield _proposal(proto)

    async def resolve_merge_proposal(self, proposal_id: str, *, accept: bool) -> models.MergeProposal:
        """Merges the two, or keeps them apart for good."""
        request = pb.ResolveMergeProposalRequest(agent_id=self._agent, proposal_id=proposal_id, accept=accept)
        method = self._transport.stubs.graph.ResolveMergeProposal
        return _proposal((await self._transport.call(method, request)).proposal)

    async def wiki_page(self, branch: str, *, version: int = 0) -> models.WikiPage:
        """A branch's page, the newest version unless one is named."""
        request = pb.GetWikiPageRequest(agent_id=self._agent, branch=branch, version=version)
        answer = await self._transport.call(self._transport.stubs.graph.GetWikiPage, request)
        body = MessageToDict(answer.page.body)
        return models.WikiPage(
            branch=_branch(answer.branch),
            version=answer.page.version,
            text=str(body.get("text", "")),
            body=body,
            engine=answer.page.engine,
            source_ids=tuple(answer.page.source_ids),
            create_time=time_of(answer.page, "create_time"),
            newest_version=answer.state.newest_version,
            stale=answer.state.stale,
        )

    async def wiki_versions(self, branch: str, *, page_size: int = 0) -> AsyncIterator[models.WikiVersion]:
        """All versions of a branch's page, newest first."""
        request = pb.ListWikiVersionsRequest(agent_id=self._agent, branch=branch, page_size=page_size)
        async for page in self._pages(self._transport.stubs.graph.ListWikiVersions, request):
            for proto in page.versions:
                yield models.WikiVersion(
                    version=proto.version,
                    create_time=time_of(proto, "create_time"),
                    engine=proto.engine,
                    size_bytes=proto.size_bytes,
                )


def _branch(proto: pb.Branch) -> models.ThemeBranch:
    return models.ThemeBranch(
        id=proto.id,
        slug=proto.slug,
        name=proto.name,
        state=names.BRANCH_STATES.name(proto.state),
        conversation_count=proto.conversation_count,
        aliases=tuple(proto.aliases),
        merged_ids=tuple(proto.merged_ids),
        link_time=time_of(proto, "link_time"),
        create_time=time_of(proto, "create_time"),
        update_time=time_of(proto, "update_time"),
    )


def _event(proto: pb.BranchEvent) -> models.BranchEvent:
    return models.BranchEvent(
        branch_id=proto.branch_id,
        kind=names.BRANCH_EVENT_KINDS.name(proto.kind),
        other_id=proto.other_id,
        automatic=proto.automatic,
        slug=proto.slug,
        time=time_of(proto, "time"),
    )


def _proposal(proto: pb.MergeProposal) -> models.MergeProposal:
    evidence = proto.evidence
    return models.MergeProposal(
        id=proto.id,
        branch=_branch(proto.branch),
        into=_branch(proto.into),
        score=proto.score,
        cosine=evidence.cosine if evidence.HasField("cosine") else None,
        spelling=evidence.spelling,
        words=evidence.words,
        shared_count=evidence.shared_count,
        state=names.MERGE_PROPOSAL_STATES.name(proto.state),
        create_time=time_of(proto, "create_time"),
        resolve_time=time_of(proto, "resolve_time"),
    )

"""What Semantic indexes of derived documents: jobs that ask for it, and the texts (SPEC S-13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import structlog

from services.compactor.app.document_ports import Unreadable
from services.compactor.app.documents import Documents
from services.compactor.app.graph_ports import GraphStore
from services.compactor.domain import searchable
from services.compactor.domain.documents import (
    Document,
    DocumentKey,
    Head,
    Kind,
    attractor_key,
    summary_key,
    wiki_key,
)
from services.compactor.domain.graph import Branch
from services.compactor.domain.rolling import from_body
from services.compactor.domain.searchable import DocumentType, Searchable, Source
from services.kit.errors import NotFound
from services.kit.outbox import NewJob

INDEX_DOCUMENT: Final = "index_document"
LINKS_PAGE: Final = 1000
TYPES: Final = {
    Kind.SUMMARY: DocumentType.SUMMARY,
    Kind.WIKI: DocumentType.PAGE,
    Kind.ATTRACTOR: DocumentType.THEME,
}


def index_job(agent_id: str, source: Source, mark: str) -> NewJob:
    """Has the newest version of what is written at once indexed, or taken out; `mark` names the change."""
    about = f"{source.type}/{source.subject}"
    return NewJob(
        type=INDEX_DOCUMENT,
        agent_id=agent_id,
        subject=f"documents/{about}",
        key=f"{INDEX_DOCUMENT}/{agent_id}/{about}/{mark}",
        payload={"type": source.type.value, "subject": source.subject},
    )


def follow_document(key: DocumentKey, head: Head) -> Sequence[NewJob]:
    """What a change of a document puts into the outbox with it; `head` is what is known of it then."""
    source = Source(type=TYPES[key.kind], subject=key.subject)
    return [index_job(key.agent_id, source, str(head.revision))]


class SearchableDocuments:
    """The texts of documents' newest versions."""

    def __init__(self, documents: Documents, graph: GraphStore) -> None:
        self._documents = documents
        self._graph = graph
        self._log = structlog.get_logger("searchable")

    async def read(self, tenant: str, agent_id: str, sources: Sequence[Source]) -> list[Searchable]:
        """Those that are there and can be read, in the order of their sources. Raises DependencyDown."""
        found: list[Searchable] = []
        for source in sources:
            try:
                found += await self._of(tenant, agent_id, source)
            except (Unreadable, KeyError, TypeError, ValueError):
                self._log.error("document_not_searchable", type=source.type.value)
        return found

    async def _of(self, tenant: str, agent_id: str, source: Source) -> list[Searchable]:
        match source.type:
            case DocumentType.SUMMARY:
                newest = await self._newest(summary_key(tenant, agent_id, source.subject))
                return (
                    [] if newest is None else [searchable.of_summary(from_body(newest.body), newest.version)]
                )
            case DocumentType.THEME:
                newest = await self._newest(attractor_key(tenant, agent_id))
                return [] if newest is None else searchable.of_themes(newest)
        branch = await self._branch(tenant, agent_id, source.subject)
        if branch is None:
            return []
        # People may come and go between one reading and the next: the names are those people's who were there
        # before or after, so that nobody's name is ever another's alone.
        before = await self._linked(tenant, agent_id, branch.id)
        names = await self._graph.names(tenant, agent_id, branch.id)
        if names is None:
            return []
        linked = [*before, *(await self._linked(tenant, agent_id, branch.id))]
        if source.type is DocumentType.BRANCH:
            if not branch.conversations:
                return []
            return [searchable.of_branch(branch.id, names, linked)]
        newest = await self._newest(wiki_key(tenant, agent_id, branch.id))
        if newest is None:
            return []
        return [searchable.of_page(newest.body, newest.version, branch.id, names, linked)]

    async def _newest(self, key: DocumentKey) -> Document | None:
        snapshot = await self._documents.current(key)
        return None if snapshot is None else snapshot.document

    async def _branch(self, tenant: str, agent_id: str, branch_id: str) -> Branch | None:
        """A branch by its id, unless it is gone or was merged into another."""
        try:
            branch = await self._graph.branch(tenant, agent_id, branch_id)
        except NotFound:
            return None
        return branch if branch.id == branch_id else None

    async def _linked(self, tenant: str, agent_id: str, branch_id: str) -> list[str]:
        """All conversations of a branch."""
        ids: list[str] = []
        while True:
            page = await self._graph.links(tenant, agent_id, branch_id, ids[-1] if ids else "", LINKS_PAGE)
            ids += [link.conversation_id for link in page]
            if len(page) < LINKS_PAGE:
                return ids

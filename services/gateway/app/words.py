"""What a model is told of stored things, in words."""

from __future__ import annotations

from palimpsest.common.v1 import resources_pb2
from palimpsest.search.v1 import search_pb2


def document_kind(hit: search_pb2.DocumentHit) -> str:
    """What it is a part of: summary, page, branch or theme."""
    return search_pb2.DocumentType.Name(hit.type).removeprefix("DOCUMENT_TYPE_").lower()


def speaker(message: resources_pb2.Message) -> str:
    """Who said it: the author, else the role."""
    return message.author or resources_pb2.Role.Name(message.role).removeprefix("ROLE_").lower()

"""What the gateway adds to the services that it passes on is said where they are described."""

from __future__ import annotations

import inspect

import pytest
from palimpsest.derived.v1 import derived_pb2_grpc
from palimpsest.documents.v1 import documents_pb2_grpc
from palimpsest.graph.v1 import graph_pb2_grpc
from palimpsest.insight.v1 import insight_pb2_grpc

from services.gateway.rpc.faces import LISTS, WORK

DERIVED = (
    derived_pb2_grpc.DerivedWorkServiceServicer,
    documents_pb2_grpc.DocumentsServiceServicer,
    graph_pb2_grpc.GraphServiceServicer,
    insight_pb2_grpc.InsightServiceServicer,
)
"""Served by the Compactor, which keeps no agents."""


@pytest.mark.parametrize("checked", sorted(LISTS | WORK))
def test_what_tells_of_a_missing_agent_through_the_gateway_alone_says_so(checked: str) -> None:
    described = [inspect.getdoc(getattr(one, checked)) for one in DERIVED if hasattr(one, checked)]
    assert len(described) == 1, "each is of one service"
    words = " ".join((described[0] or "").split())
    assert "RESOURCE_NOT_FOUND (the agent" in words
    assert ", through the gateway)" in words

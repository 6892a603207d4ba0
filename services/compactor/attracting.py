"""Wires the work on attractors (SPEC J-12) into the Compactor."""

from __future__ import annotations

from collections.abc import Mapping

from palimpsest.embedder.v1 import embedder_pb2_grpc

from services.compactor.adapters.attractor_embedder import ServiceEmbedder
from services.compactor.adapters.attractor_handler import AttractorHandler, JobsLater
from services.compactor.adapters.numpy_geometry import NumpyGeometry
from services.compactor.adapters.sql.attractor_points import SqlAttractorPoints
from services.compactor.app.attractors import UPDATE_ATTRACTOR, Attractors
from services.compactor.app.documents import Documents
from services.compactor.app.jobs import Jobs
from services.compactor.app.ports import Handler
from services.kit.channels import Channels
from services.kit.sql import SqlDatabase
from services.kit.times import Clock


def handlers(
    database: SqlDatabase, channels: Channels, documents: Documents, jobs: Jobs, clock: Clock
) -> Mapping[str, Handler]:
    """Who does jobs of the type "update_attractor"."""
    embedder = ServiceEmbedder(embedder_pb2_grpc.EmbedderServiceStub(channels.embedder))
    points = SqlAttractorPoints(database)
    attractors = Attractors(documents, points, embedder, NumpyGeometry, JobsLater(jobs), clock)
    return {UPDATE_ATTRACTOR: AttractorHandler(attractors)}

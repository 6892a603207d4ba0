"""Wires what keeps memories in order: consolidation, reflection, the drift check, verification by a model.

SPEC S-7, J-10, J-11, J-15.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from palimpsest.episodic.v1 import episodic_pb2_grpc
from palimpsest.semantic.v1 import semantic_pb2_grpc, upkeep_pb2_grpc

from services.compactor.adapters.days import RecordedDays
from services.compactor.adapters.sql.consolidations import SqlConsolidations
from services.compactor.adapters.sql.insights import SqlInsights, SqlSummaries
from services.compactor.adapters.upkeep_calls import SemanticUpkeep
from services.compactor.adapters.upkeep_handlers import (
    CHECK_DRIFT,
    CHECK_DRIFT_AGENT,
    CONSOLIDATE,
    CONSOLIDATE_AGENT,
    REFLECT,
    ConsolidateHandler,
    DriftHandler,
    FanOut,
    ReflectHandler,
)
from services.compactor.adapters.verify_handler import VERIFY_MEMORY, VerifyHandler
from services.compactor.app.consolidation import Consolidation
from services.compactor.app.documents import Documents
from services.compactor.app.jobs import Jobs
from services.compactor.app.ports import Handler
from services.compactor.app.reflection import REFLECT_AGENT, Reflection
from services.compactor.app.refreshing import Refreshing
from services.compactor.domain.schedules import Spec
from services.compactor.rpc import insight_servicer
from services.kit.channels import Channels
from services.kit.serving import Face
from services.kit.sql import SqlDatabase
from services.kit.times import Clock

SCHEDULES: Final = (
    Spec(name="reflect", job_type=REFLECT, cron="0 3 * * *"),
    Spec(name="consolidate", job_type=CONSOLIDATE, cron="0 4 * * *"),
    Spec(name="check-drift", job_type=CHECK_DRIFT, cron="30 5 * * 0"),
)
"""J-10 and J-11 say when; the drift check comes round on Sundays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """What the Compactor serves and does of it."""

    face: Face
    handlers: Mapping[str, Handler]
    refreshing: Refreshing


def wire(
    database: SqlDatabase,
    channels: Channels,
    jobs: Jobs,
    documents: Documents,
    wake: Callable[[], None],
    clock: Clock,
    call_seconds: float,
) -> Upkeep:
    """Over real adapters; `wake` is that of the outbox's relay, `call_seconds` what a job's call may take."""
    stub = upkeep_pb2_grpc.UpkeepServiceStub(channels.semantic)
    semantic = SemanticUpkeep(stub)
    consolidation = Consolidation(semantic, SqlConsolidations(database), clock)
    days = RecordedDays(
        upkeep=stub,
        semantic=semantic_pb2_grpc.SemanticServiceStub(channels.semantic),
        episodic=episodic_pb2_grpc.EpisodicServiceStub(channels.episodic),
        summaries=SqlSummaries(database),
        documents=documents,
    )
    insights = SqlInsights(database)
    reflection = Reflection(days, insights, clock)
    return Upkeep(
        refreshing=Refreshing(documents, insights, semantic, wake),
        face=insight_servicer.face(reflection, consolidation),
        handlers={
            REFLECT: FanOut(jobs, semantic.agents, REFLECT_AGENT),
            REFLECT_AGENT: ReflectHandler(reflection),
            CONSOLIDATE: FanOut(jobs, semantic.agents, CONSOLIDATE_AGENT),
            CONSOLIDATE_AGENT: ConsolidateHandler(consolidation),
            CHECK_DRIFT: FanOut(jobs, semantic.agents, CHECK_DRIFT_AGENT),
            CHECK_DRIFT_AGENT: DriftHandler(semantic),
            VERIFY_MEMORY: VerifyHandler(semantic, call_seconds),
        },
    )

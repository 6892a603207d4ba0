"""Opens the vectors of the models that the embedder serves; a part of the bootstrap (SPEC S-17)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from services.kit.context import act_as
from services.kit.errors import DeadlineExceeded, DependencyDown, StartupError
from services.kit.identity import Principal, Role
from services.kit.ids import new_id
from services.kit.sql import SqlDatabase
from services.kit.tenants import SYSTEM_TENANT
from services.kit.times import Clock
from services.memory.semantic.adapters.services import DescribedModels, EmbedderModels
from services.memory.semantic.adapters.sql.models import SqlLeases, SqlModels
from services.memory.semantic.adapters.vectors import (
    move_former_layout,
    open_vectors,
    remove_other_models,
)
from services.memory.semantic.app.filling import FillSettings, Replica
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.item_ports import ItemIndex
from services.memory.semantic.app.vectors import VectorIndex, VectorMismatch
from services.memory.semantic.config import SemanticSettings
from services.memory.semantic.domain.vectors import VectorModel

EMBEDDER_POLL_SECONDS = 0.2
OpenVectors = Callable[[SemanticSettings, VectorModel], Awaitable[VectorIndex]]
STARTING = Principal(tenant=SYSTEM_TENANT, role=Role.SERVICE, subject="semantic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The open vectors, and what changes their model."""

    generations: Generations
    models: SqlModels
    replica: Replica
    settings: FillSettings
    shared: bool
    """Whether there may be other replicas."""


async def open_generations(
    settings: SemanticSettings,
    database: SqlDatabase,
    items: ItemIndex,
    embedder: EmbedderModels,
    stack: AsyncExitStack,
    clock: Clock,
    opener: OpenVectors = open_vectors,
) -> Opened:
    """The active model's vectors and those of a model that is to follow, until the stack is left.

    Raises StartupError: the embedder does not answer, or does not serve the active model.
    """
    described = await _described(embedder, settings.embedder_wait_seconds)
    models, shared = SqlModels(database), bool(settings.database_url.get_secret_value())
    if not shared:
        await models.forget_replicas()
    former = None if settings.qdrant_url else move_former_layout(settings.data_dir)
    active = await models.active(former or described.current, clock())
    model, given_up = active.model, False
    if settings.abandon_model == model.revision != described.current.revision:
        model, given_up = described.current, True
    served, following = _served(described, model)
    opened = partial(_open, settings, embedder, stack=stack, opener=opener)
    generations = Generations(await opened(served), None if following is None else await opened(following))
    if given_up:
        await items.set_whole(False)  # what the model's index lacks is to be looked for
        await models.abandon(served, clock())
    fill = FillSettings(
        step=settings.change_step,
        poll_seconds=settings.change_poll_seconds,
        lease_seconds=settings.change_lease_seconds,
    )
    replica = Replica(
        name=new_id(),
        generations=generations,
        models=models,
        leases=SqlLeases(database),
        settings=fill,
        clock=clock,
    )
    await replica.register()
    if described.following is None and await models.only(served, clock()):
        await remove_other_models(settings, generations.active.vectors)
    return Opened(generations=generations, models=models, replica=replica, settings=fill, shared=shared)


def _served(described: DescribedModels, active: VectorModel) -> tuple[VectorModel, VectorModel | None]:
    """The active model, and the one to follow it. Raises VectorMismatch."""
    if active == described.current:
        return active, described.following
    if active == described.following:  # it was switched to earlier
        return active, None
    raise VectorMismatch(
        f"the vectors that answer queries are of model {active.revision} ({active.dimension} dimensions),"
        f" and the embedder serves {described.current.revision} ({described.current.dimension}): make the"
        " former its current model, and the new one its next model (docs/reindex.md); or give the former up"
        " with PALIMPSEST_SEMANTIC_ABANDON_MODEL"
    )


async def _open(
    settings: SemanticSettings,
    embedder: EmbedderModels,
    model: VectorModel,
    *,
    stack: AsyncExitStack,
    opener: OpenVectors,
) -> Generation:
    vectors = await opener(settings, model)
    stack.push_async_callback(vectors.close)
    return Generation(vectors=vectors, texts=embedder.texts(model))


async def _described(embedder: EmbedderModels, patience: float) -> DescribedModels:
    """What the embedder describes. Raises StartupError when it doesn't answer for `patience` seconds."""
    deadline = asyncio.get_running_loop().time() + patience
    while True:
        try:
            with act_as(STARTING):
                return await embedder.described()
        except (DependencyDown, DeadlineExceeded) as error:
            if asyncio.get_running_loop().time() >= deadline:
                raise StartupError("the embedder does not answer") from error
            await asyncio.sleep(EMBEDDER_POLL_SECONDS)

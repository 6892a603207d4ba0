"""The vectors of one model, and of two while a change of models is under way (SPEC S-17)."""

from __future__ import annotations

from collections.abc import Sequence

from services.kit.errors import DependencyDown
from services.memory.semantic.app.ports import Texts
from services.memory.semantic.app.vectors import VectorIndex
from services.memory.semantic.domain.vectors import Bucket, VectorModel, pack


class Generation:
    """A model's vectors: texts are embedded by it, and searched for among its own. It is a `Texts` itself.

    Whoever does several things in turn does all of them with one generation: another may be active by then.
    """

    def __init__(self, *, vectors: VectorIndex, texts: Texts) -> None:
        """`texts` are embedded by the model of `vectors`."""
        self.vectors = vectors
        self._texts = texts
        self._any = pack([1.0] + [0.0] * (vectors.model.dimension - 1))

    @property
    def model(self) -> VectorModel:
        """Which model it is."""
        return self.vectors.model

    async def query(self, text: str) -> bytes:
        """See `Texts`."""
        return await self._texts.query(text)

    async def documents(self, texts: Sequence[str]) -> list[bytes]:
        """See `Texts`."""
        return await self._texts.documents(texts)

    async def held(self, bucket: Bucket, item_ids: Sequence[str]) -> set[str]:
        """Those of the items that have a vector here."""
        return set(await self.vectors.similarities(bucket, self._any, item_ids)) if item_ids else set()


class Generations:
    """The active generation, which answers queries, and the one that is to follow it, if there is one.

    Everything is written to both. After the switch the former one is still written for a while: other
    replicas learn of it a little later, and search there until then.

    *Outdated* are those of a replica that has no vectors of the model that is active for all: another replica
    gave theirs up (see opening). What was written here would be found by nobody, so nothing is; recall by
    what there is goes on until the replica is started anew.
    """

    def __init__(self, active: Generation, following: Generation | None = None) -> None:
        self._active = active
        self._following = following
        self._former: Generation | None = None
        self._outdated = False

    @property
    def outdated(self) -> bool:
        """Whether a model is active that is none of these."""
        return self._outdated

    @property
    def models(self) -> tuple[VectorModel, ...]:
        """Those whose vectors are written, unless they are outdated."""
        return tuple(one.model for one in self._all())

    @property
    def active(self) -> Generation:
        """Where queries go."""
        return self._active

    @property
    def following(self) -> Generation | None:
        """What is being filled; None where there is nothing to follow, or it is active by now."""
        return self._following

    @property
    def former(self) -> Generation | None:
        """What was active before, while it is still written."""
        return self._former

    @property
    def written(self) -> tuple[Generation, ...]:
        """Those that are written, in this order: the active one last, so that none is behind it.

        Raises DependencyDown while they are outdated.
        """
        if self._outdated:
            raise DependencyDown("another model is active than those that this replica serves")
        return self._all()

    def _all(self) -> tuple[Generation, ...]:
        return tuple(one for one in (self._former, self._following, self._active) if one is not None)

    def follow(self, model: VectorModel) -> bool:
        """Switches if this is the following generation's model; whether it is the active one's then.

        If it is not, they are outdated from now on, until it is.
        """
        if self._following is not None and self._following.model == model:
            self._former, self._active, self._following = self._active, self._following, None
        self._outdated = self._active.model != model
        return not self._outdated

    def leave_former(self) -> None:
        """Ends the writing of what was active before."""
        self._former = None

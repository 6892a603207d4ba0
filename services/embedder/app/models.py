"""The models that an embedder serves: the current one, and a next one while a change is under way (S-17)."""

from __future__ import annotations

from services.embedder.app.embedding import Embedder
from services.kit.errors import StateConflict


class UnknownModel(StateConflict):
    """No model of this revision is served here."""


class Models:
    """One embedder for each model."""

    def __init__(self, current: Embedder, following: Embedder | None = None) -> None:
        """A `following` model of the revision of the current one is the same model: then there is no next."""
        self.current = current
        self.following = following
        if following is not None and following.description.revision == current.description.revision:
            self.following = None

    def of(self, revision: str) -> Embedder:
        """The embedder of a revision, "" for the current model's. Raises UnknownModel."""
        if not revision:
            return self.current
        for embedder in (self.current, self.following):
            if embedder is not None and embedder.description.revision == revision:
                return embedder
        raise UnknownModel

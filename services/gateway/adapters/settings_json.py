"""Settings as the JSON in which they are kept; what is unset is left out."""

from __future__ import annotations

import json
from typing import Any

from services.gateway.domain.budgets import Budgets
from services.gateway.domain.settings import Settings
from services.kit.policy import DataFlow, FusionChoice, FusionKind, Provider


def dumped(settings: Settings) -> str:
    """As text."""
    fusion = settings.fusion
    made: dict[str, Any] = {
        "data_flow": settings.data_flow,
        "provider": settings.provider,
        "verify": settings.verify,
        "recall_depth": settings.recall_depth,
        "fusion": fusion and {"kind": fusion.kind, "k": fusion.k, "weights": dict(fusion.weights)},
        "budgets": {name: value for name, value in settings.budgets.items() if value is not None} or None,
    }
    return json.dumps({name: value for name, value in made.items() if value is not None}, sort_keys=True)


def loaded(text: str) -> Settings:
    """From text."""
    made: dict[str, Any] = json.loads(text)
    fusion = made.get("fusion")
    return Settings(
        data_flow=DataFlow(made["data_flow"]) if "data_flow" in made else None,
        provider=Provider(made["provider"]) if "provider" in made else None,
        verify=made.get("verify"),
        recall_depth=made.get("recall_depth"),
        fusion=FusionChoice(kind=FusionKind(fusion["kind"]), k=fusion["k"], weights=fusion["weights"])
        if fusion
        else None,
        budgets=Budgets(**made.get("budgets", {})),
    )

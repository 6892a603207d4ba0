"""Who may call what, as the protos say (SPEC G-9, SV-6): what needs more than the default."""

from __future__ import annotations

import pytest
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions
from palimpsest.compactor.v1 import compactor_pb2
from palimpsest.embedder.v1 import embedder_pb2
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.gateway.v1 import gateway_pb2
from palimpsest.semantic.v1 import semantic_pb2, upkeep_pb2
from palimpsest.settings.v1 import policy_pb2, settings_pb2

from services.kit.identity import Role
from services.kit.serving import roles_of

READER, WRITER, ADMIN, OPERATOR, SERVICE = Role.READER, Role.WRITER, Role.ADMIN, Role.OPERATOR, Role.SERVICE


def service(module: object, name: str) -> ServiceDescriptor:
    found: ServiceDescriptor = module.DESCRIPTOR.services_by_name[name]  # type: ignore[attr-defined]
    return found


GATEWAY = service(gateway_pb2, "GatewayService")
ABOVE_WRITER: list[tuple[ServiceDescriptor, dict[str, Role]]] = [
    (
        GATEWAY,
        {
            "UpdateAgent": ADMIN,
            "MergeContacts": ADMIN,
            "UnmergeContact": ADMIN,
            "RetryJob": ADMIN,
            "CancelJob": ADMIN,
            "Reindex": ADMIN,
            "GetReindex": ADMIN,
            "GetIndexStatus": OPERATOR,
            "CreateApiKey": ADMIN,
            "GetApiKey": ADMIN,
            "ListApiKeys": ADMIN,
            "RotateApiKey": ADMIN,
            "RevokeApiKey": ADMIN,
            "ListApiKeyChanges": ADMIN,
        },
    ),
    (service(settings_pb2, "SettingsService"), {"UpdateSettings": ADMIN}),
    (service(policy_pb2, "PolicyService"), {"GetEffectiveSettings": SERVICE, "ReportRefusals": SERVICE}),
    (service(embedder_pb2, "EmbedderService"), {}),
    (service(episodic_pb2, "EpisodicService"), {}),
    (service(compactor_pb2, "CompactorService"), {"Enqueue": SERVICE}),
    (
        service(semantic_pb2, "SemanticService"),
        {
            "Index": SERVICE,
            "SyncMemories": SERVICE,
            "Reindex": ADMIN,
            "GetReindex": ADMIN,
            "GetIndexStatus": OPERATOR,
        },
    ),
    (
        service(upkeep_pb2, "UpkeepService"),
        dict.fromkeys(service(upkeep_pb2, "UpkeepService").methods_by_name, SERVICE),
    ),
]


@pytest.mark.parametrize(("descriptor", "above"), ABOVE_WRITER, ids=lambda each: getattr(each, "name", ""))
def test_what_an_admin_an_operator_or_a_service_alone_may_call(
    descriptor: ServiceDescriptor, above: dict[str, Role]
) -> None:
    roles = roles_of(descriptor)
    assert {name: role for name, role in roles.items() if role > WRITER} == above


def test_what_a_reader_may_call_changes_nothing_but_the_count_of_accesses() -> None:
    """A reader's call of the gateway is marked as without side effects, or recalls (S-8)."""
    marked = {
        method.name
        for method in GATEWAY.methods
        if method.GetOptions().idempotency_level == MethodOptions.NO_SIDE_EFFECTS
    }
    readers = {name for name, role in roles_of(GATEWAY).items() if role is READER}
    assert readers - marked == {"GetMemoryByKey", "Recall", "RecallConversation", "AssemblePrompt"}
    assert {"GetAgent", "ListMemories", "GetJob", "GetStatus"} <= readers
    assert readers.isdisjoint({"CreateAgent", "Remember", "RecordTurn", "Ingest", "IngestStream"})

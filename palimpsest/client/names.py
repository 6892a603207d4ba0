"""Enumerations as strings."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast

from google.protobuf.descriptor import EnumDescriptor

from palimpsest import models
from palimpsest.common.v1 import jobs_pb2, recall_pb2, resources_pb2
from palimpsest.gateway.v1 import administration_pb2, memories_pb2, prompt_pb2
from palimpsest.history.v1 import windows_pb2
from palimpsest.state.v1 import records_pb2
from palimpsest.working.v1 import context_pb2

NameT = TypeVar("NameT", bound=str)


class Names(Generic[NameT]):
    """The names of one enumeration, without their prefix, in lower case."""

    def __init__(self, enum: EnumDescriptor, prefix: str) -> None:
        self._title = prefix.removesuffix("_").replace("_", " ").lower()
        self._number_of = {
            value.name.removeprefix(prefix).lower(): value.number
            for value in enum.values
            if value.number != 0
        }
        self._name_of = {number: name for name, number in self._number_of.items()}

    def number(self, name: NameT) -> Any:
        """The number of `name`; ValueError if there is none."""
        if name not in self._number_of:
            raise ValueError(f"no {self._title} {name!r}; there are {', '.join(self._number_of)}")
        return self._number_of[name]

    def optional(self, name: NameT | None) -> Any:
        """The number of `name`; 0 for None."""
        return 0 if name is None else self.number(name)

    def name(self, number: int) -> NameT:
        """The name of `number`; one that is newer than this client in decimal; empty for 0."""
        known = self._name_of.get(number, str(number) if number else "")
        return cast(NameT, known)


ROLES: Names[models.Role] = Names(resources_pb2.Role.DESCRIPTOR, "ROLE_")
KINDS: Names[models.MemoryKind] = Names(resources_pb2.MemoryKind.DESCRIPTOR, "MEMORY_KIND_")
FACT_TYPES: Names[models.FactType] = Names(resources_pb2.FactType.DESCRIPTOR, "FACT_TYPE_")
SOURCES: Names[models.MemorySource] = Names(resources_pb2.MemorySource.DESCRIPTOR, "MEMORY_SOURCE_")
VERIFICATIONS: Names[models.Verification] = Names(resources_pb2.Verification.DESCRIPTOR, "VERIFICATION_")
UNINDEXED: Names[models.UnindexedState] = Names(resources_pb2.UnindexedState.DESCRIPTOR, "UNINDEXED_STATE_")
CHANNELS: Names[models.Channel] = Names(recall_pb2.Channel.DESCRIPTOR, "CHANNEL_")
MODES: Names[models.SearchMode] = Names(recall_pb2.SearchMode.DESCRIPTOR, "SEARCH_MODE_")
SCOPES: Names[models.SearchScope] = Names(memories_pb2.SearchScope.DESCRIPTOR, "SEARCH_SCOPE_")
LAYERS: Names[models.LayerKind] = Names(prompt_pb2.LayerKind.DESCRIPTOR, "LAYER_KIND_")
JOB_STATES: Names[models.JobState] = Names(jobs_pb2.JobState.DESCRIPTOR, "JOB_STATE_")
KEY_ROLES: Names[models.KeyRole] = Names(administration_pb2.KeyRole.DESCRIPTOR, "KEY_ROLE_")
WINDOWS: Names[models.WindowMode] = Names(windows_pb2.WindowMode.DESCRIPTOR, "WINDOW_MODE_")
CONTEXTS: Names[models.ContextKind] = Names(context_pb2.ContextKind.DESCRIPTOR, "CONTEXT_KIND_")
WRITERS: Names[models.ContextWriter] = Names(context_pb2.ContextWriter.DESCRIPTOR, "CONTEXT_WRITER_")
FIELDS: Names[models.FieldType] = Names(records_pb2.FieldType.DESCRIPTOR, "FIELD_TYPE_")

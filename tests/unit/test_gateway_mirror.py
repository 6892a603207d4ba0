"""What the gateway passes on has a place in the request and the response of the other side (SPEC X-1).

`mirrored` fails for a field that its target lacks; here every field is held against its counterpart, so that
a field added on one side only fails a test rather than a caller.
"""

from __future__ import annotations

import re
from inspect import getsource
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor
from palimpsest.compactor.v1 import compactor_pb2
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, gateway_pb2, memories_pb2
from palimpsest.semantic.v1 import semantic_pb2

from services.gateway.rpc.mirror import mirrored
from services.gateway.rpc.passed_on import PassedOn

BEHIND = {"episodic": episodic_pb2, "semantic": semantic_pb2, "compactor": compactor_pb2}
METHODS = gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"].methods_by_name
PASSED = {
    name: match.group(1)
    for name, method in vars(PassedOn).items()
    if name in METHODS and (match := re.search(rf"_backends\.(\w+)\.{name}\(", getsource(method)))
}


def missing(source: Descriptor, target: Descriptor, path: str = "") -> list[str]:
    """Fields of `source` that `target` has not, or has with another type or number of values."""
    found = []
    for field in source.fields:
        ours = target.fields_by_name.get(field.name)
        if ours is None or (field.type, field.is_repeated) != (ours.type, ours.is_repeated):
            found.append(path + field.name)
        elif field.message_type is not None and field.message_type is not ours.message_type:
            found += missing(field.message_type, ours.message_type, f"{path}{field.name}.")
    return found


def message(module: Any, name: str) -> Descriptor:
    found: Descriptor = module.DESCRIPTOR.message_types_by_name[name]
    return found


def test_the_calls_that_are_passed_on_are_known() -> None:
    assert len(PASSED) >= 20
    assert set(PASSED.values()) == set(BEHIND)


@pytest.mark.parametrize("name", sorted(PASSED))
def test_nothing_is_lost_on_the_way_there_or_back(name: str) -> None:
    behind = BEHIND[PASSED[name]]
    assert missing(METHODS[name].input_type, message(behind, f"{name}Request")) == []
    assert missing(message(behind, f"{name}Response"), METHODS[name].output_type) == []


def test_a_missing_field_would_be_seen() -> None:
    """Positive control: a remembered contact has no field of its own in Semantic's request."""
    lost = missing(memories_pb2.RememberRequest.DESCRIPTOR, semantic_pb2.RememberRequest.DESCRIPTOR)
    assert {"agent_id", "contact_id"} <= set(lost)


def test_every_kind_of_field_is_carried_over() -> None:
    request = administration_pb2.WatchJobsRequest(until_idle=True)
    request.interval.FromMilliseconds(250)
    request.filter.agent_id = "ada"
    request.filter.types.extend(["index_message", "index_memory"])
    made = mirrored(compactor_pb2.WatchJobsRequest, request)
    assert made.SerializeToString(deterministic=True) == request.SerializeToString(deterministic=True)


def test_what_is_not_set_stays_unset() -> None:
    made = mirrored(compactor_pb2.WatchJobsRequest, administration_pb2.WatchJobsRequest())
    assert not made.HasField("interval")
    assert not made.HasField("filter")


def test_a_set_field_without_a_place_is_an_error_not_a_loss() -> None:
    with pytest.raises(AttributeError):
        mirrored(episodic_pb2.GetAgentRequest, conversations_pb2.CreateAgentRequest(display_name="Ada"))

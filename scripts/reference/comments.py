"""The protos as they are generated, with the comments that only their sources have."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import Default

from services.gateway.http.routes import rule_of

PROTOS = Path(__file__).parents[2] / "protos"
FIRST = "palimpsest.gateway.v1.GatewayService"
MESSAGES, ENUMS, SERVICES = 4, 5, 6  # fields of FileDescriptorProto
FIELDS, NESTED, INNER_ENUMS, ONEOFS = 2, 3, 4, 8  # of DescriptorProto
VALUES, METHODS = 2, 2  # of EnumDescriptorProto and ServiceDescriptorProto


@dataclass(frozen=True, slots=True, kw_only=True)
class Protos:
    """What is described: services that have HTTP annotations, and comments by full name."""

    services: tuple[ServiceDescriptor, ...]
    comments: dict[str, str]


def load() -> Protos:
    """Compiles the protos; the stubs must be generated already."""
    files = [file for file in _compile().file if file.name.startswith("palimpsest/")]
    comments = {name: text for file in files for name, text in _comments(file)}
    names = []
    for file in files:
        import_module(file.name.removesuffix(".proto").replace("/", ".") + "_pb2")
        names += [f"{file.package}.{service.name}" for service in file.service]
    found = map(Default().FindServiceByName, sorted(names, key=lambda name: (name != FIRST, name)))
    offered = (service for service in found if any(map(rule_of, service.methods)))
    return Protos(services=tuple(offered), comments=comments)


def _compile() -> FileDescriptorSet:
    sources = sorted(str(path.relative_to(PROTOS)) for path in (PROTOS / "palimpsest").rglob("*.proto"))
    with tempfile.NamedTemporaryFile() as out:
        command = [sys.executable, "-m", "grpc_tools.protoc", "-I", str(PROTOS)]
        command += ["--include_source_info", f"--descriptor_set_out={out.name}", *sources]
        subprocess.run(command, check=True)
        return FileDescriptorSet.FromString(Path(out.name).read_bytes())


def _comments(file: FileDescriptorProto) -> Iterator[tuple[str, str]]:
    names = dict(_names(file))
    for location in file.source_code_info.location:
        name = names.get(tuple(location.path))
        if name and location.leading_comments:
            yield name, _joined(location.leading_comments)


def _joined(comment: str) -> str:
    """Lines of a paragraph in one; paragraphs stay apart."""
    paragraphs = "\n".join(line.strip() for line in comment.strip().split("\n")).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split("\n")) for paragraph in paragraphs)


def _names(file: FileDescriptorProto) -> Iterator[tuple[tuple[int, ...], str]]:
    """The full name of each element by its path in the file."""
    for index, message in enumerate(file.message_type):
        yield from _of_message(message, (MESSAGES, index), file.package)
    for index, enum in enumerate(file.enum_type):
        yield from _of_enum(enum, (ENUMS, index), file.package)
    for index, service in enumerate(file.service):
        name = f"{file.package}.{service.name}"
        yield (SERVICES, index), name
        for place, method in enumerate(service.method):
            yield (SERVICES, index, METHODS, place), f"{name}.{method.name}"


def _of_message(
    message: DescriptorProto, path: tuple[int, ...], scope: str
) -> Iterator[tuple[tuple[int, ...], str]]:
    name = f"{scope}.{message.name}"
    yield path, name
    for index, field in enumerate(message.field):
        yield (*path, FIELDS, index), f"{name}.{field.name}"
    for index, oneof in enumerate(message.oneof_decl):
        yield (*path, ONEOFS, index), f"{name}.{oneof.name}"
    for index, inner in enumerate(message.nested_type):
        yield from _of_message(inner, (*path, NESTED, index), name)
    for index, enum in enumerate(message.enum_type):
        yield from _of_enum(enum, (*path, INNER_ENUMS, index), name)


def _of_enum(enum: Any, path: tuple[int, ...], scope: str) -> Iterator[tuple[tuple[int, ...], str]]:
    name = f"{scope}.{enum.name}"
    yield path, name
    for index, value in enumerate(enum.value):
        yield (*path, VALUES, index), f"{name}.{value.name}"

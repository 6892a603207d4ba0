"""Messages and enums as JSON Schema (2020-12), with the bounds that protovalidate holds them to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from buf.validate import validate_pb2
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from scripts.reference.comments import Protos

F = FieldDescriptor
Schema = dict[str, Any]

KNOWN: dict[str, Schema] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"},
    "google.protobuf.FieldMask": {"type": "string", "pattern": r"^([A-Za-z0-9.]+(,[A-Za-z0-9.]+)*)?$"},
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.Value": {},
    "google.protobuf.ListValue": {"type": "array"},
    "google.protobuf.Any": {
        "type": "object",
        "properties": {"@type": {"type": "string"}},
        "required": ["@type"],
    },
}
SCALARS: dict[int, Schema] = {
    F.TYPE_STRING: {"type": "string"},
    F.TYPE_BYTES: {"type": "string", "contentEncoding": "base64"},
    F.TYPE_BOOL: {"type": "boolean"},
    F.TYPE_FLOAT: {"type": "number", "format": "float"},
    F.TYPE_DOUBLE: {"type": "number", "format": "double"},
    F.TYPE_INT32: {"type": "integer", "format": "int32"},
    F.TYPE_UINT32: {"type": "integer", "format": "uint32"},
}
LONG: Schema = {"type": ["string", "integer"], "format": "int64", "pattern": "^-?[0-9]+$"}
"""64 bits: a text in answers, as JavaScript's numbers could not hold it; either in requests."""
NUMBERS = {F.TYPE_FLOAT: "float", F.TYPE_INT32: "int32", F.TYPE_INT64: "int64"}
BOUNDS = {"lt": "exclusiveMaximum", "lte": "maximum", "gt": "exclusiveMinimum", "gte": "minimum"}


class Schemas:
    """Collects the components that are referred to."""

    def __init__(self, protos: Protos) -> None:
        self._protos = protos
        self._names: dict[str, str] = {}
        self._made: dict[str, Schema] = {}

    def components(self) -> dict[str, Schema]:
        """Those that were referred to, by name."""
        return dict(sorted(self._made.items()))

    def of_message(self, message: Descriptor) -> Schema:
        """A reference to a message."""
        if message.full_name in KNOWN:
            return dict(KNOWN[message.full_name])
        name = self._name(message)
        if name not in self._made:
            self._made[name] = {}  # it may hold itself
            self._made[name] = self.object(message.fields, self.comment(message.full_name))
        return {"$ref": f"#/components/schemas/{name}"}

    def object(self, fields: Iterable[FieldDescriptor], comment: str) -> Schema:
        """An object with these fields; none of them must be there."""
        properties = {field.json_name: self.of_field(field) for field in fields}
        return {"type": "object", "description": comment, "properties": properties}

    def of_field(self, field: FieldDescriptor) -> Schema:
        """A field with its bounds and its comment."""
        rules = rules_of(field)
        if field.is_repeated and field.message_type is not None and field.message_type.GetOptions().map_entry:
            values = self._single(field.message_type.fields_by_name["value"], validate_pb2.FieldRules())
            schema: Schema = {"type": "object", "additionalProperties": values}
        elif field.is_repeated:
            schema = {"type": "array", "items": self._single(field, rules.repeated.items)}
            _take(schema, rules.repeated, {"min_items": "minItems", "max_items": "maxItems"})
            if rules.repeated.unique:
                schema["uniqueItems"] = True
        else:
            schema = self._single(field, rules)
        return {**schema, "description": self.comment(field.full_name)}

    def comment(self, name: str) -> str:
        """The comment of an element, "" without one."""
        return self._protos.comments.get(name, "")

    def _single(self, field: FieldDescriptor, rules: validate_pb2.FieldRules) -> Schema:
        if field.message_type is not None:
            return self.of_message(field.message_type)
        if field.enum_type is not None:
            return self._of_enum(field.enum_type, set(rules.enum.not_in))
        schema = dict(SCALARS.get(field.type, LONG))
        if field.type == F.TYPE_STRING:
            _bound_text(schema, rules.string)
            if rules.ignore == validate_pb2.IGNORE_IF_ZERO_VALUE and "pattern" in schema:
                schema = {"anyOf": [schema, {"const": ""}]}
        elif field.type in NUMBERS:
            _take(schema, getattr(rules, NUMBERS[field.type]), BOUNDS)
        return schema

    def _of_enum(self, enum: EnumDescriptor, excluded: set[int]) -> Schema:
        if excluded:
            return {"type": "string", "enum": [v.name for v in enum.values if v.number not in excluded]}
        name = self._name(enum)
        if name not in self._made:
            lines = [self.comment(enum.full_name), ""]
            lines += [f"- {value.name}: {self._value(enum, value.name)}" for value in enum.values]
            names = [value.name for value in enum.values]
            self._made[name] = {"type": "string", "enum": names, "description": "\n".join(lines)}
        return {"$ref": f"#/components/schemas/{name}"}

    def _value(self, enum: EnumDescriptor, name: str) -> str:
        return self.comment(f"{enum.full_name}.{name}")

    def _name(self, element: Descriptor | EnumDescriptor) -> str:
        """Its own name, with its package's where another element has that already."""
        if element.full_name not in self._names:
            short = element.full_name.split(".v1.", 1)[-1].replace(".", "_")
            package = element.file.package.split(".")[1]
            taken = short in self._names.values()
            self._names[element.full_name] = f"{package.capitalize()}{short}" if taken else short
        return self._names[element.full_name]


def rules_of(field: FieldDescriptor) -> validate_pb2.FieldRules:
    """The rules of a field; empty ones where it has none."""
    rules: validate_pb2.FieldRules = field.GetOptions().Extensions[validate_pb2.field]
    return rules


def is_required(field: FieldDescriptor) -> bool:
    """Whether a request without it, or with nothing in it, is refused."""
    rules = rules_of(field)
    if rules.ignore or field.has_presence:
        return bool(rules.required)
    text = rules.string
    return bool(
        rules.required
        or text.min_len
        or text.min_bytes
        or text.pattern
        or rules.repeated.min_items
        or 0 in rules.enum.not_in
    )


def _bound_text(schema: Schema, rules: validate_pb2.StringRules) -> None:
    if least := rules.min_len or -(-rules.min_bytes // 4):
        schema["minLength"] = least
    if most := rules.max_len or rules.max_bytes:
        schema["maxLength"] = most
    if rules.pattern:
        schema["pattern"] = rules.pattern


def _take(schema: Schema, rules: Any, names: dict[str, str]) -> None:
    for name, keyword in names.items():
        if rules.HasField(name):
            value = getattr(rules, name)
            schema[keyword] = round(value, 6) if isinstance(value, float) else value

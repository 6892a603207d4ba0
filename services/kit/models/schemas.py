"""Whether a value is what a JSON Schema asks for (draft 2020-12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry


def acceptor(schema: Mapping[str, Any]) -> Callable[[Any], bool]:
    """A check of values against `schema`; a reference out of the schema is never fetched.

    Raises jsonschema.SchemaError for a schema that is none: a mistake in the program.
    """
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema, registry=Registry())
    return lambda value: bool(validator.is_valid(value))

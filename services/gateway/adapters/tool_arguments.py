"""What is wrong with a tool's arguments, in words that a model can act on (SPEC G-6)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from referencing import Registry

MOST_PROBLEMS = 5
SCHEMAS = 256  # of tools, those of context blocks among them
NUL = "\x00"


def problems(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    """One line a problem, by argument; the values themselves are never repeated. Empty if all is well.

    Raises jsonschema.SchemaError for a schema that is none: a mistake in the program.
    """
    found = [_words(error, schema) for error in _validator(json.dumps(schema)).iter_errors(arguments)]
    found += [f"{name}: {fault}" for name, fault in _texts(schema["properties"], arguments)]
    return list(dict.fromkeys(found))[:MOST_PROBLEMS]


@lru_cache(SCHEMAS)
def _validator(schema: str) -> Any:
    """Made once a schema: to check one takes twenty times as long as to check arguments."""
    made = json.loads(schema)
    Draft202012Validator.check_schema(made)
    return _Validator(made, registry=Registry())


def _texts(properties: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What JSON Schema can't say of texts."""
    for name, value in arguments.items():
        if name not in properties or not isinstance(value, str):
            continue
        most = properties[name].get("maxLength")
        try:
            size = len(value.encode("utf-8"))
        except UnicodeEncodeError:
            yield name, "must be valid Unicode"
            continue
        if NUL in value:
            yield name, "must not contain the character U+0000"
        if most is not None and len(value) <= most < size:
            yield name, f"must have at most {most} bytes in UTF-8"


def _pattern(
    _validator: Any, pattern: str, instance: Any, _schema: Mapping[str, Any]
) -> Iterable[ValidationError]:
    """As in ECMA: `$` is the end of the text, not the place before a line break that ends it."""
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield ValidationError("does not match")


_Validator: Any = extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]


def _words(error: ValidationError, schema: Mapping[str, Any]) -> str:
    where = ".".join(str(each) for each in error.absolute_path) or "arguments"
    bound: Any = error.validator_value
    instance: Any = error.instance
    match error.validator:
        case "additionalProperties":
            known = ", ".join(schema["properties"]) or "none at all"
            return f"arguments: there are others than this tool has ({known})"
        case "required":
            missing = [name for name in schema["required"] if name not in instance]
            return "; ".join(f"{name}: is required" for name in missing)
        case "type":
            return f"{where}: must be of type {bound}"
        case "pattern":
            return f"{where}: must match {bound}"
        case "enum":
            return f"{where}: must be one of {', '.join(map(str, bound))}"
        case "minLength" if bound == 1:
            return f"{where}: must not be empty"
        case "minLength":
            return f"{where}: must have at least {bound} characters"
        case "maxLength":
            return f"{where}: must have at most {bound} bytes in UTF-8"
        case "minimum":
            return f"{where}: must be at least {bound}"
        case "maximum":
            return f"{where}: must be at most {bound}"
        case "maxItems":
            return f"{where}: must have at most {bound} items"
        case _:
            return f"{where}: is not as the schema says"

"""The tree of errors follows the reasons of the protos (SPEC X-1)."""

from __future__ import annotations

from palimpsest.common.v1.errors_pb2 import ErrorReason

import palimpsest
from palimpsest import errors


def test_every_reason_of_the_protos_has_a_class() -> None:
    names = {value.name.removeprefix("ERROR_REASON_") for value in ErrorReason.DESCRIPTOR.values}
    assert set(errors.CLASS_OF_REASON) == names - {"UNSPECIFIED"}


def test_an_error_says_what_is_wrong_even_without_a_message() -> None:
    assert (
        str(errors.NotFoundError()) == "What the request names does not exist, or is out of this key's reach."
    )
    assert str(errors.NotFoundError("no such agent")) == "no such agent"


def test_classes_group_what_callers_handle_alike() -> None:
    assert issubclass(errors.ExistsError, errors.ConflictError)
    assert issubclass(errors.TextTooLongError, errors.InvalidArgumentError)
    assert issubclass(errors.UnreachableError, errors.UnavailableError)
    assert all(issubclass(kind, palimpsest.PalimpsestError) for kind in errors.CLASS_OF_REASON.values())

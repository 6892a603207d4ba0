"""Help is fast, and importing the package for its stubs brings no client along."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"grpc", "rich", "google.protobuf", "services", "numpy"}


def imported(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('\\n'.join(sys.modules), file=sys.stderr)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.splitlines()) & HEAVY


@pytest.mark.parametrize("code", ["import palimpsest", "from palimpsest.cli.main import main"])
def test_what_is_not_needed_is_not_imported(code: str) -> None:
    assert imported(code) == set()


def test_help_imports_no_command() -> None:
    code = (
        "import palimpsest.cli.main as m\n"
        "try: m.main(['--help'], standalone_mode=False)\n"
        "except SystemExit: pass"
    )
    assert imported(code) == set()


def test_the_client_is_imported_on_first_use_without_the_services() -> None:
    assert imported("import palimpsest; palimpsest.Client") == {"grpc", "google.protobuf"}

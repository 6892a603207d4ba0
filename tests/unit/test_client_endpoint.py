"""Finding a suite: what is given, the environment, the data folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from palimpsest.endpoint import DEFAULT_TARGET, default_data_dir, resolve, running_target


@pytest.fixture
def data(tmp_path: Path) -> Path:
    publish(tmp_path, "127.0.0.1:5001", os.getpid())
    (tmp_path / "api-key").write_text("pk_file\n")
    return tmp_path


def publish(folder: Path, target: object, pid: object) -> None:
    (folder / "endpoint.json").write_text(json.dumps({"target": target, "pid": pid}))


def test_the_running_suite_is_found(data: Path) -> None:
    found = resolve(environment={"PALIMPSEST_DATA": str(data)})
    assert (found.target, found.api_key) == ("127.0.0.1:5001", "pk_file")
    assert "pk_file" not in repr(found)


def test_the_environment_wins_over_the_folder_and_arguments_over_both(data: Path) -> None:
    environment = {
        "PALIMPSEST_DATA": str(data),
        "PALIMPSEST_TARGET": "127.0.0.1:5002",
        "PALIMPSEST_API_KEY": "pk_environment",
    }
    found = resolve(environment=environment)
    assert (found.target, found.api_key) == ("127.0.0.1:5002", "pk_environment")
    found = resolve("127.0.0.1:5003", "pk_given", environment=environment)
    assert (found.target, found.api_key) == ("127.0.0.1:5003", "pk_given")
    found = resolve(data_dir=data, environment=environment)
    assert (found.target, found.api_key) == ("127.0.0.1:5001", "pk_file")


@pytest.mark.parametrize(
    ("target", "local"),
    [
        ("127.0.0.1:5001", True),
        ("localhost:1", True),
        ("[::1]:1", True),
        ("unix:/run/p.sock", True),
        ("memory.example.org:443", False),
        ("127.0.0.1.example.org:443", False),
        ("localhost", False),
    ],
)
def test_the_key_file_is_never_sent_to_another_machine(data: Path, target: str, local: bool) -> None:
    found = resolve(target, environment={"PALIMPSEST_DATA": str(data)})
    assert found.api_key == ("pk_file" if local else None)


def test_a_suite_that_ended_without_cleaning_up_is_not_found(data: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    publish(data, "127.0.0.1:5001", ended.pid)
    assert running_target(data) is None
    assert resolve(data_dir=data, environment={}).target == DEFAULT_TARGET


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"target": "x"}', '{"target": "x", "pid": "y"}'])
def test_a_damaged_file_counts_as_none(data: Path, text: str) -> None:
    assert running_target(data) is not None
    (data / "endpoint.json").write_text(text)
    assert running_target(data) is None


def test_the_default_folder_follows_the_platform() -> None:
    assert default_data_dir({"PALIMPSEST_DATA": "/x"}) == Path("/x")
    if sys.platform == "linux":
        assert default_data_dir({"XDG_DATA_HOME": "/y"}) == Path("/y/palimpsest")
        assert default_data_dir({}) == Path.home() / ".local/share/palimpsest"

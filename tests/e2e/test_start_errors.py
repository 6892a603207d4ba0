"""What keeps the suite from starting is said in one clear line, with an exit code other than 0."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.suite import Suite


def up(data: Path, *extra: str, port: int = 0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "palimpsest", "up", "--data", str(data), "--port", str(port), *extra],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """The last line of standard error; asserts that it is the one complaint."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert done.returncode not in (0, None)
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        line = complaint(up(tmp_path / "d", port=taken.getsockname()[1]))
    assert "port is in use" in line


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot write" in complaint(up(tmp_path / "file" / "data"))


def test_a_data_folder_in_use(tmp_path: Path) -> None:
    suite = Suite(tmp_path / "data")
    suite.start()
    try:
        assert "in use by another palimpsest" in complaint(up(tmp_path / "data"))
    finally:
        suite.stop()


@pytest.mark.parametrize("name", ["episodic.db", "semantic.db", "compactor.db", "gateway.db"])
def test_a_corrupt_database(tmp_path: Path, name: str) -> None:
    suite = Suite(tmp_path / "data")
    suite.start()
    suite.stop()
    (suite.data / name).write_bytes(b"this is not a database, whatever it was before" * 200)
    assert name in complaint(up(suite.data))


def test_a_model_of_another_dimension(tmp_path: Path) -> None:
    from services.embedder.bootstrap import default_model_dir

    suite = Suite(tmp_path / "data")
    suite.start()
    suite.stop()
    other = tmp_path / "model"
    shutil.copytree(default_model_dir(), other)
    manifest = json.loads((other / "manifest.json").read_text())
    (other / "manifest.json").write_text(json.dumps(manifest | {"dimension": 768}))
    line = complaint(up(suite.data, "--model", str(other)))
    assert "384" in line
    assert "768" in line
    (other / "manifest.json").write_text(json.dumps(manifest | {"revision": "another"}))
    assert "model" in complaint(up(suite.data, "--model", str(other)))


def test_a_missing_model(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "no model in" in complaint(up(tmp_path / "data", "--model", str(tmp_path / "empty")))

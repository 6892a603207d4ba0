"""The README's Python example, as it stands there, against a suite that runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.e2e.suite import Suite

README = Path(__file__).parents[2] / "README.md"


def test_the_python_example_runs(tmp_path: Path) -> None:
    example = re.search(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert example is not None
    suite = Suite(tmp_path / "data")
    suite.start()
    try:
        done = subprocess.run(
            [sys.executable, "-c", example.group(1)],
            env=os.environ | {"PALIMPSEST_DATA": str(suite.data)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        suite.stop()
    assert done.returncode == 0, done.stderr
    assert "Marta" in done.stdout
    assert "oat milk" in done.stdout

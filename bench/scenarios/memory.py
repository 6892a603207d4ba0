"""P-9: memory of the idle suite's whole process tree, over the embedding model loaded alone."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from typing import Any

import psutil
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2

from bench.result import Result
from bench.suite import embedded, gateway

ID = "P-9"
BUDGET_MB = 250.0
SETTLE_SECONDS = 5.0
ALONE = """
import sys
from pathlib import Path
from services.embedder.bootstrap import default_model_dir
from services.embedder.adapters.onnx_folder import OnnxFolder
backend = OnnxFolder.load(default_model_dir())
backend.embed_now(backend.prepare_now(["warm up"]))
print("ready", flush=True)
sys.stdin.read()
"""


def run() -> Result:
    """Proportional set size (shared pages counted by share), in MB of 10^6 bytes."""
    alone = _alone()
    with embedded() as running:
        asyncio.run(_use(running))
        time.sleep(SETTLE_SECONDS)
        tree = [psutil.Process(running.process.pid)]
        tree += tree[0].children(recursive=True)
        parts = {process.name() + f"#{index}": _pss(process) for index, process in enumerate(tree)}
    excess = sum(parts.values()) - alone
    return Result(
        id=ID,
        unit="MB",
        value=excess,
        budget=BUDGET_MB,
        ok=excess <= BUDGET_MB,
        correct=True,
        yardstick="a process that has loaded the embedding model and embedded one text",
        load="idle, after one memory was written and recalled",
        details={"model_alone": round(alone, 1), "processes": {k: round(v, 1) for k, v in parts.items()}},
    )


def _alone() -> float:
    process = subprocess.Popen(
        [sys.executable, "-c", ALONE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        if process.stdout.readline().strip() != "ready":
            raise RuntimeError("the model did not load")
        return _pss(psutil.Process(process.pid))
    finally:
        process.communicate("")


def _pss(process: psutil.Process) -> float:
    return float(process.memory_full_info().pss) / 1e6


async def _use(running: Any) -> None:
    async with gateway(running) as (stub, metadata):
        await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id="bench"), metadata=metadata)
        written = await stub.Remember(
            memories_pb2.RememberRequest(agent_id="bench", key="tea", value="prefers green tea"),
            metadata=metadata,
        )
        answer = await stub.Recall(
            memories_pb2.RecallRequest(agent_id="bench", query="tea", wait_for=[written.token]),
            metadata=metadata,
        )
        assert answer.hits

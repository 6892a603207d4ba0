"""What an operator's Prometheus reads (SPEC O-4, S-16, X-3)."""

from __future__ import annotations

import asyncio
import socket
import urllib.request
from pathlib import Path

from palimpsest.gateway.v1 import conversations_pb2, memories_pb2

from tests.e2e.suite import AGENT, Suite, message, prepare


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return str(answer.read().decode())


async def test_calls_and_index_lag_are_counted_without_content(tmp_path: Path) -> None:
    suite = Suite(tmp_path / "data")
    port = free_port()
    suite.start("--metrics-port", str(port))
    try:
        async with suite.client() as stub:
            await prepare(stub)
            turn = await stub.RecordTurn(
                conversations_pb2.RecordTurnRequest(
                    agent_id=AGENT, conversation_id="c", messages=[message("about wolverines")]
                )
            )
            await stub.Recall(memories_pb2.RecallRequest(agent_id=AGENT, query="q", wait_for=[turn.token]))
        text = await asyncio.to_thread(fetch, f"http://127.0.0.1:{port}/metrics")
    finally:
        assert suite.stop() == 0
    assert "palimpsest_index_lag_seconds_count 1.0" in text
    for service in ("gateway.v1.GatewayService/RecordTurn", "semantic.v1.SemanticService/Index"):
        assert f'palimpsest_rpc_seconds_count{{code="OK",method="/palimpsest.{service}"}} 1.0' in text
    assert "wolverines" not in text

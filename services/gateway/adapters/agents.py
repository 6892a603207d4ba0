"""Which agents there are, by Episodic."""

from __future__ import annotations

from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc


class EpisodicAgents:
    """The port Agents of the settings."""

    def __init__(self, episodic: episodic_pb2_grpc.EpisodicServiceAsyncStub) -> None:
        self._episodic = episodic

    async def check(self, agent_id: str) -> None:
        """See the port."""
        await self._episodic.GetAgent(episodic_pb2.GetAgentRequest(agent_id=agent_id))

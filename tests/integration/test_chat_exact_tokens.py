"""Chat and Answer count in tokens of the model that they ask, where its tokenizer is there (SPEC E-10)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from palimpsest.chat.v1 import chat_pb2
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2, prompt_pb2
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from services.gateway.domain.citations import EVIDENCE_TOKENS
from services.kit.models.settings import MAX_NAME_CHARACTERS
from tests.integration.chat_suite import ChatSuite, chat_suite, events_of, text_of
from tests.integration.embedded_suite import AGENT, said
from tests.scripted_model import completion, stream

pytestmark = pytest.mark.asyncio(loop_scope="module")
MODEL = "asked-1"
"""What the settings of a chat_suite call its model."""
BUDGET = 6000


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ChatSuite]:
    """Each character is a token of the model's: over three times what is estimated."""
    folder = tmp_path_factory.mktemp("exact")
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.save(str(folder / "tokenizer.json"))
    with pytest.MonkeyPatch.context() as environment:
        chosen = json.dumps({MODEL: str(folder / "tokenizer.json")})
        environment.setenv("PALIMPSEST_GATEWAY_TOKENIZERS", chosen)
        environment.setenv("PALIMPSEST_EPISODIC_TOKENIZERS", chosen)
        async with chat_suite(folder / "data") as made:
            yield made


def sent(suite: ChatSuite) -> list[str]:
    """What the model was asked last."""
    return [one["content"] for one in suite.model.asked[-1].body["messages"]]


async def test_the_prompt_of_a_chat_fits_its_budget_in_tokens_of_the_model(suite: ChatSuite) -> None:
    conversation = await suite.conversation()
    messages = [said(f"{number} " + "The grey heron stands in the reeds. " * 8) for number in range(40)]
    await suite.stub.RecordTurn(
        conversations_pb2.RecordTurnRequest(agent_id=AGENT, conversation_id=conversation, messages=messages)
    )
    estimated = await suite.stub.AssemblePrompt(
        prompt_pb2.AssemblePromptRequest(
            agent_id=AGENT, conversation_id=conversation, message="And now?", budget_tokens=BUDGET
        )
    )
    assert len(estimated.text) > BUDGET, "the control: by the estimate more characters fit"
    suite.model.script = [stream("It flies.")]
    await events_of(suite.chat(conversation, "And now?", budget_tokens=BUDGET))
    assert BUDGET / 2 < len("".join(sent(suite))) <= BUDGET


async def test_the_evidence_of_an_answer_fits_in_tokens_of_the_model(suite: ChatSuite) -> None:
    """G-8."""
    tokens = []
    for number in range(10):
        value = f"Heron {number}: " + f"fish{number} " * 200
        request = memories_pb2.RememberRequest(agent_id=AGENT, key=f"heron.{number}", value=value)
        tokens.append((await suite.stub.Remember(request)).token)
    suite.model.script = [completion("Fish [1].")]
    found = await suite.stub.Answer(
        chat_pb2.AnswerRequest(agent_id=AGENT, query="What do herons eat?", limit=10, wait_for=tokens)
    )
    assert len(found.evidence) == 10
    assert found.text == "Fish [1]."
    (evidence,) = [text for text in sent(suite) if "evidence [1]" in text]
    assert "evidence [2]" in evidence
    assert len(evidence) < EVIDENCE_TOKENS + 100, "what doesn't fit is left out"


async def test_a_model_with_the_longest_name_is_talked_with(tmp_path: Path) -> None:
    """J-16: prompts and windows are asked for by any name that the settings let through."""
    name = "m" * MAX_NAME_CHARACTERS
    async with chat_suite(tmp_path / "data", name=name) as suite:
        place = await suite.conversation()
        suite.model.script = [stream("It flies.")]
        assert text_of(await events_of(suite.chat(place, "And now?"))) == "It flies."
        assert [asked.body["model"] for asked in suite.model.asked] == [name]
        prompt = await suite.stub.AssemblePrompt(
            prompt_pb2.AssemblePromptRequest(
                agent_id=AGENT, conversation_id=place, message="What flies?", model=name
            )
        )
        assert "It flies." in prompt.text

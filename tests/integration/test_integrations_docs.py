"""The examples of docs/integrations.md, as they stand there, and what they print."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import Model, ModelResponse, Usage
from llama_index.core.llms.mock import MockLLM
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from tests.integration.framework_suite import FrameworkSuite, framework_suite

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"
EXAMPLES = re.findall(
    r"^## ([^\n]+)\n[^#]*?```python\n(.*?)```\n+```text\n(.*?)```",
    PAGE.read_text("utf-8"),
    re.DOTALL | re.MULTILINE,
)
MODULES = {
    "langgraph": "langgraph",
    "langchain": "langchain_core",
    "openai_agents": "agents",
    "llama_index": "llama_index",
}


class OneAnswer(Model):
    """Says the same to everything."""

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        text = ResponseOutputText(type="output_text", text="Oat milk.", annotations=[], logprobs=[])
        said = ResponseOutputMessage(
            id="msg_1", type="message", role="assistant", status="completed", content=[text]
        )
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrameworkSuite]:
    with framework_suite(tmp_path_factory.mktemp("suite") / "data") as made:
        yield made


def test_every_framework_has_an_example() -> None:
    assert [name for name, _, _ in EXAMPLES] == ["LangGraph", "LangChain", "OpenAI Agents SDK", "LlamaIndex"]
    assert PAGE.read_text("utf-8").count("```python") == len(EXAMPLES)


@pytest.mark.parametrize(
    ("code", "printed"), [example[1:] for example in EXAMPLES], ids=[one[0] for one in EXAMPLES]
)
def test_the_examples_run(
    suite: FrameworkSuite,
    code: str,
    printed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PALIMPSEST_TARGET", suite.target)
    monkeypatch.setenv("PALIMPSEST_API_KEY", suite.key)
    capsys.readouterr()
    exec(compile(code, str(PAGE), "exec"), {"model": OneAnswer(), "llm": MockLLM()})
    lines = [line for line in capsys.readouterr().out.splitlines() if "rpc=/palimpsest" not in line]
    assert lines == printed.splitlines()


@pytest.mark.parametrize(("module", "framework"), MODULES.items())
def test_a_missing_framework_is_named_by_its_extra(module: str, framework: str) -> None:
    code = f"import sys; sys.modules[{framework!r}] = None; import palimpsest.integrations.{module}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    extra = module.replace("_", "-")
    assert f"pip install 'palimpsest[{extra}]'" in done.stderr


def test_no_framework_is_imported_by_the_client() -> None:
    code = (
        "import sys, palimpsest, palimpsest.integrations; palimpsest.Client;"
        f"print([name for name in {list(MODULES.values())} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr

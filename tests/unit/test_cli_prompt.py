"""`palimpsest prompt --format layers` shows each layer's tokens, sources and versions (SPEC G-1, K-3)."""

from __future__ import annotations

import pytest
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import prompt_pb2 as pb
from palimpsest.search.v1 import search_pb2

from palimpsest.cli.prompt import _print
from palimpsest.client import incoming

ANSWER = pb.AssemblePromptResponse(
    layers=[
        pb.Layer(kind=pb.LAYER_KIND_SYSTEM, text="s", token_count=104, budget_tokens=8000),
        pb.Layer(
            kind=pb.LAYER_KIND_FACTS,
            text="f",
            token_count=31,
            budget_tokens=131,
            memory_ids=["m1"],
            attractor_version=7,
        ),
        pb.Layer(
            kind=pb.LAYER_KIND_WORKING,
            text="w",
            token_count=12,
            budget_tokens=87,
            working=pb.WorkingSources(
                notes_version=2, task=True, turn_id="t", result_count=3, entries=["docs/k"]
            ),
        ),
        pb.Layer(
            kind=pb.LAYER_KIND_HISTORY,
            text="h",
            token_count=700,
            budget_tokens=738,
            messages=[resources_pb2.MessageRef(conversation_id="c", message_id="m")],
            overlay_ids=["o"],
            summary_version=5,
            omitted_count=2,
        ),
        pb.Layer(
            kind=pb.LAYER_KIND_RETRIEVED,
            text="r",
            token_count=93,
            budget_tokens=131,
            documents=[
                pb.DocumentSource(
                    type=search_pb2.DOCUMENT_TYPE_PAGE, document_id="b1", version=4, title="Herons"
                ),
                pb.DocumentSource(type=search_pb2.DOCUMENT_TYPE_BRANCH, document_id="b2", title="boats"),
            ],
        ),
    ],
    token_count=973,
    budget_tokens=1000,
    system_prompt_revision=3,
    exact_tokens=True,
)


def test_layers_show_tokens_sources_and_versions(capsys: pytest.CaptureFixture[str]) -> None:
    _print(incoming.prompt(ANSWER), "layers")
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "system 104 of 8000",
        "system prompt, revision 3",
        "facts 31 of 131",
        "attractor, version 7",
        "memory m1",
        "working 12 of 87",
        "the ongoing task",
        "notes, version 2",
        "entry docs/k",
        "interrupted turn t, 3 results",
        "history 700 of 738 2 messages left out",
        "rolling summary, version 5",
        "message c/m",
        "overlay o",
        "retrieved 93 of 131",
        "page b1, version 4: Herons",
        "branch b2: boats",
        "total 973 of 1000 tokens are counted",
    ]

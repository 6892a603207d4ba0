"""What a query is about, without the words that frame it (S-9, S-12)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.semantic.domain.wording import subject


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Can you give me a short summary of how the greenhouse was built?", "the greenhouse was built?"),
        ("Could you please tell me about the boiler repair", "the boiler repair"),
        ("Tell me about the boiler repair", "the boiler repair"),
        ("List all repairs of the boiler", "all repairs of the boiler"),
        (
            "How many hives did I want to move, across our conversations?",
            "How many hives did I want to move?",
        ),
        ("What did I say about bees and hives?", "What about bees and hives?"),
        (
            "Can you list the order in which we discussed various aspects of keeping bees? Mention only two.",
            "keeping bees",
        ),
        ("In our chats so far, which hive swarmed?", "which hive swarmed?"),
        ("Which repairs have we discussed so far, in order?", "Which repairs?"),
    ],
)
def test_s9_frames_are_left_out(text: str, expected: str) -> None:
    assert subject(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "When did Ann move to Leeds?",
        "Which orders did the shop list last week?",
        "What did Ann mention about her conversations with Bob?",
        "In my sessions with the therapist, what helped?",
        "Give up smoking plans",
        "How do I show a list of messages in the app?",
        "Wie war die Zusammenfassung unserer Gespräche?",
        "",
    ],
)
def test_s9_a_query_that_frames_nothing_is_left_as_it_is(text: str) -> None:
    assert subject(text) == text


@pytest.mark.parametrize(
    "text", ["Can you summarize our conversations?", "What did we discuss?", "Tell me more"]
)
def test_s9_too_little_to_search_by_is_never_left(text: str) -> None:
    assert len(subject(text).split()) > 1


@given(text=st.text(max_size=200))
def test_s9_any_text_has_a_subject_and_the_same_one_again(text: str) -> None:
    kept = subject(text)
    assert kept == subject(text)
    assert len(kept) <= len(text)
    assert bool(kept.strip()) == bool(text.strip())


@given(
    words=st.lists(
        st.sampled_from(["can", "you", "list", "our", "chats", "in", "order", "hive"]), max_size=12
    )
)
def test_s9_words_are_left_out_and_none_is_added(words: list[str]) -> None:
    rest = iter(words)
    assert all(word in rest for word in subject(" ".join(words)).split())

"""Reading by score (SPEC J-8): what a message may state, of which a small network says how likely it does.

    candidates(turn, grammar) -> list[Passage]      stretches of the text, and what each would state
    chosen(passages, scores) -> list[Fact]          the likely ones, each thing told once

The grammar understands a sentence or leaves it. This looks the other way round: any stretch after "I", "my
sister" or a name may state something, most do not, and which do is learnt from labelled turns. What the
grammar found is a candidate like others.
"""

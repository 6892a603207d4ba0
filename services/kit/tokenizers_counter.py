"""A model's own tokenizer in place of the token estimate (SPEC E-10)."""

from __future__ import annotations

from pathlib import Path

from services.kit.errors import StartupError
from services.kit.tokens import TokenCounter


def load_counter(path: Path) -> TokenCounter:
    """Counts with the tokenizer in a `tokenizer.json`: the text alone, whole, without special tokens.

    Needs the package `tokenizers`. Raises StartupError without it, and for a file that is none.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise StartupError(f"counting tokens with {path} needs the package tokenizers") from error
    if not path.is_file():
        raise StartupError(f"no tokenizer: {path} is missing")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise StartupError(f"no usable tokenizer in {path}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count

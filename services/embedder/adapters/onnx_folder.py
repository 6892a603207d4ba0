"""A model in a folder: `model.onnx`, `tokenizer.json` and, if there is one, `manifest.json` (SPEC M-5)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from services.embedder.domain.model import ModelDescription, Prepared
from services.kit.errors import DependencyDown, StartupError

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "manifest.json"
DEFAULT_MAX_TOKENS = 512  # BERT's positions, where no manifest says otherwise
PROBE = "dimension"
TOKENS_PER_RUN = 256
"""Attention grows with the square of a text, padding with a run: short runs take and hold less (P-9)."""
GIVE_BACK = ("memory.enable_memory_arena_shrinkage", "cpu:0")
"""Has a run give back what the runtime's pool took for it."""


class OnnxFolder:
    """Runs an ONNX encoder on CPU; token-level outputs are mean-pooled, all outputs are normalised.

    A run has one thread, and several runs go side by side: threads that share a run wait for each other at
    every step of it, which takes a sixth more of the processors, and far more time once these are busy.

    What a run works on lies in the runtime's own pool, which keeps it for the next one. Among what lives
    long, such as cached vectors, it would leave holes that the allocator cannot close (P-16). A text so long
    that its run passes TOKENS_PER_RUN has the pool give back what it took (P-9).
    """

    def __init__(self, session: Any, tokenizer: Any, description: ModelDescription, threads: int) -> None:
        self.description = description
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {node.name for node in session.get_inputs()}
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="onnx")
        self._once = onnxruntime.RunOptions()
        self._once.add_run_config_entry(*GIVE_BACK)

    @classmethod
    def load(cls, folder: Path, *, threads: int = 0, dimension: int | None = None) -> OnnxFolder:
        """Loads a folder; so many runs go side by side, with 0 one for each processor.

        Raises StartupError, in one line, for a folder that holds no usable model, or one whose vectors do
        not have the `dimension` asked for.
        """
        for name in (MODEL_FILE, TOKENIZER_FILE):
            if not (folder / name).is_file():
                raise StartupError(f"no model in {folder}: {name} is missing")
        manifest = _manifest(folder)
        session = load_session(folder / MODEL_FILE)
        tokenizer = load_tokenizer(folder / TOKENIZER_FILE)
        revision = manifest.get("revision") or _sha256(folder / MODEL_FILE)
        description = ModelDescription(
            name=str(manifest.get("name", folder.name)),
            dimension=0,
            max_tokens=int(manifest.get("max_tokens", DEFAULT_MAX_TOKENS)),
            revision=str(revision),
        )
        backend = cls(session, tokenizer, description, threads or _processors())
        found = backend.probe(folder)
        if dimension is not None and found != dimension:
            raise StartupError(f"the model in {folder} makes vectors of {found} values, not of {dimension}")
        declared = manifest.get("dimension", found)
        if declared != found:
            raise StartupError(
                f"the model in {folder} makes vectors of {found} values; its manifest says {declared}"
            )
        backend.description = ModelDescription(
            name=description.name,
            dimension=found,
            max_tokens=description.max_tokens,
            revision=description.revision,
        )
        return backend

    def probe(self, folder: Path) -> int:
        """Runs the model once; returns the size of its vectors."""
        try:
            return len(self.embed_now(self.prepare_now([PROBE]))[0]) // 4
        except (DependencyDown, ValueError, TypeError, IndexError) as error:
            cause = type(error.__cause__ or error).__name__
            raise StartupError(f"the model in {folder} cannot embed a text: {cause}") from error

    async def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        """Tokenises with the model's own tokenizer."""
        if sum(map(len, texts)) < 4096:
            return self.prepare_now(texts)  # a hop to a thread would take longer
        return await asyncio.to_thread(self.prepare_now, texts)

    async def embed(self, texts: Sequence[Prepared]) -> list[bytes]:
        """Runs the model in threads. Raises DependencyDown when it fails."""
        loop = asyncio.get_running_loop()
        made = await asyncio.gather(
            *(loop.run_in_executor(self._executor, self._run, part) for part in runs(texts))
        )
        return [vector for part in made for vector in part]

    async def close(self) -> None:
        """Waits for the runs under way."""
        await asyncio.to_thread(self._executor.shutdown)

    def prepare_now(self, texts: Sequence[str]) -> list[Prepared]:
        """Tokenises; special tokens count, but have no characters of their own."""
        prepared = []
        for text, encoding in zip(texts, self._tokenizer.encode_batch(list(texts)), strict=True):
            spans = tuple(
                span
                for span, special in zip(encoding.offsets, encoding.special_tokens_mask, strict=True)
                if not special
            )
            ids = tuple(encoding.ids)
            prepared.append(Prepared(text=text, token_count=len(ids), spans=spans, ids=ids))
        return prepared

    def embed_now(self, texts: Sequence[Prepared]) -> list[bytes]:
        """Runs the model over the texts, at most TOKENS_PER_RUN padded tokens in a run; in their order.

        Raises DependencyDown when the model fails.
        """
        parts = list(runs(texts))
        if len(parts) == 1:
            return self._run(parts[0])
        return [vector for made in self._executor.map(self._run, parts) for vector in made]

    def _run(self, texts: Sequence[Prepared]) -> list[bytes]:
        """One run, padded to the longest text."""
        width = max(len(text.ids) for text in texts)
        ids = np.zeros((len(texts), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(texts):
            ids[row, : len(text.ids)] = text.ids
            mask[row, : len(text.ids)] = 1
        feed = {"input_ids": ids, "attention_mask": mask}
        if "token_type_ids" in self._inputs:
            feed["token_type_ids"] = np.zeros_like(ids)
        try:
            options = self._once if ids.size > TOKENS_PER_RUN else None
            output = np.asarray(self._session.run(None, feed, options)[0], dtype=np.float32)
        except Exception as error:  # the runtime's errors share no base class
            raise DependencyDown("the model failed") from error
        if output.ndim == 3:
            weights = mask[:, :, None].astype(np.float32)
            output = (output * weights).sum(axis=1) / weights.sum(axis=1)
        norms = np.linalg.norm(output, axis=1, keepdims=True)
        unit = (output / np.maximum(norms, np.finfo(np.float32).tiny)).astype("<f4")
        return [row.tobytes() for row in unit]


def runs(texts: Sequence[Prepared]) -> Iterator[Sequence[Prepared]]:
    """Cuts a batch where padding it to its longest text would pass TOKENS_PER_RUN; never below one text."""
    start, width = 0, 0
    for index, text in enumerate(texts):
        width = max(width, len(text.ids))
        if index > start and width * (index - start + 1) > TOKENS_PER_RUN:
            yield texts[start:index]
            start, width = index, len(text.ids)
    if texts:
        yield texts[start:]


def _processors() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_session(path: Path) -> Any:
    """A network whose runs have one thread each. Raises StartupError."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = True  # the pool; see OnnxFolder
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise StartupError(f"{path} is not a model that can be loaded: {type(error).__name__}") from error


def load_tokenizer(path: Path) -> Any:
    """A tokenizer that neither cuts nor pads. Raises StartupError."""
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise StartupError(f"{path} is not a tokenizer: {type(error).__name__}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST_FILE
    if not path.is_file():
        return {}
    try:
        manifest = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise StartupError(f"{path} is not JSON") from error
    if not isinstance(manifest, dict):
        raise StartupError(f"{path} is not a JSON object")
    return manifest


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()

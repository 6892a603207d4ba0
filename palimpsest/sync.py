"""The client for code without an event loop: the asynchronous one, run in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import grpc

from palimpsest.client import DEFAULT_AGENT, AsyncClient
from palimpsest.client.policy import RetryPolicy

P = ParamSpec("P")
R = TypeVar("R")


class _LoopThread:
    """An event loop in a background thread, ended by `stop`."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._background: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._serve, name="palimpsest-client", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        """The result of a coroutine, awaited in the loop; an interrupt of the caller cancels it."""
        if self._loop.is_closed() or threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError(
                "the client is closed" if self._loop.is_closed() else "called from its own loop"
            )
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise RuntimeError("the client was closed during the call") from None
        finally:
            future.cancel()

    async def run_from(self, work: Coroutine[Any, Any, R]) -> R:
        """As `run`, awaited in another event loop, which goes on meanwhile."""
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("the client is closed")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if caller is not None and caller.cancelling():
                raise
            raise RuntimeError("the client was closed during the call") from None

    def clean_up(self, work: Coroutine[Any, Any, None]) -> None:
        """Awaits a coroutine wherever this is called: the collector may do so in the loop's own thread."""
        if self._loop.is_closed():
            work.close()
        elif threading.current_thread() is self._thread:
            task = self._loop.create_task(work)
            self._background.add(task)
            task.add_done_callback(self._background.discard)
        else:
            self.run(work)

    def stop(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Cancels what runs, awaits `last`, and ends the thread. Again is no change."""
        if self._loop.is_closed():
            return
        ending = asyncio.run_coroutine_threadsafe(self._wind_up(last), self._loop)
        ending.add_done_callback(lambda _: self._loop.call_soon_threadsafe(self._loop.stop))
        if threading.current_thread() is not self._thread:
            self._thread.join()

    async def _wind_up(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await last()
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()


def _blocking(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Client, P], R]:
    """The method of AsyncClient, with the same parameters, that returns when it is done."""

    @wraps(method)
    def call(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._loop.run(method(self._client, *args, **kwargs))

    return call


def _iterating(
    method: Callable[Concatenate[AsyncClient, P], AsyncIterator[R]],
) -> Callable[Concatenate[Client, P], Iterator[R]]:
    """The method of AsyncClient, with the same parameters, as a plain iterator."""

    @wraps(method)
    def call(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        return self._iterate(method(self._client, *args, **kwargs))

    return call


class Client:
    """AsyncClient for code without an event loop; see there. Threads may share one.

    Every method has the parameters, the result and the errors of its namesake.
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        api_key: str | None = None,
        agent: str = DEFAULT_AGENT,
        timeout: float | None = None,
        retries: RetryPolicy | None = None,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        self._client = AsyncClient(
            target, api_key=api_key, agent=agent, timeout=timeout, retries=retries, credentials=credentials
        )
        self._loop = _LoopThread()
        # Also runs when the client is collected or the interpreter ends without close().
        self._end = weakref.finalize(self, self._loop.stop, self._client.close)

    @property
    def target(self) -> str:
        """Where it connects to."""
        return self._client.target

    @property
    def agent(self) -> str:
        """The agent that calls are about."""
        return self._client.agent

    def with_agent(self, agent: str) -> Client:
        """A client for another agent over the same connection; closing either closes both."""
        other = Client.__new__(Client)
        other._client, other._loop, other._end = self._client.with_agent(agent), self._loop, self._end
        other._owner = self
        return other

    _owner: Client | None = None
    """Keeps the client that owns the loop from being collected."""

    def run(self, work: Callable[[AsyncClient], Coroutine[Any, Any, R]]) -> R:
        """The result of `work`, which is given the asynchronous client and awaited in its loop."""
        return self._loop.run(work(self._client))

    async def run_async(self, work: Callable[[AsyncClient], Coroutine[Any, Any, R]]) -> R:
        """As `run`, for code that has an event loop of its own."""
        return await self._loop.run_from(work(self._client))

    def close(self) -> None:
        """Ends running calls, the connection and the thread. Again is no change."""
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _iterate(self, items: AsyncIterator[R]) -> Iterator[R]:
        try:
            while True:
                try:
                    yield self._loop.run(_next(items))
                except StopAsyncIteration:
                    return
        finally:
            self._loop.clean_up(_finish(items))

    create_agent = _blocking(AsyncClient.create_agent)
    get_agent = _blocking(AsyncClient.get_agent)
    agents = _iterating(AsyncClient.agents)
    update_agent = _blocking(AsyncClient.update_agent)
    resolve_contact = _blocking(AsyncClient.resolve_contact)
    get_contact = _blocking(AsyncClient.get_contact)
    contacts = _iterating(AsyncClient.contacts)
    link_identity = _blocking(AsyncClient.link_identity)
    merge_contacts = _blocking(AsyncClient.merge_contacts)
    unmerge_contact = _blocking(AsyncClient.unmerge_contact)

    create_conversation = _blocking(AsyncClient.create_conversation)
    get_conversation = _blocking(AsyncClient.get_conversation)
    conversations = _iterating(AsyncClient.conversations)
    messages = _iterating(AsyncClient.messages)
    get_message = _blocking(AsyncClient.get_message)
    record_turn = _blocking(AsyncClient.record_turn)
    ingest_chunk = _blocking(AsyncClient.ingest_chunk)
    ingest = _blocking(AsyncClient.ingest)
    ingest_stream = _iterating(AsyncClient.ingest_stream)

    window = _blocking(AsyncClient.window)
    path = _iterating(AsyncClient.path)
    branches = _blocking(AsyncClient.branches)
    switch_leaf = _blocking(AsyncClient.switch_leaf)
    fork = _blocking(AsyncClient.fork)
    render = _iterating(AsyncClient.render)
    put_overlay = _blocking(AsyncClient.put_overlay)
    overlays = _iterating(AsyncClient.overlays)
    coverage = _blocking(AsyncClient.coverage)
    watch_conversation = _iterating(AsyncClient.watch_conversation)
    record_usage = _blocking(AsyncClient.record_usage)
    usage = _blocking(AsyncClient.usage)

    notes = _blocking(AsyncClient.notes)
    set_notes = _blocking(AsyncClient.set_notes)
    append_notes = _blocking(AsyncClient.append_notes)
    task = _blocking(AsyncClient.task)
    set_task = _blocking(AsyncClient.set_task)
    clear_task = _blocking(AsyncClient.clear_task)
    save_checkpoint = _blocking(AsyncClient.save_checkpoint)
    checkpoint = _blocking(AsyncClient.checkpoint)
    delete_checkpoint = _blocking(AsyncClient.delete_checkpoint)
    system_prompt = _blocking(AsyncClient.system_prompt)
    refresh_system_prompt = _blocking(AsyncClient.refresh_system_prompt)
    working_memory = _blocking(AsyncClient.working_memory)

    put_context_block = _blocking(AsyncClient.put_context_block)
    context_block = _blocking(AsyncClient.context_block)
    context_blocks = _blocking(AsyncClient.context_blocks)
    delete_context_block = _blocking(AsyncClient.delete_context_block)
    set_context = _blocking(AsyncClient.set_context)
    put_context_entry = _blocking(AsyncClient.put_context_entry)
    context_entry = _blocking(AsyncClient.context_entry)
    context_entries = _iterating(AsyncClient.context_entries)
    delete_context_entry = _blocking(AsyncClient.delete_context_entry)
    search_context = _blocking(AsyncClient.search_context)
    load_context = _blocking(AsyncClient.load_context)
    unload_context = _blocking(AsyncClient.unload_context)
    context_tools = _blocking(AsyncClient.context_tools)

    search_documents = _blocking(AsyncClient.search_documents)
    list_tools = _blocking(AsyncClient.list_tools)
    call_tool = _blocking(AsyncClient.call_tool)

    state = _blocking(AsyncClient.state)
    set_state = _blocking(AsyncClient.set_state)
    delete_state = _blocking(AsyncClient.delete_state)
    watch_state = _iterating(AsyncClient.watch_state)
    put_collection = _blocking(AsyncClient.put_collection)
    collection = _blocking(AsyncClient.collection)
    collections = _iterating(AsyncClient.collections)
    delete_collection = _blocking(AsyncClient.delete_collection)
    put_record = _blocking(AsyncClient.put_record)
    record = _blocking(AsyncClient.record)
    delete_record = _blocking(AsyncClient.delete_record)
    records = _iterating(AsyncClient.records)

    summary = _blocking(AsyncClient.summary)
    summary_versions = _iterating(AsyncClient.summary_versions)
    correct_summary = _blocking(AsyncClient.correct_summary)
    rebuild_documents = _blocking(AsyncClient.rebuild_documents)

    basins = _blocking(AsyncClient.basins)
    attractor = _blocking(AsyncClient.attractor)
    attractor_versions = _iterating(AsyncClient.attractor_versions)
    freeze_attractor = _blocking(AsyncClient.freeze_attractor)
    unfreeze_attractor = _blocking(AsyncClient.unfreeze_attractor)
    name_basin = _blocking(AsyncClient.name_basin)
    compare_attractor = _blocking(AsyncClient.compare_attractor)

    remember = _blocking(AsyncClient.remember)
    get_memory = _blocking(AsyncClient.get_memory)
    memory = _blocking(AsyncClient.memory)
    memories = _iterating(AsyncClient.memories)
    memory_versions = _blocking(AsyncClient.memory_versions)
    memory_history = _blocking(AsyncClient.memory_history)
    undo_supersession = _blocking(AsyncClient.undo_supersession)
    contradictions = _iterating(AsyncClient.contradictions)
    resolve_contradiction = _blocking(AsyncClient.resolve_contradiction)
    pin = _blocking(AsyncClient.pin)
    forget = _blocking(AsyncClient.forget)
    recall = _blocking(AsyncClient.recall)
    recall_conversation = _blocking(AsyncClient.recall_conversation)
    wait_indexed = _blocking(AsyncClient.wait_indexed)
    assemble_prompt = _blocking(AsyncClient.assemble_prompt)
    chat = _iterating(AsyncClient.chat)
    answer = _blocking(AsyncClient.answer)

    job = _blocking(AsyncClient.job)
    jobs = _iterating(AsyncClient.jobs)
    watch_jobs = _iterating(AsyncClient.watch_jobs)
    retry_job = _blocking(AsyncClient.retry_job)
    cancel_job = _blocking(AsyncClient.cancel_job)
    derived_progress = _blocking(AsyncClient.derived_progress)
    schedules = _blocking(AsyncClient.schedules)
    trigger_schedule = _blocking(AsyncClient.trigger_schedule)
    update_schedule = _blocking(AsyncClient.update_schedule)
    status = _blocking(AsyncClient.status)
    settings = _blocking(AsyncClient.settings)
    update_settings = _blocking(AsyncClient.update_settings)
    limits = _blocking(AsyncClient.limits)
    model_spend = _blocking(AsyncClient.model_spend)
    settings_changes = _iterating(AsyncClient.settings_changes)
    data_flow_report = _blocking(AsyncClient.data_flow_report)
    reindex = _blocking(AsyncClient.reindex)
    reindex_run = _blocking(AsyncClient.reindex_run)
    watch_reindex = _iterating(AsyncClient.watch_reindex)
    index_status = _blocking(AsyncClient.index_status)
    reflections = _iterating(AsyncClient.reflections)
    goals = _iterating(AsyncClient.goals)
    learnings = _iterating(AsyncClient.learnings)
    insight = _blocking(AsyncClient.insight)
    update_goal = _blocking(AsyncClient.update_goal)
    update_insight = _blocking(AsyncClient.update_insight)
    consolidate = _blocking(AsyncClient.consolidate)
    consolidation_run = _blocking(AsyncClient.consolidation_run)
    consolidation_runs = _iterating(AsyncClient.consolidation_runs)
    undo_consolidation = _blocking(AsyncClient.undo_consolidation)
    theme_branches = _iterating(AsyncClient.theme_branches)
    theme_branch = _blocking(AsyncClient.theme_branch)
    branch_conversations = _iterating(AsyncClient.branch_conversations)
    link_conversation = _blocking(AsyncClient.link_conversation)
    merge_branches = _blocking(AsyncClient.merge_branches)
    undo_branch_merge = _blocking(AsyncClient.undo_branch_merge)
    rename_branch = _blocking(AsyncClient.rename_branch)
    split_branch = _blocking(AsyncClient.split_branch)
    merge_proposals = _iterating(AsyncClient.merge_proposals)
    resolve_merge_proposal = _blocking(AsyncClient.resolve_merge_proposal)
    wiki_page = _blocking(AsyncClient.wiki_page)
    wiki_versions = _iterating(AsyncClient.wiki_versions)
    create_key = _blocking(AsyncClient.create_key)
    key = _blocking(AsyncClient.key)
    rotate_key = _blocking(AsyncClient.rotate_key)
    keys = _iterating(AsyncClient.keys)
    revoke_key = _blocking(AsyncClient.revoke_key)
    key_changes = _iterating(AsyncClient.key_changes)


async def _next(items: AsyncIterator[R]) -> R:
    return await anext(items)


async def _finish(items: AsyncIterator[R]) -> None:
    close = getattr(items, "aclose", None)
    if close is not None:
        await close()

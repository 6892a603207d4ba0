"""Structured logs as JSON lines on standard error (SPEC O-4, X-3: no content, no keys)."""

from __future__ import annotations

import logging
import sys
import traceback

import structlog


def configure_logging(level: str = "INFO") -> None:
    """Sets up structlog once, at the start of a process."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )


def frames_of(error: BaseException) -> str:
    """Where an error was raised, for a log: its text is left out, as it may hold content (X-3)."""
    return "".join(traceback.format_tb(error.__traceback__))

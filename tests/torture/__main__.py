"""`python -m tests.torture`: kills Episodic under load, again and again; checks what it has acknowledged."""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from pathlib import Path

from tests.torture.episodic import Episodic
from tests.torture.postgres import crashing_server
from tests.torture.run import Report, Torture

BLOWS = 12  # in a round, after which everything is checked
ROUNDS = 100_000


def main() -> None:
    """Runs for about the time asked for; exits with an error when something acknowledged was not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    stores = ["sqlite", "postgres"] if options.store == "both" else [options.store]
    for store in stores:
        print(f"{store}: {options.seconds / len(stores):g} s, seed {options.seed}", flush=True)
        until = time.monotonic() + options.seconds / len(stores)
        print(f"{store}: {_torture(store, options.seed, until)}", flush=True)


def _torture(store: str, seed: int, until: float) -> Report:
    with tempfile.TemporaryDirectory(prefix="palimpsest-torture-") as scratch:
        if store == "sqlite":
            return _run(Torture(Episodic(Path(scratch)), seed), until)
        with crashing_server() as server:
            return _run(Torture(Episodic(Path(scratch), server.url), seed, server), until)


def _run(torture: Torture, until: float) -> Report:
    try:
        return asyncio.run(torture.run(ROUNDS, BLOWS, until=until))
    finally:
        torture.stop()


if __name__ == "__main__":
    main()

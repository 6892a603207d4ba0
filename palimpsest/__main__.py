"""`python -m palimpsest` is the command line."""

from __future__ import annotations

from palimpsest.cli.main import main

main(prog_name="palimpsest")

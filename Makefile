# Everything runs in .venv, which is made on first use. `make help` lists the targets.
PYTHON ?= python3
BIN := .venv/bin
# more options of test-faults, such as --seed 7 for the random moments of a run that failed
FAULTS ?=
# test processes: one per core, and one for those that wait for a server
RUNS := $(shell expr $$(nproc 2>/dev/null || echo 1) + 1)
export PTS3H_CACHE ?= $(CURDIR)/.cache

# processes that measure mutants at a time
JOBS ?= 2

.PHONY: help setup browser test test-faults coverage mutants bounds fuzz sanitize levels audit lint types docs generate lock wheel demo serve clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

setup: .venv/ready  ## make .venv with everything the project needs

# First the files whose digests are known, no others. Then the project and what is left: torch, of which every machine
# has its own build, and on Linux the CUDA libraries that the ordinary one asks for.
# A kernel of an older build, named after one Python, would be found before the new one.
.venv/ready: pyproject.toml constraints.txt requirements.lock setup.py $(wildcard src/pts3h/kernel/c/*)
	$(PYTHON) -c 'import sys; sys.exit("pts3h needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	rm -f src/pts3h/kernel/_kernel.*.so
	$(BIN)/pip install --quiet --require-hashes --no-deps --requirement requirements.lock
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

lint: setup  ## style, which room knows which, length of files, repeated blocks, versions and digests in step
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/python tools/check_shape.py
	$(BIN)/python tools/lock.py --check

types: setup  ## mypy, strict
	$(BIN)/mypy

browser: setup  ## find Chromium for the tests of the page, or install it (as root, on Debian)
	$(BIN)/python tools/browser.py

test: setup lint types docs browser  ## all checks and tests
	$(BIN)/pytest --numprocesses $(RUNS)
	$(BIN)/pytest -m alone

test-faults: setup  ## every fault: killed processes, full disks, damaged files, hostile pictures; prints a table
	$(BIN)/pytest tests/faults --faults full --timeout 1500 --numprocesses $(shell nproc 2>/dev/null || echo 1) $(FAULTS)

# Some children run as another user, and must write there too. What is measured takes longer.
coverage: setup browser  ## which share of the library the tests run, line by line and branch by branch
	rm -rf .coverage
	mkdir -m 777 .coverage
	$(BIN)/coverage run -m pytest --numprocesses $(RUNS) --timeout 1200
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet -o .coverage/report.json
	$(BIN)/python tools/coverage_table.py .coverage/report.json

mutants: setup  ## which share of small wrong changes the tests notice; ONLY=src/pts3h/codes.py for one file
	OMP_NUM_THREADS=1 nice $(BIN)/python -m tools.mutants --jobs $(JOBS) $(if $(ONLY),--only $(ONLY))

bounds: setup  ## take each bound of the server out in turn: a test must fail without it (ten minutes)
	$(BIN)/python tools/without_bounds.py

fuzz: setup  ## 20,000 odd inputs for each parser, where make test tries a hundred (half an hour)
	$(BIN)/pytest tests/fuzz --numprocesses $(RUNS) --timeout 3600 --hypothesis-profile long

sanitize: setup  ## the C kernel under address and undefined-behaviour sanitizers: its tests, random calls
	$(BIN)/python tools/sanitize.py

levels: setup  ## every instruction level of the C kernel that the processor or qemu can run, and which were not
	$(BIN)/python tools/run_levels.py

# --strict: a version of which nothing could be learned fails too. Without, it would pass where no advisory is in reach.
audit: setup  ## bandit over the library, then every pinned version against the known vulnerabilities (internet)
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive src
	$(BIN)/pip-audit --strict --progress-spinner off --disable-pip -r requirements.lock -r torch.lock || \
	    { echo "pip-audit: a known vulnerability, or the advisories are out of reach (they are on the internet)"; exit 1; }

lock: setup  ## write the digests of every version in constraints.txt into the locks (internet)
	$(BIN)/python tools/lock.py

# mkdocs must not be quiet: --quiet hides the warnings from --strict as well.
docs: setup  ## check every page and link, build the site into site/
	$(BIN)/python tools/generate_docs.py --check
	$(BIN)/python tools/check_links.py
	$(BIN)/mkdocs build --strict

generate: setup  ## write the pages that are made from the code
	$(BIN)/python tools/generate_docs.py

wheel: setup  ## build the wheel into dist/, try it in empty environments, with torch and without, write its SBOM beside it
	rm -rf build dist
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/python tools/try_wheel.py dist

demo: setup  ## train PTS3H and its baselines on CIFAR-10, print the table, write the gallery
	$(BIN)/pts3h demo --out demo-output

serve: setup  ## open the search page on 2,000 pictures of CIFAR-10
	$(BIN)/python tools/demo_pictures.py demo-output/pictures
	$(BIN)/pts3h open demo-output/pictures

clean:  ## remove what can be made again (not .venv)
	rm -rf build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis demo-output .cache .coverage

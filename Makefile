# Every target sets itself up: the first one to run makes .venv, the next ones find it ready.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SOURCES := wrapper sandbox tests tools examples

.DEFAULT_GOAL := help
.PHONY: help demo test check format lint types coverage generate check-generated package lines clean

help:  ## Show what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | \
		awk -F'|' '{printf "%-24s%s\n", $$1, $$2}'

demo: $(READY)  ## Run all eight operations against the local sandbox
	@$(BIN)/python examples/tour.py

test: $(READY)  ## Run the tests
	@$(BIN)/python -m pytest -q

check: lint types coverage check-generated  ## Format, lint, types, tests with coverage, generated code: all that must hold

lint: $(READY)  ## Check format and style
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/ruff check $(SOURCES)

format: $(READY)  ## Write the format
	@$(BIN)/ruff format $(SOURCES)
	@$(BIN)/ruff check --fix $(SOURCES)

types: $(READY)  ## Check types with mypy --strict and pyright
	@$(BIN)/mypy
	@$(BIN)/basedpyright --level error

coverage: $(READY)  ## Run the tests and ask for 100 % branch coverage of wrapper/
	@$(BIN)/python -m pytest -q --cov --cov-report=term:skip-covered

generate: $(READY)  ## Write generated/ anew from openapi.yaml
	@$(BIN)/python tools/generate.py

check-generated: $(READY)  ## Fail if generated/ is not what openapi.yaml gives
	@$(BIN)/python tools/generate.py --check

package: $(READY)  ## Build sdist and wheel, install the wheel in a clean environment, and use it there
	@$(BIN)/python tools/package.py

lines: $(READY)  ## Count the lines of wrapper/
	@$(BIN)/python tools/count_lines.py

clean:  ## Remove what the targets made
	rm -rf $(VENV) dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install it, or say make PYTHON=/path/to/python"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt pip
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[sandbox]' --group development
	@touch $(READY)

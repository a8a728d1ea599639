# Every target sets itself up: it creates .venv, or adds missing packages to it.
PYTHON ?= $(shell for python in python3 python3.15 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(SCRIPTS)
# The stages of .venv, each on top of the one before: the client with its sandbox, the tools of the tests, all tools.
DEMO := $(VENV)/.demo
TEST := $(VENV)/.test
READY := $(VENV)/.ready
COMMA := ,
SOURCES := wrapper transport sandbox templates tests tools examples measure

# Tests, examples and measurements run with known environment variables, and a signal ends all their processes.
RUN = $(BIN)/python -I tools/programs/run.py

# pip installs into the environment of a target: the developer's settings of another location are ignored. Settings of
# the index stay in use: proxies, certificates, and the rest of pip's configuration.
export PIP_USER := 0
unexport PIP_TARGET PIP_PREFIX PIP_ROOT PYTHONPATH PYTHONHOME

.DEFAULT_GOAL := help
.PHONY: help demo examples test check format lint types coverage lines generate check-generated spec-diff vendor docs \
	conformance bench reliability mutants package test-all-pythons audit clean

help:
	@awk -F ':.*## ' '/^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-20s%s\n", $$1, $$2}' Makefile

##@ Try it
demo: $(DEMO)  ## Run all eight operations against the local sandbox
	@$(RUN) $(BIN)/python examples/tour.py

examples: $(READY)  ## Run all examples in less than a minute: examples/README.md lists them
	@$(RUN) $(BIN)/python -m examples

test: $(TEST)  ## Run the tests except tests/slow and tests/tools, which `make check` includes
	@$(RUN) $(BIN)/python -m pytest -q -n auto --dist worksteal --ignore tests/slow --ignore tests/tools

##@ Change it
check: lint lines  ## Run everything that must pass: lint, size of the code, types, generated code, sandbox, tests with coverage
	@$(MAKE) --no-print-directory --jobs=2 types check-generated conformance ONLY=quick
	@$(MAKE) --no-print-directory coverage

format: $(READY)  ## Format the code
	@$(BIN)/ruff format $(SOURCES)
	@$(BIN)/ruff check --fix $(SOURCES)

lint: $(READY)  ## Check format, style, the border between the packages, and workflows
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/lint-imports --no-logo --cache-dir .cache/import-linter
	@$(BIN)/zizmor --offline --quiet --no-progress .github

types: $(READY)  ## Check types with mypy --strict and pyright, and the public names with ty and pyrefly too
	@$(BIN)/mypy
	@$(BIN)/basedpyright --level error
	@$(BIN)/basedpyright --project tests/project/typing --pythonpath $(BIN)/python
	@PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright --project tests/project/typing --pythonpath $(BIN)/python
	@$(BIN)/ty check --quiet --error-on-warning --python $(VENV) tests/project/typing/consumer.py
	@$(BIN)/pyrefly check --preset strict --python-interpreter-path $(BIN)/python tests/project/typing/consumer.py
	@PATH="$(CURDIR)/$(BIN):$$PATH"; for package in itwin_platform itwin_platform_transport itwin_platform_api itwin_platform_sandbox; do \
		report=$$(basedpyright --verifytypes $$package --ignoreexternal) || { echo "$$report"; exit 1; }; \
		echo "$$package: $$(echo "$$report" | grep '^Type completeness score')"; done

coverage: $(READY)  ## Run all tests, also tests/slow, and require 100 % branch coverage of both packages
	@$(RUN) $(BIN)/python -m tests.support.redis_server
	@$(RUN) $(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder --hypothesis-profile=full --cov --cov-report=term:skip-covered

lines: $(READY)  ## Show the lines of code of each part, and fail if one exceeds its ceiling
	@$(RUN) $(BIN)/python -m tools.structure.report

docs: .venv-docs/.ready $(READY)  ## Build the documentation site into site/, also as Markdown with llms.txt; a warning is an error
	@$(BIN)/python -m tools.site.specification_page
	@.venv-docs/bin/zensical build --strict --clean
	@! grep -rEo '<(script|img|iframe|source|link) [^>]*(src|href)="?(https?:)?//[^ ">]+' site --include '*.html' || \
		{ echo "a page loads something from another site"; exit 1; }
	@$(BIN)/python -m tools.site.markdown_pages

##@ Follow a change of the service, or copy the client
generate: $(READY)  ## Generate generated/ from openapi.yaml
	@$(RUN) $(BIN)/python -m tools.generation.generate

check-generated: $(READY)  ## Fail if generated/ is out of date with openapi.yaml
	@$(RUN) $(BIN)/python -m tools.generation.generate --check

spec-diff: $(READY)  ## Show the changes of openapi.yaml since BASE=<git revision or file>, breaking changes first
	@test -n "$(BASE)" || { echo "make spec-diff BASE=<git revision or file>, such as BASE=HEAD"; exit 2; }
	@$(BIN)/python -m tools.spec.diff "$(BASE)" $(if $(NEW),"$(NEW)")

vendor: $(READY) check-generated  ## Copy the client into DEST=<folder> as package NAME=<name>, or update the copy; OVERWRITE=yes drops edits
	@test -n "$(DEST)" -a -n "$(NAME)" || { echo "make vendor DEST=../my_service/src/my_service/_vendor NAME=itwin"; exit 2; }
	@$(BIN)/mypy --no-error-summary wrapper/itwin_platform || { echo "The wrapper does not fit generated/: nothing was copied."; exit 1; }
	@$(BIN)/python -m tools.vendoring.vendor "$(DEST)" "$(NAME)" $(if $(filter yes,$(OVERWRITE)),--overwrite)

##@ Measure it
reliability: $(READY)  ## Measure retries and gates at the server, in less than ten minutes; ONLY=<names>, such as ONLY=shared
	@$(RUN) $(BIN)/python -u -m measure.promises $(ONLY)

# The program of `make bench`, and the environments that it needs.
BENCH := measure.speed.run $(if $(filter quick,$(ONLY)),--quick)
BENCH_NEEDS := ours peers sniffio rust
ifeq ($(ONLY),backoff)
BENCH := measure.speed.backoff --peers .venv-bench-backoff/bin/python
BENCH_NEEDS := backoff
endif

bench: $(READY) $(BENCH_NEEDS:%=.venv-bench-%/.ready)  ## Measure the client against others and write docs/benchmarks.md, in about twenty minutes; ONLY=quick or backoff
	@$(RUN) $(BIN)/python -m $(BENCH)

# Only the quick check needs nothing of the network: the others install packages of npm.
conformance: .venv-conformance/.ready $(if $(ONLY),,.venv-watching/.ready)  ## Test the sandbox with schemathesis and another team's client, and the client with tracers and mocks; ONLY=<check>, such as ONLY=quick
	@$(if $(filter quick,$(ONLY)),$(RUN)) .venv-conformance/bin/python -u -m measure.conformance $(ONLY)
	@$(if $(ONLY),true,$(RUN) .venv-watching/bin/python -m measure.conformance.watching)

mutants: $(READY)  ## Run mutation tests of both packages and list the surviving mutants, in about an hour; ONLY=<folder>, such as ONLY=transport/gates
	@$(RUN) $(BIN)/python -m tools.mutation $(if $(EACH),--each $(EACH)) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only "$(ONLY)")

##@ Release it
package: .venv-release/.ready  ## Build sdist and wheel, try the wheel in a clean environment and describe its components; TAG=<tag> checks version and changelog first
	@.venv-release/bin/python -m tools.release.package $(TAG)

test-all-pythons: $(TEST) .venv-release/.ready  ## Run demo, all tests and the wheel on every installed Python from 3.11; ONLY=commands runs demo and test on the others
	@PATH="$$PATH:$(CURDIR)/$(BIN)" .venv-release/bin/python -m tools.release.test_all_pythons $(ONLY)

# A requirement without a version is pinned in constraints.txt, which is audited too.
audit: .venv-release/.ready  ## Check the pinned versions of every requirements file for known vulnerabilities; needs the network
	@mkdir -p .cache; for file in constraints.txt $$(git ls-files '*requirements*.txt'); do echo "$$file:"; \
		sed -nE 's/^([A-Za-z0-9._-]+==[^ ]+).*/\1/p' $$file > .cache/audited.txt; \
		.venv-release/bin/pip-audit --requirement .cache/audited.txt --no-deps --disable-pip || exit 1; done

clean:  ## Remove everything that the targets created
	rm -rf $(VENV) .venv-* .cache dist site .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

# Create the environment of a target and install into it: $(call set-up,<arguments of pip>)
define set-up
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer was not found: install it, or run make PYTHON=/path/to/python"; exit 1; }
	@test -x $(@D)/$(SCRIPTS)/python || $(PYTHON) -I -m venv $(@D)
	@echo "Setting up $(@D) ..."
	@$(@D)/$(SCRIPTS)/python -I -m pip install --quiet --disable-pip-version-check $(1)
	@touch $@
endef

# The pip of the Python itself is enough here, and saves seconds. rich shows the tables and the progress bar.
$(DEMO): pyproject.toml constraints.txt
	$(call set-up,--constraint constraints.txt --editable '.[sandbox]' rich)

# `--group` needs a newer pip than the one of Python 3.11 to 3.13.
$(TEST): $(DEMO)
	$(call set-up,--constraint constraints.txt pip)
	$(call set-up,--constraint constraints.txt --group test)

$(READY): $(TEST)
	$(call set-up,--constraint constraints.txt --group development)

# Each of these needs packages that no user of the client needs, so it has an environment of its own.
.venv-conformance/.ready: measure/conformance/requirements.txt pyproject.toml constraints.txt
	$(call set-up,--constraint constraints.txt --editable '.[sandbox]' --requirement $<)

.venv-watching/.ready: measure/conformance/requirements-watching.txt pyproject.toml constraints.txt
	$(call set-up,--constraint constraints.txt --editable . --requirement $<)

.venv-release/.ready: tools/release/requirements.txt
	$(call set-up,--require-hashes --requirement $<)

.venv-docs/.ready: docs/requirements.txt pyproject.toml constraints.txt
	$(call set-up,--constraint constraints.txt --editable '.[sandbox]' --requirement $<)

# As users install the client: httpx imports rich if it is installed, and a development tool installs it.
.venv-bench-ours/.ready: pyproject.toml constraints.txt
	$(call set-up,--constraint constraints.txt --editable .)

.venv-bench-peers/.ready: measure/speed/requirements-peers.txt
	$(call set-up,--requirement $<)

.venv-bench-sniffio/.ready: measure/speed/requirements-sniffio.txt
	$(call set-up,--requirement $<)

# One at a time, because a package without a wheel for this Python or system must not prevent the others.
.venv-bench-rust/.ready: measure/speed/requirements-rust.txt
	$(call set-up,$$(grep '^msgspec==' $<))
	@for package in $$(grep '==' $<); do \
		$(@D)/$(SCRIPTS)/python -I -m pip install --quiet --disable-pip-version-check --only-binary :all: $$package || \
		echo "$$package has no wheel here: it is not measured"; done

.venv-bench-backoff/.ready: measure/speed/requirements-backoff-peers.txt
	$(call set-up,--requirement $<)

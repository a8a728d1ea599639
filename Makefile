# Every target sets itself up. The first target that runs creates .venv with what it needs; one that needs more adds it.
PYTHON ?= $(shell for python in python3 python3.15 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(SCRIPTS)
# What is installed in .venv, each with the one before: the client with its sandbox, the tools of the tests, and all tools.
DEMO := $(VENV)/.demo
TEST := $(VENV)/.test
READY := $(VENV)/.ready
COMMA := ,
SOURCES := wrapper transport sandbox templates tests tools examples measure

# With it, every worker and every program of a test would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo examples test check redis-server format lint types coverage generate check-generated spec-diff regeneration-drill \
	templates-diff vendor package mutants test-all-pythons lines clean \
	conformance conformance-quick bench bench-quick bench-backoff bench-paging reliability docs check-tag check-package sbom audit

help:  ## List these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | \
		awk -F'|' '{printf "%-27s%s\n", $$1, $$2}'

demo: $(DEMO)  ## Run all eight operations against the local sandbox
	@$(BIN)/python examples/tour.py

examples: $(READY)  ## Run all examples in less than a minute: examples/README.md lists them
	@$(BIN)/python examples

test: $(TEST)  ## Run the tests except tests/slow and tests/tools, which `make check` includes
	@$(BIN)/python -m pytest -q -n auto --dist worksteal --ignore tests/slow --ignore tests/tools

check: redis-server lint types lines coverage check-generated conformance-quick  ## Run everything that must pass: lint, types, tests with coverage, generated code, sandbox

redis-server: $(TEST)
	@$(BIN)/python -m tests.support.redis_server

lint: $(READY)  ## Check format, style, the border between the packages, and workflows
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/lint-imports --no-logo --cache-dir .cache/import-linter
	@$(BIN)/zizmor --offline --quiet --no-progress .github

format: $(READY)  ## Format the code
	@$(BIN)/ruff format $(SOURCES)
	@$(BIN)/ruff check --fix $(SOURCES)

types: $(READY)  ## Check types with mypy --strict and pyright, and the public names with ty and pyrefly too
	@$(BIN)/mypy
	@$(BIN)/basedpyright --level error
	@$(BIN)/basedpyright --project tests/project/typing --pythonpath $(BIN)/python
	@$(BIN)/ty check --quiet --error-on-warning --python $(VENV) tests/project/typing/consumer.py
	@$(BIN)/pyrefly check --preset strict --python-interpreter-path $(BIN)/python tests/project/typing/consumer.py
	@PATH="$(CURDIR)/$(BIN):$$PATH"; for package in itwin_platform itwin_platform_transport itwin_platform_api itwin_platform_sandbox; do \
		report=$$(basedpyright --verifytypes $$package --ignoreexternal) || { echo "$$report"; exit 1; }; \
		echo "$$package: $$(echo "$$report" | grep '^Type completeness score')"; done

coverage: $(READY)  ## Run all tests, also tests/slow, and require 100 % branch coverage of both packages
	@$(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder --hypothesis-profile=full --cov --cov-report=term:skip-covered

generate: $(READY)  ## Generate generated/ from openapi.yaml
	@$(BIN)/python -m tools.generation.generate

check-generated: $(READY)  ## Fail if generated/ differs from what openapi.yaml generates
	@$(BIN)/python -m tools.generation.generate --check

spec-diff: $(READY)  ## Show what changed in openapi.yaml since BASE=<git revision or file>, breaking changes first
	@test -n "$(BASE)" || { echo "make spec-diff BASE=<git revision or file>, such as BASE=HEAD"; exit 2; }
	@$(BIN)/python -m tools.spec.diff "$(BASE)" $(if $(NEW),"$(NEW)")

regeneration-drill: $(READY)  ## Try many changes of openapi.yaml on a copy and show what reports each, in about fifteen minutes
	@$(BIN)/python -m tools.generation.drill

templates-diff: $(READY)  ## Compare our templates with those of the pinned generator, or show its own changes SINCE=<version>
	@$(BIN)/python -m tools.generation.templates_diff $(if $(SINCE),--since "$(SINCE)")

vendor: $(READY)  ## Copy the client into DEST=<folder> as package NAME=<name>, or update the copy; OVERWRITE=yes drops edits, WITHOUT=redis leaves RedisGate out
	@test -n "$(DEST)" -a -n "$(NAME)" || { echo "make vendor DEST=../my_service/src/my_service/_vendor NAME=itwin"; exit 2; }
	@$(BIN)/python -m tools.vendoring.vendor "$(DEST)" "$(NAME)" $(if $(filter yes,$(OVERWRITE)),--overwrite) $(if $(WITHOUT),--without "$(WITHOUT)")

package: .venv-release/.ready  ## Build sdist and wheel, and try the wheel in a clean environment
	@.venv-release/bin/python -m tools.release.package

mutants: $(READY)  ## Change both packages in many small ways and list the changes that no test notices, in about an hour; ONLY=<room>, such as ONLY=transport/gates
	@$(BIN)/python -m tools.mutation $(if $(EACH),--each $(EACH)) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only "$(ONLY)")

test-all-pythons: $(TEST) .venv-release/.ready  ## Run demo, all tests and the wheel on every installed Python from 3.11; ONLY=commands runs demo and test on the others
	@PATH="$$PATH:$(CURDIR)/$(BIN)" .venv-release/bin/python -m tools.release.test_all_pythons $(ONLY)

conformance: .venv-conformance/.ready  ## Test the sandbox with schemathesis, the Prism proxy, another team's client and clients of other generators
	@.venv-conformance/bin/python -u -m measure.conformance

conformance-quick: .venv-conformance/.ready  ## Test the sandbox with a few hundred cases, without npm
	@.venv-conformance/bin/python -m measure.conformance --quick

BENCH := $(BIN)/python -m measure.speed.run --ours .venv-bench-ours/$(SCRIPTS)/python \
	--peers .venv-bench-peers/$(SCRIPTS)/python --sniffio .venv-bench-sniffio/$(SCRIPTS)/python
BENCH_READY := $(READY) .venv-bench-ours/.ready .venv-bench-peers/.ready .venv-bench-sniffio/.ready

bench: $(BENCH_READY)  ## Measure the client against others in about fifteen minutes, and write docs/benchmarks.md
	@$(BENCH) --report

bench-quick: $(BENCH_READY)  ## Measure in about two minutes, with fewer workloads and rounds
	@$(BENCH) --quick

bench-backoff: $(READY) .venv-bench-backoff/.ready  ## Compare retries with openai, githubkit, azure-core and botocore: one rate limit, one outage
	@$(BIN)/python -m measure.speed.backoff --peers .venv-bench-backoff/bin/python

reliability: $(READY)  ## Measure retries, tokens, errors and gates at the server, in about fifteen minutes; ONLY=<names>, such as ONLY=shared
	@$(BIN)/python -m measure.promises $(ONLY)

bench-paging: $(READY)  ## Measure speed and memory of listings with concurrency
	@$(BIN)/python -m measure.speed.paging

docs: .venv-docs/.ready $(READY)  ## Build the documentation site into site/; a warning is an error
	@$(BIN)/python -m tools.site.specification_page
	@.venv-docs/bin/zensical build --strict --clean
	@$(BIN)/python -m tools.site.plain_text
	@$(BIN)/python -m tools.site.check_site
	@$(BIN)/python -m tools.site.check_search

check-tag: .venv-release/.ready  ## Check that TAG=<tag>, the version and the changelog agree
	@.venv-release/bin/python -m tools.release.check_tag "$(TAG)"

check-package: .venv-release/.ready  ## Check that a package index can show dist/; run make package before
	@ls dist/*.whl > /dev/null 2>&1 || { echo "dist/ has no wheel: run make package first"; exit 2; }
	@.venv-release/bin/twine check --strict dist/*.whl dist/*.tar.gz

sbom: .venv-release/.ready  ## Write dist/sbom.cdx.json, the components that users install; run make package before
	@.venv-release/bin/python -m tools.release.sbom

# What has no version in such a file has it in constraints.txt.
audit: .venv-release/.ready  ## Check the pinned versions of every requirements file for known vulnerabilities; needs the network
	@mkdir -p .cache; for file in constraints.txt $$(git ls-files '*requirements*.txt'); do echo "$$file:"; \
		sed -nE 's/^([A-Za-z0-9._-]+==[^ ]+).*/\1/p' $$file > .cache/audited.txt; \
		.venv-release/bin/pip-audit --requirement .cache/audited.txt --no-deps --disable-pip || exit 1; done

lines: $(READY)  ## Show size and complexity of both packages beside their bars; fails on private attributes of other libraries without a record
	@$(BIN)/python -m tools.structure.report

clean:  ## Remove everything that the targets created
	rm -rf $(VENV) .venv-* .cache dist site .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

# Create the environment of a target and install into it: $(call set-up,<arguments of pip>)
define set-up
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer was not found: install it, or run make PYTHON=/path/to/python"; exit 1; }
	@test -x $(@D)/$(SCRIPTS)/python || $(PYTHON) -m venv $(@D)
	@echo "Setting up $(@D) ..."
	@$(@D)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check $(1)
	@touch $@
endef

# With the pip that the Python brings, which spares seconds: rich shows the tables and the progress bar of the demo.
$(DEMO): pyproject.toml constraints.txt
	$(call set-up,--constraint constraints.txt --editable '.[sandbox]' rich)

# Groups need a newer pip than that of Python 3.11 to 3.13.
$(TEST): $(DEMO)
	$(call set-up,--constraint constraints.txt pip)
	$(call set-up,--constraint constraints.txt --group test)

$(READY): $(TEST)
	$(call set-up,--constraint constraints.txt --group development)

# Each of these needs packages that no user of the client needs, so it has an environment of its own.
.venv-conformance/.ready: measure/conformance/requirements.txt pyproject.toml constraints.txt
	$(call set-up,--constraint constraints.txt --editable '.[sandbox]' --requirement $<)

.venv-release/.ready: tools/release/requirements.txt
	$(call set-up,--requirement $<)

.venv-docs/.ready: docs/requirements.txt pyproject.toml constraints.txt
	$(call set-up,--constraint constraints.txt --editable '.[sandbox]' --requirement $<)

# As users install the client: httpx imports rich if it is installed, and a development tool installs it.
.venv-bench-ours/.ready: pyproject.toml constraints.txt
	$(call set-up,--constraint constraints.txt --editable .)

.venv-bench-peers/.ready: measure/speed/requirements-peers.txt
	$(call set-up,--requirement $<)

.venv-bench-sniffio/.ready: measure/speed/requirements-sniffio.txt
	$(call set-up,--requirement $<)

.venv-bench-backoff/.ready: measure/speed/requirements-backoff-peers.txt
	$(call set-up,--requirement $<)

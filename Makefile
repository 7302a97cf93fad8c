# Every line below is one command; `make help` lists them. `retail --help` knows more.

PYTHON ?= python3
VENV ?= $(CURDIR)/.venv
JOBS ?= 3
BIN = "$(VENV)/bin"
READY = VENV="$(VENV)" $(PYTHON) -m infra.bootstrap
ENGINE = @docker compose version >/dev/null 2>&1 && docker info >/dev/null 2>&1 || \
	{ echo "Docker with Compose should answer, but does not. Look: docker info"; exit 1; }
COMPOSE = docker compose --env-file .env $(if $(PROFILE),--env-file $(PROFILE).env)
OFF = off false False 0 no
PIN = VENV="$(VENV)" $(PYTHON) -m infra.installer pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-header
BESIDE = --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder
RETAIL = @$(READY) && $(BIN)/retail

.DEFAULT_GOAL := help
# Packages are installed uncompiled: where Python may not keep what it compiles, it would at every start.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help up backfill status logs down reset doctor verify quality replay image up-docker down-docker bench test test-all test-docker test-fast test-pipeline check format lock
MAKEFLAGS += --no-print-directory

help: ## list the verbs
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1  |\2/p' Makefile | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'

up: ## start everything; a part: ONLY=inventory; other ports: PORT_BASE=8100
	$(RETAIL) up $(if $(ONLY),--only $(ONLY))

backfill: ## publish the world's first days at full speed: DAYS=30
	$(RETAIL) backfill $(DAYS)

status: ## show what runs, where it listens, where its log is
	$(RETAIL) status

logs: ## show the end of the logs (COMPONENT=api, FOLLOW=1)
	$(RETAIL) logs $(COMPONENT) $(if $(FOLLOW),-f)

down: ## stop everything; `make up` continues where it stopped
	$(RETAIL) down

reset: ## remove the data folder, after asking (YES=1: without)
	$(RETAIL) reset

doctor: ## check that this machine has what a start needs
	$(RETAIL) up --check

verify: ## compare every view with an independent computation
	$(RETAIL) verify

quality: ## check the lake's tables against their contracts
	$(RETAIL) verify --lake

replay: ## run changed code from offset zero, compare: PIPELINE=fraud
	$(RETAIL) replay start $(PIPELINE)

image: ## build the images of the containers
	$(ENGINE) && docker compose build broker pipelines api

up-docker: ## start the shop in containers, by .env; PROFILE=cluster
	@test -z "$(filter-out $(OFF),$(SECURE))" || test -z "$(PROFILE)$(filter-out $(OFF),$(OBSERVE))" || \
		{ echo "SECURE=on takes one broker and no Prometheus, but found PROFILE=$(PROFILE) OBSERVE=$(OBSERVE). Leave them off, or SECURE: docs/security.md"; exit 1; }
	@$(MAKE) image
	@$(COMPOSE) up --detach --wait
	@$(COMPOSE) exec -T api python -m ops.cli.welcome "$$($(COMPOSE) port api 8000)"

down-docker: ## stop the containers; their volumes stay
	$(ENGINE) && docker compose --profile '*' down

bench: ## measure the speed on this machine; more than an hour
	$(RETAIL) bench

test: ## run what finds most soonest; at once: JOBS=3
	@$(READY) && $(BIN)/pytest -m "not docker and not thorough" $(BESIDE)

test-all: ## run every test, those in containers too
	@$(READY) && $(BIN)/pytest -m "not docker" $(BESIDE)
	@$(MAKE) test-docker ALL=1

test-docker: image ## test a shop in containers; ALL=1: a cluster too
	@$(READY) && $(BIN)/pytest -m "docker$(if $(ALL),, and not thorough)"

test-fast: ## run the tests that start neither Spark nor a broker
	@$(READY) && $(BIN)/pytest -m "not thorough and not spark and not e2e and not docker" $(BESIDE)

test-pipeline: ## run the tests of one pipeline: PIPELINE=fraud
	@$(READY) && $(BIN)/pytest -m "not thorough" tests/pipelines/$(PIPELINE)

check: ## check format, lint, types, import rules, contracts
	@$(READY) && $(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/lint-imports && $(BIN)/python -m tests.frames && $(BIN)/retail contracts check

format: ## format the code
	@$(READY) && $(BIN)/ruff check --fix-only . && $(BIN)/ruff format .

lock: ## pin the packages and the jars again
	$(PIN) infra/requirements/installer.in -o infra/requirements/installer.lock
	$(PIN) infra/requirements/retail.in -o infra/requirements/retail.lock
	$(PIN) infra/requirements/flink.in -o infra/requirements/flink.lock
	@$(READY) && $(BIN)/python -m infra.jars.lock

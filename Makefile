# Plumbline: `make app` starts the page, `make test` runs the tests. Both set up what they need on their first run.

PYTHON ?= python3
PORT ?= 8501
PYTEST_ARGS ?=
# The index of torch's builds for processors alone, which pytorch.org names: without it Linux on x86-64 gets CUDA too.
TORCH_INDEX ?=

BIN := .venv/bin
# A process for each core, but at most four, since each holds its own models (about 2 GB). Who has nothing left to do takes over tests.
PYTEST := $(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist worksteal
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
TORCH = --only-binary :all: $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX) )"$$(grep '^torch==' requirements.txt)"
STOPPED := { echo "Setup did not finish. What was done is kept: run the same command again."; exit 1; }
# Written last, so that an interrupted setup is taken up again and a finished one costs nothing.
READY := .venv/.setup-done
TEST_TOOLS := .venv/.test-tools-done
PEERS := build/peers/.setup-done

# Containers often tell Python to keep no compiled modules; every process of a run would then compile the project and its tests anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: app test unit coverage coverage-all check bench setup tools stores ray rapidocr litellm peers lock licences sbom clean

app: $(READY)
	@echo "Starting Plumbline. The first page takes about 6 seconds. Open http://127.0.0.1:$(PORT) in a browser; Ctrl+C stops it."
	@$(BIN)/python -m ui.serve --port $(PORT)

test: $(TEST_TOOLS)
	@$(PYTEST) $(PYTEST_ARGS)

# What one runs while working: about two minutes on two cores. The folders of other tests are not even imported.
UNIT := $(PYTEST) -m unit $(foreach folder,adversarial e2e entrypoints hostile pages service supply,--ignore=tests/$(folder))
unit: $(TEST_TOOLS)
	@$(UNIT) $(PYTEST_ARGS)

# Every line and branch of these rooms runs in the unit tests; `[tool.coverage.run]` in pyproject.toml says what is counted.
COVERED := gating decision settings domain
comma := ,
empty :=
coverage: $(TEST_TOOLS)
	@$(UNIT) --cov --cov-report= $(PYTEST_ARGS)
	@$(BIN)/coverage report --skip-covered --show-missing --fail-under=100 \
		--include='$(subst $(empty) $(empty),$(comma),$(foreach room,$(COVERED),rag_core/$(room)/*))'

# All tests once, counted over what people run: at least 90 % of lines and branches. What child processes run is not counted.
coverage-all: $(TEST_TOOLS)
	@$(PYTEST) --cov=rag_core --cov=ui --cov=pages --cov=training --cov-report= $(PYTEST_ARGS)
	@$(BIN)/coverage report --skip-covered --fail-under=90

check: $(TEST_TOOLS)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(PYTEST) $(PYTEST_ARGS)

bench: $(TEST_TOOLS)
	@$(BIN)/python -m tests.bench

setup: $(READY)

# What tests and checks need besides.
tools: $(TEST_TOOLS)

# What vector stores in a database need, and for tests their servers and LangChain; nothing else needs it.
stores: $(TEST_TOOLS)
	@echo "Installing what stores in a database and their tests need (about 10 seconds)..."
	@$(INSTALL) --no-deps -r supply/stores.lock || $(STOPPED)

# Ray, by which several processes make documents of many PDFs; nothing else needs it.
ray: $(TEST_TOOLS)
	@echo "Installing Ray (240 MB; about 15 seconds)..."
	@$(INSTALL) --no-deps -r supply/ray.lock || $(STOPPED)

# RapidOCR's weights, by which scans can be read, and OpenCV, which runs them; nothing else needs it.
rapidocr: $(TEST_TOOLS)
	@echo "Installing RapidOCR and OpenCV (90 MB; about 10 seconds)..."
	@$(INSTALL) --no-deps -r supply/rapidocr.lock || $(STOPPED)

# LiteLLM, by which models of Anthropic, Azure, Bedrock and Vertex are asked; nothing else needs it.
litellm: $(TEST_TOOLS)
	@echo "Installing LiteLLM (260 MB; about 20 seconds)..."
	@$(INSTALL) --no-deps -r supply/litellm.lock || $(STOPPED)

# LangChain and LlamaIndex in an environment of their own, for `make bench` to measure beside Plumbline; nothing else needs it.
peers: $(PEERS)

$(PEERS): $(READY) supply/peers.lock
	@echo "Setting up LangChain and LlamaIndex in build/peers (torch again, 2.7 GB or with TORCH_INDEX 0.2; about two minutes)..."
	@rm -rf build/peers && mkdir -p build && $(BIN)/python -m venv build/peers
	@build/peers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r supply/peers.lock || $(STOPPED)
	@build/peers/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH) || $(STOPPED)
	@touch $(PEERS)
	@echo "Ready. 'make bench' now measures them too."

# Exact versions and SHA-256 of all that requirements.txt draws in; `make lock UPGRADE=--upgrade` takes the newest that fit.
lock: $(TEST_TOOLS)
	@$(BIN)/python -m supply.lock $(UPGRADE)

licences: $(TEST_TOOLS)
	@$(BIN)/python -m supply.licences

sbom: $(TEST_TOOLS)
	@$(BIN)/python -m supply.sbom

# torch comes last: all that it needs is there by then in the locked version, and pip adds only what its build needs (see SECURITY.md).
$(READY): requirements.lock
	@command -v "$(PYTHON)" >/dev/null || { \
		echo "Plumbline needs Python 3.11 to 3.14, and '$(PYTHON)' was not found. Install it, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3"; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || { \
		echo "Plumbline needs Python 3.11 to 3.14; '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1). Name another one: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	@test -e $(READY) && echo "The packages have changed since the last setup: bringing .venv up to date." || \
		echo "First run: Plumbline sets itself up in .venv. It may be interrupted and started again. Next time it starts at once."
	@echo "[1/3] Creating a Python environment (about 10 seconds)..."
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m venv --clear .venv
	@echo "[2/3] Installing the packages, each checked against its SHA-256 (about a minute)..."
	@$(INSTALL) --no-deps -r requirements.lock || $(STOPPED)
	@echo "[3/3] Installing torch, which runs the embedding model (2.7 GB with CUDA, else or with TORCH_INDEX 0.2; about a minute)..."
	@$(INSTALL) $(TORCH) || $(STOPPED)
	@$(BIN)/python -m supply.environment --remove-extra || $(STOPPED)
	@touch $(READY)
	@echo "Ready."

$(TEST_TOOLS): $(READY) requirements-test.lock
	@echo "Installing the tools of the tests (about 20 seconds)..."
	@$(INSTALL) --no-deps -r requirements-test.lock || $(STOPPED)
	@touch $(TEST_TOOLS)

# Keeps library/: those are the user's files.
clean:
	rm -rf .venv build htmlcov .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

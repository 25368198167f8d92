# Plumbline: `make app` starts the page, `make test` runs the tests. Both set up what they need on their first run.

PYTHON ?= python3
PORT ?= 8501
PYTEST_ARGS ?=

BIN := .venv/bin
# Two processes, every file of tests whole in one of them.
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadfile
# Written last, so that an interrupted setup is taken up again and a finished one costs nothing.
READY := .venv/.setup-done

.PHONY: app test check bench setup clean

app: $(READY)
	@echo "Starting Plumbline. The first page takes about 6 seconds. Open http://127.0.0.1:$(PORT) in a browser; Ctrl+C stops it."
	@$(BIN)/python -m ui.serve --port $(PORT)

test: $(READY)
	@$(PYTEST) $(PYTEST_ARGS)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(PYTEST) $(PYTEST_ARGS)

bench: $(READY)
	@$(BIN)/python -m tests.bench

setup: $(READY)

$(READY): requirements.txt
	@command -v "$(PYTHON)" >/dev/null || { \
		echo "Plumbline needs Python 3.11 or newer, and '$(PYTHON)' was not found. Install it, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3"; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Plumbline needs Python 3.11 or newer; '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1). Name a newer one: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	@echo "First run: Plumbline sets itself up in .venv. It may be interrupted and started again. Next time it starts at once."
	@echo "[1/3] Creating a Python environment (about 10 seconds)..."
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m venv --clear .venv
	@echo "[2/3] Installing torch, which runs the embedding model (a download of 200 MB or more; about a minute)..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(grep '^torch==' requirements.txt)" || { \
		echo "Setup did not finish. What was done is kept: run the same command again."; exit 1; }
	@echo "[3/3] Installing the other packages (about two minutes)..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt || { \
		echo "Setup did not finish. What was done is kept: run the same command again."; exit 1; }
	@touch $(READY)
	@echo "Ready."

# Keeps library/: those are the user's files.
clean:
	rm -rf .venv build htmlcov .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

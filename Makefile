# make demo    sample digits with the shipped model; leaves digits.png
# make test    everything that CI runs: lint, format, types, tests
# make bench   measure what README.md and docs quote and rewrite them, docs/report included (an hour or two; wants a
#              quiet machine; resumes). With fewer samples: make bench NUM=32
# make format  let ruff rewrite what it can
# make clean   remove the environment and what the tools left
#
# Needs Python 3.10 or newer and the package registry; choose another with `make PYTHON=python3.12 test`.

PYTHON ?= python3
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin

# More threads than free cores stall small tensor operations.
export OMP_NUM_THREADS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test bench format clean

demo: $(VENV)/.installed-cli
	$(BIN)/redraft sample

test: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

bench: $(VENV)/.installed-cli
	REDRAFT=$(BIN)/redraft PYTHON=$(BIN)/python benchmarks/run.sh
	$(BIN)/python benchmarks/report.py

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis digits.png

# One stamp per extra: a second run installs nothing until a listed file changes.
$(VENV)/.installed-%: pyproject.toml constraints.txt | $(VENV)/.created
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[$*]'
	@touch $@

$(VENV)/.created:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "redraft: no command '$(PYTHON)'. Install Python 3.10 or newer, or name it: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 10) or sys.exit("redraft: needs Python 3.10 or newer, but $(PYTHON) is %s. Name a newer one: make PYTHON=python3.12" % sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	@touch $@

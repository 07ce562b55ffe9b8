# Every target sets up what it needs in .venv: python3 ≥ 3.11 and make are enough.
PYTHON ?= python3
BIN := .venv/bin
SETUP := .venv/.installed
BROWSER := .venv/.browser

.PHONY: setup demo serve test test-slow test-browser bench lint schemas examples clean

setup: $(SETUP)

$(SETUP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fairshoe needs Python 3.11 or later, this is " + sys.version.split()[0])'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	@touch $@

demo: $(SETUP)  ## one whole shoe, played, proved and verified
	@$(BIN)/fairshoe demo

serve: $(SETUP)  ## the service on 127.0.0.1:8000, its store in ./fairshoe-data
	@$(BIN)/fairshoe serve

test: $(SETUP) lint  ## everything but the long proofs
	$(BIN)/python -m pytest -q -n 4 --dist worksteal -m 'not slow and not browser'

test-slow: $(SETUP)  ## the long proofs
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m slow

$(BROWSER): $(SETUP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[browser]'
	@touch $@

test-browser: $(BROWSER)  ## what needs Chromium and poppler-utils on the machine
	$(BIN)/python -m pytest -q -m browser

bench: $(SETUP)  ## speed, as ratios within one run
	$(BIN)/python -m tests.benchmarks

lint: $(SETUP)
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy

schemas: $(SETUP)  ## write the JSON Schemas anew from the code
	$(BIN)/python -m tests.write_schemas

examples: $(SETUP)  ## play the examples of the API's document anew
	$(BIN)/python -m tests.write_examples

clean:
	rm -rf .venv build dist fairshoe-data

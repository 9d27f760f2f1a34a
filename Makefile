# `make` lists the targets. Nothing here needs root, and nothing is installed outside this folder.

PYTHON ?= python3
VENV   ?= .venv
BENCH_VENV ?= .venv-bench
SPARK_PACKAGES ?= .spark-packages
# One more than there are cores, as tests often wait for a page, a server or a deadline; at most eight, as each has a
# browser and a PostgreSQL of its own.
JOBS   ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores < 7 ? cores + 1 : 8)))

PY := $(VENV)/bin/python
NODE_MODULES := tests/node_modules
PIP := $(PY) -m pip --disable-pip-version-check -qq
SOURCES := server tests

.DEFAULT_GOAL := help
.PHONY: help run demo test test-long test-spark lint python-tests client-tests chromium proxies r format screenshots pictures bench-privacy bench-intake bench-visit bench-slow bench-flood bench-results bench-live bench-reports bench-tidying bench-archive messages lock clean

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{ printf "  %-18s %s\n", $$1, $$2 }'

# --- Running -----------------------------------------------------------------

# Ctrl-C reaches the server as well as make: once the server has stopped, that is a success and not an error.
define until_interrupted
@trap 'interrupted=yes' INT; $(1); status=$$?; if [ "$$interrupted" ]; then exit 0; fi; exit $$status
endef

run: $(VENV)/.installed ## Serve Moneda on http://127.0.0.1:8000 and print a one-time sign-in link
	$(call until_interrupted,$(PY) -m server serve --sign-in-link)

demo: $(VENV)/.installed ## The same, with a demonstration survey answered by 100,000 simulated respondents
	$(call until_interrupted,$(PY) -m server demo)

# --- Checking ----------------------------------------------------------------

# Every suite runs even when an earlier one failed; the last lines say which did. Lint runs beside the tests, on the core
# that Node's tests leave idle, and says what it has to say at the end.
test: $(VENV)/.tests-installed $(NODE_MODULES)/.installed chromium proxies r ## What CI runs, but for Spark: lint, browser modules under Node, pytest
	@failed=; said=$$(mktemp); \
	$(MAKE) --no-print-directory lint >"$$said" 2>&1 & beside=$$!; \
	trap 'kill $$beside; rm -f "$$said"; exit 130' INT TERM; \
	echo "== make client-tests"; \
	$(MAKE) --no-print-directory client-tests || failed="$$failed client-tests"; \
	echo "== make python-tests"; \
	$(MAKE) --no-print-directory python-tests || failed="$$failed python-tests"; \
	echo "== make lint"; \
	wait $$beside || failed="$$failed lint"; \
	cat "$$said"; rm -f "$$said"; trap - INT TERM; \
	if [ "$$failed" ]; then echo "make test: failed:$$failed"; exit 1; fi; \
	echo "make test: everything passed"

lint: $(VENV)/.tests-installed ## Style, types and layers
	$(PY) -m ruff check $(SOURCES)
	$(PY) -m ruff format --check $(SOURCES)
	$(PY) -m mypy
	$(PY) -c 'from importlinter.cli import lint_imports_command as run; run()' --no-logo

# An hour or more. Run before a change is called finished that promises something of what these tests look at.
test-long: $(VENV)/.tests-installed $(NODE_MODULES)/.installed chromium ## The tests that can look much further do so: thousands of odd surveys, schedules, large tables; both languages, mouse and keys
	OPENBLAS_NUM_THREADS=1 MONEDA_TEST_SCALE=long $(PY) -m pytest -m scaled --numprocesses=$(JOBS) --dist=load

# PySpark is large and needs Java: it stands in a folder of its own beside .venv, and `make test` leaves its tests out.
test-spark: $(VENV)/.tests-installed $(SPARK_PACKAGES)/.installed ## The tests of Apache Spark, which need Java 17 or newer
	PYTHONPATH=$(abspath $(SPARK_PACKAGES)) $(PY) -m pytest -m spark tests/spark

client-tests: $(NODE_MODULES)/.installed ## The browser's modules under Node's test runner
	node --test --test-reporter=spec tests/client/*.test.js

# Files start in their order: the few longest first (tests/conftest.py: LONGEST), then those of the browser; short ones are left for the end.
# Where every core has its tests, threads for a matrix would only wait for each other, and no server should compile again
# what another has compiled. A few that failed are looked at again, alone (tests/support/rerun_failures.py): three passes of three, or the
# run has failed.
python-tests: $(VENV)/.tests-installed $(NODE_MODULES)/.installed chromium proxies r ## pytest, real browser included (JOBS=3 at a time, else one more than there are cores)
	@OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(PY) -m pytest --numprocesses=$(JOBS) --dist=loadfile \
	  --no-loadscope-reorder \
	  || $(PY) -m tests.support.rerun_failures $$?

# Unpacks a browser when the machine has none, or says how to get one; takes no time when there is one.
chromium: $(VENV)/.tests-installed $(NODE_MODULES)/.installed
	@$(PY) -m tests.browser.chromium

# Fetches nginx, Caddy and Tor when the machine has none, or says how to get them.
proxies: $(VENV)/.tests-installed
	@$(PY) -m tests.support.proxy_programs

# The same of R with httr2.
r: $(VENV)/.tests-installed
	@$(PY) -m tests.support.r_programs

format: $(VENV)/.tests-installed ## Rewrite Python files in the house style
	$(PY) -m ruff check --fix $(SOURCES)
	$(PY) -m ruff format $(SOURCES)

screenshots: $(VENV)/.tests-installed chromium ## Take the pictures of the README, the guides and the reports again
	$(PY) -m tests.pictures.screenshots
	$(PY) -m tests.pictures.guide_pictures
	$(PY) -m tests.pictures.report_pictures

pictures: $(VENV)/.tests-installed chromium ## Pictures of every page in its states, to look at, in pictures/; those before move to pictures-before/, and what axe finds
	$(PY) -m tests.pictures.page_pictures

bench-privacy: $(BENCH_VENV)/.installed ## Times of the privacy library beside those of its peers, which get an environment of their own
	$(BENCH_VENV)/bin/python -m tests.benchmarks.privacy

bench-reports: $(VENV)/.tests-installed ## Time and memory of a report in five formats, beside a floor of the same run
	$(PY) -m tests.benchmarks.reports

bench-intake: $(VENV)/.tests-installed ## What taking responses costs, beside a bare Flask view that answers 204
	$(PY) -m tests.benchmarks.intake

bench-visit: $(VENV)/.tests-installed chromium ## What a respondent's visit costs the server, beside the same
	$(PY) -m tests.benchmarks.visits
	$(PY) -m tests.benchmarks.first_screen

bench-slow: $(VENV)/.tests-installed ## How long others wait beside a thousand connections that stall
	$(PY) -m tests.benchmarks.slow

bench-flood: $(VENV)/.tests-installed ## How many scripted responses one address gets stored, with and without work
	$(PY) -m tests.benchmarks.flood

bench-tidying: $(VENV)/.tests-installed ## Longest waits of others while a survey is tidied
	$(PY) -m tests.benchmarks.tidying

bench-results: $(VENV)/.tests-installed ## Bytes and processor time of the first look at 100,000 responses, beside a bare page
	$(PY) -m tests.benchmarks.first_look

bench-live: $(VENV)/.tests-installed $(BENCH_VENV)/.installed ## Looking at ten million responses, beside a bare page; counting them, beside DuckDB
	$(PY) -m tests.benchmarks.live
	$(BENCH_VENV)/bin/python -m tests.benchmarks.counting

bench-archive: $(VENV)/.tests-installed $(SPARK_PACKAGES)/.installed ## Tallying archive folders of up to 10^8 responses, beside a bare scan of their Parquet
	PYTHONPATH=$(abspath $(SPARK_PACKAGES)) $(PY) -m tests.benchmarks.archive

# --- Words and versions --------------------------------------------------------

TRANSLATIONS := server/translations
LANGUAGES = $(shell $(PY) -c 'from server.output.languages import TRANSLATED; print(*TRANSLATED)')
FOR_RESPONDENTS = $(shell $(PY) -c 'from server.output.languages import FOR_RESPONDENTS; print(*FOR_RESPONDENTS)')
# Where respondents look, and what they may be refused with.
RESPONDENTS_SOURCES := $(addprefix templates/,respond base.html _headline.html errors/error.html) \
  $(addprefix server/,web/error_pages.py web/problem_texts.py web/views/respond.py web/front collect/responses \
  collect/submissions.py inputs/decoding.py study/answer_texts.py study/kinds study/by_hand/paper_form.py)
PYBABEL := $(PY) -m babel.messages.frontend --quiet
EXTRACT := $(PYBABEL) extract --mapping-file=$(TRANSLATIONS)/babel.cfg --keywords=N_ --keywords=_l --keywords=lazy_gettext \
  --project=Moneda --version=$$(sed -n 's/^__version__ = "\(.*\)"/\1/p' server/__init__.py) --copyright-holder='Moneda contributors' --add-location=file --sort-by-file
UPDATE = $(PYBABEL) update --output-dir=$(TRANSLATIONS) --locale=$$language --init-missing --no-fuzzy-matching \
  --ignore-obsolete --ignore-pot-creation-date

messages: $(VENV)/.installed ## Collect texts into the catalogue of each language and compile the catalogues
	$(EXTRACT) --keywords=E_ --output-file=$(TRANSLATIONS)/messages.pot server templates
	$(EXTRACT) --output-file=$(TRANSLATIONS)/respondents.pot $(RESPONDENTS_SOURCES)
	@for language in $(LANGUAGES); do \
	  $(UPDATE) --input-file=$(TRANSLATIONS)/messages.pot || exit 1; \
	  $(PY) -m babel.messages.frontend compile --directory=$(TRANSLATIONS) --locale=$$language --statistics || exit 1; \
	done
	@for language in $(FOR_RESPONDENTS); do $(UPDATE) --input-file=$(TRANSLATIONS)/respondents.pot || exit 1; done
	$(PY) -m tests.support.complete_catalogues $(TRANSLATIONS) $(FOR_RESPONDENTS)

UV_COMPILE = UV_CUSTOM_COMPILE_COMMAND='make lock' $(PY) -m uv --quiet --no-config pip compile --upgrade \
  --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-emit-index-url --no-emit-find-links

lock: $(VENV)/.installed ## Choose the newest versions that fit pyproject.toml and write every requirements.txt
	$(PIP) install uv
	$(UV_COMPILE) --output-file tests/requirements.txt --all-extras --group test pyproject.toml
	$(UV_COMPILE) --output-file requirements.txt --all-extras --constraints tests/requirements.txt pyproject.toml
	$(UV_COMPILE) --output-file requirements-spark.txt --group spark
	$(UV_COMPILE) --output-file docs/deploy/requirements-collecting.txt --constraints requirements.txt pyproject.toml
	$(UV_COMPILE) --output-file tests/benchmarks/requirements.txt --constraints requirements.txt tests/benchmarks/requirements.in

clean: ## Remove what was installed and built here; data stays
	rm -rf $(VENV) $(BENCH_VENV) $(SPARK_PACKAGES) $(NODE_MODULES) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find server tests -name __pycache__ -type d -prune -exec rm -rf {} +

# --- Installing ----------------------------------------------------------------
# Each step leaves a stamp, newer than the list that it installed, and is not done twice.

$(PY):
	@chosen=; found=; \
	for candidate in $(PYTHON) python3.13 python3.12 python3.11 python3; do \
	  version=$$($$candidate -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue; \
	  case $$version in 3.11|3.12|3.13) chosen=$$candidate; break;; esac; \
	  case "$$found" in *" $$candidate "*) ;; *) found="$$found $$candidate is $$version;";; esac; \
	done; \
	if [ -z "$$chosen" ]; then \
	  echo "Moneda needs Python 3.11, 3.12 or 3.13. Found:$${found:- none.} Say which to use: make PYTHON=/path/to/python3" >&2; exit 1; \
	fi; \
	echo "Making $(VENV) with Python $$version"; \
	trap 'rm -rf $(VENV); exit 1' INT TERM; \
	$$chosen -m venv --clear $(VENV) || { rm -rf $(VENV); \
	  echo "Python's own venv module failed; on Debian and Ubuntu it is the package python3-venv." >&2; exit 1; }

$(VENV)/.installed: requirements.txt | $(PY)
	@echo "Installing what Moneda needs (requirements.txt)"
	@$(PIP) install --require-hashes --requirement requirements.txt
	@sh docs/deploy/leave-out.sh $(VENV)
	@touch $@

$(VENV)/.tests-installed: tests/requirements.txt $(VENV)/.installed
	@echo "Installing what the tests need (tests/requirements.txt)"
	@$(PIP) install --require-hashes --requirement tests/requirements.txt
	@touch $@

$(BENCH_VENV)/.installed: requirements.txt tests/benchmarks/requirements.txt | $(PY)
	@echo "Installing Moneda and what it is measured against (tests/benchmarks/requirements.txt) in $(BENCH_VENV)"
	@$(PY) -m venv --clear $(BENCH_VENV)
	@$(BENCH_VENV)/bin/python -m pip --disable-pip-version-check -qq install --require-hashes \
	  --requirement requirements.txt --requirement tests/benchmarks/requirements.txt
	@touch $@

$(SPARK_PACKAGES)/.installed: requirements-spark.txt | $(PY)
	@echo "Installing PySpark (requirements-spark.txt) in $(SPARK_PACKAGES)"
	@rm -rf $(SPARK_PACKAGES)
	@$(PIP) install --require-hashes --requirement requirements-spark.txt --target $(SPARK_PACKAGES)
	@touch $@

$(NODE_MODULES)/.installed: tests/package.json tests/package-lock.json
	@node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null || { \
	  echo "The tests need Node.js 20.19 or newer with npm. Found: $$(node --version 2>/dev/null || echo none)." >&2; exit 1; }
	@echo "Installing what the browser tests need (tests/package-lock.json)"
	@cd tests && npm ci --loglevel=error --no-audit --no-fund --ignore-scripts --engine-strict=false
	@touch $@

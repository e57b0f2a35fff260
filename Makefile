# The two commands: `make demo` and `make test`. Both need only Python >= 3.10 and make.

PYTHON ?= python3
BIN := .venv/bin
DEMO ?=

.PHONY: demo test rllib campaign notebooks lint types docs installed clean

demo: .venv/train ## train Hold-up by self-play, play the tournament, write the page; options: make demo DEMO="--seed 1"
	$(BIN)/python -m heist_envs.training.demo $(DEMO)

test: .venv/dev ## the tests
	$(BIN)/python -m pytest -n 2

rllib: .venv-rllib/made ## the tests of training on Ray
	.venv-rllib/bin/python -m pytest tests/test_rllib.py

campaign: .venv/dev ## the slow comparisons over 100,000 decisions of each game; the result is committed
	( git rev-parse HEAD && HEIST_DECISIONS=100000 $(BIN)/python -m pytest -n 2 -vv --no-header \
		-k "many_random or referee_agree or runs_agree or counts_of_section" \
		tests/test_leaks.py tests/test_referees.py tests/test_determinism.py tests/test_trees.py \
	) > benchmarks/results/campaign.txt

notebooks: .venv/dev ## play the notebooks again, so that what they show is what the code does
	$(BIN)/python -m docs.jupyter

lint: .venv/dev ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: installed ## types, and which module may import which
	cd build/installed && MYPYPATH=. ../../$(BIN)/mypy --config-file ../../pyproject.toml -p heist_envs
	cd build/installed && ../../$(BIN)/lint-imports ../../pyproject.toml

docs: .venv/docs installed ## the site of docs, into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# Neither type checker nor reference can follow the folder mapping of an editable install, so they look at an installed copy.
installed: .venv/dev
	rm -rf build/bdist* build/lib build/installed
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --target build/installed .

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip setuptools --constraint constraints.txt

.venv/train: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --editable '.[train]' --constraint constraints.txt
	touch $@

.venv/dev: .venv/train
	$(BIN)/pip install --quiet --editable '.[train,dev]' --constraint constraints.txt
	touch $@

.venv/docs: .venv/dev
	$(BIN)/pip install --quiet --editable '.[train,dev,docs]' --constraint constraints.txt
	touch $@

# Ray holds Gymnasium back at an older release, so it has an environment of its own, in which all else is as in the other.
.venv-rllib/made: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-rllib
	grep -v '^gymnasium==' constraints.txt > .venv-rllib/constraints.txt
	.venv-rllib/bin/pip install --quiet --upgrade pip setuptools --constraint .venv-rllib/constraints.txt
	.venv-rllib/bin/pip install --quiet --editable '.[rllib]' pytest --constraint .venv-rllib/constraints.txt
	touch $@

clean:
	rm -rf .venv .venv-rllib build *.egg-info heist_envs/__pycache__

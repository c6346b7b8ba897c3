# `make` builds a development environment; the other targets use it.
.PHONY: all test lint check bench docs wheel prove clean

all: .venv/bin/dejalu

.venv/bin/dejalu: pyproject.toml CMakeLists.txt
	python3 -m venv .venv
	.venv/bin/pip install -q '.[dev]'
	touch $@

test: all
	scripts/test

lint: all
	scripts/lint

check: all
	scripts/check

bench: all
	.venv/bin/python bench/kernels.py

docs: all
	.venv/bin/python scripts/reference_pages
	scripts/test tests/docs

wheel: all
	.venv/bin/python -m build

prove: all
	scripts/prove main

clean:
	rm -rf build dist .venv

# `make demo` sets everything up and does the main job; `make test` sets everything up and runs all tests.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUST   := $(shell find crates -name '*.rs' -o -name '*.toml' -not -path '*/target/*') Cargo.toml Cargo.lock

# The module of pages; rustup adds the libraries of its target, where they are missing.
MODULE := python/chappe/page/core.wasm.lzma python/chappe/page/unpack.wasm.gz
TARGET := wasm32-unknown-unknown
WASM   := target/$(TARGET)/wasm
HAS_TARGET := { test -d "$$(rustc --print target-libdir --target $(TARGET) 2>&1)" || rustup -q target add $(TARGET) > /dev/null 2>&1; }
NO_TARGET  := "Without the Rust target $(TARGET) pages have no player, and wheels are not built. rustup could not add it:" \
	"with a network run \`rustup target add $(TARGET) && make wasm\`."

export CARGO_TERM_COLOR ?= auto
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += --jobs=2
endif

.PHONY: core commit demo demo-module test test-core test-nightly test-rust test-python test-quick test-layer quick-rust quick-python test-bounds bench bench-gate bench-scale bench-motion bench-sinr bench-wifi bench-study bench-pages bench-yardstick docs fuzz wasm pages-tools test-pages wheel
.PHONY: check-kernel check-live test-captures lint lint-rust lint-python clean help

help:
	@echo "make demo        build everything, reproduce ElRakabawy et al. 2005 with short runs, write a lesson that plays"
	@echo "make test        build everything, check formats, lints and types, run all tests"
	@echo "make test-core   the same without the tests of the reproductions"
	@echo "make test-nightly test what surrounds the simulator: streams, terminals, forks, memory, odd arguments, a Ray cluster"
	@echo "make test-quick  build everything, run the tests that are not marked slow, without lints"
	@echo "make test-layer  run the unit tests of a layer, LAYER (tcp), while it is edited"
	@echo "make test-captures read captures with tshark (needs tshark)"
	@echo "make check-kernel ask the kernel of this machine what its TCP does with 300 scripts (as root, a quarter of an hour)"
	@echo "make check-live  send with the kernel of this machine through simulated chains (as root, half an hour)"
	@echo "make test-bounds test the wheel with the oldest and the newest packages that it allows"
	@echo "make test-pages  open reports in Chromium and Firefox, and compare runs in pages with native ones"
	@echo "make wasm        build the simulator as a module for pages (adds the target wasm32-unknown-unknown)"
	@echo "make bench       run times compared with ns-2 (if installed)"
	@echo "make bench-gate  instructions per frame compared with the recorded baseline (needs valgrind)"
	@echo "make bench-scale random topologies compared with ns-2, and from 120 to 100,000 nodes"
	@echo "make bench-motion mobile networks compared with static networks (needs valgrind)"
	@echo "make bench-sinr  reception by SINR compared with pairwise reception (needs valgrind)"
	@echo "make bench-yardstick write reproductions/docs/performance.md: all of these in one page (needs ns-2 and valgrind)"
	@echo "make bench-wifi  802.11n: instructions per A-MPDU (needs valgrind), CPU time compared with ns-3 (if installed)"
	@echo "make bench-study overhead of a study: time of 1,000 runs, memory of 100,000"
	@echo "make bench-pages work per picture of reports in Chromium, their size, time to the first picture"
	@echo "make fuzz        fuzz properties, random runs, scenario texts and arguments of Python, MINUTES (5) each"
	@echo "make docs        build the documentation site into site/, with a gallery and the API, and check its links"
	@echo "make wheel       build an abi3 wheel, that of QUIC and that of the papers into dist/"

# Python packages of the lock file, in their own environment.
$(VENV)/ready: requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

# Parts without Python, built while the packages are fetched, with the features that the binding takes of them.
core:
	cargo build --quiet --release --locked --package chappe-core --package chappe-scenario

# The package itself and, beside it, that of the papers: editable installations of the Python parts.
$(VENV)/installed: export PIP_QUIET := 1
$(VENV)/installed: export PIP_DISABLE_PIP_VERSION_CHECK := 1
$(VENV)/installed: $(VENV)/ready $(RUST) pyproject.toml reproductions/pyproject.toml | core
	$(BIN)/maturin develop --quiet --release --locked
	$(BIN)/python -m pip install --no-deps --no-build-isolation --editable reproductions
	@touch $@

# The program for QUIC, which `make demo` does not need.
$(VENV)/quic: $(VENV)/installed
	$(BIN)/maturin develop --quiet --release --locked --manifest-path crates/quic/Cargo.toml
	@touch $@

# Files that are made of the schema and of pages: types of settings, what `chappe explain` prints, the page of settings.
GENERATED := python/chappe/typing.py python/chappe/descriptions.json docs/settings.md
$(GENERATED) &: $(VENV)/installed docs/generate.py docs/results.md docs/models.md $(wildcard docs/models/*.md) \
		$(wildcard python/chappe/scenario/*.py)
	$(BIN)/python docs/generate.py

# The commit of the build, which `chappe cite` prints: anew at each `make`, because nothing depends on it. Outside of a
# clone there is none.
commit:
	@rm -f python/chappe/commit.txt
	@test ! -e .git || git describe --always --dirty --abbrev=40 --exclude='*' >python/chappe/commit.txt || rm python/chappe/commit.txt

$(VENV)/built: $(VENV)/installed $(GENERATED) | commit
	@touch $@

demo: $(VENV)/built demo-module
	@# Runs of another version would be refused, and so would results without runs.
	@rm -rf demo
	$(BIN)/chappe paper elrakabawy2005 --quick --out demo
	@test ! -f $(firstword $(MODULE)) || $(BIN)/chappe teach hidden-terminal --quiet --out demo/hidden-terminal.html
	@echo "Open demo/index.html for the claims, the figures and the numbers behind them."
	@test ! -f $(firstword $(MODULE)) || echo "Open demo/hidden-terminal.html for a lesson that contains the simulator."

# Without the target the demo has no lesson, and says how to get it.
demo-module:
	@if $(HAS_TARGET); then $(MAKE) --no-print-directory wasm; else echo $(NO_TARGET) >&2; fi

lint: lint-rust lint-python

lint-rust:
	cargo fmt --all --check
	cargo clippy --quiet --release --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --release --workspace --no-deps --locked

lint-python: $(VENV)/built
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest chappe._core

# The simulator as a module of pages, without which reports have no player and wheels are not built; tests need none of it.
# LZMA packs the module a fifth smaller than gzip, for a page has to stay below 1 MB; browsers unpack gzip only.
wasm: $(MODULE)

$(MODULE) &: $(RUST)
	@$(HAS_TARGET) || { echo $(NO_TARGET) >&2; exit 1; }
	cargo build --quiet --locked --profile wasm --package chappe-wasm --package chappe-unpack --target $(TARGET)
	$(PYTHON) -c "import gzip, sys; sys.stdout.buffer.write(gzip.compress(sys.stdin.buffer.read(), mtime=0))" \
		< $(WASM)/chappe_unpack.wasm > python/chappe/page/unpack.wasm.gz
	$(PYTHON) -c "import lzma, sys; sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read(), lzma.FORMAT_ALONE, preset=6))" \
		< $(WASM)/chappe_wasm.wasm > python/chappe/page/core.wasm.lzma

# Reports in Debian's chromium and firefox-esr; later versions of Playwright ask of Firefox what that of Debian does not
# know. axe-core looks for barriers, nbclient runs the notebook.
PAGES := playwright==1.60.0 axe-playwright-python==0.1.8 nbclient==0.11.0 ipykernel==7.4.0
pages-tools: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PAGES)

test-pages: $(VENV)/built $(MODULE) pages-tools
	$(BIN)/pytest --numprocesses auto $(if $(ONLY),-k "$(ONLY)") \
		tests/page/in_browser.py tests/page/in_playground.py tests/page/in_notebook.py

# The documentation site, from the Markdown, the docstrings and the figures of the examples.
SITE := zensical==0.0.73 mkdocstrings-python==2.0.11
docs: $(VENV)/built $(MODULE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(SITE)
	$(BIN)/python docs/build_site.py site

# Work per picture, size, and time to the first picture.
bench-pages: $(VENV)/built $(MODULE) pages-tools
	$(BIN)/python reproductions/benches/pages.py

# The wheel is packed first, because lints and tests build the binding differently and replace the library of the wheel.
# Then Rust and Python run in parallel, because one core compiles one crate; the output of a command appears at its end.
test test-core: $(VENV)/built $(VENV)/quic
	@rm -rf $(VENV)/wheel
	$(BIN)/maturin build --quiet --release --locked --out $(VENV)/wheel
	@$(MAKE) --no-print-directory --output-sync=line test-rust test-python TREES=$(if $(filter test-core,$@),tests)
	@$(BIN)/python tests/house.py

# The same cases each time, so that a change fails only by its own effect; `make fuzz` draws other cases.
test-rust: export PROPTEST_RNG_SEED := 1794
test-rust: lint-rust
	@# Compilers cannot reach the job server of this make.
	env -u MAKEFLAGS -u MFLAGS cargo test --quiet --release --locked

# Tests of what surrounds the simulator: a change of the simulator hardly breaks them, and they take long.
NIGHTLY := tests/robustness
test-nightly: $(VENV)/built $(VENV)/quic
	$(BIN)/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder $(NIGHTLY)

# Tests start hundreds of programs: each would compile the package again.
test-python: export PYTHONDONTWRITEBYTECODE :=
test-python: lint-python
	CHAPPE_WHEEL=$(VENV)/wheel $(BIN)/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder \
		--ignore=$(NIGHTLY) $(TREES)

# Modules of crates/core/tests whose tests are slow: every setting changed, allocations counted, scenarios of a megabyte.
# The slow tests of Python have the marker `slow` (conftest.py).
SLOW_RUST := effects hostile no_alloc

test-quick: $(VENV)/built $(VENV)/quic
	@$(MAKE) --no-print-directory --output-sync=line quick-rust quick-python

quick-rust: export PROPTEST_RNG_SEED := 1794
quick-rust:
	env -u MAKEFLAGS -u MFLAGS cargo test --quiet --release --locked --package chappe-tests -- \
		$(SLOW_RUST:%=--skip %::)

quick-python: export PYTHONDONTWRITEBYTECODE :=
quick-python: $(VENV)/built
	$(BIN)/pytest -m "not slow" --numprocesses auto --dist loadfile --no-loadscope-reorder --ignore=$(NIGHTLY)

# In the profile `dev`, which compiles only changed code again, and without the package that other tests import.
LAYER ?= tcp
test-layer: export PROPTEST_RNG_SEED := 1794
test-layer:
	@# Without a test of this name, all would seem to pass.
	@test -n "$(wildcard $(LAYER:%=crates/core/src/%) $(LAYER:%=crates/core/src/%.rs))$(filter scenario,$(LAYER))" || { \
		echo "LAYER=$(LAYER) is no folder or file of crates/core/src, nor scenario" >&2; exit 2; }
	cargo test --quiet --locked --package chappe-core --lib -- $(LAYER)::

# Three hundred scripts, each asked three times over an emulated link in network namespaces; the rights of root are needed.
check-kernel:
	@mkdir -p target
	$(PYTHON) crates/core/tests/kernel/ask.py target/linux_answers.txt
	CHAPPE_KERNEL=$(CURDIR)/target/linux_answers.txt cargo test --quiet --release --locked --package chappe-tests -- \
		timeline::tcp::linux::kernel
	@cat target/linux_answers.md

# The kernel of this machine over live chains, on a machine that does nothing else: 20 rows of 4 runs of 21 s. It writes
# reproductions/docs/kernel-live.md.
check-live: $(VENV)/built
	$(BIN)/python reproductions/experiments/techniques/check_live.py

# The benches of the reproductions use those of the simulator.
bench bench-yardstick bench-motion bench-sinr bench-wifi: export PYTHONPATH := \
	$(CURDIR)/benches:$(CURDIR)/reproductions/benches/ns2

bench: $(VENV)/built
	cargo build --quiet --release --locked --example run
	$(BIN)/python benches/compare.py
	$(BIN)/python reproductions/benches/ns2/zhou.py
	$(BIN)/python reproductions/benches/ns2/wires.py
	$(BIN)/python reproductions/benches/ns2/classroom.py
	$(BIN)/python reproductions/benches/ns2/walkers.py

# The page reproductions/docs/performance.md.
bench-yardstick: $(VENV)/built
	cargo build --quiet --release --locked --example run
	$(BIN)/python reproductions/benches/yardstick.py

bench-gate:
	cargo build --quiet --release --locked --example run
	$(PYTHON) benches/gate.py

bench-scale:
	cargo build --quiet --release --locked --example run
	$(PYTHON) benches/scale.py

bench-motion:
	cargo build --quiet --release --locked --example run
	$(PYTHON) reproductions/benches/motion.py

bench-sinr:
	cargo build --quiet --release --locked --example run
	$(PYTHON) reproductions/benches/sinr.py

bench-wifi:
	cargo build --quiet --release --locked --example run
	$(PYTHON) reproductions/benches/ns3/wifi.py

bench-study: $(VENV)/built
	$(BIN)/python benches/studies/study.py
	$(BIN)/python benches/studies/many_runs.py

MINUTES ?= 5
fuzz: $(VENV)/built
	until=$$(( $$(date +%s) + $(MINUTES) * 60 )); while [ $$(date +%s) -lt $$until ]; do \
		cargo test --quiet --release --locked --package chappe-tests --test tests -- adversary properties || exit 1; done
	cd fuzz && cargo run --quiet --release --locked --no-default-features --bin runs -- \
		--seed $$(date +%s) --minutes $(MINUTES)
	mkdir -p fuzz/learned
	$(BIN)/python -c 'import chappe; print(chappe.Scenario({"extends": "ns2-2.35", "run.stop": "1 s"}).to_toml())' \
		> fuzz/learned/every-setting.toml
	cd fuzz && cargo +nightly fuzz run scenario learned corpus/scenario -- \
		-max_total_time=$$(( $(MINUTES) * 60 )) -timeout=10 -rss_limit_mb=6000 -max_len=100000 -print_final_stats=1
	$(BIN)/python fuzz/api.py --minutes $(MINUTES)

# Wireshark on the command line reads captures of runs with every kind of header.
test-captures: $(VENV)/built
	$(BIN)/pytest --numprocesses auto tests/tshark.py

# Needs the package registry: the oldest and the newest versions of what Chappe depends on.
test-bounds: $(VENV)/built
	$(BIN)/maturin build --quiet --release --locked --out dist
	$(BIN)/python tests/bounds.py dist/chappe-*.whl

wheel: $(VENV)/built $(MODULE)
	$(BIN)/maturin build --quiet --release --locked --out dist
	$(BIN)/maturin build --quiet --release --locked --manifest-path crates/quic/Cargo.toml --out dist
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist ./reproductions

clean:
	rm -rf $(VENV) target dist demo $(GENERATED) $(MODULE)

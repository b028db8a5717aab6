"""The steps of `make demo`, `make check`, `make test` and `make prove`, in the order in which they are started."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

SUITES = ["demo", "check", "test", "prove"]
PARTS = ["rust", "service", "python", "npm"]


@dataclass(frozen=True)
class Step:
    """A command of a shell, run in the repository.

    Attributes:
        name: Names the step in the output.
        command: The command, for bash.
        suites: Which suites have the step, by their names, one after the other.
        part: What `ONLY` chooses.
        after: The steps that must have succeeded before.
        lock: At most one step with this lock runs at a time.
        servers: Whether the step uses the servers that tests share.
        env: Further environment variables.
        quick: The command of `make prove QUICK=yes`. A step without one waits for the nightly run.
    """

    name: str
    command: str
    suites: Iterable[str] = ()
    part: str = ""
    after: tuple[str, ...] = ()
    lock: str | None = None
    servers: bool = False
    env: dict[str, str] = field(default_factory=dict)
    quick: str = ""


def set_up(purpose: str, *after: str, lock: str | None = None, suites: Iterable[str] = ()) -> Step:
    """Installs what a purpose needs (scripts/setup.sh)."""
    return Step(f"set-up: {purpose}", f"scripts/setup.sh {purpose}", suites, after=after, lock=lock)


# Debian's packages are installed by one process at a time.
SET_UPS = [
    set_up("rust"),
    set_up("protoc", lock="apt"),
    set_up("maturin", lock="venv"),
    set_up("esbuild"),
    set_up("chromium", lock="apt", suites=["demo"]),
    set_up("headless", lock="apt"),
    set_up("python", "set-up: maturin", lock="venv"),
    set_up("npm", "set-up: esbuild"),
    set_up("servers", lock="apt"),
    set_up("faults", lock="apt", suites=["demo"]),
    set_up("browsers", lock="apt"),
    set_up("valgrind", lock="apt"),
    set_up("nightly"),
    set_up("docs", "set-up: maturin", lock="venv"),
    set_up("proof", "set-up: maturin", lock="venv"),
    set_up("sql", "set-up: maturin", lock="venv"),
    set_up("deploy", "set-up: maturin", lock="venv"),
    set_up("image", lock="apt"),
]

(
    RUST,
    PROTOC,
    MATURIN,
    ESBUILD,
    CHROMIUM,
    HEADLESS,
    PYTHON,
    NPM,
    SERVERS,
    FAULTS,
    BROWSERS,
    VALGRIND,
    NIGHTLY,
    DOCS,
    PROOF,
    SQL,
    DEPLOY,
    IMAGE,
) = (each.name for each in SET_UPS)

# The features of all test builds: with others the same crates would be built again.
FEATURES = (
    "--workspace --features snowmint-tests/engines,snowmint-server/page,snowmint/serde,snowmint/sqlx,snowmint/tokio"
)
CARGO_TEST = f"cargo test --quiet --locked --no-fail-fast {FEATURES}"
# What clippy and rustdoc share.
LINTED = (
    "--workspace --features snowmint-tests/engines,snowmint-benches/engines,snowmint/all,"
    "snowmint/audit,snowmint/uuid,snowmint/serde,snowmint/sqlx,snowmint/tokio"
)
# Not fat LTO, which takes minutes: `make package` has it.
QUICK = {"SNOWMINT_PROFILE": "optimised"}

BUILD_NPM = "build: npm package"
BUILD_SITE = "build: inspector"
BUILD_WHEEL = "build: wheel, installed"
BUILD_TARBALLS = "build: npm tarballs, installed"
BUILD_DEMO = "build: demo"
BUILD_ENGINES = "build: program that starts servers"
BUILD_TESTS = "build: Rust tests and service"
PACKAGES = "packages, as users install them"
CRATES = "Rust crates, packed and built from their packages"

BUILDS = [
    Step(BUILD_NPM, "scripts/build-npm.sh", ["demo"], after=(RUST, ESBUILD), lock="optimised", env=QUICK),
    Step(BUILD_WHEEL, "scripts/install-python.sh", ["demo"], after=(RUST, MATURIN), lock="optimised", env=QUICK),
    Step(
        BUILD_DEMO,
        "cargo build --quiet --locked --profile optimised -p snowmint-demo",
        ["demo"],
        after=(RUST,),
        lock="optimised",
    ),
    Step(BUILD_TARBALLS, "scripts/install-npm.sh", after=(BUILD_NPM, MATURIN)),
    Step(BUILD_SITE, "scripts/build-fleet.sh; npm --prefix npm run --silent site", after=(BUILD_NPM,)),
    Step(BUILD_ENGINES, "cargo build --quiet --locked -p snowmint-engines", after=(RUST,), lock="debug"),
    Step(BUILD_TESTS, f"{CARGO_TEST} --no-run", after=(RUST, PROTOC, BUILD_SITE), lock="debug"),
]

CHECKS = [
    Step("vectors match the reference", "python3 tests/reference/write_vectors.py --check", ["check", "test"], "rust"),
    Step("Rust: format", "cargo fmt --all --check", ["check", "test"], "rust", (RUST,)),
    Step("Rust: lock files are whole", "scripts/locks.sh", ["check", "test"], "rust", (RUST,)),
    Step("Rust: no circles of imports", "python3 scripts/circles.py", ["check", "test"], "rust"),
    Step(
        "Rust: licences, sources and advisories of crates",
        "cargo deny --locked check bans licenses sources; "
        # Without a network there is no database. The nightly run fails then.
        "if timeout 60 cargo deny fetch db; then cargo deny --locked check advisories; "
        "else echo 'not checked: advisories of crates, as their database cannot be reached'; fi",
        ["check", "test"],
        "rust",
        (RUST, MATURIN),
    ),
    Step(
        "Rust: every dependency is used",
        "cargo shear --locked",
        ["check", "test"],
        "rust",
        (RUST, MATURIN),
    ),
    Step("workflows", "zizmor --offline --quiet .github", ["check", "test"], "python", (PYTHON,)),
    Step(
        "Python: ruff",
        "ruff check python tests demo benches scripts server docs/tests docs/site deploy/tests proof",
        ["check", "test"],
        "python",
        (PYTHON,),
    ),
    Step(
        "Python: ruff format",
        "ruff format --check python tests demo benches scripts server docs/tests docs/site deploy/tests proof",
        ["check", "test"],
        "python",
        (PYTHON,),
    ),
    Step(
        "Python: mypy",
        "cd python; mypy; mypy --strict tests; mypy --strict ../server/tests/clients ../benches/service ../benches/run.py; "
        "mypy --strict ../scripts; mypy --strict ../docs/tests; mypy --strict ../proof; mypy --strict ../tests/nemesis",
        ["check", "test"],
        "python",
        (BUILD_WHEEL, PYTHON),
    ),
    Step(
        "record: each test that it names exists",
        "pytest -q docs/tests/test_record.py",
        ["check", "test"],
        "python",
        (PYTHON,),
    ),
    Step(
        "npm: biome and types",
        "npm --prefix npm run --silent check",
        ["check", "test"],
        "npm",
        (BUILD_TARBALLS, BUILD_SITE, NPM),
    ),
    Step(
        "Rust: unit tests and vectors",
        f"{CARGO_TEST} --lib --test vectors --test sequences",
        ["check"],
        "rust",
        (RUST, PROTOC),
        lock="debug",
    ),
    Step("Python: vectors", "cd python; pytest -q tests/test_vectors.py", ["check"], "python", (BUILD_WHEEL, PYTHON)),
    Step("npm: vectors", "cd npm; node --test tests/vectors.test.mjs", ["check"], "npm", (BUILD_TARBALLS, NPM)),
]

TESTS = [
    # The long suites come first, so that the other steps fill the gaps.
    Step(
        "Rust: tests, with every store on real servers",
        CARGO_TEST,
        ["test"],
        "rust",
        (BUILD_TESTS, BUILD_ENGINES, SERVERS, FAULTS),
        servers=True,
        # Most of them wait for servers and windows.
        env={"RUST_TEST_THREADS": "8"},
    ),
    Step(
        "command line of the packages",
        f'SNOWMINT_COMMAND="python -m snowmint" {CARGO_TEST} --test command_line -- verbs:: audit::; '
        f'SNOWMINT_COMMAND="node $PWD/npm/dist/cli.mjs" {CARGO_TEST} --test command_line -- verbs:: audit::',
        ["test"],
        "python",
        (BUILD_TESTS, BUILD_WHEEL, BUILD_TARBALLS),
    ),
    Step(
        "npm: tests in Node and Chromium",
        "npm --prefix npm test --silent",
        ["test"],
        "npm",
        (BUILD_TARBALLS, BUILD_SITE, BUILD_TESTS, BUILD_ENGINES, BUILD_WHEEL, NPM, PYTHON, SERVERS, FAULTS, HEADLESS),
        lock="npm",
        servers=True,
    ),
    Step(
        "Python: tests",
        "cd python; pytest -q -n 5",
        ["test"],
        "python",
        (BUILD_WHEEL, BUILD_TESTS, BUILD_ENGINES, PYTHON, SERVERS, FAULTS),
        servers=True,
    ),
    Step(
        "service: clients that others wrote",
        "pytest -q server/tests/clients",
        ["test"],
        "service",
        (BUILD_TESTS, BUILD_ENGINES, PYTHON, NPM, SERVERS, CHROMIUM),
        servers=True,
    ),
    Step(
        "proof of the windows, by two solvers",
        "python proof/check.py; pytest -q proof -k 'readme or names'",
        ["test"],
        "python",
        (PYTHON, PROOF),
    ),
    Step(
        "Rust: clippy",
        f"cargo clippy --quiet --locked {LINTED} --all-targets -- -D warnings",
        ["check", "test"],
        "rust",
        (RUST, PROTOC),
        lock="debug",
    ),
    Step(
        "Rust: clippy of stores alone",
        "cargo hack clippy --quiet --locked -p snowmint -p snowmint-stores --each-feature --include-features memory,file "
        "-- -D warnings",
        ["test"],
        "rust",
        (RUST, MATURIN),
        lock="debug",
    ),
    Step(
        "Rust: clippy of the wasm modules",
        "scripts/build-wasm.sh --lint; scripts/build-fleet.sh --lint",
        ["test"],
        "npm",
        (RUST,),
        lock="wasm",
    ),
    Step(
        "Rust: core without std on bare metal",
        "cargo build --quiet --locked -p snowmint-core -p snowmint-inspect --no-default-features --target thumbv7em-none-eabi",
        ["test"],
        "rust",
        (RUST,),
        lock="debug",
    ),
    Step(
        "Rust: documentation",
        f"cargo doc --quiet --locked --no-deps {LINTED}",
        ["test"],
        "rust",
        (RUST, PROTOC),
        lock="debug",
        env={"RUSTDOCFLAGS": "-D warnings"},
    ),
    Step("npm: size, files and types", "scripts/check-npm.sh target/packages", ["test"], "npm", (BUILD_TARBALLS, NPM)),
    Step(
        "Python: pyright, and every public name has a type",
        "scripts/pyright.sh",
        ["test"],
        "python",
        (PYTHON, NPM),
    ),
    Step(
        "Python: stubs are what the module has",
        "cd python; python ../scripts/check_stubs.py",
        ["test"],
        "python",
        (BUILD_WHEEL, PYTHON),
    ),
    Step(
        "instructions of a call",
        "cargo build --quiet --locked --profile optimised -p snowmint-benches --bin snowmint-instructions; "
        "python3 scripts/instructions.py",
        ["test"],
        "rust",
        (RUST, BUILD_WHEEL, VALGRIND, FAULTS),
        lock="optimised",
    ),
    Step(
        "guides: every block of code",
        "pytest -q docs/tests/test_blocks.py docs/tests/test_backups.py",
        ["test"],
        "python",
        (BUILD_WHEEL, BUILD_TARBALLS, BUILD_TESTS, BUILD_ENGINES, PYTHON, NPM, SERVERS),
        lock="npm",
        servers=True,
    ),
    Step(
        "demo",
        "node demo/show.mjs",
        ["test"],
        "npm",
        (BUILD_DEMO, BUILD_WHEEL, BUILD_NPM, CHROMIUM, FAULTS),
    ),
]

# Rounds of kills, of random steps, of users: as many as a proof wants.
LONG = {
    "SNOWMINT_KILLS": "20",
    "SNOWMINT_ROUNDS": "200",
    "SNOWMINT_TRIES": "5",
    "SNOWMINT_NUMBERS": "20000",
    "SNOWMINT_PROCESSES": "8",
}

# How many random IDs the tests of masks take.
MANY = {"SNOWMINT_TRIES": "1000000"}

PROOFS = [
    Step(PACKAGES, "scripts/package.sh", ["prove"], "npm", (BUILD_SITE, MATURIN, NPM), lock="optimised"),
    Step(
        "Rust: mutants",
        "scripts/mutants.sh",
        ["prove"],
        "rust",
        (RUST, PROTOC, BUILD_ENGINES, SERVERS, FAULTS),
        lock="debug",
        servers=True,
        quick="scripts/mutants.sh",
    ),
    Step(
        "Node: instructions of a call",
        "python3 scripts/instructions.py --node",
        ["prove"],
        "npm",
        (BUILD_NPM, VALGRIND, FAULTS),
    ),
    Step(
        "Rust: masks of a million IDs",
        "cargo test --quiet --locked --profile optimised -p snowmint-tests --test vectors -- come_back_from_their_masks",
        ["prove"],
        "rust",
        (RUST,),
        lock="optimised",
        env=MANY,
    ),
    Step(
        "Python: masks of a million IDs",
        "cd python; pytest -q tests/test_prefixed.py -k come_back_from_their_masks",
        ["prove"],
        "python",
        (BUILD_WHEEL, PYTHON),
        env=MANY,
    ),
    Step(
        "npm: masks of a million IDs",
        "cd npm; node --test tests/mask.test.mjs",
        ["prove"],
        "npm",
        (BUILD_TARBALLS, NPM),
        env=MANY,
    ),
    Step("proof of the windows: each part of it counts", "pytest -q proof", ["prove"], "python", (PYTHON, PROOF)),
    Step(
        "Python: stubs have the names that maturin finds",
        "maturin generate-stubs --profile dev --locked --quiet --manifest-path bindings/python/Cargo.toml "
        "--features pyo3/experimental-inspect --out target/stubs; "
        "cd python; python ../scripts/check_stubs.py ../target/stubs/_snowmint/__init__.pyi",
        ["prove"],
        "python",
        (BUILD_WHEEL, PYTHON),
        lock="debug",
    ),
    Step("wheel, used in an empty project", "python3 scripts/try_package.py dist", ["prove"], "python", (PACKAGES,)),
    Step(
        "sdist, built by pip and used in an empty project",
        "python3 scripts/try_package.py dist/snowmint-*.tar.gz",
        ["prove"],
        "python",
        (PACKAGES,),
    ),
    Step(
        "npm packages, used in empty projects with and without the addon",
        "node scripts/try_npm.mjs dist/npm; node scripts/try_npm.mjs --without-addon dist/npm",
        ["prove"],
        "npm",
        (PACKAGES,),
    ),
    Step(
        "npm packages, in other hosts and by bundlers",
        "scripts/test-runtimes.sh",
        ["prove"],
        "npm",
        (PACKAGES, BUILD_TESTS, BUILD_ENGINES),
        servers=True,
    ),
    Step(
        "Rust: tests in long rounds",
        CARGO_TEST,
        ["prove"],
        "rust",
        (BUILD_TESTS, BUILD_ENGINES, SERVERS, FAULTS),
        # Never beside the mutants: it would put programs without mutants into their place.
        lock="debug",
        servers=True,
        env={**LONG, "RUST_TEST_THREADS": "8"},
    ),
    Step(
        "Python: tests in long rounds",
        "cd python; pytest -q -n 5 tests/test_stores.py tests/test_lease.py tests/test_sql.py tests/test_sql_mariadb.py "
        "tests/test_sql_wide.py tests/test_fork_in_claim.py tests/test_poolers.py",
        ["prove"],
        "python",
        (BUILD_WHEEL, BUILD_TESTS, BUILD_ENGINES, PYTHON, SERVERS),
        lock="stores",
        servers=True,
        env={"SNOWMINT_KILLS": "12", "SNOWMINT_ROUNDS": "60", "SNOWMINT_ROWS": "100000", "SNOWMINT_NUMBERS": "20000"},
    ),
    Step(
        "SQL in ClickHouse and the newest PostgreSQL",
        "scripts/test-sql.sh",
        ["prove"],
        "python",
        (BUILD_WHEEL, BUILD_ENGINES, PYTHON, SERVERS, FAULTS, SQL),
    ),
    Step(
        "npm: tests in Firefox and WebKit",
        "npm --prefix npm run --silent test:browsers",
        ["prove"],
        "npm",
        (BUILD_TARBALLS, BUILD_SITE, BUILD_TESTS, BUILD_ENGINES, NPM, SERVERS, BROWSERS),
        lock="npm",
        servers=True,
    ),
    Step(
        "npm: tests in Chromium with windows",
        "cd npm; node --test --test-concurrency=1 tests/chromium.test.mjs tests/site.test.mjs tests/http-store.test.mjs",
        ["prove"],
        "npm",
        (BUILD_TARBALLS, BUILD_SITE, BUILD_TESTS, BUILD_ENGINES, NPM, PYTHON, SERVERS, CHROMIUM),
        lock="npm",
        servers=True,
        env={"CHROMIUM": os.environ.get("CHROMIUM", "/usr/bin/chromium")},
    ),
    Step(
        "npm: kills in long rounds",
        "cd npm; node --test tests/lease.test.mjs tests/store-leases.test.mjs tests/poolers.test.mjs",
        ["prove"],
        "npm",
        (BUILD_TARBALLS, BUILD_SITE, BUILD_TESTS, BUILD_ENGINES, NPM, SERVERS, FAULTS),
        lock="npm",
        servers=True,
        env={"SNOWMINT_KILLS": "20", "SNOWMINT_NUMBERS": "20000", "SNOWMINT_PROCESSES": "8"},
    ),
    Step(
        "service: clients that others wrote, in long rounds",
        "pytest -q server/tests/clients",
        ["prove"],
        "service",
        (BUILD_TESTS, BUILD_ENGINES, PYTHON, NPM, SERVERS, CHROMIUM),
        lock="stores",
        servers=True,
        env={"SNOWMINT_TRIES": "20"},
    ),
    Step(
        CRATES,
        "scripts/package-crates.sh",
        ["prove"],
        "rust",
        (RUST, PROTOC, MATURIN, BUILD_SITE),
        lock="debug",
    ),
    Step(
        "guides and references as a site, in Chromium",
        "scripts/docs.sh; node --test docs/tests/site.test.mjs",
        ["prove"],
        "python",
        (RUST, PROTOC, MATURIN, ESBUILD, DOCS, NPM, CHROMIUM),
        lock="optimised",
        env=QUICK,
    ),
    Step(
        "examples, from the packages",
        "python3 scripts/try_examples.py dist",
        ["prove"],
        "python",
        (PACKAGES, CRATES, BUILD_TESTS, BUILD_ENGINES, PYTHON, SERVERS, CHROMIUM),
        lock="npm",
        servers=True,
    ),
    Step(
        "deploy: every file, the metrics, a StatefulSet",
        "cd python; mypy --strict ../deploy/tests; pytest -q ../deploy/tests/test_files.py ../deploy/tests/test_balancers.py "
        "../deploy/tests/test_statefulset.py",
        ["prove"],
        "service",
        (BUILD_WHEEL, BUILD_TESTS, BUILD_ENGINES, PYTHON, SERVERS, FAULTS, DEPLOY),
        servers=True,
    ),
    Step(
        "deploy: the image, built and run",
        "pytest -q deploy/tests/test_image.py",
        ["prove"],
        "service",
        (BUILD_TESTS, PYTHON, IMAGE),
    ),
    Step(
        "deploy: a StatefulSet, in long rounds",
        "pytest -q deploy/tests/test_statefulset.py",
        ["prove"],
        "service",
        (BUILD_WHEEL, BUILD_TESTS, PYTHON, FAULTS),
        env={"SNOWMINT_KILLS": "20"},
    ),
    Step(
        "nemesis: the checker can fail, and a run over all engines",
        "pytest -q tests/nemesis; python tests/nemesis/run.py --seconds 120",
        ["prove"],
        "rust",
        (BUILD_WHEEL, BUILD_TARBALLS, BUILD_TESTS, BUILD_ENGINES, PYTHON, NPM, SERVERS, FAULTS),
        # Never beside the mutants, as the long rounds.
        lock="debug",
        servers=True,
        quick="pytest -q tests/nemesis; python tests/nemesis/run.py --seconds 20 --engine postgres",
    ),
    Step("Rust: core under Miri", "scripts/miri.sh", ["prove"], "rust", (NIGHTLY,)),
    Step(
        "Rust: tests of optimised code",
        "cargo test --quiet --locked --no-fail-fast --profile optimised -p snowmint-tests",
        ["prove"],
        "rust",
        (RUST, FAULTS),
        lock="optimised",
        env={"SNOWMINT_ROUNDS": "400"},
    ),
    Step(
        "Rust: models under loom, and their mutants",
        "scripts/loom.sh",
        ["prove"],
        "rust",
        (RUST,),
        quick="scripts/loom.sh",
    ),
    Step(
        "core's machines in every order of events within bounds, and their mutants",
        "scripts/exhaustive.sh",
        ["prove"],
        "rust",
        (RUST,),
    ),
    Step(
        "simulated fleets, and their mutants",
        "scripts/fleet.sh 120 25",
        ["prove"],
        "rust",
        (RUST,),
        quick="scripts/fleet.sh 10 3",
    ),
    Step("Rust: fuzzing of what reads", "scripts/fuzz.sh 8", ["prove"], "rust", (NIGHTLY,), quick="scripts/fuzz.sh 2"),
]

STEPS = SET_UPS + BUILDS + CHECKS + TESTS + PROOFS

"""Installs the package into an empty folder and uses it: try_package.py DIRECTORY | FILE.

Of a directory of wheels pip takes the wheel for this interpreter, and refuses a wheel that requires another package. An sdist
is built by pip, with the installed Rust compiler.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

USE = """
import snowmint
with snowmint.Snowflake() as leased:
    assert leased.window[0] <= snowmint.layouts.SNOWMINT.decode(leased.next_id()).timestamp_ms < leased.window[1]
    assert len(set(leased.next_ids(10_000))) == 10_000
"""

given = Path(sys.argv[1]).resolve()
packages = ["--no-index", "--find-links", str(given), "snowmint"] if given.is_dir() else [str(given)]
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
    # Separate slots, since other programs may use the slots of the machine.
    paths = {"PYTHONPATH": home, "SNOWMINT_STATE_DIR": f"{home}/state", "CARGO_TARGET_DIR": f"{home}/target"}
    for words in (
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", home, *packages],
        # A free-threaded Python warns if the import switches the GIL on.
        ["-W", "error::RuntimeWarning", "-c", USE],
        ["-m", "snowmint", "gen", "-n", "3"],
    ):
        subprocess.run([sys.executable, *words], check=True, env={**os.environ, **paths}, cwd=home)

"""Installs the package into an empty environment, and uses it as a newcomer would: try_package.py DIRECTORY | FILE.

Of a directory of wheels pip takes the one for this interpreter. An sdist is built by pip, with the Rust compiler that is
there.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

USE = """
import snowmint
print(snowmint.Snowflake(layout="twitter", node=5).next_id())
with snowmint.Snowflake() as leased:
    assert leased.window[0] <= snowmint.layouts.SNOWMINT.decode(leased.next_id()).timestamp_ms < leased.window[1]
    assert len(set(leased.next_ids(10_000))) == 10_000
assert snowmint.layouts.TWITTER.decode(1541815603606036480).fields["worker"] == 26
assert snowmint.text.decode(snowmint.text.encode(2**64 - 1, "base62"), "base62") == 2**64 - 1
try:
    snowmint.Snowflake(layout="twitter", node=1024)
except snowmint.InvalidNodeError as error:
    assert isinstance(error, ValueError) and error.code == "INVALID_NODE", error
else:
    raise SystemExit("node 1024 was taken")
# In a free-threaded Python the import does not switch the GIL on.
import sys, sysconfig
assert not (sysconfig.get_config_var("Py_GIL_DISABLED") and sys._is_gil_enabled())
"""


def main() -> None:
    """Raises if anything fails."""
    given = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        home = Path(directory)
        venv.create(home / "venv", with_pip=True)
        python = home / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        # Separate slots, since other programs may use the slots of the machine.
        environment = {
            **os.environ,
            "SNOWMINT_STATE_DIR": str(home / "state"),
            "CARGO_TARGET_DIR": str(home / "target"),
        }
        what = ["--no-index", "--find-links", str(given), "snowmint"] if given.is_dir() else [str(given)]
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *what], check=True, env=environment, cwd=home)
        subprocess.run([python, "-c", USE], check=True, env=environment, cwd=home)
        subprocess.run([python, "-m", "snowmint", "gen", "-n", "3"], check=True, env=environment, cwd=home)


if __name__ == "__main__":
    main()

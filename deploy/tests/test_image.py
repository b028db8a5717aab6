"""Builds the image of deploy/Containerfile and runs it: as the image's user, on a root file system that is read-only.

No container engine is needed. debootstrap makes the base image and buildah runs the steps. `unshare` and `chroot` start the
program. The image gets the program that the tests have built, in place of the stage that builds it.
"""

import json
import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from servers import ROOT, SNOWMINT

DEBIAN = "docker.io/library/debian:bookworm-slim"
TOKEN = "0123456789abcdef0123456789abcdef"
USER = 65532

MAY_MOUNT = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], check=False).returncode == 0
pytestmark = pytest.mark.skipif(not MAY_MOUNT, reason="needs a root that may mount, which a container's may not")


def output(*words: str | Path, **options: Any) -> str:
    """Runs a command, and returns its output. Fails with the command's errors."""
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=1700, **options)
    assert done.returncode == 0, f"{shlex.join(map(str, words))}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return str(done.stdout)


def base() -> Path:
    """Returns Debian's base system, which the first call makes."""
    made = ROOT / ".cache" / "debian-bookworm"
    if not made.exists():
        draft = made.with_suffix(".draft")
        shutil.rmtree(draft, ignore_errors=True)
        words = ["debootstrap", "--variant=minbase", "bookworm", str(draft)]
        if platform.freedesktop_os_release()["ID"] == "debian":
            # The mirror of this machine.
            words += output("apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages").split()[:1]
        output(*words)
        draft.rename(made)
    return made


@dataclass
class Image:
    """An image, and the directory of a container that was made from it."""

    config: dict[str, Any]
    root: Path

    def run(
        self,
        program: str,
        variables: Mapping[str, str] | None = None,
        *,
        volume: Path | None = None,
        token: str = TOKEN,
    ) -> str:
        """Runs a program of sh as a container engine would, and returns its output and its errors.

        The root is read-only, the user is the image's, and the network is loopback alone. A volume lies at
        /var/lib/snowmint.
        """
        root = shlex.quote(str(self.root))
        mounts = [
            f"mount --bind {root} {root}",
            f"mount -o remount,ro,bind {root}",
            f"mount -t proc proc {root}/proc",
            f"mount --bind {shlex.quote(str(volume))} {root}/var/lib/snowmint" if volume else "true",
            "ip link set lo up",
        ]
        environment = [*self.config["Env"], *(f"{name}={value}" for name, value in (variables or {}).items())]
        secret = self.root / "run" / "secrets" / "snowmint-token"
        secret.write_text(token)
        os.chown(secret, USER, USER)
        secret.chmod(0o400)
        enter = ["chroot", f"--userspec={self.config['User']}", str(self.root), "env", "-i", *environment]
        script = "; ".join([*mounts, f"exec {shlex.join([*enter, 'sh', '-c', program])}"])
        done = subprocess.run(
            ["unshare", "--mount", "--net", "--pid", "--fork", "sh", "-ec", script],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """The image, built by the steps of the Containerfile."""
    folder = tmp_path_factory.mktemp("images")
    buildah = ["buildah", f"--root={folder}/root", f"--runroot={folder}/run", "--storage-driver=overlay"]

    def make(name: str, folders: dict[str, Path]) -> None:
        container = output(*buildah, "from", "--pull-never", "scratch" if name == DEBIAN else DEBIAN).strip()
        for target, source in folders.items():
            output(*buildah, "add", "--quiet", container, source, target)
        output(*buildah, "commit", "--quiet", container, name)
        output(*buildah, "rm", container)

    make(DEBIAN, {"/": base()})
    built = folder / "built" / "snowmint" / "target" / "release"
    built.mkdir(parents=True)
    shutil.copy(SNOWMINT, built)
    output(
        *buildah,
        *("bud", "--isolation", "chroot", "--pull-never", "--format", "docker", "--file", "deploy/Containerfile"),
        *("--build-context", f"build={folder}/built", "--tag", "snowmint", "."),
        cwd=ROOT,
    )
    container = output(*buildah, "from", "--pull-never", "localhost/snowmint").strip()
    root = Path(output(*buildah, "mount", container).strip())
    # An engine makes the places for mounts.
    for place in ("run/secrets", "var/lib/snowmint"):
        (root / place).mkdir(parents=True, exist_ok=True)
    yield Image(json.loads(output(*buildah, "inspect", container))["Docker"]["config"], root)
    output(*buildah, "umount", container)
    output(*buildah, "rm", container)
    shutil.rmtree(folder)


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    """A volume as Kubernetes mounts it for `fsGroup`: of root, and of the group of the image's user."""
    found = tmp_path / "volume"
    found.mkdir()
    os.chown(found, 0, USER)
    found.chmod(0o2775)
    # As at the root of a new file system.
    (found / "lost+found").mkdir(mode=0o700)
    return found


def test_the_image_has_a_numeric_user_and_a_health_check(image: Image) -> None:
    assert image.config["User"] == f"{USER}:{USER}"
    assert image.config["Entrypoint"] == ["snowmint"] and image.config["Cmd"] == ["serve"]
    assert image.config["Healthcheck"]["Test"][0] == "CMD"
    assert image.run("id -u; touch /probe").splitlines()[0] == str(USER)
    assert "Read-only file system" in image.run("touch /run/probe")


def test_the_service_starts_is_healthy_and_ends(image: Image, volume: Path) -> None:
    check = shlex.join(image.config["Healthcheck"]["Test"][1:])
    token = f"--header 'Authorization: Bearer {TOKEN}'"
    said = image.run(
        f"""
        {shlex.join(image.config["Entrypoint"] + image.config["Cmd"])} & server=$!
        for _ in $(seq 100); do {check} 2> /dev/null && break; sleep 0.1; done
        {check} && echo healthy
        busybox wget {token} -q -O - 'http://127.0.0.1:8080/v1/ids?count=2' | tr '"' ' '
        echo
        busybox wget {token} -q -O - http://127.0.0.1:8080/ | grep -o '<title>[^<]*'
        busybox wget -q -O - http://127.0.0.1:8080/v1/ids 2>&1
        kill $server; wait $server; echo "ended with $?"
        {check} 2> /dev/null || echo not healthy
        """,
        {"SNOWMINT_STORE": "sqlite:/var/lib/snowmint/ids.db"},
        volume=volume,
    )
    for line in ("healthy", "{ ids :[ ", "<title>snowmint", "401 Unauthorized", "ended with 0", "not healthy"):
        assert line in said, said


def test_the_image_requires_a_token_and_a_store(image: Image) -> None:
    assert "a token is a line of 16 or more" in image.run("snowmint serve", token="short")
    assert "--store" in image.run("snowmint serve", {"container": "podman"})


def test_a_pod_leases_its_ordinal_on_its_volume(image: Image, volume: Path) -> None:
    pod = {"SNOWMINT_NODE": "2", "SNOWMINT_STORE": "file:/var/lib/snowmint", "SNOWMINT_NAMESPACE": "orders"}
    pod["KUBERNETES_SERVICE_HOST"] = "10.0.0.1"
    said = image.run("snowmint gen -n 3; snowmint gen -n 3; snowmint lease ls", pod, volume=volume)
    ids = [int(line) for line in said.splitlines()[:6]]
    assert len(set(ids)) == 6 and {id >> 12 & 1023 for id in ids} == {2}, said
    assert (volume / "orders" / "2.slot").stat().st_uid == USER
    # The volume is not mounted: then the directory belongs to the root file system, or cannot be made.
    assert "/var/lib/snowmint: the directory is on overlayfs" in image.run("snowmint gen", pod)
    said = image.run("snowmint gen", {**pod, "SNOWMINT_STORE": "file:/srv/ids"})
    assert "cannot make /srv/ids" in said and "Read-only file system" in said, said

"""Checks every file of deploy/ by a tool that knows its format, and the metrics by a Prometheus that scrapes the service."""

import contextlib
import itertools
import json
import os
import re
import shutil
import socket
import subprocess
import time
import tomllib
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import helm_python as helm
import pytest
from ruamel.yaml import YAML
from servers import ROOT, SNOWMINT, Server

DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "snowmint"
HERE = DEPLOY / "tests"
# The oldest one of Chart.yaml, and the newest one that the schemas know.
KUBERNETES = ["1.30", "1.37"]
TOKEN = "0123456789abcdef0123456789abcdef"

# Which test checks which files.
CHECKED = {
    "Containerfile": "test_the_image_has_no_findings",
    "compose.yaml": "test_compose_matches_its_schema",
    "grafana/dashboard.json": "test_dashboard_and_alerts_work_through_an_outage",
    "helm/snowmint/Chart.yaml": "test_helm_has_no_findings",
    "helm/snowmint/templates/*": "test_the_chart_renders_valid_objects",
    "helm/snowmint/values.schema.json": "test_the_chart_refuses_wrong_values",
    "helm/snowmint/values.yaml": "test_the_chart_renders_the_manifests",
    "haproxy/users.cfg": "test_all_users_of_a_section_go_to_one_server",
    "kubernetes/*.yaml": "test_manifests_match_the_schemas_of_kubernetes",
    "nginx/users.conf": "test_all_users_of_a_section_go_to_one_server",
    "prometheus/alerts.yaml": "test_alerts_fire_where_they_should",
    "README.md": "test_the_readme_names_every_folder",
    "systemd/snowmint.service": "test_systemd_accepts_the_unit",
    "systemd/tls.conf": "test_systemd_accepts_the_unit",
    "systemd/snowmint.tmpfiles.conf": "test_a_tidy_up_leaves_the_slots",
    "tests/*": "the tests themselves",
}


def run(*words: str | Path, **options: Any) -> str:
    """Runs a command, and returns its output with its errors. Fails if the command fails."""
    done = subprocess.run(
        words, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, **options
    )
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}"
    return str(done.stdout)


def documents(text: str) -> list[dict[str, Any]]:
    """Returns the objects of a YAML text, as Kubernetes reads it."""
    yaml = YAML(typ="safe", pure=True)
    # So that 0440 is octal.
    yaml.version = (1, 1)
    # Through JSON, as anchors make parts that are one object.
    return [json.loads(json.dumps(each)) for each in yaml.load_all(text) if each]


def manifests(name: str) -> list[dict[str, Any]]:
    """Returns the objects of a file of deploy/kubernetes/."""
    return documents((DEPLOY / "kubernetes" / name).read_text())


def rendered(values: dict[str, Any] | None = None, name: str = "snowmint") -> list[dict[str, Any]]:
    """Returns the objects that the chart makes of some values."""
    with helm.Chart.load(str(CHART)) as chart:
        files = chart.render(values or {}, name=name, namespace="ids")
    return [each for path, text in files.items() if not path.endswith(".txt") for each in documents(text)]


def validate(objects: list[dict[str, Any]], folder: Path) -> None:
    """Checks objects by the schemas of Kubernetes and of the Prometheus operator."""
    for i, each in enumerate(objects):
        if each["kind"] == "ServiceMonitor":
            program = folder / f"{i}.ts"
            program.write_text(
                "import type { IServiceMonitor } from "
                '"@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor";\n'
                f"export const manifest: IServiceMonitor = {json.dumps(each)};\n"
            )
            if not (folder / "node_modules").exists():
                (folder / "node_modules").symlink_to(HERE / "node_modules")
            tsc = HERE / "node_modules" / ".bin" / "tsc"
            run(tsc, "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", program)
        else:
            path = folder / f"{i}.json"
            path.write_text(json.dumps(each))
            for version in KUBERNETES:
                run("kubernetes-validate", "--strict", "--quiet", "--kubernetes-version", version, path)


def test_every_file_has_a_check() -> None:
    files = run("git", "-C", DEPLOY, "ls-files", "--cached", "--others", "--exclude-standard", ".").split()
    assert [name for name in files if not any(fnmatch(name, pattern) for pattern in CHECKED)] == []
    assert [pattern for pattern in CHECKED if not any(fnmatch(name, pattern) for name in files)] == []


def test_the_readme_names_every_folder() -> None:
    links = re.findall(r"\]\(([^):#]+)\)", (DEPLOY / "README.md").read_text())
    assert [link for link in links if not (DEPLOY / link).exists()] == []
    top = {name.name for name in DEPLOY.iterdir()} - {"README.md", "tests"}
    assert top <= {link.split("/")[0] for link in links}


# Containers


def test_the_image_has_no_findings() -> None:
    run("hadolint", "--failure-threshold", "info", DEPLOY / "Containerfile")


def test_the_program_needs_only_the_c_library() -> None:
    # Static as far as the C library allows, which looks up hosts by plugins.
    needed = {re.sub(r".*/|\.so.*", "", line.split()[0]) for line in run("ldd", SNOWMINT).splitlines()}
    assert needed <= {"linux-vdso", "libgcc_s", "libm", "libc", "ld-linux-x86-64", "ld-linux-aarch64"}


def test_compose_matches_its_schema() -> None:
    path = DEPLOY / "compose.yaml"
    run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", path)
    (compose,) = documents(path.read_text())
    service = compose["services"]["snowmint"]
    # The names and ports that the image expects.
    image = (DEPLOY / "Containerfile").read_text()
    assert f"SNOWMINT_TOKEN_FILE=/run/secrets/{service['secrets'][0]}\n" in image
    assert [port.rsplit(":")[-1] for port in service["ports"]] == re.findall(r"^EXPOSE (.*)$", image, re.MULTILINE)[
        0
    ].split()
    assert service["read_only"] and service["cap_drop"] == ["ALL"]


def test_what_builds_and_pins_the_image_matches_its_schema() -> None:
    github = ROOT / ".github"
    run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", github / "workflows" / "release-image.yml")
    run("check-jsonschema", "--builtin-schema", "vendor.renovate", github / "renovate.json")


def matrix(workflow: str, job: str, key: str) -> set[str]:
    """Returns the values of a key in the matrix of a job of a release."""
    (found,) = documents((ROOT / ".github" / "workflows" / f"release-{workflow}.yml").read_text())
    values = found["jobs"][job]["strategy"]["matrix"]
    return {each[key] for each in values["include"]} if "include" in values else set(values[key])


def test_a_release_signs_the_files_of_every_platform() -> None:
    assert matrix("python", "attest", "name") == matrix("python", "wheels", "name")
    assert matrix("npm", "attest", "package") == {"snowmint"} | matrix("npm", "addons", "platform")
    programs = {f"snowmint-{target}" for target in matrix("rust", "programs", "target")}
    libraries = {"snowmint-core", "snowmint-inspect", "snowmint-stores", "snowmint", "snowmint-sqlx"}
    crates = libraries | {"snowmint-cli", "snowmint-server"}
    assert matrix("rust", "attest", "name") == programs | crates


# Kubernetes


@pytest.mark.parametrize("name", sorted(path.name for path in (DEPLOY / "kubernetes").iterdir()))
def test_manifests_match_the_schemas_of_kubernetes(name: str, tmp_path: Path) -> None:
    validate(manifests(name), tmp_path)


def test_liveness_is_of_the_process_and_readiness_of_the_store() -> None:
    for each in (manifests("deployment.yaml")[0], manifests("statefulset.yaml")[1]):
        (container,) = each["spec"]["template"]["spec"]["containers"]
        assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
        assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_every_workload_has_a_disruption_budget() -> None:
    for name in ("deployment.yaml", "statefulset.yaml"):
        objects = manifests(name)
        (workload,) = (each for each in objects if each["kind"] in ("Deployment", "StatefulSet"))
        (budget,) = (each for each in objects if each["kind"] == "PodDisruptionBudget")
        assert budget["spec"]["selector"] == workload["spec"]["selector"]


def test_pods_have_no_privileges_and_a_read_only_root() -> None:
    for each in (manifests("deployment.yaml")[0], manifests("statefulset.yaml")[1]):
        pod = each["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_helm_has_no_findings() -> None:
    found = helm.lint(str(CHART))
    assert found["errors"] == []
    # 1 is information: the chart has no icon.
    assert [message for message in found["messages"] if message["severity"] > 1] == []


DIGEST = f"sha256:{'5a' * 32}"
VALUES: list[dict[str, Any]] = [
    {},
    {"serviceMonitor": {"enabled": True}, "networkPolicy": {"enabled": False}},
    {"replicas": 5, "image": {"repository": "registry.example/snowmint", "tag": "main"}, "secret": "ids"},
    {"image": {"digest": DIGEST}},
    {
        "env": {"SNOWMINT_WINDOW_MS": "20000", "SNOWMINT_LOG": "snowmint=debug,warn"},
        "networkPolicy": {"storePort": 6379},
    },
    {"tls": {"secret": "ids-tls"}, "adminToken": True},
    {"tls": {"secret": "ids-tls"}, "serviceMonitor": {"enabled": True, "tlsConfig": {"serverName": "ids.example"}}},
]


@pytest.mark.parametrize("values", VALUES)
def test_the_chart_renders_valid_objects(values: dict[str, Any], tmp_path: Path) -> None:
    validate(rendered(values, name="ids"), tmp_path)


def test_the_chart_renders_the_manifests() -> None:
    ours = {each["kind"]: each for name in ("deployment.yaml", "servicemonitor.yaml") for each in manifests(name)}
    charts = {each["kind"]: each for each in rendered({"serviceMonitor": {"enabled": True}})}
    for each in charts.values():
        for label in ("app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart"):
            del each["metadata"]["labels"][label]
    assert charts == ours


@pytest.mark.parametrize("admin", [False, True])
def test_every_token_of_the_chart_is_a_key_of_its_secret(admin: bool) -> None:
    charts = {each["kind"]: each for each in rendered({"serviceMonitor": {"enabled": True}, "adminToken": admin})}
    pod = charts["Deployment"]["spec"]["template"]["spec"]
    files = {each["value"] for each in pod["containers"][0]["env"] if each["name"].endswith("_TOKEN_FILE")}
    (volume,) = (each["secret"] for each in pod["volumes"] if each["name"] == "tokens")
    assert files == {f"/etc/snowmint/{item['path']}" for item in volume["items"]}
    assert len(files) == (3 if admin else 2)
    # Prometheus has a token that reads metrics alone.
    (endpoint,) = charts["ServiceMonitor"]["spec"]["endpoints"]
    assert endpoint["authorization"]["credentials"]["key"] == "metrics-token"


def image(objects: list[dict[str, Any]]) -> str:
    """Returns the image of the Deployment."""
    (deployment,) = (each for each in objects if each["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return str(container["image"])


def test_a_digest_pins_the_image_of_the_chart() -> None:
    own = {"repository": "registry.example/snowmint", "tag": "main", "digest": DIGEST}
    assert image(rendered({"image": own})) == f"registry.example/snowmint:main@{DIGEST}"
    assert image(rendered({"image": {"digest": DIGEST}})) == f"{image(rendered())}@{DIGEST}"


def test_all_files_name_the_image_that_a_release_pushes() -> None:
    (workflow,) = documents((ROOT / ".github" / "workflows" / "release-image.yml").read_text())
    pushed = f"{workflow['env']['IMAGE']}:{documents((CHART / 'Chart.yaml').read_text())[0]['appVersion']}"
    assert image(rendered()) == pushed
    assert image(manifests("deployment.yaml")) == pushed
    (compose,) = documents((DEPLOY / "compose.yaml").read_text())
    assert compose["services"]["snowmint"]["image"] == pushed
    assert tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"] == pushed.split(":")[1]


def test_a_limit_of_memory_follows_from_the_memory_for_users() -> None:
    def memory(objects: list[dict[str, Any]]) -> tuple[str, str]:
        (deployment,) = (each for each in objects if each["kind"] == "Deployment")
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        (users,) = (each["value"] for each in container["env"] if each["name"] == "SNOWMINT_USERS_MEMORY")
        return users, container["resources"]["limits"]["memory"]

    assert memory(manifests("deployment.yaml")) == ("64Mi", f"{64 + 192}Mi")
    assert memory(rendered({"usersMemory": "512Mi"})) == ("512Mi", f"{512 + 192}Mi")
    own = {"limits": {"memory": "1Gi", "cpu": "2"}}
    assert memory(rendered({"usersMemory": "512Mi", "resources": own})) == ("512Mi", "1Gi")
    # The program takes the default of the chart for its own.
    shown = re.sub(r"\s+", " ", run(SNOWMINT, "serve", "--help"))
    assert 'SNOWMINT_USERS_MEMORY=] [default: "64.0 MiB"]' in shown


def test_a_certificate_encrypts_every_port_of_the_chart() -> None:
    charts = {
        each["kind"]: each for each in rendered({"tls": {"secret": "ids-tls"}, "serviceMonitor": {"enabled": True}})
    }
    pod = charts["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    variables = {each["name"]: each.get("value") for each in container["env"]}
    (mounted,) = (each for each in container["volumeMounts"] if each["name"] == "tls")
    assert variables["SNOWMINT_TLS_CERT"] == f"{mounted['mountPath']}/tls.crt"
    assert variables["SNOWMINT_TLS_KEY"] == f"{mounted['mountPath']}/tls.key"
    assert variables["SNOWMINT_ADVERTISE"] == "https://$(POD_IP):8080"
    assert {container[f"{name}Probe"]["httpGet"]["scheme"] for name in ("startup", "liveness", "readiness")} == {
        "HTTPS"
    }
    (volume,) = (each for each in pod["volumes"] if each["name"] == "tls")
    assert volume["secret"]["secretName"] == "ids-tls"
    assert charts["ServiceMonitor"]["spec"]["endpoints"][0]["scheme"] == "https"


@pytest.mark.parametrize(
    "values",
    [
        {"replicas": 0},
        {"replica": 3},
        {"image": {"pullPolicy": "Sometimes"}},
        {"image": {"digest": "5a5a"}},
        {"env": {"SNOWMINT_WINDOW_MS": 20000}},
        {"secret": ""},
        {"tls": {"cert": "ids-tls"}},
        {"networkPolicy": {"storePort": 0}},
        {"usersMemory": "64M"},
        {"env": {"SNOWMINT_USERS_MEMORY": "1GiB"}},
    ],
)
def test_the_chart_refuses_wrong_values(values: dict[str, Any]) -> None:
    with helm.Chart.load(str(CHART)) as chart, pytest.raises(helm.HelmValuesError):
        chart.validate_schema(values)


# systemd


def unit(folder: Path) -> Path:
    """Returns a copy of the unit that starts the program of the tests."""
    path = folder / "snowmint.service"
    text = (DEPLOY / "systemd" / "snowmint.service").read_text()
    path.write_text(text.replace("/usr/local/bin/snowmint", SNOWMINT))
    return path


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    # It reports names that it does not know, and succeeds.
    drop_in = tmp_path / "snowmint.service.d" / "tls.conf"
    drop_in.parent.mkdir()
    for with_tls in (False, True):
        if with_tls:
            shutil.copy(DEPLOY / "systemd" / "tls.conf", drop_in)
        said = run("systemd-analyze", "verify", "--man=no", unit(tmp_path))
        assert [line for line in said.splitlines() if "snowmint" in line] == [], said
    # Each variable is one of a flag.
    flags = run(SNOWMINT, "serve", "--help")
    named = re.findall(r"\b(SNOWMINT_\w+)=", drop_in.read_text())
    assert len(named) == 5
    assert [name for name in named if name not in flags] == []
    # 1.2 of 10 remains: the network, the machine's root directory, and the read-only clock device of ProtectClock.
    run("systemd-analyze", "security", "--offline=yes", "--threshold=13", unit(tmp_path))


def test_a_tidy_up_leaves_the_slots(tmp_path: Path) -> None:
    ours = DEPLOY / "systemd" / "snowmint.tmpfiles.conf"
    tidy = tmp_path / "tidy.conf"
    tidy.write_text("d /var/tmp 1777 root root 0\n")  # removes everything, whatever its age
    tmpfiles = ["systemd-tmpfiles", f"--root={tmp_path}"]
    run(*tmpfiles, "--create", ours, tidy)
    slots = tmp_path / "var" / "tmp" / "snowmint"
    assert slots.stat().st_mode & 0o7777 == 0o1777
    (slots / "orders").mkdir()
    kept = [slots / "orders" / "0.slot", slots / "orders" / "layout"]
    for file in (*kept, slots.parent / "other"):
        file.touch()
    run(*tmpfiles, "--clean", ours, tidy)
    assert [file.exists() for file in kept] == [True, True]
    assert not (slots.parent / "other").exists()


def test_the_service_needs_only_the_system_calls_of_its_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "systemd" / "snowmint.service").read_text()
    allowed: set[str] = set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", text, re.MULTILINE):
        calls = {call for name in line.removeprefix("~").split() for call in system_calls(name)}
        allowed = allowed - calls if line.startswith("~") else allowed | calls
    trace = tmp_path / "trace"
    port = free_port()
    variables = {"SNOWMINT_STORE": f"sqlite:{tmp_path}/snowmint.db", "SNOWMINT_HTTP": f"127.0.0.1:{port}"}
    words = ["strace", "-f", "-qq", "-o", str(trace), SNOWMINT, "serve", "--redis", f"127.0.0.1:{free_port()}"]
    with started(*words, log=tmp_path / "log", **variables) as process:
        wait_until_answered(f"http://127.0.0.1:{port}/readyz")
        for path in ("/v1/ids?count=1000", "/v1/tickets/orders", "/metrics", "/"):
            ask(f"http://127.0.0.1:{port}{path}")
        # The unit's stop: strace passes no signal on.
        (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(child), 15)
        assert process.wait(30) == 0
    made = set(re.findall(r"^\d+ +(\w+)\(", trace.read_text(), re.MULTILINE))
    # systemd makes the first one, and SQLite makes the second one for root alone.
    assert made - allowed - {"execve", "fchown"} == set()
    assert {"openat", "futex", "accept4"} <= made


def system_calls(group: str) -> Iterator[str]:
    """Yields the system calls of a group of systemd, and of the groups in it."""
    for line in run("systemd-analyze", "syscall-filter", "--no-pager", group).splitlines()[1:]:
        name = line.strip()
        if name.startswith("@"):
            yield from system_calls(name)
        elif name and not name.startswith("#"):
            yield name


# Metrics


def test_alerts_fire_where_they_should() -> None:
    run("promtool", "check", "rules", "--lint-fatal", DEPLOY / "prometheus" / "alerts.yaml")
    run("promtool", "test", "rules", HERE / "alerts_test.yaml")


def free_port() -> int:
    """Returns a port of loopback that no program listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextlib.contextmanager
def started(*words: str, log: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a program until the end of the block."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SNOWMINT_")}
    with log.open("wb") as file:
        process = subprocess.Popen(words, env={**inherited, **variables}, stdout=file, stderr=file)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(30)


def ask(url: str) -> tuple[int, str]:
    """Sends a GET request with the token, and returns the status and the body."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {TOKEN}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits up to a minute until a condition is true; until then it may also fail to connect."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if condition():
                return
        time.sleep(0.1)
    raise AssertionError("the condition is not true after a minute")


def wait_until_answered(url: str, status: int = 200) -> None:
    """Waits until a server gives that answer."""
    wait_until(lambda: ask(url)[0] == status)


@pytest.fixture
def observed(tmp_path: Path) -> Iterator[tuple[Server, str, str]]:
    """A PostgreSQL, the URL of a service on it, and the URL of a Prometheus that scrapes the service each second."""
    token, metrics_token = tmp_path / "token", tmp_path / "metrics-token"
    for path, text in ((token, TOKEN), (metrics_token, f"{TOKEN}-of-metrics")):
        path.write_text(text)
        path.chmod(0o600)
    shutil.copy(DEPLOY / "prometheus" / "alerts.yaml", tmp_path)
    http, prometheus = (f"127.0.0.1:{free_port()}" for _ in range(2))
    (tmp_path / "prometheus.yml").write_text(f"""
        global: {{ scrape_interval: 1s, evaluation_interval: 1s }}
        rule_files: [alerts.yaml]
        scrape_configs:
          - job_name: snowmint
            honor_labels: true
            authorization: {{ credentials_file: {metrics_token} }}
            static_configs: [{{ targets: ["{http}"] }}]
    """)
    with Server("postgres") as postgres:
        store = postgres.url.replace("postgresql+psycopg://", "postgres://")
        tokens = ["--token-file", str(token), "--metrics-token-file", str(metrics_token)]
        serve = [SNOWMINT, "serve", "--http", http, "--redis", "off", *tokens, "--store", store]
        watch = ["prometheus", f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data"]
        with (
            started(*serve, log=tmp_path / "service.log"),
            started(*watch, f"--web.listen-address={prometheus}", log=tmp_path / "prometheus.log"),
        ):
            wait_until_answered(f"http://{http}/readyz")
            wait_until_answered(f"http://{prometheus}/-/ready")
            yield postgres, f"http://{http}", f"http://{prometheus}"


def query(prometheus: str, expression: str) -> list[dict[str, Any]]:
    """Returns the samples of an expression of PromQL."""
    status, body = ask(f"{prometheus}/api/v1/query?query={urllib.parse.quote(expression)}")
    assert status == 200, body
    result: list[dict[str, Any]] = json.loads(body)["data"]["result"]
    return result


def dashboard() -> Iterator[tuple[str, str]]:
    """Yields the title and the expressions of each panel, with values for Grafana's variables."""
    for panel in json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            expression = target["expr"]
            for variable, value in {"$__rate_interval": "30s", "$job": ".*", "$instance": ".*"}.items():
                expression = expression.replace(variable, value)
            assert "$" not in expression, expression
            yield panel["title"], expression


def alerts() -> dict[str, str]:
    """Returns the expression of each alert."""
    (rules,) = documents((DEPLOY / "prometheus" / "alerts.yaml").read_text())
    return {rule["alert"]: rule["expr"] for group in rules["groups"] for rule in group["rules"]}


def test_dashboard_and_alerts_work_through_an_outage(observed: tuple[Server, str, str]) -> None:
    postgres, service, prometheus = observed
    assert ask(f"{service}/v1/ids?count=10")[0] == 200
    wait_until(lambda: bool(query(prometheus, "snowmint_lease_window_end_seconds")))
    # The service was missing before the first scrape.
    wait_until(lambda: query(prometheus, "ALERTS") == [])

    postgres.kill()
    wait_until_answered(f"{service}/readyz", 503)
    # So no probe restarts the process.
    assert ask(f"{service}/healthz")[0] == 200
    wanted = {"SnowmintStoreDown", "SnowmintWindowEndsSoon", "SnowmintRenewalsFail", "SnowmintStoreErrors"}

    def all_wanted_are_pending() -> bool:
        ask(f"{service}/v1/ids?count=10")
        return wanted <= {each["metric"]["alertname"] for each in query(prometheus, "ALERTS")}

    wait_until(all_wanted_are_pending)

    # Every metric is a metric of the service, and every panel shows something.
    metrics = set(re.findall(r"^(\w+)(?=[ {])", ask(f"{service}/metrics")[1], re.MULTILINE))
    expressions = [expression for _, expression in dashboard()]
    named = set(
        itertools.chain(*(re.findall(r"\b(?:snowmint|process)_\w+", e) for e in (*expressions, *alerts().values())))
    )
    assert named - metrics == set()
    assert [title for title, expression in dashboard() if not query(prometheus, expression)] == []

    postgres.restart()
    wait_until_answered(f"{service}/readyz")
    wait_until_answered(f"{service}/v1/ids?count=10")

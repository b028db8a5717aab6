"""From a URL to a store."""

import os
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from snowmint._errors import InvalidStoreError, SnowmintError
from snowmint.stores._store import Lessor, Store
from snowmint.stores.dynamodb import DynamoDbStore
from snowmint.stores.redis import RedisStore

TIMEOUT_S = 5
_SQL = {
    "postgres": "postgresql",
    "postgresql": "postgresql",
    "mysql": "mysql",
    "mariadb": "mariadb",
    "sqlite": "sqlite",
}
_EXTRAS = {
    "postgresql": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlite": "sqlalchemy",
    "rediss": "redis",
    "unix": "redis",
}
# A peer that is gone without a word is noticed by the system; where a driver is not here, by the system's own limits.
_LIBPQ = {
    "connect_timeout": TIMEOUT_S,
    "tcp_user_timeout": TIMEOUT_S * 1000,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
}
_TIMEOUTS: dict[str, dict[str, Any]] = {
    "": {"timeout": TIMEOUT_S},
    "pysqlite": {"timeout": TIMEOUT_S},
    "psycopg": _LIBPQ,
    "psycopg2": _LIBPQ,
    "pg8000": {"timeout": TIMEOUT_S},
    "pymysql": {"connect_timeout": TIMEOUT_S, "read_timeout": TIMEOUT_S, "write_timeout": TIMEOUT_S},
    "mysqldb": {"connect_timeout": TIMEOUT_S, "read_timeout": TIMEOUT_S, "write_timeout": TIMEOUT_S},
}
_stores: dict[str, Store | Lessor] = {}


def connect(url: str) -> Store | Lessor:
    """The store of a URL, as `Snowflake(store=...)` and `SNOWMINT_STORE` take it: one a process for each URL.

    | URL | store |
    | --- | --- |
    | `redis://USER:PASSWORD@HOST:PORT/DB`, `rediss://` for TLS | `RedisStore`, by redis-py |
    | `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`, also `postgresql+DRIVER://` | `SqlStore`, by SQLAlchemy |
    | `mysql://`, `mariadb://`, also with `+DRIVER` | the same |
    | `sqlite:PATH` | the same |
    | `dynamodb://REGION/TABLE`, `dynamodb:///TABLE` for the region of the environment | `DynamoDbStore`, by boto3 |
    | `etcd://USER:PASSWORD@HOST:PORT,HOST:PORT?prefix=NAME`, `etcds://` for TLS | `EtcdStore`, which needs no package |
    | `http://HOST:PORT`, `https://HOST:PORT` | `HttpStore`, with the token in `SNOWMINT_TOKEN`, if that is set |

    The options `allow_unsafe=true` and `allow_standby=true` after `?` are of this package, the others are the client's,
    such as `endpoint_url=http://HOST:PORT` of DynamoDB. Without a driver in the URL it is psycopg for PostgreSQL and
    PyMySQL for MySQL. Connections and answers are waited for 5 seconds.

    Raises:
        InvalidStoreError: No store has this scheme, the store's client is not installed, or the URL is wrong.
    """
    # Without a lock, which a forked child could find taken for ever.
    return _stores.get(url) or _stores.setdefault(url, _store_of(url))


def _store_of(url: str) -> Store | Lessor:
    if url.startswith(("http:", "https:")):
        return _over_http(url)
    url, allow_unsafe, allow_standby = _without_ours(url)
    scheme, _, rest = url.partition(":")
    dialect, _, driver = scheme.partition("+")
    try:
        if scheme in ("redis", "rediss") or dialect in _SQL.keys() - {"sqlite"}:
            _refuse_stray_at(rest, is_redis=dialect not in _SQL)
        if scheme in ("redis", "rediss", "unix"):
            import redis

            client: Any = redis.Redis
            client = client.from_url(url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S)
            return RedisStore(client, allow_unsafe=allow_unsafe, allow_standby=allow_standby)
        if scheme in ("etcd", "etcds"):
            return _over_http(url)
        if scheme == "dynamodb":
            return DynamoDbStore(*_dynamodb(url), allow_unsafe=allow_unsafe)
        if dialect in _SQL:
            engine = _sql_engine(_SQL[dialect], driver, rest)
            from snowmint.stores.sql import SqlStore

            return SqlStore(engine, allow_unsafe=allow_unsafe, allow_standby=allow_standby)
    except SnowmintError:
        raise
    except ValueError:
        # Its message would show a part of the URL, which may be of the password.
        raise InvalidStoreError(
            f"the URL after {scheme}: is not valid: what is special in user and password is written as %XX"
        ) from None
    except ImportError as error:
        raise InvalidStoreError(_missing(scheme, driver, error)) from error
    raise InvalidStoreError(
        f"no such store: {scheme!r}. Give file:DIRECTORY, redis://HOST, postgresql://HOST/DATABASE, "
        "mysql://HOST/DATABASE, sqlite:PATH, dynamodb://REGION/TABLE, etcd://HOST:PORT or http://HOST:PORT"
    )


def _refuse_stray_at(rest: str, is_redis: bool) -> None:
    """Refuses an @ in user or password: drivers end the password there, and their errors name the rest as the host.

    The client of Redis ends the password at the last @ before the path.
    """
    place, _, after = rest.removeprefix("//").partition("/")
    place, _, options = place.partition("?")
    if "@" in after or "@" in options or (place.count("@") > 1 and not is_redis):
        raise ValueError("an @ in user or password")


def _missing(scheme: str, driver: str, error: ImportError) -> str:
    """The message about a driver that is not installed."""
    module = str(error.name or error).partition(".")[0]
    dialect = scheme.partition("+")[0]
    extra = _EXTRAS.get(_SQL.get(dialect, dialect), dialect)
    # The extra brings the driver that is taken without one in the URL.
    needs = module if driver and module != "sqlalchemy" else f"snowmint[{extra}]"
    return f"{scheme} needs {module}, which is not installed: pip install '{needs}'"


def _dynamodb(url: str) -> tuple[Any, str]:
    """A client, and the table of a URL."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    endpoint = options.pop("endpoint_url", None)
    if options or parts.netloc.partition(":")[0] != parts.netloc or "/" in parts.path.strip("/"):
        raise InvalidStoreError(
            "the URL of a table is dynamodb://REGION/TABLE, and for another server it has the option "
            "endpoint_url=http://HOST:PORT"
        )
    # They come without types.
    boto3: Any = import_module("boto3")
    botocore_config: Any = import_module("botocore.config")
    config = botocore_config.Config(connect_timeout=TIMEOUT_S, read_timeout=TIMEOUT_S, retries={"mode": "standard"})
    try:
        client = boto3.client("dynamodb", region_name=parts.netloc or None, endpoint_url=endpoint, config=config)
    except Exception as error:
        # Such as a region that is missing.
        raise InvalidStoreError(f"dynamodb: {error}") from error
    return client, parts.path.strip("/") or "snowmint"


def _over_http(url: str) -> Store | Lessor:
    from snowmint.stores.etcd import EtcdStore
    from snowmint.stores.http import HttpStore

    try:
        return EtcdStore(url) if url.startswith("etcd") else HttpStore(url, os.environ.get("SNOWMINT_TOKEN"))
    except ValueError as error:
        raise InvalidStoreError(str(error)) from None


def _sql_engine(dialect: str, driver: str, rest: str) -> Any:
    from sqlalchemy import create_engine
    from sqlalchemy.engine import URL
    from sqlalchemy.exc import NoSuchModuleError

    from snowmint.stores._sql import DRIVERS

    name = f"{dialect}+{driver}" if driver else DRIVERS[dialect]
    driver = name.partition("+")[2]
    if dialect == "sqlite" and not rest.startswith("//"):
        rest = f"///{rest}"
    options: dict[str, Any] = {}
    if dialect == "postgresql":
        # No transaction when it connects, which PgBouncer refuses in statement mode.
        options["isolation_level"] = "AUTOCOMMIT"
        if driver in ("psycopg", "psycopg2"):
            options["use_native_hstore"] = False
    try:
        if URL.create(name).get_dialect().is_async:
            raise InvalidStoreError(
                f"{name} needs an event loop, and a thread without one renews leases: leave out +{driver}, which "
                f"means {DRIVERS[dialect]}"
            )
        # A connection that broke meanwhile is noticed before it is used.
        return create_engine(
            f"{name}:{rest}", connect_args=_TIMEOUTS.get(driver, {}), pool_pre_ping=True, pool_size=2, **options
        )
    except NoSuchModuleError:
        raise InvalidStoreError(f"SQLAlchemy has no driver {name}") from None


def _without_ours(url: str) -> tuple[str, bool, bool]:
    """The URL without the options of this package; whether `allow_unsafe` and `allow_standby` are true."""
    place, mark, options = url.partition("?")
    given = options.split("&")
    ours = {f"{name}={value}" for name in ("allow_unsafe", "allow_standby") for value in ("true", "false")}
    kept = [option for option in given if option and option not in ours]
    return (
        place + mark * bool(kept) + "&".join(kept),
        "allow_unsafe=true" in given,
        "allow_standby=true" in given,
    )

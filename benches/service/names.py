"""Numbers of one name, and of many names by chance, at a service over each store: how much names share writes.

The arguments are the program, and the URLs of the stores that the service uses in turn.
"""

import sys
from contextlib import ExitStack
from tempfile import TemporaryDirectory

from measure import CLIENTS, SHORT_ROUNDS, Contender, Requests, compare, free_port, running

NAMES = (1, 1000)


def main() -> None:
    """Measures each store."""
    program, *urls = sys.argv[1:]
    for url in urls:
        with ExitStack() as stack:
            directory = stack.enter_context(TemporaryDirectory())
            port = free_port()
            store = url.replace("DIRECTORY", directory)
            words = [program, "serve", "--store", store, "--http", f"127.0.0.1:{port}", "--redis", "off"]
            stack.enter_context(running(words, port))
            path = f"http://127.0.0.1:{port}/v1/tickets/NAME"
            contenders = [Contender(f"names: {names:,}", Requests("GET", path, names=names)) for names in NAMES]
            scheme = url.partition(":")[0]
            compare(f"Service over {scheme}: GET /v1/tickets/NAME, {CLIENTS} connections", contenders, SHORT_ROUNDS)


if __name__ == "__main__":
    main()

"""Notes with Snowflake IDs in a file of SQLite."""

import os
import sqlite3

from flask import Flask, abort, g, request
from snowmint import Snowflake

app = Flask(__name__)
# With --preload, gunicorn imports this file once and forks its workers afterwards. The generator leases a node for
# the parent here. Each worker leases a separate node when it mints its first ID.
generator = Snowflake(namespace="notes")


def database() -> sqlite3.Connection:
    """Returns the connection of this request."""
    if "database" not in g:
        g.database = sqlite3.connect(os.environ.get("NOTES_DATABASE", "notes.db"))
    return g.database


@app.teardown_appcontext
def close_database(_: BaseException | None) -> None:
    """Closes the connection at the end of a request."""
    if "database" in g:
        g.database.close()


@app.cli.command("init-db")
def init_db() -> None:
    """Creates the table."""
    database().execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")


@app.post("/notes")
def add() -> tuple[dict, int]:
    """Stores a note under a new ID."""
    id, text = generator.next_id(), request.json["text"]
    with database() as connection:
        connection.execute("INSERT INTO notes VALUES (?, ?)", (id, text))
    return {"id": str(id), "text": text}, 201  # a string, because JavaScript rounds numbers above 2^53


@app.get(f"/notes/<int(max={2**63 - 1}):id>")
def show(id: int) -> dict:
    """Returns the note with this ID."""
    row = database().execute("SELECT text FROM notes WHERE id = ?", (id,)).fetchone()
    if row is None:
        abort(404)
    return {"id": str(id), "text": row[0]}

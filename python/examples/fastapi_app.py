"""Notes with Snowflake IDs, served by FastAPI.

    pip install snowmint[pydantic] fastapi uvicorn
    uvicorn fastapi_app:app --workers 4

Each worker leases a separate node when it starts, and releases it when it ends.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from snowmint import ExhaustedError, Snowflake
from snowmint.pydantic import SnowflakeID


class Draft(BaseModel):
    """The body of a request."""

    text: str


class Note(Draft):
    """The response: the ID is a string in JSON, as JavaScript reads numbers above 2^53 wrong."""

    id: SnowflakeID
    created: datetime


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Holds the lease while the worker runs."""
    # In a thread: the event loop goes on while a store is slow.
    generator = await Snowflake.lease_async()
    try:
        app.state.generator = generator
        app.state.notes = {}
        yield
    finally:
        await asyncio.to_thread(generator.close)


app = FastAPI(title="Notes", lifespan=lifespan)


def generator_of(request: Request) -> Snowflake:
    """The worker's generator."""
    generator: Snowflake = request.app.state.generator
    return generator


def notes_of(request: Request) -> dict[int, str]:
    """The texts by ID, where a real application has its database."""
    notes: dict[int, str] = request.app.state.notes
    return notes


Generator = Annotated[Snowflake, Depends(generator_of)]
Notes = Annotated[dict[int, str], Depends(notes_of)]


@app.post("/notes", status_code=201)
async def add(draft: Draft, generator: Generator, notes: Notes) -> Note:
    """Keeps a note under a new ID."""
    id = await generator.next_id_async()
    notes[id] = draft.text
    return shown(id, generator, notes)


@app.get("/notes/{id}")
async def show(id: SnowflakeID, generator: Generator, notes: Notes) -> Note:
    """The note of that ID."""
    if id not in notes:
        raise HTTPException(404, f"There is no note {id}")
    return shown(id, generator, notes)


@app.get("/notes")
async def list_between(since: datetime, until: datetime, generator: Generator, notes: Notes) -> list[Note]:
    """The notes of a time, both ends included: the IDs contain it."""
    if since.tzinfo is None or until.tzinfo is None:
        raise HTTPException(422, "Give times with their zone: 2026-01-01T00:00:00Z")
    lowest, highest = generator.layout.id_range(since, until)
    return [shown(id, generator, notes) for id in sorted(notes) if lowest <= id <= highest]


@app.exception_handler(ExhaustedError)
async def busy(request: Request, error: ExhaustedError) -> JSONResponse:
    """A call for an ID waited a second: more IDs are wanted than the layout has."""
    return JSONResponse({"detail": str(error)}, status_code=503, headers={"Retry-After": "1"})


def shown(id: int, generator: Snowflake, notes: dict[int, str]) -> Note:
    """A note as clients see it."""
    created = generator.layout.decode(id).timestamp
    assert created is not None, "the years of this layout are those of datetime"
    return Note(id=id, text=notes[id], created=created)

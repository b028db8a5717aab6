"""Orders with Snowflake IDs. Each worker of uvicorn leases a separate node from the database of the orders."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Path, Request
from pydantic import BaseModel
from snowmint import Snowflake
from snowmint.pydantic import SnowflakeID
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine

from models import DATABASE_URL, Order

engine = create_async_engine(DATABASE_URL)
sessions = async_sessionmaker(engine, expire_on_commit=False)


class Draft(BaseModel):
    """The body of a request."""

    item: str


class PlacedOrder(Draft):
    """The body of a response. In JSON the ID is a string, because JavaScript rounds numbers above 2^53."""

    id: SnowflakeID


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Snowflake]]:
    """Holds the lease of a node while the worker runs."""
    with await Snowflake.lease_async(store=os.environ["DATABASE_URL"], namespace="shop") as generator:
        yield {"generator": generator}
    await engine.dispose()


async def session() -> AsyncIterator[AsyncSession]:
    """Opens a session for one request."""
    async with sessions() as session:
        yield session


Session = Annotated[AsyncSession, Depends(session)]
app = FastAPI(lifespan=lifespan)


@app.post("/orders", status_code=201, response_model=PlacedOrder)
async def place(draft: Draft, request: Request, session: Session) -> Order:
    """Stores an order under a new ID."""
    order = Order(id=await request.state.generator.next_id_async(), item=draft.item)
    session.add(order)
    await session.commit()
    return order


@app.get("/orders/{id}", response_model=PlacedOrder)
async def show(id: Annotated[SnowflakeID, Path(le=2**63 - 1)], session: Session) -> Order:
    """Returns the order with this ID."""
    order = await session.get(Order, id)
    if order is None:
        raise HTTPException(404, f"There is no order {id}")
    return order

"""The table of orders. `python models.py` creates it."""

import os

from snowmint.sqlalchemy import SnowflakeID
from sqlalchemy import create_engine, make_url
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

DATABASE_URL = make_url(os.environ["DATABASE_URL"]).set(drivername="postgresql+psycopg")


class Base(DeclarativeBase):
    """The models of this application."""


class Order(Base):
    """An order, whose primary key is a `bigint` that the application mints."""

    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(SnowflakeID, primary_key=True)
    item: Mapped[str]


if __name__ == "__main__":
    Base.metadata.create_all(create_engine(DATABASE_URL))

"""Runs the guide to regions on two PostgreSQL servers, of which one is killed for good."""

from typing import Any

import pytest
from servers import Server
from snowmint import InvalidLayoutError
from snowmint.stores import SqlStore
from sqlalchemy import create_engine
from test_blocks import blocks


def test_a_region_goes_on_when_the_store_of_another_is_lost_for_good() -> None:
    guide: dict[str, Any] = {}
    for info, code in blocks("docs/regions.md"):
        if info == "python regions":
            exec(code, guide)  # noqa: S102 the code is that of our guide
    open_region, region_of = guide["open_region"], guide["region_of"]
    with Server("postgres") as stays, Server("postgres") as new:
        engine = create_engine(stays.url)
        with Server("postgres") as lost:
            second = open_region(2, SqlStore(create_engine(lost.url)))
            ids = second.next_ids(1000)
            # A variable that was copied to the wrong region.
            with pytest.raises(InvalidLayoutError):
                open_region(1, SqlStore(create_engine(lost.url)))
            lost.kill()
            with open_region(1, SqlStore(engine)) as first:
                ids += first.next_ids(1000)
        with open_region(1, SqlStore(engine)) as first, open_region(3, SqlStore(create_engine(new.url))) as third:
            ids += first.next_ids(1000) + third.next_ids(1000)
        second.close()
    assert len(set(ids)) == 4000
    assert [region_of(id) for id in ids[::1000]] == [2, 1, 1, 3]

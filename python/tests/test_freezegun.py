"""Programs whose tests replace the clock by freezegun."""

import time

from freezegun import freeze_time

import processes
from snowmint import Snowflake, layouts

DATES = """
    import datetime
    from freezegun import freeze_time
    # In a tuple, as freezegun looks for the class in every module.
    kept = (datetime.datetime,)
    def check(snowmint):
        real = kept[0]
        twitter = snowmint.layouts.TWITTER
        moments = [twitter.decode(1541815603606036480).timestamp, twitter.epoch, snowmint.ulid().timestamp]
        classes = [type(moment) for moment in moments]
        assert classes == [real] * 3, classes
        day = [real(2023, 1, number, tzinfo=datetime.UTC) for number in (1, 2)]
        assert twitter.id_range(*day) == (1609338612741046272, 1609701000610840575)
        assert twitter.encode(timestamp=day[0], node=0, sequence=0) == 1609338612741046272
        fake = datetime.datetime(2023, 1, 1, tzinfo=datetime.UTC)
        assert twitter.encode(timestamp=fake, node=0, sequence=0) == 1609338612741046272
"""


def test_dates_stay_pythons_own_when_the_first_use_is_frozen() -> None:
    processes.run(DATES + "    import snowmint\n    with freeze_time(): check(snowmint)\n    check(snowmint)")


def test_dates_stay_pythons_own_when_the_import_is_frozen() -> None:
    processes.run(DATES + "    with freeze_time():\n        import snowmint; check(snowmint)\n    check(snowmint)")


def test_a_frozen_clock_mints_at_its_time() -> None:
    with freeze_time("2026-01-02T03:04:05Z") as frozen:
        generator = Snowflake(node=5, clock=lambda: time.time_ns() // 1_000_000)
        first = layouts.SNOWMINT.decode(generator.next_id())
        assert first.timestamp.isoformat() == "2026-01-02T03:04:05+00:00"
        frozen.tick(60)
        assert layouts.SNOWMINT.decode(generator.next_id()).timestamp_ms == first.timestamp_ms + 60_000

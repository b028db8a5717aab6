"""layouts.json: layout texts, good and malformed, and the facts of the good ones."""

from dataclasses import dataclass

from cases import Case, agree, result_of
from civil import format_rfc3339
from grammar import canonical, parse
from layout import Layout
from presets import PRESETS

COMMENT = (
    "Layout.preset or Layout.parse. layout: preset name or layout text. *_ms: ms, Unix ms where a time. "
    "nodes, ids_per_tick, ids_per_second: decimal strings. fields: name and bits, high to low, without unused. "
    "tick_us: microseconds. mintable: false if no generator can mint in this layout. "
    "error: the code, where it must fail."
)


@dataclass(frozen=True)
class Preset:
    """Published facts of a preset: epoch, end and sign change as UTC times (the end may be cut short), IDs a second."""

    name: str
    epoch: str
    ends_at: str
    signed_until: str | None
    ids_per_second: int


PRESET_FACTS = (
    Preset("snowmint", "2025-01-01T00:00:00Z", "2094-09-07T15:47:35.551Z", None, 4_096_000),
    Preset("twitter", "2010-11-04T01:42:54.657Z", "2080-07-10T17:30:30.208Z", None, 4_096_000),
    Preset("discord", "2015-01-01T00:00:00Z", "2154-05-15T07:35:11.103Z", "2084-09-06T15:47:35.552Z", 4_096_000),
    Preset("instagram", "2011-08-24T21:07:01.721Z", "2081-04-30T12:54:37.272Z", "2046-06-27T17:00:49.497Z", 1_024_000),
    Preset("sonyflake", "2014-09-01T00:00:00Z", "2188-11-16T03:28:58.870Z", None, 25_600),
    Preset("sonyflake2", "2025-01-01T00:00:00Z", "2199-03-19T03:28:58.870Z", None, 25_600),
    Preset("leaf", "2010-11-04T01:42:54.657Z", "2080-07-10T17:30:30.208Z", None, 4_096_000),
    Preset("baidu", "2016-05-19T16:00:00Z", "2024-11-20T13:24:15Z", None, 8_192),
    Preset("cosid", "2019-12-24T16:00:00Z", "2089-08-30T07:47:35.551Z", None, 4_096_000),
    Preset("mastodon", "1970-01-01T00:00:00Z", "10889-08-02T05:31:50.655Z", "6429-10-17T02:45:55.328Z", 65_536_000),
    Preset("yitter", "2020-02-19T18:20:02Z", "73376-", None, 64_000),
    Preset("gosnowflake", "2016-09-25T11:28:08Z", "2156-02-07T19:03:19.103Z", "2086-06-02T03:15:43.552Z", 4_096_000),
    Preset("callicoder", "2015-01-01T00:00:00Z", "2084-09-06T15:47:35.551Z", None, 4_096_000),
    Preset("iteye", "2013-02-25T00:55:41.828Z", "19852-", None, 1_024_000),
    Preset("safe53", "2025-01-01T00:00:00Z", "2094-09-07T15:47:35.551Z", None, 512_000),
)

BODY = "unused:1,time:41,node:10,sequence:12"
BAIDU_TEST = "unused:1,time:29,worker:21,sequence:13;epoch=1474300800000;tick=1s"

# Name, text, canonical text.
GOOD = (
    ("the tick is 1 ms where none is given", f"{BODY};epoch=0", f"{BODY};epoch=0;tick=1ms"),
    ("a whole second in ms is printed in seconds", f"{BODY};epoch=0;tick=1000ms", f"{BODY};epoch=0;tick=1s"),
    ("a minute in ms is printed in seconds", f"{BODY};epoch=0;tick=60000ms", f"{BODY};epoch=0;tick=60s"),
    ("one and a half seconds stay ms", f"{BODY};epoch=0;tick=1500ms", f"{BODY};epoch=0;tick=1500ms"),
    ("a canonical text in seconds is printed unchanged", BAIDU_TEST, BAIDU_TEST),
    (
        "an RFC 3339 epoch is printed as Unix ms",
        f"{BODY};epoch=2025-01-01T00:00:00Z;tick=1ms",
        PRESETS["snowmint"],
    ),
    ("an RFC 3339 epoch may be in lower case", f"{BODY};epoch=2025-01-01t00:00:00z", PRESETS["snowmint"]),
    ("an epoch east of Greenwich", f"{BODY};epoch=2025-01-01T08:00:00+08:00", PRESETS["snowmint"]),
    ("an epoch west of Greenwich by half hours", f"{BODY};epoch=2024-12-31T20:30:00-03:30", PRESETS["snowmint"]),
    ("an epoch at an unknown local offset", f"{BODY};epoch=2025-01-01T00:00:00-00:00", PRESETS["snowmint"]),
    ("an epoch at the widest offset", f"{BODY};epoch=2025-01-01T23:59:00+23:59", PRESETS["snowmint"]),
    (
        "an epoch with a fraction of three digits",
        "unused:1,time:41,datacenter:5,worker:5,sequence:12;epoch=2010-11-04T01:42:54.657Z",
        PRESETS["twitter"],
    ),
    ("an epoch with a fraction of one digit", "time:41;epoch=1970-01-01T00:00:00.5Z", "time:41;epoch=500;tick=1ms"),
    (
        "fraction digits below a ms are dropped",
        "unused:1,time:41,datacenter:5,worker:5,sequence:12;epoch=2010-11-04T01:42:54.657999999999999999999Z",
        PRESETS["twitter"],
    ),
    (
        "fraction digits below a ms are dropped before 1970 too",
        "time:41;epoch=1969-12-31T23:59:59.9999Z",
        "time:41;epoch=-1;tick=1ms",
    ),
    (
        "the first instant of year 0 is an epoch",
        "time:41;epoch=0000-01-01T00:00:00Z",
        "time:41;epoch=-62167219200000;tick=1ms",
    ),
    (
        "the last ms of year 9999 is an epoch",
        "time:41;epoch=9999-12-31T23:59:59.999Z",
        "time:41;epoch=253402300799999;tick=1ms",
    ),
    (
        "a leap day of a year divisible by 400 is an epoch",
        "time:41;epoch=2000-02-29T00:00:00Z",
        "time:41;epoch=951782400000;tick=1ms",
    ),
    ("a negative epoch", "time:41,node:10;epoch=-86400000;tick=1ms", "time:41,node:10;epoch=-86400000;tick=1ms"),
    (
        "all 64 bits with time on top turn negative halfway",
        "time:40,node:12,sequence:12;epoch=1735689600000",
        "time:40,node:12,sequence:12;epoch=1735689600000;tick=1ms",
    ),
    ("one field of one bit is a layout", "time:1;epoch=0", "time:1;epoch=0;tick=1ms"),
    (
        "all 64 bits with a node above time may be negative from the epoch on",
        "node:10,time:42,sequence:12;epoch=1735689600000",
        "node:10,time:42,sequence:12;epoch=1735689600000;tick=1ms",
    ),
    (
        "a node above time in 63 bits never turns negative",
        "node:10,time:41,sequence:12;epoch=1735689600000",
        "node:10,time:41,sequence:12;epoch=1735689600000;tick=1ms",
    ),
    (
        "a sequence above the node",
        "unused:1,time:39,sequence:8,node:16;epoch=0;tick=10ms",
        "unused:1,time:39,sequence:8,node:16;epoch=0;tick=10ms",
    ),
    (
        "a random field is no node field",
        "unused:1,time:41,node:6,random:8,sequence:8;epoch=0",
        "unused:1,time:41,node:6,random:8,sequence:8;epoch=0;tick=1ms",
    ),
    (
        "two node fields may stand apart",
        "unused:1,region:4,time:41,sequence:8,worker:10;epoch=0",
        "unused:1,region:4,time:41,sequence:8,worker:10;epoch=0;tick=1ms",
    ),
    (
        "two node fields of 32 bits together",
        "time:30,rack:16,host:16,sequence:2;epoch=0;tick=1s",
        "time:30,rack:16,host:16,sequence:2;epoch=0;tick=1s",
    ),
    (
        "unused bits in a layout below 64 bits",
        "unused:2,time:31,node:4,sequence:10;epoch=0;tick=1s",
        "unused:2,time:31,node:4,sequence:10;epoch=0;tick=1s",
    ),
    (
        "54 bits are not safe in JavaScript",
        "time:41,node:3,sequence:10;epoch=1735689600000",
        "time:41,node:3,sequence:10;epoch=1735689600000;tick=1ms",
    ),
    (
        "sixteen fields are the most",
        "time:30,a:2,b:2,c:2,d:2,e:2,f:2,g:2,h:2,i:2,j:2,k:2,l:2,m:2,n:2,sequence:6;epoch=0",
        "time:30,a:2,b:2,c:2,d:2,e:2,f:2,g:2,h:2,i:2,j:2,k:2,l:2,m:2,n:2,sequence:6;epoch=0;tick=1ms",
    ),
    (
        "a name of 23 characters with digits and underscores",
        "time:41,availability_zone_no_01:4;epoch=0",
        "time:41,availability_zone_no_01:4;epoch=0;tick=1ms",
    ),
    (
        "an hour between two IDs gives none in a second",
        "time:20,node:5;epoch=0;tick=3600000ms",
        "time:20,node:5;epoch=0;tick=3600s",
    ),
    (
        "IDs in a second stop at 2^64-1",
        "sequence:63,time:1;epoch=0",
        "sequence:63,time:1;epoch=0;tick=1ms",
    ),
    (
        "the longest tick in ms",
        "time:1;epoch=0;tick=9007199254740991ms",
        "time:1;epoch=0;tick=9007199254740991ms",
    ),
    (
        "the longest tick in seconds",
        "time:1;epoch=0;tick=9007199254740s",
        "time:1;epoch=0;tick=9007199254740s",
    ),
    ("the latest epoch", "time:1;epoch=9007199254740991", "time:1;epoch=9007199254740991;tick=1ms"),
    ("the earliest epoch", "time:1;epoch=-9007199254740991", "time:1;epoch=-9007199254740991;tick=1ms"),
    ("the last tick starts at 2^63-1 ms", "time:63;epoch=0", "time:63;epoch=0;tick=1ms"),
    (
        "ticks of a microsecond are read and not minted",
        "unused:1,time:53,clock:10;epoch=0;tick=1us",
        "unused:1,time:53,clock:10;epoch=0;tick=1us",
    ),
    (
        "ticks of ten microseconds",
        "unused:1,time:48,node:15;epoch=2015-01-01T00:00:00Z;tick=10us",
        "unused:1,time:48,node:15;epoch=1420070400000;tick=10us",
    ),
    ("ticks that are no whole ms", f"{BODY};epoch=0;tick=1500us", f"{BODY};epoch=0;tick=1500us"),
    ("a ms in microseconds is printed in ms", f"{BODY};epoch=0;tick=1000us", f"{BODY};epoch=0;tick=1ms"),
    ("a second in microseconds is printed in seconds", f"{BODY};epoch=0;tick=2000000us", f"{BODY};epoch=0;tick=2s"),
    (
        "the longest tick in microseconds",
        "time:1;epoch=0;tick=9007199254740us",
        "time:1;epoch=0;tick=9007199254740us",
    ),
    ("the last tick starts at 2^63-1 microseconds", "time:63;epoch=0;tick=1us", "time:63;epoch=0;tick=1us"),
    ("a million IDs in a microsecond", "time:40,sequence:20;epoch=0;tick=1us", "time:40,sequence:20;epoch=0;tick=1us"),
    (
        "a field of a fixed value is no node field",
        "version:5=16,time:32,region:12,sequence:4;epoch=1659916800000;tick=1s",
        "version:5=16,time:32,region:12,sequence:4;epoch=1659916800000;tick=1s",
    ),
    (
        "a fixed value of 0",
        "unused:1,time:41,kind:2=0,node:8,sequence:12;epoch=0",
        "unused:1,time:41,kind:2=0,node:8,sequence:12;epoch=0;tick=1ms",
    ),
    ("the highest fixed value", "time:41,kind:3=7,node:8;epoch=0", "time:41,kind:3=7,node:8;epoch=0;tick=1ms"),
    (
        "a fixed value of 40 bits",
        "time:20,magic:40=1099511627775;epoch=0",
        "time:20,magic:40=1099511627775;epoch=0;tick=1ms",
    ),
    (
        "a fixed value on top of 64 bits makes every ID negative",
        "flag:1=1,time:41,node:22;epoch=5",
        "flag:1=1,time:41,node:22;epoch=5;tick=1ms",
    ),
    (
        "a fixed value on top of 64 bits keeps every ID positive",
        "flag:2=1,time:40,node:22;epoch=5",
        "flag:2=1,time:40,node:22;epoch=5;tick=1ms",
    ),
    (
        "two fixed fields beside 32 bits of nodes",
        "a:2=1,time:20,b:2=3,node:32;epoch=0",
        "a:2=1,time:20,b:2=3,node:32;epoch=0;tick=1ms",
    ),
    ("opaque bits are read and not minted", "time:42,opaque:22;epoch=0", "time:42,opaque:22;epoch=0;tick=1ms"),
    (
        "opaque bits beside other fields",
        "time:32,ms:10,opaque:3,sequence:5,machine:8;epoch=0;tick=1s",
        "time:32,ms:10,opaque:3,sequence:5,machine:8;epoch=0;tick=1s",
    ),
)

# Facts that a good text above was written for: name, then attribute and value.
GOOD_FACTS: dict[str, dict[str, object]] = {
    "all 64 bits with time on top turn negative halfway": {"bits": 64, "signed_until_ms": 1735689600000 + 2**39},
    "all 64 bits with a node above time may be negative from the epoch on": {"signed_until_ms": 1735689600000},
    "a node above time in 63 bits never turns negative": {"bits": 63, "signed_until_ms": None},
    "two node fields of 32 bits together": {"nodes": 2**32},
    "two node fields may stand apart": {"nodes": 2**14},
    "a random field is no node field": {"nodes": 64},
    "one field of one bit is a layout": {"bits": 1, "nodes": 1, "ids_per_tick": 1, "ids_per_second": 1000},
    "54 bits are not safe in JavaScript": {"js_safe": False},
    "an hour between two IDs gives none in a second": {"ids_per_second": 0},
    "IDs in a second stop at 2^64-1": {"ids_per_second": 2**64 - 1},
    "the last tick starts at 2^63-1 ms": {"ends_at_ms": 2**63 - 1},
    "the last tick starts at 2^63-1 microseconds": {"ends_at_ms": (2**63 - 1) // 1000},
    "ticks of a microsecond are read and not minted": {"unmintable": True, "tick_ms": 0, "ids_per_second": 10**6},
    "ticks that are no whole ms": {"unmintable": True, "tick_ms": 1},
    "a ms in microseconds is printed in ms": {"unmintable": False, "tick_ms": 1},
    "a million IDs in a microsecond": {"ids_per_second": 2**20 * 10**6},
    "a field of a fixed value is no node field": {"nodes": 4096, "bits": 53, "js_safe": True, "unmintable": False},
    "a fixed value on top of 64 bits makes every ID negative": {"signed_until_ms": 5},
    "a fixed value on top of 64 bits keeps every ID positive": {"signed_until_ms": None},
    "opaque bits are read and not minted": {"unmintable": True, "nodes": 1},
}

MALFORMED = (
    ("an empty text", ""),
    ("a preset that does not exist", "snowflake"),
    ("a preset name in capitals", "Twitter"),
    ("a preset name with an epoch", "twitter;epoch=0"),
    ("a blank before the text", f" {BODY};epoch=0"),
    ("a line feed after the text", f"{BODY};epoch=0;tick=1ms\n"),
    ("a blank after a comma", "unused:1, time:41,node:10,sequence:12;epoch=0"),
    ("a blank after a semicolon", f"{BODY}; epoch=0"),
    ("a blank around the equals sign", f"{BODY};epoch = 0"),
    ("no fields", ";epoch=0"),
    ("a comma before the fields", f",{BODY};epoch=0"),
    ("a comma after the fields", f"{BODY},;epoch=0"),
    ("two commas in a row", "time:41,,node:10;epoch=0"),
    ("a semicolon after the epoch", f"{BODY};epoch=0;"),
    ("a semicolon after the tick", f"{BODY};epoch=0;tick=1ms;"),
    ("no time field", "node:10,sequence:12;epoch=0"),
    ("nothing but unused bits", "unused:41;epoch=0"),
    ("two time fields", "time:20,time:21,node:10;epoch=0"),
    ("two sequence fields", "time:41,sequence:6,sequence:6;epoch=0"),
    ("two random fields", "time:41,random:6,random:6;epoch=0"),
    ("two node fields of one name", "time:41,node:5,node:5;epoch=0"),
    ("unused after time", "time:41,unused:1,node:10;epoch=0"),
    ("unused twice", "unused:1,unused:1,time:41;epoch=0"),
    ("a field of no bits", "time:41,node:0;epoch=0"),
    ("a field of 65 bits", "time:65;epoch=0"),
    ("a field of 100 bits", "time:100;epoch=0"),
    ("bits with a leading zero", "time:41,node:01;epoch=0"),
    ("bits with a plus sign", "time:41,node:+1;epoch=0"),
    ("negative bits", "time:41,node:-1;epoch=0"),
    ("bits in hex", "time:0x29;epoch=0"),
    ("bits left out after the colon", "time:41,node:;epoch=0"),
    ("a field without a colon", "time:41,node;epoch=0"),
    ("a field with two colons", "time:41,node:10:10;epoch=0"),
    ("a field without a name", "time:41,:10;epoch=0"),
    ("65 bits in all", "unused:1,time:42,node:10,sequence:12;epoch=0"),
    ("far too many bits in all", "time:40,sequence:64,random:64;epoch=0"),
    ("one node field of 33 bits", "time:31,node:33;epoch=0"),
    ("two node fields of 33 bits together", "time:31,rack:16,host:17;epoch=0"),
    ("a name in upper case", "time:41,Node:10;epoch=0"),
    ("a name that starts with a digit", "time:41,1node:10;epoch=0"),
    ("a name that starts with an underscore", "time:41,_node:10;epoch=0"),
    ("a name with a hyphen", "time:41,data-center:10;epoch=0"),
    ("a name outside ASCII", "time:41,n\u0153ud:10;epoch=0"),
    ("a name of 24 characters", "time:41,availability_zone_no_001:4;epoch=0"),
    ("seventeen fields", "time:30,a:2,b:2,c:2,d:2,e:2,f:2,g:2,h:2,i:2,j:2,k:2,l:2,m:2,n:2,o:2,sequence:4;epoch=0"),
    ("no epoch", BODY),
    ("a tick without an epoch", f"{BODY};tick=1ms"),
    ("two epochs", f"{BODY};epoch=0;epoch=0"),
    ("two ticks", f"{BODY};epoch=0;tick=1ms;tick=1ms"),
    ("the tick before the epoch", f"{BODY};tick=1ms;epoch=0"),
    ("an option that does not exist", f"{BODY};epoch=0;node=5"),
    ("a third option", f"{BODY};epoch=0;tick=1ms;node=5"),
    ("an option in capitals", f"{BODY};EPOCH=0"),
    ("an empty epoch", f"{BODY};epoch="),
    ("an epoch with a plus sign", f"{BODY};epoch=+1735689600000"),
    ("an epoch with a leading zero", f"{BODY};epoch=01735689600000"),
    ("a negative epoch with a leading zero", f"{BODY};epoch=-01"),
    ("an epoch with a decimal point", f"{BODY};epoch=1735689600000.0"),
    ("an epoch in exponent form", f"{BODY};epoch=1e12"),
    ("an epoch beyond 2^53-1", "time:1;epoch=9007199254740992"),
    ("an epoch below -(2^53-1)", "time:1;epoch=-9007199254740992"),
    ("an epoch of forty digits", "time:1;epoch=1000000000000000000000000000000000000000"),
    ("an epoch on February 30", f"{BODY};epoch=2024-02-30T00:00:00Z"),
    ("an epoch on February 29 of a century that has none", f"{BODY};epoch=1900-02-29T00:00:00Z"),
    ("an epoch in month 0", f"{BODY};epoch=2025-00-01T00:00:00Z"),
    ("an epoch in month 13", f"{BODY};epoch=2025-13-01T00:00:00Z"),
    ("an epoch on day 0", f"{BODY};epoch=2025-01-00T00:00:00Z"),
    ("an epoch at hour 24", f"{BODY};epoch=2025-01-01T24:00:00Z"),
    ("an epoch at minute 60", f"{BODY};epoch=2025-01-01T00:60:00Z"),
    ("an epoch in a leap second", f"{BODY};epoch=2016-12-31T23:59:60Z"),
    ("an epoch without an offset", f"{BODY};epoch=2025-01-01T00:00:00"),
    ("an epoch with an offset without a colon", f"{BODY};epoch=2025-01-01T00:00:00+0800"),
    ("an epoch with an offset of 24 hours", f"{BODY};epoch=2025-01-01T00:00:00+24:00"),
    ("an epoch with an offset of 60 minutes", f"{BODY};epoch=2025-01-01T00:00:00+00:60"),
    ("an epoch with a blank for its T", f"{BODY};epoch=2025-01-01 00:00:00Z"),
    ("an epoch without seconds", f"{BODY};epoch=2025-01-01T00:00Z"),
    ("an epoch that is only a date", f"{BODY};epoch=2025-01-01"),
    ("an epoch with a point and no digits", f"{BODY};epoch=2025-01-01T00:00:00.Z"),
    ("an epoch with a fraction behind a comma", f"{BODY};epoch=2025-01-01T00:00:00,5Z"),
    ("an epoch of a five-digit year", f"{BODY};epoch=12025-01-01T00:00:00Z"),
    ("an empty tick", f"{BODY};epoch=0;tick="),
    ("a tick of 0 ms", f"{BODY};epoch=0;tick=0ms"),
    ("a tick with a leading zero", f"{BODY};epoch=0;tick=01ms"),
    ("a tick with a sign", f"{BODY};epoch=0;tick=+1ms"),
    ("a tick without a unit", f"{BODY};epoch=0;tick=1"),
    ("a tick that is only a unit", f"{BODY};epoch=0;tick=ms"),
    ("a tick in minutes", f"{BODY};epoch=0;tick=1m"),
    ("a tick in microseconds with their Greek letter", f"{BODY};epoch=0;tick=1\u00b5s"),
    ("a tick of 0 microseconds", f"{BODY};epoch=0;tick=0us"),
    ("a tick in ns", f"{BODY};epoch=0;tick=1ns"),
    ("a tick beyond 2^53-1 microseconds", "time:1;epoch=0;tick=9007199254741us"),
    ("a last tick one microsecond beyond 2^63-1", "time:63;epoch=1;tick=1us"),
    ("a fixed value that is too large", "time:41,version:5=32;epoch=0"),
    ("a fixed value with a leading zero", "time:41,version:5=01;epoch=0"),
    ("a negative fixed value", "time:41,version:5=-1;epoch=0"),
    ("an empty fixed value", "time:41,version:5=;epoch=0"),
    ("a fixed value in hex", "time:41,version:5=0x1;epoch=0"),
    ("a fixed value beyond 64 bits", "time:1,version:63=18446744073709551616;epoch=0"),
    ("two fixed values", "time:41,version:5=1=1;epoch=0"),
    ("a fixed time", "time:41=5,node:10;epoch=0"),
    ("a fixed sequence", "time:41,sequence:10=5;epoch=0"),
    ("fixed random bits", "time:41,random:10=5;epoch=0"),
    ("fixed unused bits", "unused:1=0,time:41;epoch=0"),
    ("fixed opaque bits", "time:41,opaque:10=5;epoch=0"),
    ("a fixed value without bits", "time:41,version=5;epoch=0"),
    ("both random and opaque bits", "time:41,random:5,opaque:5;epoch=0"),
    ("two opaque fields", "time:41,opaque:5,opaque:5;epoch=0"),
    ("a tick in capitals", f"{BODY};epoch=0;tick=1S"),
    ("a tick of a broken second", f"{BODY};epoch=0;tick=1.5s"),
    ("a tick beyond 2^53-1 ms", "time:1;epoch=0;tick=9007199254740992ms"),
    ("a tick in seconds beyond 2^53-1 ms", "time:1;epoch=0;tick=9007199254741s"),
    ("a tick of forty digits", "time:1;epoch=0;tick=1000000000000000000000000000000000000000ms"),
    ("a last tick one ms beyond 2^63-1", "time:63;epoch=1"),
    ("a time field of 64 bits", "time:64;epoch=-9007199254740991"),
    ("a coarse tick that carries the last tick beyond 2^63-1", "time:41;epoch=0;tick=9007199254740991ms"),
)


def facts(layout: Layout) -> Case:
    """Returns the facts of a layout in the form of the file."""
    return {
        "canonical": canonical(layout),
        "bits": layout.bits,
        "epoch_ms": layout.epoch_ms,
        "tick_ms": layout.tick_ms,
        "ends_at_ms": layout.ends_at_ms,
        "signed_until_ms": layout.signed_until_ms,
        "js_safe": layout.js_safe,
        "nodes": str(layout.nodes),
        "ids_per_tick": str(layout.ids_per_tick),
        "ids_per_second": str(layout.ids_per_second),
        "fields": [[field.name, field.bits] for field in layout.fields if field.name != "unused"],
        "tick_us": layout.tick_us,
        "mintable": not layout.unmintable,
    }


def cases() -> list[Case]:
    return [*_presets(), *_good(), *_malformed()]


def _presets() -> list[Case]:
    agree("every preset has its facts", [preset.name for preset in PRESET_FACTS], list(PRESETS))
    written = []
    for preset in PRESET_FACTS:
        layout = parse(preset.name)
        signed_until = None if layout.signed_until_ms is None else format_rfc3339(layout.signed_until_ms)
        agree(preset.name, PRESETS[preset.name], canonical(layout))
        agree(preset.name, preset.epoch, format_rfc3339(layout.epoch_ms))
        agree(preset.name, preset.ends_at, format_rfc3339(layout.ends_at_ms)[: len(preset.ends_at)])
        agree(preset.name, preset.signed_until, signed_until)
        agree(preset.name, preset.ids_per_second, layout.ids_per_second)
        agree(preset.name, preset.name == "safe53", layout.js_safe)
        written.append({"name": f"the preset {preset.name}", "layout": preset.name, **facts(layout)})
    return written


def _good() -> list[Case]:
    agree("facts belong to good texts", set(), set(GOOD_FACTS) - {name for name, _, _ in GOOD})
    agree("the test configuration of baidu", "2033-09-24T", format_rfc3339(parse(BAIDU_TEST).ends_at_ms)[:11])
    written = []
    for name, text, printed in GOOD:
        layout = parse(text)
        agree(name, printed, canonical(layout))
        agree(name, layout, parse(printed))
        for attribute, value in GOOD_FACTS.get(name, {}).items():
            agree(f"{name}, {attribute}", value, getattr(layout, attribute))
        written.append({"name": name, "layout": text, **facts(layout)})
    return written


def _malformed() -> list[Case]:
    return [_refused(f"{name} is refused", text) for name, text in MALFORMED]


def _refused(name: str, text: str) -> Case:
    return {"name": name, "layout": text, **result_of(name, lambda: facts(parse(text)), "INVALID_LAYOUT")}

"""The named layouts, in canonical text."""

PRESETS: dict[str, str] = {
    "snowmint": "unused:1,time:41,node:10,sequence:12;epoch=1735689600000;tick=1ms",
    # twitter-archive/snowflake, tag snowflake-2010
    "twitter": "unused:1,time:41,datacenter:5,worker:5,sequence:12;epoch=1288834974657;tick=1ms",
    # Discord developer documentation, reference page
    "discord": "time:42,worker:5,process:5,sequence:12;epoch=1420070400000;tick=1ms",
    # Instagram engineering blog, "Sharding & IDs at Instagram"
    "instagram": "time:41,shard:13,sequence:10;epoch=1314220021721;tick=1ms",
    # sony/sonyflake v1
    "sonyflake": "unused:1,time:39,sequence:8,machine:16;epoch=1409529600000;tick=10ms",
    # sony/sonyflake v2
    "sonyflake2": "unused:1,time:39,sequence:8,machine:16;epoch=1735689600000;tick=10ms",
    # Meituan-Dianping/Leaf
    "leaf": "unused:1,time:41,worker:10,sequence:12;epoch=1288834974657;tick=1ms",
    # baidu/uid-generator
    "baidu": "unused:1,time:28,worker:22,sequence:13;epoch=1463673600000;tick=1s",
    # Ahoo-Wang/CosId
    "cosid": "unused:1,time:41,machine:10,sequence:12;epoch=1577203200000;tick=1ms",
    # mastodon/mastodon, lib/mastodon/snowflake.rb
    "mastodon": "time:48,sequence:16;epoch=0;tick=1ms",
    # yitter/IdGenerator
    "yitter": "unused:1,time:51,worker:6,sequence:6;epoch=1582136402000;tick=1ms",
    # zheng-ji/goSnowFlake
    "gosnowflake": "time:42,worker:10,sequence:12;epoch=1474802888000;tick=1ms",
    # CalliCoder, SequenceGenerator
    "callicoder": "unused:1,time:41,node:10,sequence:12;epoch=1420070400000;tick=1ms",
    # Java variant published on ITeye
    "iteye": "unused:1,time:49,worker:4,sequence:10;epoch=1361753741828;tick=1ms",
    # Widths of CosId's JavaScript-safe layout
    "safe53": "time:41,node:3,sequence:9;epoch=1735689600000;tick=1ms",
}

# Layouts that inspect reads beside the presets.
READ_ONLY: dict[str, str] = {
    # obsidianforensics/unfurl, parse_tiktok.py; arXiv 2504.13279. Douyin and Lark too.
    "tiktok": "time:32,ms:10,opaque:3,sequence:5,reserved:2,type:4,machine:8;epoch=0;tick=1s",
    # obsidianforensics/unfurl, parse_linkedin.py
    "linkedin": "time:42,opaque:22;epoch=0;tick=1ms",
    # atproto.com/specs/tid
    "bluesky": "unused:1,time:53,clock:10;epoch=0;tick=1us",
    # docs.pingcap.com, TimeStamp Oracle
    "tidb": "time:46,logical:18;epoch=0;tick=1ms",
    # cockroachdb/cockroach, GenerateUniqueInt
    "cockroachdb": "unused:1,time:48,node:15;epoch=1420070400000;tick=10us",
    # ClickHouse documentation, generateSnowflakeID
    "clickhouse": "unused:1,time:41,machine:10,sequence:12;epoch=0;tick=1ms",
    # getsentry/sentry, utils/snowflake.py
    "sentry": "version:5=16,time:32,region:12,sequence:4;epoch=1659916800000;tick=1s",
    # f4b6a3/tsid-creator; vladmihalcea/hypersistence-tsid
    "tsid": "time:42,node:10,sequence:12;epoch=1577836800000;tick=1ms",
    # apache/incubator-seata, IdWorker.java
    "seata": "unused:1,node:10,time:41,sequence:12;epoch=1588435200000;tick=1ms",
    # apache/shardingsphere, SnowflakeKeyGenerateAlgorithm
    "shardingsphere": "unused:1,time:41,worker:10,sequence:12;epoch=1477929600000;tick=1ms",
    # hazelcast/hazelcast, FlakeIdGenerator
    "hazelcast": "unused:1,time:41,sequence:6,node:16;epoch=1514764800000;tick=1ms",
    # yitter/IdGenerator, BaseTime of the TypeScript and the C# edition
    "yitter_typescript": "unused:1,time:51,worker:6,sequence:6;epoch=1577836800000;tick=1ms",
    "yitter_csharp": "unused:1,time:51,worker:6,sequence:6;epoch=1582165202020;tick=1ms",
}

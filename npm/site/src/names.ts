// The names of systems and of other kinds of IDs, as people write them.
import type { Candidate } from "snowmint";

/** The names of layouts; each preset of `layouts.all()` has one. */
const SYSTEMS: Readonly<Record<NonNullable<Candidate["layout"]>, string>> = {
  snowmint: "snowmint",
  twitter: "X/Twitter",
  discord: "Discord",
  instagram: "Instagram",
  sonyflake: "Sonyflake v1",
  sonyflake2: "Sonyflake v2",
  leaf: "Meituan Leaf",
  baidu: "Baidu uid-generator",
  cosid: "CosId",
  mastodon: "Mastodon",
  tiktok: "TikTok, Douyin",
  linkedin: "LinkedIn",
  bluesky: "Bluesky",
  pinterest: "Pinterest",
  sentry: "Sentry",
  cockroachdb: "CockroachDB",
  tidb: "TiDB timestamp",
  clickhouse: "ClickHouse",
  tsid: "TSID",
  seata: "Seata",
  shardingsphere: "ShardingSphere",
  hazelcast: "Hazelcast",
  yitter: "yitter IdGenerator",
  yitter_typescript: "yitter IdGenerator for TypeScript",
  yitter_csharp: "yitter IdGenerator for C#",
  gosnowflake: "goSnowFlake",
  callicoder: "CalliCoder",
  iteye: "ITeye",
  safe53: "snowmint for JS numbers",
};

/** The names of kinds other than layouts. */
const KINDS: Readonly<Record<string, string>> = {
  snowflake: "a layout of your own",
  uuid: "UUID of another variant or version",
  uuid_nil: "nil UUID",
  uuid_max: "max UUID",
  ulid: "ULID",
  object_id: "ObjectId",
  type_id: "TypeID",
  ksuid: "KSUID",
  xid: "xid",
  firebase_push_id: "Firebase push ID",
  cuid: "cuid",
  scru128: "SCRU128",
  redis_stream_id: "Redis stream",
  xray_trace_id: "AWS X-Ray trace",
  aidx: "Misskey aidx",
};

/** The name of the system of a layout with this name. */
export function systemName(layout: string): string {
  return (SYSTEMS as Readonly<Record<string, string>>)[layout] ?? layout;
}

/** The name of the system that could have minted an ID. */
export function candidateName({ layout, kind }: Pick<Candidate, "layout" | "kind">): string {
  return layout ? systemName(layout) : (KINDS[kind] ?? kind.replace(/^uuid(\d)$/, "UUID, version $1"));
}

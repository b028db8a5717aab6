// The declarations by require.
import type { Layout as ImportedLayout } from "snowmint" with { "resolution-mode": "import" };

import snowmint = require("snowmint");
import stores = require("snowmint/stores");
import deno = require("snowmint/stores/deno");

const is = (store: stores.Store): stores.Store => store;

const gen: snowmint.Snowflake = new snowmint.Snowflake({ layout: snowmint.layouts.TWITTER, node: 5 });
const id: bigint = gen.nextId();
const form: snowmint.text.TextForm = "hex";
const texts: string[] = [snowmint.text.encode(id, form), String(snowmint.Layout.preset("leaf"))];
const code: snowmint.ErrorCode = new snowmint.SnowmintError("FORKED", texts.join()).code;
// @ts-expect-error no such export
snowmint.mint(code);
const store: stores.Store = new stores.MemoryStore();
is(new deno.DenoKvStore({ get: () => {}, list: () => {}, atomic: () => {} }));
const version: Promise<number | null> = store.write("leases/orders/5", new Uint8Array(1), 0);
// @ts-expect-error a promise is no version
snowmint.text.encode(version, form);
// An ES module and a CommonJS one hand values to each other.
const imported: ImportedLayout = snowmint.layouts.TWITTER;
const layout: snowmint.Layout = imported;
new snowmint.Snowflake({ layout, node: 5 });

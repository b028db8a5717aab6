// The declarations by require.
import snowmint = require("snowmint");

const gen: snowmint.Snowflake = new snowmint.Snowflake({ layout: snowmint.layouts.TWITTER, node: 5 });
const id: bigint = gen.nextId();
const form: snowmint.text.TextForm = "hex";
const texts: string[] = [snowmint.text.encode(id, form), String(snowmint.Layout.preset("leaf"))];
const code: snowmint.ErrorCode = new snowmint.SnowmintError("FORKED", texts.join()).code;
// @ts-expect-error no such export
snowmint.mint(code);

// What an editor shows of public names.
import assert from "node:assert/strict";
import { test } from "node:test";
import { API } from "typescript/unstable/sync";
import { hovers } from "./editor.mjs";

const root = new URL("..", import.meta.url).pathname;
const dist = `${root}tests/node_modules/snowmint/dist/`;
const ENTRIES = {
  snowmint: "index",
  "snowmint/stores": "stores/index",
  "snowmint/stores/deno": "stores/deno",
  "snowmint/sql": "sql/index",
  "snowmint/numbers": "numbers/index",
};
/** Flags of symbols, as the compiler has them. */
const [VARIABLE, CLASS, INTERFACE, NAMESPACE, ALIAS] = [1 | 2, 32, 64, 512 | 1024, 2_097_152];
const VALUE = VARIABLE | 16 | CLASS;
/** Clients of applications: their members are not part of our interface. */
const CLIENTS = ["MysqlPool", "PgPool", "IoredisClient", "NodeRedisClient", "SqliteDatabase", "DenoKv"];

/** A line of code for each public name and each of its members; the name is at the end of the line. */
function uses(t) {
  const api = new API({ cwd: root });
  t.after(() => api.close());
  const { checker, program } = api.updateSnapshot({ openProject: "tests/tsconfig.json" }).getProjects()[0];
  const lines = [];
  const use = (of, code) => {
    // Members whose names are symbols are described under the same name elsewhere.
    const names = of.map(({ name }) => name).filter((name) => /^\w+$/.test(name) && !/^(prototype|__.*)$/.test(name));
    lines.push(...names.map(code));
  };
  for (const [name, entry] of Object.entries(ENTRIES)) {
    const module = name.replaceAll("/", "_");
    const exported = checker.getExportsOfModule(
      checker.getSymbolAtLocation(program.getSourceFile(`${dist}${entry}.d.ts`)),
    );
    for (const each of exported) {
      const symbol = each.flags & ALIAS ? checker.getAliasedSymbol(each) : each;
      const path = `${module}.${each.name}`;
      // Those of the language, such as `stack` of errors, are declared elsewhere.
      const isOurs = ({ declarations }) =>
        !declarations.length || declarations.some(({ path }) => path.startsWith(dist));
      const membersOf = (type) => checker.getPropertiesOfType(type).filter(isOurs);
      lines.push(symbol.flags & VALUE ? path : `null! as ${path}`);
      if (CLIENTS.includes(each.name)) continue;
      if (symbol.flags & (CLASS | INTERFACE))
        use(membersOf(checker.getDeclaredTypeOfSymbol(symbol)), (member) => `(null! as ${path}).${member}`);
      if (symbol.flags & (CLASS | VARIABLE))
        use(membersOf(checker.getTypeOfSymbol(symbol)), (member) => `${path}.${member}`);
      if (symbol.flags & NAMESPACE) use([...symbol.getExports().values()], (type) => `null! as ${path}.${type}`);
    }
  }
  return lines;
}

test("an editor tells of every public name, and of every member of it", async (t) => {
  const lines = uses(t);
  t.diagnostic(`${lines.length} names`);
  for (const line of [
    "snowmint.Snowflake.lease",
    "(null! as snowmint.Parts).tick",
    "snowmint.uuid.v7",
    "snowmint.layouts.TWITTER",
  ])
    assert.ok(lines.includes(line), line);
  const imports = Object.keys(ENTRIES).map((name) => `import * as ${name.replaceAll("/", "_")} from "${name}";`);
  const text = [imports.join(" "), ...lines.map((line) => `${line};`)].join("\n");
  const shown = await hovers(
    root,
    "tests/names.ts",
    text,
    lines.map((line, at) => [at + 1, line.length - 1]),
  );
  // First the declaration in a code fence, then its description.
  const told = shown.map((text) => text.replace(/^```typescript\n.*?\n```/s, "").trim());
  assert.ok(shown.every((text) => text.startsWith("```typescript\n")));
  assert.deepEqual(
    lines.filter((_, at) => !told[at]),
    [],
  );
});

// The compiler as an editor asks it: by the Language Server Protocol, over a file that is not on the disk.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { pathToFileURL } from "node:url";

/** Returns the Markdown that the editor shows at each position of a text in a file of that name: [line, character]. */
export async function hovers(folder, name, text, places) {
  const server = spawn("node_modules/.bin/tsc", ["--lsp", "--stdio"], {
    cwd: folder,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const waiting = new Map();
  const send = (message) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const ask = (method, params) =>
    new Promise((resolve, reject) => {
      const id = waiting.size + 1;
      waiting.set(id, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result)));
      send({ id, method, params });
    });
  server.once("exit", () => {
    for (const answer of waiting.values()) answer({ error: { message: "the compiler has ended without an answer" } });
  });
  const take = (message) => {
    if (message.method === undefined) waiting.get(message.id)(message);
    // It asks too, how the editor is set up: as it comes.
    else if (message.id !== undefined) send({ id: message.id, result: message.params?.items?.map(() => null) ?? null });
  };
  let unread = Buffer.alloc(0);
  server.stdout.on("data", (data) => {
    unread = Buffer.concat([unread, data]);
    for (;;) {
      const end = unread.indexOf("\r\n\r\n") + 4;
      const length = Number(/Content-Length: (\d+)/.exec(unread.subarray(0, end))?.[1]);
      if (!(unread.length >= end + length)) return;
      take(JSON.parse(unread.subarray(end, end + length)));
      unread = unread.subarray(end + length);
    }
  });
  const uri = pathToFileURL(`${folder}/${name}`).href;
  const capabilities = { textDocument: { hover: { contentFormat: ["markdown"] } } };
  await ask("initialize", { processId: process.pid, rootUri: pathToFileURL(folder).href, capabilities });
  send({ method: "initialized", params: {} });
  send({
    method: "textDocument/didOpen",
    params: { textDocument: { uri, languageId: "typescript", version: 1, text } },
  });
  const shown = [];
  for (const [line, character] of places) {
    const answer = await ask("textDocument/hover", { textDocument: { uri }, position: { line, character } });
    shown.push(answer?.contents.value ?? "");
  }
  await ask("shutdown");
  send({ method: "exit" });
  await once(server, "exit");
  return shown;
}

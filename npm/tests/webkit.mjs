// WebKitGTK's MiniBrowser by WebDriver, with the face that Chromium's driver has: contexts, and pages that go, evaluate,
// reload and close. A context is a separate browser with its data in memory; it needs a display.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const PROGRAMS = ["/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser", "/usr/bin/WebKitWebDriver", "/usr/bin/Xvfb"];
const binary = process.env.WEBKIT ?? PROGRAMS[0];
const lacking = [binary, ...PROGRAMS.slice(1)].find((path) => !existsSync(path));
/** Why tests have to be skipped, if they have. */
export const missing = lacking ? `no browser, as there is no ${lacking}` : false;

/** How long a command may take. Commands take some ms, on a busy machine seconds. */
const LOST_MS = 30_000;

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

async function end(child) {
  if (child.exitCode === null && child.kill()) await once(child, "exit");
}

export async function launch() {
  const screen = spawn("/usr/bin/Xvfb", ["-displayfd", "1", "-nolisten", "tcp"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [number] = await once(screen.stdout, "data");
  const env = { ...process.env, DISPLAY: `:${String(number).trim()}` };
  const contexts = new Set();
  return {
    async newContext() {
      const context = new Context(await freePort(), env);
      contexts.add(context);
      await context.start();
      return context;
    },
    async close() {
      for (const context of contexts) await context.close();
      await end(screen);
    },
  };
}

/** A session: its commands go one after another, each to the window that it names. */
class Context {
  #url;
  #driver;
  #last = Promise.resolve();
  #pages = 0;

  constructor(port, env) {
    this.#url = `http://127.0.0.1:${port}`;
    this.#driver = spawn("/usr/bin/WebKitWebDriver", [`--port=${port}`], { env, stdio: "ignore" });
  }

  async start() {
    for (const since = performance.now(); ; await sleep(20))
      try {
        await this.#ask("GET", "/status");
        break;
      } catch (error) {
        if (performance.now() - since > 60_000) throw error;
      }
    const options = {
      "webkitgtk:browserOptions": {
        binary,
        args: ["--automation", "--javascript-can-open-windows-automatically=true"],
      },
    };
    const { sessionId } = await this.#ask("POST", "/session", { capabilities: { alwaysMatch: options } });
    this.#url += `/session/${sessionId}`;
  }

  /** The first page is the window that the session began with. */
  async newPage() {
    const [window] = await this.handles();
    if (!this.#pages++) return new Page(this, window);
    return new Page(this, (await this.command(window, "POST", "/window/new", { type: "tab" })).handle);
  }

  handles() {
    return this.command(null, "GET", "/window/handles");
  }

  command(window, method, path, body) {
    const done = this.#last.then(async () => {
      if (window) await this.#ask("POST", "/window", { handle: window });
      return this.#ask(method, path, body);
    });
    this.#last = done.catch(() => {});
    return done;
  }

  async close() {
    await this.#last;
    if (this.#driver.exitCode === null) await this.#ask("DELETE", "").catch(() => {});
    await end(this.#driver);
  }

  async #ask(method, path, body) {
    // A script that runs while its page is put away for the back button is never answered.
    const signal = AbortSignal.timeout(LOST_MS);
    const response = await fetch(this.#url + path, { method, signal, ...(body && { body: JSON.stringify(body) }) });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  }
}

class Page {
  #context;
  #window;
  #calls = 0;

  constructor(context, window) {
    this.#context = context;
    this.#window = window;
  }

  goto(url) {
    return this.#command("POST", "/url", { url });
  }

  reload() {
    return this.#command("POST", "/refresh", {});
  }

  async close() {
    // Without any window the session ends.
    if ((await this.#context.handles()).length === 1) await this.#context.newPage();
    return this.#command("DELETE", "/window");
  }

  /** Hears of the next window that this page opens. */
  async once(_popup, told) {
    const known = await this.#context.handles();
    for (;;) {
      const handle = (await this.#context.handles()).find((handle) => !known.includes(handle));
      if (handle) return told(new Page(this.#context, handle));
      await sleep(20);
    }
  }

  screenshot() {
    return this.#command("GET", "/screenshot");
  }

  /** Returns the value of a function or an expression; other pages continue meanwhile. */
  async evaluate(body, argument) {
    const call = typeof body === "function" ? `(${body})(arguments[0])` : body;
    const told = `told${this.#calls++}`;
    await this.#run(
      `globalThis.${told} = {};
       const call = async () => (${call});
       call.apply(null, arguments).then(
         (value) => { globalThis.${told} = value === undefined ? { done: true } : { done: true, value }; },
         (error) => { globalThis.${told} = { error: String(error?.stack ?? error) }; });`,
      argument,
    );
    for (;;) {
      const { gone, done, error, value } = await this.#run(`return globalThis.${told} ?? { gone: true };`);
      if (gone) throw new Error("the page has gone");
      if (error !== undefined) throw new Error(error);
      if (done) return value;
      await sleep(5);
    }
  }

  #run(script, argument = null) {
    return this.#command("POST", "/execute/sync", { script, args: [argument] });
  }

  #command(method, path, body) {
    return this.#context.command(this.#window, method, path, body);
  }
}

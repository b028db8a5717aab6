// The service that has sent the page, if one has: it marks the page. Shows its version, store, leases and free nodes.
import { byId, element, say } from "./element.js";
import {
  ask,
  askJson,
  keepToken,
  type Leases,
  type Nodes,
  nodesOf,
  Refusal,
  type Status,
  tokenOf,
} from "./service-requests.js";
import { grouped, sinceNow, utc } from "./time.js";

/** How many holders of a namespace are listed. */
const MOST = 100;

const several = (count: number, word: string) => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;

/** Shows the service that this page comes from. A page from another server sends no request. */
export async function startService(): Promise<void> {
  if (!document.querySelector("meta[name=snowmint-service]")) return;
  for (const part of document.querySelectorAll<HTMLElement>(".of-service")) part.hidden = false;
  const token = byId<HTMLInputElement>("token");
  byId("access").addEventListener("submit", (event) => {
    event.preventDefault();
    keepToken(token.value.trim());
    token.value = "";
    void show();
  });
  byId("forget").addEventListener("click", () => {
    keepToken(null);
    void show();
  });
  byId("refresh").addEventListener("click", () => void show());
  await show();
}

let shows = 0;

async function show(): Promise<void> {
  shows += 1;
  const turn = shows;
  const here = `This page comes from the service at ${location.host}`;
  const list = byId("namespaces");
  const sent = tokenOf() !== null;
  let needsToken = sent;
  let error = "";
  try {
    const { version, store, leases, namespaces } = await askJson<Status>("v1/status");
    // The status has counted the nodes, and the metrics have the last count.
    const nodes = [...nodesOf(await ask("metrics"))];
    // The user has asked anew, perhaps with another token.
    if (turn !== shows) return;
    const held = `${several(leases, "node")} leased in ${several(namespaces, "namespace")}`;
    say(byId("service"), `${here}: snowmint ${version}, store ${store}, ${held}.`);
    const open = [...list.querySelectorAll<HTMLElement>("details[open]")].map(({ dataset }) => dataset.name);
    const isOpen = (name: string, i: number) => (list.children.length ? open.includes(name) : i === 0);
    list.replaceChildren(...nodes.map(([name, counts], i) => row(name, counts, isOpen(name, i))));
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    if (turn !== shows) return;
    const { status, message } = refusal;
    needsToken ||= status === 401;
    // A service that asks for a missing token is not an error.
    if (sent || status !== 401) error = message;
    if (status === 401) keepToken(null);
    say(byId("service"), status === 401 ? `${here}, which asks for a token.` : `${here}.`);
    list.replaceChildren();
  }
  say(byId("service-error"), error);
  byId("access").hidden = !needsToken;
  byId("forget").hidden = tokenOf() === null;
  // Without a token there is nothing to refresh.
  byId("refresh").hidden = needsToken && tokenOf() === null;
}

/** Makes the row of a namespace. It asks for the holders when it is first opened. */
function row(name: string, { held, free }: Nodes, open: boolean): HTMLElement {
  const counts = `${grouped(held)} leased, ${grouped(free)} free`;
  const summary = element("summary", {}, element("strong", {}, name), element("span", { class: "when" }, counts));
  const body = element("div", { class: "body" });
  const details = element("details", { "data-name": name }, summary, body);
  details.addEventListener("toggle", async () => {
    if (!details.open || body.querySelector("table, .note")) return;
    body.replaceChildren(element("p", { class: "note" }, "Asking for the holders."));
    try {
      body.replaceChildren(...holders(await askJson<Leases>(`v1/namespaces/${encodeURIComponent(name)}/leases`)));
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      body.replaceChildren(element("p", { class: "error" }, refusal.message));
    }
  });
  details.open = open;
  return element("li", {}, details);
}

/** Lists the nodes that are leased now, and counts the others. */
function holders({ leases, server_time_ms: nowMs }: Leases): HTMLElement[] {
  const live = leases.filter(({ released, window }) => !released && window.end > nowMs);
  const head = ["Node", "Holder", "Window ends"].map((title) => element("th", { scope: "col" }, title));
  const rows = live
    .slice(0, MOST)
    .map(({ node, label, window }) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, grouped(node)),
        element("td", { class: "holder" }, label),
        element("td", { title: `${utc(window.end)} UTC` }, sinceNow(window.end, nowMs)),
      ),
    );
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
  const notes = [];
  if (live.length === 0) notes.push("No node is leased now.");
  if (live.length > MOST) notes.push(`Not listed: ${several(live.length - MOST, "leased node")}.`);
  if (leases.length > live.length)
    notes.push(`Free again after a holder: ${several(leases.length - live.length, "node")}.`);
  const made = notes.map((note) => element("p", { class: "note" }, note));
  return live.length ? [table, ...made] : made;
}

// The service that has sent the page, if one has: it marks the page, and answers what it is.
import { byId, say } from "./element.js";
import { grouped } from "./time.js";

/** What `GET /v1/status` answers. */
interface Status {
  version: string;
  store: string;
  leases: number;
  namespaces: number;
}

const several = (count: number, word: string) => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;

/** Shows which service this page comes from. A page from another server sends no request. */
export async function showService(): Promise<void> {
  if (!document.querySelector("meta[name=snowmint-service]")) return;
  const place = byId("service");
  const here = `This page comes from the service at ${location.host}`;
  try {
    const response = await fetch("/v1/status");
    if (response.status === 401) return say(place, `${here}, which asks for a token.`);
    if (!response.ok) return say(place, `${here}, which answers ${response.status}: is its store there?`);
    const { version, store, leases, namespaces } = (await response.json()) as Status;
    const held = `${several(leases, "node")} leased in ${several(namespaces, "namespace")}`;
    say(place, `${here}: snowmint ${version}, store ${store}, ${held}.`);
  } catch {
    say(place, `${here}, which does not answer.`);
  }
}

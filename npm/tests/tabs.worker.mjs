// A worker that leases, mints some IDs, and posts them.
import { lease, mint } from "/npm/tests/tabs.mjs";

/** In a shared worker: the port of the page that created it. */
const port =
  globalThis.onconnect === undefined
    ? globalThis
    : await new Promise((resolve) => {
        globalThis.onconnect = ({ ports }) => resolve(ports[0]);
      });
try {
  const node = await lease({});
  port.postMessage({ node, ids: await mint(5000) });
} catch (error) {
  port.postMessage({ error: error.stack });
}

// A worker that leases, mints so many IDs, and tells.
import { lease, mint } from "/npm/tests/tabs.mjs";

/** Of a shared worker, that of the page that has made it. */
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

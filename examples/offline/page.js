import { openDB } from "idb";
import { Snowflake } from "snowmint";
import { HttpStore } from "snowmint/stores";

const database = await openDB("notes", 1, {
  upgrade: (created) => created.createObjectStore("unsent", { keyPath: "id" }),
});

// The service grants this browser a device, and each tab takes a tab of the device. The page mints offline until the
// window ends, windowMs after the last renewal.
const generator = await Snowflake.lease({
  store: new HttpStore(`${location.origin}/ids`),
  namespace: "notes",
  layout: "unused:1,time:41,device:12,tab:3,sequence:7;epoch=2025-01-01T00:00:00Z",
  windowMs: 300_000,
});

const form = document.querySelector("form");
const output = document.querySelector("output");
const list = document.querySelector("ul");

async function show() {
  output.textContent = `${await database.count("unsent")} to send`;
}

/** Sends what is not sent yet. If the answer is lost, the notes are sent again, with the same IDs. */
async function send() {
  const notes = await database.getAll("unsent");
  const headers = { "content-type": "application/json" };
  const answer = await fetch("/notes", { method: "POST", headers, body: JSON.stringify(notes) });
  if (!answer.ok) return;
  for (const { id } of notes) await database.delete("unsent", id);
  await show();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { text } = form.elements;
  // IndexedDB takes no bigint as a key, and JSON takes none either: the ID is a string here.
  await database.add("unsent", { id: String(await generator.nextIdAsync()), text: text.value });
  list.append(Object.assign(document.createElement("li"), { textContent: text.value }));
  form.reset();
  await show();
  if (navigator.onLine) await send();
});
addEventListener("online", send);

form.querySelector("button").disabled = false;
await show();
if (navigator.onLine) await send();

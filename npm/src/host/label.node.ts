// The label of a process in the records of a store.
import { hostname } from "node:os";
import { basename } from "node:path";
import { shown } from "../stores/shared/failure.js";

/** Returns the label of this process, for people: program, process ID and host. */
export function label(): string {
  // A service refuses labels with control characters.
  const name = shown(`${basename(process.argv[1] ?? "node")}:${process.pid}`);
  try {
    return shown(`${name}@${hostname()}`);
  } catch {
    // Deno may forbid to read the host name.
    return name;
  }
}

// Node, Deno and Bun: where a database file lies.
import { readFileSync, realpathSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Surroundings } from "./files.browser.js";

/** Returns facts of Linux about the places of a database file and its journal; an empty list on other systems. */
export function surroundings(file: string): Surroundings[] {
  if (process.platform !== "linux") return [];
  const own = realpathSync(file);
  return [own, dirname(own)].map((path) => ({
    path,
    fileSystem: statfsSync(path).type >>> 0,
    mounts: mountsOf(path),
    isDirectory: path !== own,
  }));
}

/** The mounts that a path is on or below, without their options: core takes a short text. */
function mountsOf(path: string): string[] {
  const escaped = path.replace(/[ \t\n\\]/g, (letter) => `\\${letter.charCodeAt(0).toString(8).padStart(3, "0")}`);
  const lines = mountinfo().map((line) => line.split(" ", 5));
  return lines
    .filter(([, , , , point]) => `${escaped}/`.startsWith(point!.replace(/\/?$/, "/")))
    .map((words) => words.join(" "));
}

function mountinfo(): string[] {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8").split("\n").slice(0, -1);
  } catch {
    // Deno may forbid it.
    return [];
  }
}

/** Which file a path leads to; undefined if to none. */
export function fileAt(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

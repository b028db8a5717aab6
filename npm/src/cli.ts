#!/usr/bin/env node
// The command line, which the addon has. It writes and reads by itself: a use of `process.stdout` or `process.stdin` here would
// make its pipes non-blocking.
import { addon, platform } from "./host/addon.js";

const found = addon();
if (!found) {
  console.error(
    `snowmint: the command line needs the package's addon, which has no build for ${platform}: use pip install snowmint, or ` +
      "cargo install snowmint-server",
  );
}
process.exitCode = found ? found.main(process.argv.slice(2)) : 1;

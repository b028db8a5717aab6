// Prints the name of this machine's platform in the names of packages, as src/host/addon.ts looks for it.
import process from "node:process";

const linux = () => (process.report.getReport().header.glibcVersionRuntime ? "-gnu" : "-musl");
const libc = { linux, win32: () => "-msvc" }[process.platform] ?? (() => "");
console.log(`${process.platform}-${process.arch}${libc()}`);

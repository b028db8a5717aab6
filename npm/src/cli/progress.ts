// A line on the terminal that says how much of the input has been read.

/** Shorter files are read at once. */
const LONG = 1 << 22;
const EVERY_MS = 100;

/**
 * Progress through an input, on standard error. Hidden unless that is a terminal, and for short files; and if the user types
 * the input.
 */
export class Progress {
  readonly #size: number | undefined;
  readonly #isShown: boolean;
  readonly #begun = performance.now();
  #read = 0;
  #shownAt = 0;

  /** `size` is the number of bytes of the file, undefined for standard input. */
  constructor(size: number | undefined) {
    this.#size = size;
    const isLong = size === undefined ? !process.stdin.isTTY : size >= LONG;
    this.#isShown = Boolean(process.stderr.isTTY) && isLong;
  }

  /** Counts bytes that have been read. */
  add(bytes: number): void {
    this.#read += bytes;
    const now = performance.now();
    if (!this.#isShown || now - this.#shownAt < EVERY_MS) return;
    this.#shownAt = now;
    process.stderr.write(`\r${this.#line(now - this.#begun)}\x1b[K`);
  }

  /** Removes the line. */
  clear(): void {
    if (this.#shownAt) process.stderr.write("\r\x1b[K");
  }

  #line(ms: number): string {
    const perMs = this.#read / ms;
    const speed = `${megabytes(perMs * 1000)}/s`;
    if (this.#size === undefined) return `${megabytes(this.#read)}  ${speed}`;
    const done = Math.min(1, this.#read / this.#size);
    const bar = "█".repeat(Math.floor(done * 40)).padEnd(40, "░");
    const left = Math.ceil(Math.max(0, this.#size - this.#read) / perMs / 1000);
    return `${bar} ${megabytes(this.#read)} of ${megabytes(this.#size)}  ${speed}  ${left}s left`;
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

// The simulated fleet as a wasm module. A check that an instance leaves out stays left out, so each run has a new instance.
/** The module in base64; site.mjs puts it here. */
declare const FLEET: string;

/** The exports of proof/fleet/wasm. */
interface Module {
  memory: WebAssembly.Memory;
  checks(): number;
  check_name(check: number, part: number): number;
  check_words(check: number, part: number): number;
  faults(): number;
  fault_name(fault: number, part: number): number;
  default_rate(fault: number): number;
  begin(seed: number, check: number): void;
  set_rate(fault: number, rate: number): void;
  run(ms: number): number;
  count(which: number): number;
  spans(): number;
  span(at: number, part: number): number;
  duplicate(part: number): number;
}

/** A check of the engine that a fleet can do without. */
export interface Check {
  readonly name: string;
  /** Describes the step that a fleet without this check leaves out. */
  readonly words: string;
}

/** A kind of fault. */
export interface Fault {
  readonly name: string;
  readonly rate: number;
}

/** A claim of a process, with the window that it was granted. Times are ms from the start of the run. */
export interface Span {
  readonly claim: number;
  readonly process: number;
  readonly node: number;
  readonly startMs: number;
  readonly endMs: number;
  /** The first and past the last instant with an ID; equal without any. */
  readonly mintedMs: readonly [number, number];
}

/** An ID that was minted twice. */
export interface Duplicate {
  readonly id: bigint;
  readonly node: number;
  /** When its tick began, ms from the start of the run. */
  readonly atMs: number;
  readonly claims: readonly [number, number];
}

let compiled: Promise<WebAssembly.Module> | undefined;

async function instantiate(): Promise<Module> {
  compiled ??= WebAssembly.compile(Uint8Array.from(atob(FLEET), (byte) => byte.charCodeAt(0)));
  const { exports } = await WebAssembly.instantiate(await compiled);
  return exports as unknown as Module;
}

const decoder = new TextDecoder();

function text({ memory }: Module, part: (part: number) => number): string {
  return decoder.decode(new Uint8Array(memory.buffer, part(0), part(1)));
}

const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));

/** Returns the checks and the faults that there are. */
export async function choices(): Promise<{ checks: Check[]; faults: Fault[] }> {
  const module = await instantiate();
  return {
    checks: list(module.checks(), (at) => ({
      name: text(module, (part) => module.check_name(at, part)),
      words: text(module, (part) => module.check_words(at, part)),
    })),
    faults: list(module.faults(), (at) => ({
      name: text(module, (part) => module.fault_name(at, part)),
      rate: module.default_rate(at),
    })),
  };
}

/** A fleet of a seed. */
export class Fleet {
  readonly #module: Module;

  private constructor(module: Module) {
    this.#module = module;
  }

  /** Begins a fleet of a seed, without a check: its place among the choices, 0 for none. */
  static async begin(seed: number, check: number): Promise<Fleet> {
    const module = await instantiate();
    module.begin(seed, check);
    return new Fleet(module);
  }

  setRate(fault: number, rate: number): void {
    this.#module.set_rate(fault, rate);
  }

  /** Runs for `ms` of simulated time, or until an ID is minted twice. */
  run(ms: number): void {
    this.#module.run(ms);
  }

  get ids(): number {
    return this.#module.count(0);
  }

  get nowMs(): number {
    return this.#module.count(4);
  }

  get windowMs(): number {
    return this.#module.count(5);
  }

  get nodes(): number {
    return this.#module.count(7);
  }

  /** The number of faults so far. */
  get faults(): number {
    return list(this.#module.faults(), (at) => this.#module.count(16 + at)).reduce((sum, count) => sum + count, 0);
  }

  /** Returns a claim; `null` if it was granted no window. */
  span(claim: number): Span | null {
    const part = (which: number) => this.#module.span(claim, which);
    const node = part(1);
    if (node < 0) return null;
    return {
      claim,
      process: part(0),
      node,
      startMs: part(2),
      endMs: part(3),
      mintedMs: [part(4), part(5)],
    };
  }

  /** Returns the claims with a window among the last `most` claims, the newest first. */
  lastSpans(most: number): Span[] {
    const all = this.#module.spans();
    const claims = list(Math.min(all, most), (at) => all - 1 - at);
    return claims.map((claim) => this.span(claim)).filter((span) => span !== null);
  }

  /** Returns the first ID that was minted twice. */
  get duplicate(): Duplicate | null {
    const part = (which: number) => this.#module.duplicate(which);
    const node = part(0);
    if (node < 0) return null;
    const id = (BigInt(part(4)) << 32n) | BigInt(part(5));
    return { id, node, atMs: part(1), claims: [part(2), part(3)] };
  }
}

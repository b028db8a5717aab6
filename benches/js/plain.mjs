// Correct generators in plain JavaScript, to compare packages with. They throw an error if the clock goes back.

/** The first version of most programmers: puts each ID together from its parts. */
export class Plain {
  constructor({ epochMs, nodeBits, sequenceBits, node }) {
    this.epochMs = epochMs;
    this.node = BigInt(node) << BigInt(sequenceBits);
    this.shift = BigInt(nodeBits + sequenceBits);
    this.perTick = 2 ** sequenceBits;
    this.last = -1;
    this.sequence = 0;
  }

  nextId() {
    let now = Date.now();
    if (now !== this.last || ++this.sequence === this.perTick) {
      if (now < this.last) throw new Error(`the clock went back by ${this.last - now} ms`);
      while (now === this.last) now = Date.now();
      this.last = now;
      this.sequence = 0;
    }
    return (BigInt(now - this.epochMs) << this.shift) | this.node | BigInt(this.sequence);
  }
}

/** A version for speed: keeps the value that stays the same within a tick, so that most of the cost is the clock. */
export class Tuned {
  constructor({ epochMs, nodeBits, sequenceBits, node }) {
    this.epochMs = epochMs;
    this.low = BigInt(node) << BigInt(sequenceBits);
    this.shift = BigInt(nodeBits + sequenceBits);
    this.perTick = 2 ** sequenceBits;
    this.last = -1;
    this.base = 0n;
    this.sequence = 0;
  }

  nextId() {
    const now = Date.now();
    if (now === this.last && ++this.sequence < this.perTick) return this.base + BigInt(this.sequence);
    this.begin(now);
    return this.base;
  }

  /** As many as fit into a tick, at most. */
  fill(ids) {
    const now = Date.now();
    if (now === this.last && this.sequence + ids.length < this.perTick) this.sequence++;
    else this.begin(now);
    let id = this.base + BigInt(this.sequence);
    for (let i = 0; i < ids.length; i++) {
      ids[i] = id;
      id = BigInt.asUintN(64, id + 1n);
    }
    this.sequence += ids.length - 1;
    return ids;
  }

  /** Begins a tick, the next one if this one is used up. */
  begin(now) {
    if (now < this.last) throw new Error(`the clock went back by ${this.last - now} ms`);
    while (now === this.last) now = Date.now();
    this.last = now;
    this.sequence = 0;
    this.base = (BigInt(now - this.epochMs) << this.shift) | this.low;
  }
}

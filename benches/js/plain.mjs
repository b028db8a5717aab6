// Correct generators in plain JavaScript: what a package has to be measured by. Of a clock that goes back they make an error.

/** As one writes it by hand: each ID is put together from its parts. */
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

/** As one writes it who has measured: what stays the same within a tick is kept, which leaves little but the clock. */
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

// Terms of durable numbers: of a store and a name, a function that takes the next number.
import { Formatted, NativeNumbers, Segments, Sequences, Tickets, users } from "snowmint/numbers";

const maxWaitMs = 60_000;

export const TERMS = {
  Segments: (store, name) => {
    const numbers = new Segments(store, name, { step: 100, maxWaitMs });
    return () => numbers.next();
  },
  // Of one sequence, whatever the name.
  NativeNumbers: (store) => {
    const numbers = new NativeNumbers(store, "s$1", { step: 20, maxWaitMs });
    return () => numbers.next();
  },
  Sequences: (store, name) => {
    const session = new Sequences(store, { maxWaitMs });
    return () => session.next(name);
  },
  Formatted: (store, name) => {
    const texts = new Formatted(new Sequences(store, { maxWaitMs }).sequence(name), "{yy}-{0}", { overflow: "grow" });
    return async () => texts.parse(await texts.next()).number;
  },
  Tickets: (store, name) => {
    const tickets = new Tickets(store, name, { maxWaitMs });
    return () => tickets.next();
  },
  users: (store, name) => {
    const messages = users(store, name, { windowMs: 1000, maxWaitMs });
    return () => messages.next(7);
  },
};

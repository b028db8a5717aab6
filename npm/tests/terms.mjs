// Terms of durable numbers: of a store and a name, a function that takes the next number.
import { Segments, Sequences, Tickets } from "snowmint/numbers";

const maxWaitMs = 60_000;

export const TERMS = {
  Segments: (store, name) => {
    const numbers = new Segments(store, name, { step: 100, maxWaitMs });
    return () => numbers.next();
  },
  Sequences: (store, name) => {
    const session = new Sequences(store, { maxWaitMs });
    return () => session.next(name);
  },
  Tickets: (store, name) => {
    const tickets = new Tickets(store, name, { maxWaitMs });
    return () => tickets.next();
  },
};
